"""The options that commands share: psql's for the connection, --json and --watch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from pgsweep.commands.completion import complete_tables
from pgsweep.source.db import Target

__all__ = ["Json", "TableArgument", "Watch", "Yes", "complete_tables", "with_target"]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]

Watch = Annotated[
    float | None,
    typer.Option(
        "--watch",
        metavar="SECONDS",
        min=0.5,
        max=3600,
        help="Show it again every so many seconds, until Ctrl-C.",
    ),
]

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="[SCHEMA.]NAME, quoted as in SQL.",
        show_default=False,
        autocompletion=complete_tables,
    ),
]

_PANEL = "Connection (as in psql)"
_CONNECTION: dict[str, Any] = {
    "dbname": Annotated[
        str | None,
        typer.Argument(help="Database, connection string or URI.", show_default=False),
    ],
    "dbname_option": Annotated[
        str | None,
        typer.Option("--dbname", "-d", help="The same as an option.", rich_help_panel=_PANEL),
    ],
    "host": Annotated[
        str | None,
        typer.Option("--host", "-h", help="Server or socket folder.", rich_help_panel=_PANEL),
    ],
    "port": Annotated[
        str | None, typer.Option("--port", "-p", help="Port.", rich_help_panel=_PANEL)
    ],
    "username": Annotated[
        str | None, typer.Option("--username", "-U", help="Role.", rich_help_panel=_PANEL)
    ],
    "password": Annotated[
        bool,
        typer.Option("--password", "-W", help="Ask for a password.", rich_help_panel=_PANEL),
    ],
    "no_password": Annotated[
        bool,
        typer.Option("--no-password", "-w", help="Never ask for one.", rich_help_panel=_PANEL),
    ],
}


def with_target(command: Callable[..., int | None], positional: bool = True) -> Callable[..., None]:
    """Give a command the connection options, collected in its first parameter `target`.

    If it is not positional, it has no argument DBNAME, for a command that has arguments of its
    own. The command returns its exit code. None goes on to a command below it.
    """
    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            name, keyword, default=False if "password" in name else None, annotation=annotation
        )
        for name, annotation in _CONNECTION.items()
        if positional or name != "dbname"
    ]
    parameters += [
        parameter.replace(kind=keyword)
        for name, parameter in own.parameters.items()
        if name != "target"
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401
        target = Target(
            dbname=given.pop("dbname_option") or given.pop("dbname", None),
            host=given.pop("host"),
            port=given.pop("port"),
            user=given.pop("username"),
            ask_password=given.pop("password"),
            never_ask=given.pop("no_password"),
        )
        given.pop("dbname", None)
        code = command(target, **given)
        if code is not None:
            raise typer.Exit(code)

    del run.__wrapped__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


# What a list of runs or decisions is cut down to.
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]
OfTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        "-t",
        help="Only of this table: [SCHEMA.]NAME, quoted as in SQL, or as it is shown.",
        autocompletion=complete_tables,
    ),
]
OfDatabase = Annotated[str | None, typer.Option("--database", help="Only in this database.")]
