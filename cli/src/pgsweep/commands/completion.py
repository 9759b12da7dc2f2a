"""`pgsweep completion`: the script that has a shell complete our command line."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from pgsweep import output
from pgsweep.cli import NAME

# Where typer looks for what a shell's script asks.
VARIABLE = "_PGSWEEP_COMPLETE"

# A file in zsh's fpath is loaded by the first completion, which would offer nothing.
AUTOLOADED = """
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _pgsweep_completion "$@"
fi"""


class Shell(str, Enum):
    """The shells that can complete our command line."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(help="Whose script.", show_default=False)],
) -> None:
    """Print the script that has a shell complete commands, options and tables' names."""
    script = get_completion_script(prog_name=NAME, complete_var=VARIABLE, shell=shell.value)
    output.document(f"{script}\n{AUTOLOADED}" if shell is Shell.ZSH else script)
