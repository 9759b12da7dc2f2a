"""What a shell completes: its script, and names of tables, asked of the server.

A shell waits while it asks, and a name goes into a command line. So there is a deadline, nothing
ever fails, no password is asked for, and only names that neither SQL nor a shell has to quote are
offered.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from pgsweep.source import db

DEADLINE_S = 1.5
MOST = 100
PLAIN = re.compile(r"[a-z_][a-z0-9_]*")

# Where typer looks for what a shell's script asks.
VARIABLE = "_PGSWEEP_COMPLETE"

# A file in zsh's fpath is loaded by the first completion, which would offer nothing.
AUTOLOADED = """
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _pgsweep_completion "$@"
fi"""


def script(name: str, shell: str) -> str:
    """Return what has a shell (bash, zsh or fish) complete the command `name`."""
    found = get_completion_script(prog_name=name, complete_var=VARIABLE, shell=shell)
    return f"{found}\n{AUTOLOADED}" if shell == "zsh" else found


def complete_tables(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the tables whose names begin so. It is empty if the server cannot be asked in time."""
    if incomplete and not all(PLAIN.fullmatch(part) for part in _parts(incomplete)):
        return []
    target = target_of(ctx)

    def ask() -> list[str]:
        with db.connect(target) as session:
            return plain_names(session.tables_like(incomplete, MOST))

    return in_time(ask, DEADLINE_S)


def _parts(incomplete: str) -> list[str]:
    """Return schema and name as far as they are written."""
    return [part for part in incomplete.split(".", 1) if part]


def target_of(ctx: typer.Context) -> db.Target:
    """Return where the command line so far connects to. Nothing is asked for."""
    given = ctx.params
    return db.Target(
        dbname=given.get("dbname_option") or given.get("dbname"),
        host=given.get("host"),
        port=given.get("port"),
        user=given.get("username"),
        never_ask=True,
    )


def plain_names(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return schemas and names as they are written, those in "public" without the schema."""
    return [
        name if schema == "public" else f"{schema}.{name}"
        for schema, name in found
        if PLAIN.fullmatch(schema) and PLAIN.fullmatch(name)
    ]


def in_time(ask: Callable[[], list[str]], deadline_s: float) -> list[str]:
    """Return the answer, or nothing if it fails or takes longer than so many seconds."""
    answer: list[str] = []

    def run() -> None:
        # Whatever goes wrong, a shell must not see it.
        try:
            found = ask()
        except Exception:
            return
        answer.extend(found)

    # A name server or a firewall can hold up libpq for longer than its own timeout.
    thread = threading.Thread(target=run, name="pgsweep-complete", daemon=True)
    thread.start()
    thread.join(deadline_s)
    return list(answer)
