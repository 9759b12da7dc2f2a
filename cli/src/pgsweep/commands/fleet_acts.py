"""`pgsweep fleet hold`, `snooze`, `vacuum` and `set`: one act on all nodes.

What each act does, and what it says, is in the command of the same name for one server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors, output
from pgsweep.commands import (
    fleet_acting as acting,
    fleet_citus_settings as citus_settings,
    fleet_server_settings as server_settings,
)
from pgsweep.commands.fleet_acting import Partly, Parts, Skipped
from pgsweep.commands.fleet_options import PATIENT_S, Retry, with_fleet
from pgsweep.commands.fleet_server_settings import Managed
from pgsweep.commands.hold import begin
from pgsweep.commands.options import Json, Yes
from pgsweep.commands.set import change, values_of
from pgsweep.commands.snooze import leave_alone
from pgsweep.commands.vacuum import request
from pgsweep.fleet import patroni, providers, spread
from pgsweep.fleet.asking import Deadline
from pgsweep.fleet.citus import COORDINATOR_GROUP
from pgsweep.fleet.node import Node
from pgsweep.fleet.outcome import Outcome, State
from pgsweep.fleet.providers import Choice, Fleet
from pgsweep.fleet.seats import Seats
from pgsweep.output.terminal import fleet_acts as render, page, question
from pgsweep.output.terminal.page import Page
from pgsweep.source.db import Session

Table = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="[SCHEMA.]NAME, quoted as in SQL.", show_default=False),
]
Verb = Callable[[Session, str], Page]


@dataclass(frozen=True)
class Call:
    """What an act was called with. `words` are those that call it again."""

    choice: Choice
    deadline: float
    retry: Sequence[str] | None
    json: bool
    words: tuple[str, ...]

    def fleet(self) -> Fleet:
        """Return the nodes that it is for."""
        return acting.retried(providers.discover(self.choice, self.deadline), self.retry or ())


THEIRS = "Patroni manages it: its own command is below"


@partial(with_fleet, deadline_s=PATIENT_S)
def hold(
    choice: Choice,
    deadline: float,
    duration: Annotated[
        str, typer.Argument(metavar="INTERVAL", help="For how long: '2 h', 30min. 0 ends the hold.")
    ] = "1 hour",
    retry: Retry = None,
    json: Json = False,
) -> int:
    """Begin no new vacuum on any node for a while, as pgsweep hold does on one.

    Standbys are left out. The exit code is 1 if it failed on some nodes.
    """
    call = Call(choice, deadline, retry, json, ("hold", duration))
    return _on_servers(call, partial(begin, duration=duration))


@partial(with_fleet, deadline_s=PATIENT_S)
def snooze(
    choice: Choice,
    deadline: float,
    table: Table,
    duration: Annotated[
        str,
        typer.Argument(metavar="INTERVAL", help="For how long: '2 h', 30min. 0 ends the snooze."),
    ],
    retry: Retry = None,
    json: Json = False,
) -> int:
    """Have pg_sweep leave a table alone on all nodes for a while, with all its shards."""
    call = Call(choice, deadline, retry, json, ("snooze", table, duration))
    return _on_table(call, table, partial(leave_alone, duration=duration))


@partial(with_fleet, deadline_s=PATIENT_S)
def vacuum(
    choice: Choice,
    deadline: float,
    table: Table,
    aux: Annotated[
        bool, typer.Option("--aux", help="Only its TOAST table, and not the table itself.")
    ] = False,
    retry: Retry = None,
    json: Json = False,
) -> int:
    """Have a table vacuumed next on all nodes, with all its shards.

    It does not wait for the vacuums. The exit code is 1 if it failed on some nodes, or if there is
    nothing to vacuum.
    """
    words = ("vacuum", table, *(["--aux"] if aux else []))
    call = Call(choice, deadline, retry, json, words)
    return _on_table(call, table, partial(request, aux=aux))


@partial(with_fleet, deadline_s=PATIENT_S)
def set_(
    choice: Choice,
    deadline: float,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="[SCHEMA.]NAME. Without it the servers' own settings are meant.",
            show_default=False,
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE...", help="What to set.", show_default=False),
    ] = None,
    reset: Annotated[
        list[str] | None,
        typer.Option("--reset", metavar="NAME", help="Remove a setting. May be given often."),
    ] = None,
    patch_config: Annotated[
        bool,
        typer.Option(
            "--patch-config",
            help="Change settings of servers under Patroni in its dynamic configuration.",
        ),
    ] = False,
    from_coordinator: Annotated[
        bool,
        typer.Option(
            "--from-coordinator",
            help="Set for Citus tables on all nodes what is set for them on the coordinator, "
            "for nodes that were added or were down.",
        ),
    ] = False,
    retry: Retry = None,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Give a table settings of its own on all nodes, or set the servers' own.

    What is set for a Citus table holds for its shards, also for those that come later. Without a
    table it is ALTER SYSTEM on each server, standbys included, after a question, for settings of
    pg_sweep and of vacuums only. Under Patroni nothing is written: the command of Patroni's that
    does it is printed.
    """
    words = list(given or [])
    if from_coordinator:
        if table is not None or words or reset or patch_config:
            raise errors.UsageError("--from-coordinator takes nothing to set")
        return _from_coordinator(Call(choice, deadline, retry, json, ("set", "--from-coordinator")))
    # The name of a table that has a = in it is quoted.
    if table is not None and "=" in table and not table.startswith('"'):
        words.insert(0, table)
        table = None
    values = values_of(words, reset or [])
    if not values:
        raise errors.UsageError("nothing to set", "Write pgsweep fleet set [TABLE] NAME=VALUE.")
    again = ("set", *([table] if table is not None else []), *words, *_resets(reset))
    if table is not None:
        call = Call(choice, deadline, retry, json, again)
        return _on_table(call, table, partial(_change, values), settings=True)
    if patch_config:
        again = (*again, "--patch-config")
    return _on_settings(Call(choice, deadline, retry, json, again), values, patch_config, yes)


