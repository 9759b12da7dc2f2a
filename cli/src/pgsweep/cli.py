"""The command line, and the one place where errors become a line and an exit code.

To import all commands takes a quarter of a second. So a command that is called imports itself only.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from importlib import import_module
from typing import Annotated, Any

import typer

from pgsweep import __version__
from pgsweep.base import errors

NAME = "pgsweep"
EXIT_CANNOT = 2
EXIT_INTERRUPTED = 130

# The commands by their panels in --help, in their order.
PANELS = {
    "See": ("status", "top", "progress", "runs", "tables", "queue", "bloat", "serve", "mcp"),
    "Find out why": ("explain", "blockers", "doctor", "check"),
    "Steer": ("vacuum", "cancel", "hold", "snooze", "set"),
    "Try and measure": ("trial", "report", "tune"),
    "Act without the extension": ("agent",),
    "Many servers": ("fleet",),
}
# Names that commands had, and how they are called now.
RENAMED = {
    "audit": "runs --audit",
    "budget": "status --budget",
    "completion": "--completion",
    "databases": "status --databases",
    "decisions": "queue --decisions",
    "simulate": "trial --set",
    "unhold": "hold 0",
    "version": "--version",
}


class Shell(str, Enum):
    """The shells that can complete our command line."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{NAME} {__version__}")
        raise typer.Exit


def _print_completion(shell: Shell | None) -> None:
    if shell is not None:
        from pgsweep.commands.completion import script

        typer.echo(script(NAME, shell.value))
        raise typer.Exit


def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    _completion: Annotated[
        Shell | None,
        typer.Option(
            "--completion",
            help="Print the script that has a shell complete commands, options and tables' names.",
            callback=_print_completion,
            is_eager=True,
        ),
    ] = None,
) -> None:
    pass


def application(only: str | None = None, arguments: Sequence[str] | None = None) -> typer.Typer:
    """Return the command line with all commands, or with one of them.

    `arguments` are those of that one, which may have commands below it.
    """
    app = typer.Typer(
        name=NAME,
        help="See, steer and trust PostgreSQL's vacuums: the command of pg_sweep.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_options)
    for panel, names in PANELS.items():
        for name in names if only is None else {only} & set(names):
            _add(app, name, panel, arguments)
    return app


def _add(app: typer.Typer, name: str, panel: str, arguments: Sequence[str] | None) -> None:
    module = import_module(f"pgsweep.commands.{name}")
    if name in ("agent", "fleet"):
        app.add_typer(module.application(arguments), name=name, rich_help_panel=panel)
        return
    # "set" is Python's own name.
    command: Callable[..., Any] = getattr(module, "set_" if name == "set" else name)
    app.command(name, cls=getattr(module, "Command", None), rich_help_panel=panel)(command)


def called(arguments: Sequence[str]) -> str | None:
    """Return the command that is called, if there is no doubt about it."""
    first = arguments[0] if arguments else ""
    if first in RENAMED:
        raise errors.UsageError(f'"{first}" is now "{NAME} {RENAMED[first]}"')
    return first if any(first in names for names in PANELS.values()) else None


def _loaded(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with what is called.

    What is loaded for it stays. To look for garbage in that takes time, now and later.
    """
    gc.disable()
    try:
        return application(called(arguments), arguments[1:])
    finally:
        gc.freeze()
        gc.enable()


def main() -> None:
    """Run the command."""
    if f"_{NAME.upper()}_COMPLETE" in os.environ:
        # Without this typer's command line does not know the shells' questions.
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    # The name is the same by whatever path the command was called.
    run(lambda: _loaded(sys.argv[1:])(prog_name=NAME), NAME)


def run(command: Callable[[], None], name: str) -> None:
    """Run a command line.

    Every failure of ours becomes one line on stderr and exit code 2.
    """
    # At its end the interpreter would look for garbage in all that was imported. That takes more
    # than a tenth of a second.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding gets escaped names and no traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            command()
        finally:
            # Python writes what is still buffered when it ends. Nobody could catch a failure
            # there.
            sys.stdout.flush()
    except errors.PgsweepError as exc:
        sys.stderr.write(f"{name}: error: {exc.one_line()}\n")
        sys.exit(EXIT_CANNOT)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (head, a pager). Without this the interpreter would complain about
        # it too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
