"""The options that name a fleet: which one, which of its nodes, how long a node may take.

All of `pgsweep fleet` has them, and so have `top` and `serve`, which show one server or a fleet.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from pgsweep.base.errors import UsageError
from pgsweep.commands.options import with_target
from pgsweep.fleet.providers import Choice, plan_of
from pgsweep.source.db import Target

__all__ = [
    "DEADLINE_S",
    "PATIENT_S",
    "Retry",
    "given_before",
    "with_fleet",
    "with_server_or_fleet",
]

VARIABLE = "PGSWEEP_FLEET"
# to look, and to act or look deeper
DEADLINE_S = 2.0
PATIENT_S = 10.0

_WHO = "Which fleet"
_CONNECTION = "Connection"
_FLEET: dict[str, Any] = {
    "file": Annotated[
        str | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help=f"A TOML file of nodes, services and clusters. ${VARIABLE} names one, too.",
            rich_help_panel=_WHO,
        ),
    ],
    "service": Annotated[
        list[str] | None,
        typer.Option(
            "--service",
            metavar="NAME",
            help="A node by its libpq service. It may be given several times.",
            rich_help_panel=_WHO,
        ),
    ],
    "citus": Annotated[
        str | None,
        typer.Option(
            "--citus",
            metavar="HOST[:PORT]",
            help="All nodes of a Citus cluster, asked of this one. Or service=NAME.",
            rich_help_panel=_WHO,
        ),
    ],
    "patroni": Annotated[
        list[str] | None,
        typer.Option(
            "--patroni",
            metavar="URL[,URL]",
            help="All members of a Patroni cluster, asked of any of these.",
            rich_help_panel=_WHO,
        ),
    ],
    "cloudberry": Annotated[
        str | None,
        typer.Option(
            "--cloudberry",
            metavar="HOST[:PORT]",
            help="All segments of Cloudberry or Greenplum, asked of this coordinator.",
            rich_help_panel=_WHO,
        ),
    ],
    "map": Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FROM=TO",
            help="Where an internal address is reached: 10.0.0.5=localhost:5433.",
            rich_help_panel=_WHO,
        ),
    ],
    "group": Annotated[
        list[str] | None,
        typer.Option(
            "--group", metavar="NAME", help="Only nodes of this group.", rich_help_panel=_WHO
        ),
    ],
    "node": Annotated[
        list[str] | None,
        typer.Option("--node", metavar="NAME", help="Only this node.", rich_help_panel=_WHO),
    ],
    "dbname": Annotated[
        str | None,
        typer.Option("--dbname", "-d", help="Database on all nodes.", rich_help_panel=_CONNECTION),
    ],
    "username": Annotated[
        str | None,
        typer.Option("--username", "-U", help="Role on all nodes.", rich_help_panel=_CONNECTION),
    ],
}

Retry = Annotated[
    list[str] | None,
    typer.Option(
        "--retry",
        metavar="NAME",
        help="Only on this node, where it failed before. It may be given several times.",
    ),
]


def _deadline(default: float) -> Any:  # noqa: ANN401
    return Annotated[
        float,
        typer.Option(
            "--deadline",
            metavar="SECONDS",
            min=0.1,
            max=600,
            help=f"How long a node may take to answer. The default is {default:g}.",
            show_default=False,
        ),
    ]


def with_fleet(command: Callable[..., Any], deadline_s: float = DEADLINE_S) -> Callable[..., None]:
    """Give a command the options of a fleet, collected in its parameters `choice`, `deadline`.

    The command returns its exit code. None goes on to a command below it.
    """
    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        parameter.replace(kind=keyword)
        for name, parameter in own.parameters.items()
        if name not in ("choice", "deadline")
    ]
    parameters += [
        inspect.Parameter(name, keyword, default=None, annotation=annotation)
        for name, annotation in _FLEET.items()
    ]
    parameters.append(
        inspect.Parameter("deadline", keyword, default=deadline_s, annotation=_deadline(deadline_s))
    )

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401
        choice = _choice({name: given.pop(name) for name in _FLEET})
        code = command(choice=choice, **given)
        if code is not None:
            raise typer.Exit(code)

    del run.__wrapped__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


_INSTEAD: dict[str, Any] = {
    "fleet": Annotated[
        bool,
        typer.Option(
            "--fleet",
            help=f"Many servers, which the options below name, or ${VARIABLE}.",
            rich_help_panel=_WHO,
        ),
    ],
    **{name: kind for name, kind in _FLEET.items() if name not in ("dbname", "username")},
    "deadline": Annotated[
        float | None,
        typer.Option(
            "--deadline",
            metavar="SECONDS",
            min=0.1,
            max=600,
            help=f"How long a node may take to answer. The default is {DEADLINE_S:g}.",
            show_default=False,
            rich_help_panel=_WHO,
        ),
    ],
}


def with_server_or_fleet(
    command: Callable[..., int | None], positional: bool = True
) -> Callable[..., None]:
    """Give a command the options of a server and of a fleet, of which --fleet chooses the second.

    They are collected in its parameters `target`, `choice` and `deadline`. For one server `choice`
    is None. -d and -U hold for both. The command returns its exit code. None goes on to a command
    below it.
    """
    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [own.parameters["target"]]
    parameters += [
        parameter.replace(kind=keyword)
        for name, parameter in own.parameters.items()
        if name not in ("target", "choice", "deadline")
    ]
    parameters += [
        inspect.Parameter(
            name, keyword, default=False if name == "fleet" else None, annotation=annotation
        )
        for name, annotation in _INSTEAD.items()
    ]

    @functools.wraps(command)
    def run(target: Target, **given: Any) -> int | None:  # noqa: ANN401
        found = {name: given.pop(name) for name in _INSTEAD}
        choice = _fleet_or_none(target, found)
        return command(target, choice=choice, deadline=found["deadline"] or DEADLINE_S, **given)

    del run.__wrapped__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return with_target(run, positional)


def _fleet_or_none(target: Target, given: dict[str, Any]) -> Choice | None:
    if not given["fleet"]:
        named = next((name for name, value in given.items() if value), None)
        if named is not None:
            raise UsageError(f"--{named} is for a fleet", "Write --fleet as well.")
        return None
    if target.host or target.port or target.ask_password:
        raise UsageError(
            "-h, -p and -W are for one server", "Say by --file, --citus or --patroni who is there."
        )
    choice = _choice({**given, "dbname": target.dbname, "username": target.user})
    # What is wrong with it is said now, and not on a screen.
    plan_of(choice)
    return choice


def _choice(given: dict[str, Any]) -> Choice:
    named = any(given[name] for name in ("service", "citus", "patroni", "cloudberry"))
    return Choice(
        # What the environment names is for those who name nothing.
        file=given["file"] or (None if named else os.environ.get(VARIABLE) or None),
        services=tuple(given["service"] or ()),
        citus=given["citus"],
        patroni=tuple(given["patroni"] or ()),
        cloudberry=given["cloudberry"],
        maps=tuple(given["map"] or ()),
        groups=tuple(given["group"] or ()),
        nodes=tuple(given["node"] or ()),
        dbname=given["dbname"],
        user=given["username"],
    )


def given_before(ctx: typer.Context) -> list[str]:
    """Return the options that stand before the name of a command below this one."""
    source = ctx.get_parameter_source
    return [name for name in ctx.params if (where := source(name)) and where.name == "COMMANDLINE"]