def _from_coordinator(call: Call) -> int:
    """Set for Citus tables on all nodes what is set for them on the coordinator.

    It is for nodes that were added, or that were down when something was set. What is set on
    other nodes only stays.
    """
    with Seats() as seats:
        fleet = call.fleet()
        wanted = citus_settings.wanted(seats, fleet, call.deadline)

        def act(session: Session, node: Node) -> Sequence[Page]:
            if node.citus not in wanted:
                raise Skipped("no node of Citus")
            if node.group_id == COORDINATOR_GROUP:
                raise Skipped("it is where the others take it from")
            missing = citus_settings.missing(session, wanted[node.citus])
            if not missing:
                return [citus_settings.nothing_missing()]
            return _one_by_one(
                session,
                list(missing),
                lambda _, name: change(session, name, missing[name]),
                seats.deadline_of(node),
            )

        outcomes = acting.all_nodes(seats, fleet, act, call.deadline, parts=Parts("tables"))
    return _said(call, fleet, outcomes)


def _change(values: Mapping[str, str | None], session: Session, name: str) -> Page:
    return change(session, name, values)


def _on_settings(
    call: Call, values: Mapping[str, str | None], patch_config: bool, yes: bool
) -> int:
    """Set settings of servers, where nobody else manages them."""
    # The names of settings are of any case.
    values = {name.lower(): value for name, value in values.items()}
    server_settings.require_of_vacuums(values)
    with Seats() as seats:
        fleet = call.fleet()
        clusters = server_settings.managed(fleet.nodes, fleet.plan.patroni)
        theirs = {node for one in clusters for node in one.nodes}
        ours = _without(fleet, theirs)
        asked = _question(values, ours.nodes, clusters if patch_config else ())
        if asked:
            question.require_answer(yes, "fleet set")
        if asked and not (yes or question.confirmed(asked)):
            output.note("nothing was changed")
            return 1
        alter = partial(_alter, values)
        outcomes = acting.all_nodes(seats, ours, alter, call.deadline, only_primaries=False)
        run: tuple[tuple[str, ...], ...] = ()
        for one in clusters:
            if patch_config:
                outcomes += _patched(seats, fleet, one, values, call.deadline)
            else:
                outcomes += _alike(one, State.SKIPPED, THEIRS)
                run += (patroni.edit_config(one.group, values),)
    return _said(call, fleet, outcomes, run)


def _resets(reset: Sequence[str] | None) -> list[str]:
    return [word for name in reset or () for word in ("--reset", name)]


def _alter(values: Mapping[str, str | None], session: Session, _: Node) -> Sequence[Page]:
    return [server_settings.alter(session, values)]


def _without(fleet: Fleet, nodes: set[Node]) -> Fleet:
    kept = tuple(node for node in fleet.nodes if node not in nodes)
    return replace(fleet, nodes=kept)


