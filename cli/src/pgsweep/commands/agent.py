"""`pgsweep agent`: does what autovacuum leaves undone, on servers that load no library."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from pgsweep.agent.act import KINDS
from pgsweep.agent.crew import Crew
from pgsweep.agent.password import PasswordCommand
from pgsweep.agent.rules import Rules
from pgsweep.agent.store import Store
from pgsweep.base import extras, output
from pgsweep.base.errors import UsageError
from pgsweep.commands.fleet_options import given_before, with_server_or_fleet
from pgsweep.commands.options import Json, Limit
from pgsweep.fleet.providers import Choice
from pgsweep.output import logs
from pgsweep.output.terminal import agents, as_json
from pgsweep.output.terminal.page import Page, printed
from pgsweep.source import db
from pgsweep.tune.kept import folder

UNITS = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE",
        help="Its SQLite file. The default is pgsweep/agent.db in $XDG_STATE_HOME.",
        show_default=False,
    ),
]


def application(_arguments: Sequence[str] | None = None) -> typer.Typer:
    """Return `agent` with the commands below it."""
    app = typer.Typer(invoke_without_command=True)
    app.callback()(agent)
    for command in (status, history, pause, resume):
        app.command()(command)
    return app


def _file(given: Path | None) -> Path:
    return given or folder() / "agent.db"


@partial(with_server_or_fleet, positional=False)
def agent(
    target: db.Target,
    choice: Choice | None,
    deadline: float,
    ctx: typer.Context,
    act: Annotated[
        bool, typer.Option("--act", help="Act. Without it, it says what it would do.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="ACT",
            help=f"Never do this: {', '.join(KINDS[:-1])} or {KINDS[-1]}. May be repeated.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option(
            "--rate", min=0.1, max=10_000, help="MB/s that a VACUUM reads and dirties at most."
        ),
    ] = 20.0,
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="HH:MM-HH:MM",
            help="When rebuilds and freezing ahead may begin, local time.",
            show_default=False,
        ),
    ] = None,
    disk_size: Annotated[
        str | None,
        typer.Option(
            "--disk-size",
            metavar="SIZE",
            help="The server's disk, say 500GB. If it is not known, only small rebuilds are made.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        float, typer.Option("--every", min=1, max=3600, help="Seconds between two looks.")
    ] = 60.0,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="DATABASE",
            help="Leave this database alone. May be repeated.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Look once, do what is due, and end.")
    ] = False,
    grant: Annotated[
        str | None,
        typer.Option(
            "--grant",
            metavar="ROLE",
            help="Print the SQL that gives a role the rights it needs, and end.",
            show_default=False,
        ),
    ] = None,
    password_command: Annotated[
        str | None,
        typer.Option(
            "--password-command",
            metavar="COMMAND",
            help="Prints the password, such as a token that holds for minutes.",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Answer as pgsweep serve does, with metrics of the agent.",
            show_default=False,
        ),
    ] = None,
    log_level: Annotated[
        str, typer.Option("--log-level", help="debug, info, warning or error.")
    ] = "info",
) -> int | None:
    """Look after servers by plain connections, until SIGTERM or Ctrl-C. It needs no extension.

    It vacuums, freezes and analyzes tables to which autovacuum does not come, and rebuilds bloated
    indexes, and from 19 on tables, where that pays back within a month. Whoever waits for it gets
    the lock. Without --act it only says what it would do.
    """
    if ctx.invoked_subcommand is not None:
        if given_before(ctx):
            raise UsageError(
                f"options stand before {ctx.invoked_subcommand}",
                f"Write them behind it: pgsweep agent {ctx.invoked_subcommand} --state FILE.",
            )
        return None
    if grant is not None:
        with db.connect(target) as session:
            output.lines(agents.grants(grant, session.version_num, _owners(session)))
        return 0
    rules = Rules(
        act=act,
        kinds=_kinds(without or ()),
        mb_per_s=rate,
        window=None if window is None else _window(window),
        disk_size=None if disk_size is None else _size(disk_size),
        every_s=every,
        exclude=frozenset(exclude or ()),
    )
    logs.begin(log_level)
    stop = threading.Event()
    store = Store(_file(state))
    password = None if password_command is None else PasswordCommand(password_command)
    crew = Crew(store, rules, stop, password)
    if listen is not None and not once:
        pages = replace(target, password=password)
        return _listening(crew, store, pages, choice, deadline, listen, stop)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, partial(_stop, stop))
    return crew.look_after(target, choice, deadline, once)


def _listening(
    crew: Crew,
    store: Store,
    target: db.Target,
    choice: Choice | None,
    deadline: float,
    listen: str,
    stop: threading.Event,
) -> int:
    """Look after the servers in a thread, and answer over HTTP until a signal comes."""
    extras.require_serve("pgsweep agent --listen")
    from pgsweep.commands.serve import Http, answer
    from pgsweep.output.prometheus.agents import agents as exposed

    ended: list[int] = []

    def look_after() -> None:
        try:
            ended.append(crew.look_after(target, choice, deadline, False))
        finally:
            # Nobody would notice that only the pages are left.
            if not stop.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    work = threading.Thread(target=look_after)
    http = Http(
        listen=listen,
        more=lambda: exposed(store.summary(time.time())),
        agent=lambda: store.told(time.time()),
    )
    work.start()
    try:
        answer(target, choice, deadline, http)
    finally:
        stop.set()
        work.join()
    return ended[0] if ended else 1


def _stop(stop: threading.Event, _number: int, _frame: FrameType | None) -> None:
    stop.set()


def _owners(session: db.Session) -> list[str]:
    return [row["owner"] for row in session.dicts("agent_owners")]


def _kinds(without: Sequence[str]) -> frozenset[str]:
    for name in without:
        if name not in KINDS:
            raise UsageError(f'"{name}" is no act', f"Write one of {', '.join(KINDS)}.")
    return frozenset(KINDS) - set(without)


def _window(written: str) -> tuple[int, int]:
    try:
        begin, end = (datetime.strptime(part, "%H:%M") for part in written.split("-"))  # noqa: DTZ007
    except ValueError:
        raise UsageError(
            f'"{written}" is no window', "Write it as 22:00-05:30, in local time."
        ) from None
    if begin == end:
        raise UsageError(f'the window "{written}" never opens', "Leave --window out for any time.")
    return begin.hour * 60 + begin.minute, end.hour * 60 + end.minute


def _size(written: str) -> int:
    for unit in sorted(UNITS, key=len, reverse=True):
        if written.endswith(unit):
            try:
                return int(float(written.removesuffix(unit)) * UNITS[unit])
            except (ValueError, OverflowError):
                break
    raise UsageError(f'"{written}" is no size', "Write it as PostgreSQL takes it: 500GB, 2TB.")


def _with_store(state: Path | None, look: Callable[[Store, float], Page], json: bool) -> int:
    store = Store(_file(state), write=False)
    try:
        return printed(look(store, time.time()), json)
    finally:
        store.close()


def status(state: State = None, json: Json = False) -> None:
    """Show which servers are looked after, what is being done, and what acts came to in a day.

    The exit code is 1 if a server is not looked after.
    """

    def look(store: Store, now: float) -> Page:
        found = store.summary(now)
        return Page(
            lines=partial(agents.status, found, now),
            document=lambda: as_json.dump(asdict(found)),
            code=int(any(one.problem for one in found.servers)),
        )

    raise typer.Exit(_with_store(state, look, json))


def history(
    limit: Limit = 20,
    acts: Annotated[bool, typer.Option("--acts", help="Not what it would have done.")] = False,
    state: State = None,
    json: Json = False,
) -> None:
    """Show what was done and what would have been, why, and what it cost, the latest first."""

    def look(store: Store, now: float) -> Page:
        rows = store.history(limit, acts)
        return Page(lines=partial(agents.history, rows, now), document=partial(as_json.rows, rows))

    raise typer.Exit(_with_store(state, look, json))


def pause(
    hours: Annotated[float, typer.Argument(min=0.01, max=8760, help="For how many hours.")] = 1.0,
    state: State = None,
) -> None:
    """Begin no act for a while. What runs goes on. `pgsweep agent resume` ends it."""

    def look(store: Store, now: float) -> Page:
        store.pause(now + hours * 3600)
        until = store.paused_until(now)
        return Page(
            lines=lambda _: agents.paused(until),
            document=lambda: as_json.dump({"paused_until": until}),
        )

    raise typer.Exit(_with_store(state, look, False))


def resume(state: State = None) -> None:
    """End a pause."""

    def look(store: Store, _: float) -> Page:
        store.pause(None)
        return Page(
            lines=lambda _: agents.paused(None),
            document=lambda: as_json.dump({"paused_until": None}),
        )

    raise typer.Exit(_with_store(state, look, False))
