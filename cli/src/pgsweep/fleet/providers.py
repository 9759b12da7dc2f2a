"""Asks those who know the nodes of a fleet, all at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.fleet import address, citus, cloudberry, file, patroni
from pgsweep.fleet.asking import ask_all
from pgsweep.fleet.citus import Asked
from pgsweep.fleet.file import Plan, Seed
from pgsweep.fleet.http import split
from pgsweep.fleet.node import chosen, merged, reached
from pgsweep.fleet.patroni import Cluster
from pgsweep.source import db
from pgsweep.source.db import Target

if TYPE_CHECKING:
    from pgsweep.fleet.node import Found, Node
    from pgsweep.source.db import Session

SERVICE = "service="


@dataclass(frozen=True)
class Choice:
    """Which fleet the command line names, and which of its nodes."""

    file: str | None = None
    services: tuple[str, ...] = ()
    citus: str | None = None
    patroni: tuple[str, ...] = ()
    cloudberry: str | None = None
    maps: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    dbname: str | None = None
    user: str | None = None

    def words(self) -> list[str]:
        """Return the options that name this fleet, without those that pick nodes."""
        given: list[tuple[str, str | None]] = [
            ("--file", self.file),
            *(("--service", name) for name in self.services),
            ("--citus", self.citus),
            *(("--patroni", urls) for urls in self.patroni),
            ("--cloudberry", self.cloudberry),
            *(("--map", one) for one in self.maps),
            ("-d", self.dbname),
            ("-U", self.user),
        ]
        return [word for name, value in given if value for word in (name, value)]


@dataclass(frozen=True)
class Fleet:
    """The nodes of a fleet that were picked, those that were not, and how they were found."""

    nodes: tuple[Node, ...]
    everyone: tuple[Node, ...]
    plan: Plan
    notes: tuple[str, ...] = ()
    # Somebody who knows nodes has not answered.
    incomplete: bool = False


def plan_of(choice: Choice) -> Plan:
    """Return whom to ask who is there. Raise if nobody is named."""
    plan = file.load(Path(choice.file)) if choice.file else Plan()
    own = Asked(None, None, None, choice.dbname, choice.user)
    plan = _with_options(plan, choice, own)
    if plan.empty:
        raise errors.UsageError(
            "no fleet is named",
            "Use --file FILE, --service NAME, --citus HOST, --patroni URL or --cloudberry HOST.",
        )
    for cluster in plan.patroni:
        for url in cluster.urls:
            split(url)
    seeds = (*plan.citus, *plan.cloudberry)
    databases = {node.dbname for node in plan.nodes} | {one.dbname for one in plan.patroni}
    databases |= {seed.asked.dbname for seed in seeds}
    if any("=" in name or "://" in name for name in databases if name):
        # It would have its own host, which all nodes would be reached at.
        raise errors.UsageError(
            "the database of a fleet is a name, and not a connection string",
            "Say by --file, --citus or --patroni who is there.",
        )
    return replace(plan, places=plan.places.with_options(choice.maps))


def _with_options(plan: Plan, choice: Choice, own: Asked) -> Plan:
    """Return the plan with what the command line adds, whose -d and -U hold for all nodes."""
    who = file.credentials(os.environ)

    def held(asked: Asked) -> Asked:
        return replace(asked, dbname=own.dbname or asked.dbname, user=own.user or asked.user)

    def seeds(given: str | None, already: tuple[Seed, ...]) -> tuple[Seed, ...]:
        more = (Seed(_asked(given, own), ""),) if given else ()
        return (*(replace(seed, asked=held(seed.asked)) for seed in already), *more)

    nodes = (*plan.nodes, *(file.service_node(name, own) for name in choice.services))
    clusters = (
        *plan.patroni,
        *(Cluster(tuple(filter(None, urls.split(","))), who=who) for urls in choice.patroni),
    )
    return Plan(
        nodes=tuple(
            replace(node, dbname=own.dbname or node.dbname, user=own.user or node.user)
            for node in nodes
        ),
        citus=seeds(choice.citus, plan.citus),
        patroni=tuple(
            replace(one, dbname=own.dbname or one.dbname, user=own.user or one.user)
            for one in clusters
        ),
        cloudberry=seeds(choice.cloudberry, plan.cloudberry),
        places=plan.places,
    )


def _asked(given: str, own: Asked) -> Asked:
    """Return the node that --citus or --cloudberry names: HOST, HOST:PORT or service=NAME."""
    if given.startswith(SERVICE):
        return replace(own, service=given.removeprefix(SERVICE))
    if given.startswith("/"):
        # the folder of a socket
        folder, _, port = given.partition(":")
        return replace(own, host=folder, port=int(port) if port.isdigit() else None)
    place = address.parse(given)
    return replace(own, host=place.host, port=place.port)


def target_of(node: Node) -> Target:
    """Return where to connect. Nobody is asked for a password."""
    return Target(
        dbname=node.dbname,
        host=node.host,
        port=str(node.port) if node.port else None,
        user=node.user,
        never_ask=True,
        service=node.service,
        options=node.options,
    )


def discover(choice: Choice, deadline_s: float) -> Fleet:
    """Return the fleet that is named, as those who know it say now.

    Who does not answer is said in the notes. If nobody answers, the first problem is raised.
    """
    plan = plan_of(choice)
    asks: list[Callable[[], Found]] = [lambda: plan.found]
    asks += [_of_patroni(cluster, deadline_s) for cluster in plan.patroni]
    asks += [_of_server(seed, plan, citus.fetch, "citus") for seed in plan.citus]
    asks += [_of_server(seed, plan, cloudberry.fetch, "cloudberry") for seed in plan.cloudberry]
    answers = ask_all(asks, lambda ask, _: ask(), deadline_s)
    found: list[Found] = []
    problems: list[errors.PgsweepError] = []
    for answer in answers:
        if answer.value is not None:
            found.append(answer.value)
        else:
            problems.append(
                answer.problem
                or errors.CannotConnectError(
                    f"who is there was not answered within {deadline_s:g} s",
                    "Try a longer --deadline.",
                )
            )
    together = merged(found)
    if not together.nodes:
        raise problems[0]
    # A node is known by one address. Two that are reached at the same place are different.
    everyone = reached(together.nodes, plan.places)
    notes = (*together.notes, *(f"Not all nodes are known: {one.one_line()}" for one in problems))
    picked = chosen(everyone, choice.nodes, choice.groups)
    return Fleet(picked, everyone, plan, notes, bool(problems))


class Roster:
    """Who is there, asked again and again, and kept if those who know do not say it."""

    def __init__(self, choice: Choice, deadline_s: float) -> None:
        self._choice = choice
        self._deadline_s = deadline_s
        self._fleet: Fleet | None = None

    def find(self) -> Fleet:
        """Return the fleet as it is now. Raise if it was never known."""
        try:
            self._fleet = discover(self._choice, self._deadline_s)
        except errors.PgsweepError as exc:
            # The file may be half written at this moment.
            if self._fleet is None:
                raise
            note = f"Nodes are those of before: {exc.one_line()}"
            return replace(self._fleet, notes=(note,), incomplete=True)
        return self._fleet


def _of_patroni(cluster: Cluster, deadline_s: float) -> Callable[[], Found]:
    # A little less, so that it says itself who was silent.
    return lambda: patroni.fetch(cluster, 0.9 * deadline_s)


def _of_server(
    seed: Seed, plan: Plan, fetch: Callable[[Session, Asked, str], Found], group: str
) -> Callable[[], Found]:
    def ask() -> Found:
        asked = seed.asked
        node = file.service_node(asked.service or "", asked)
        node = replace(node, host=asked.host, port=asked.port, service=asked.service)
        (there,) = reached((node,), plan.places)
        with db.connect(target_of(there)) as session:
            known = replace(
                asked,
                host=asked.host or session.host or None,
                port=asked.port or session.port,
                dbname=session.dbname,
                user=session.user,
            )
            return fetch(session, known, seed.name or group)

    return ask