def _question(
    values: Mapping[str, str | None], ours: Sequence[Node], clusters: Sequence[Managed]
) -> str:
    """Return what is to be confirmed. It is empty if nothing will be changed."""
    places = []
    if ours:
        places.append(f"by ALTER SYSTEM on {', '.join(node.name for node in ours[:8])}")
        if len(ours) > 8:
            places[0] += f" and {len(ours) - 8} more"
    if clusters:
        groups = ", ".join(one.group for one in clusters)
        places.append(f"in the configuration of Patroni for all members of {groups}")
    what = ", ".join(
        f"{name}={value}" if value is not None else f"reset {name}"
        for name, value in values.items()
    )
    return f"set {what} {' and '.join(places)}" if places else ""


def _patched(
    seats: Seats, fleet: Fleet, one: Managed, values: Mapping[str, str | None], deadline: float
) -> tuple[Outcome, ...]:
    """Change a Patroni cluster's configuration. Return what came of it on each of its nodes."""
    for answer in seats.ask(
        one.nodes, lambda session, _: server_settings.require_known(session, values), deadline
    ):
        # Who does not answer may get it later.
        if isinstance(answer.problem, errors.QueryError):
            return _alike(one, State.FAILED, answer.problem.one_line())
    try:
        done = server_settings.patch(one, values, deadline)
    except errors.PgsweepError as exc:
        return _alike(one, State.FAILED, exc.one_line())

    def arrived(session: Session, _: Node) -> Sequence[Page]:
        return [server_settings.arrived(session, values, done)]

    outcomes = acting.all_nodes(
        seats,
        replace(fleet, nodes=one.nodes),
        arrived,
        done.patience_s + deadline,
        only_primaries=False,
    )
    # It is in Patroni's configuration, whatever a member makes of it.
    return tuple(
        outcome if outcome.state is State.SKIPPED else replace(outcome, undo=(done.undo,))
        for outcome in outcomes
    )


def _alike(one: Managed, state: State, said: str) -> tuple[Outcome, ...]:
    return tuple(Outcome(node, state, said) for node in one.nodes)


def _on_servers(call: Call, act: Callable[[Session], Page]) -> int:
    """Act once on each server."""
    with Seats() as seats:
        fleet = call.fleet()
        outcomes = acting.all_nodes(seats, fleet, lambda session, _: [act(session)], call.deadline)
    return _said(call, fleet, outcomes)


def _on_table(call: Call, table: str, verb: Verb, settings: bool = False) -> int:
    """Act on a table of each server, or on all shards of it that are there.

    Settings are kept under the Citus table itself, on all nodes, so that they stay when shards
    move.
    """
    with Seats() as seats:
        fleet = call.fleet()
        where = spread.spread(seats, fleet, table, call.deadline)
        if where.notes:
            raise errors.CannotConnectError(
                f"nothing was done: {' '.join(where.notes)}", "Try again, or a longer --deadline."
            )

        def act(session: Session, node: Node) -> Sequence[Page]:
            if not where.is_distributed(node):
                return [verb(session, table)]
            shards = [shard.written for shard in where.on(node)]
            names = where.tables(node) if settings else shards
            return _one_by_one(session, names, verb, seats.deadline_of(node))

        parts = Parts("tables" if settings else "shards", table if where.clusters else None)
        outcomes = acting.all_nodes(seats, fleet, act, call.deadline, parts=parts)
    return _said(call, fleet, outcomes)


def _one_by_one(
    session: Session, names: Sequence[str], verb: Verb, until: Deadline
) -> Sequence[Page]:
    """Act on one table after the other. The first that fails ends it."""
    pages: list[Page] = []
    try:
        for name in names:
            if not until.left:
                # Nobody waits any more. What is not begun is not done behind their backs.
                raise errors.QueryError(f"it took longer than {until.seconds:g} s")
            pages.append(verb(session, name))
    except errors.PgsweepError as exc:
        raise Partly(pages, exc, len(names)) from exc
    return pages


def _said(
    call: Call,
    fleet: Fleet,
    outcomes: Sequence[Outcome],
    run: tuple[tuple[str, ...], ...] = (),
) -> int:
    """Print what came of it, how to undo it, and how to try again where it failed.

    `run` are commands of others that do what we do not.
    """
    named = call.choice.words()
    undo = acting.undo_commands(outcomes, named, len(fleet.everyone))
    retry = acting.retry_command(call.words, outcomes, named)
    return page.printed(
        Page(
            lines=partial(render.lines, outcomes, undo, retry, run),
            document=partial(render.document, outcomes, undo, retry, run),
            notes=fleet.notes,
            code=acting.code(outcomes) or int(fleet.incomplete),
        ),
        call.json,
    )
