"""The same act on all nodes of a fleet, with an answer for each.

What acts are is said once, by the commands for one server. Here is where they are called, and what
came of it: done, skipped, or failed with the reason. Nothing is remembered: the command line that
tries again, and the one that undoes, are printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.fleet.node import STANDBYS, Node
from pgsweep.fleet.outcome import BAD, Outcome, State
from pgsweep.output.terminal.acts import UNDO
from pgsweep.output.terminal.page import Page
from pgsweep.source.db import Session

if TYPE_CHECKING:
    from pgsweep.fleet.asking import Answer
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.seats import Seats

WIDTH = 1000


class Skipped(Exception):  # noqa: N818
    """There is nothing to do on this node. It says why."""


class Partly(Exception):  # noqa: N818
    """Of several parts some are done, and at least one is not."""

    def __init__(self, pages: Sequence[Page], problem: errors.PgsweepError, of: int) -> None:
        super().__init__(problem.message)
        self.pages = pages
        self.problem = problem
        self.of = of


Act = Callable[[Session, Node], Sequence[Page]]


@dataclass(frozen=True)
class Parts:
    """What the pages of a node are about, if there are several."""

    noun: str = "shards"
    # the table that they are parts of, by whose name all of them are undone
    table: str | None = None


def on_primaries(act: Act) -> Act:
    """Return the act for those nodes only that take writes. On a standby pg_sweep does nothing."""

    def run(session: Session, node: Node) -> Sequence[Page]:
        if session.server().in_recovery:
            raise Skipped("a standby, where pg_sweep does nothing")
        return act(session, node)

    return run


def all_nodes(
    seats: Seats,
    fleet: Fleet,
    act: Act,
    deadline_s: float,
    only_primaries: bool = True,
    parts: Parts = Parts(),
) -> tuple[Outcome, ...]:
    """Act on all nodes at the same time. Return what came of it, in their order."""
    skipped = {node: why for node in fleet.nodes if (why := _why_not(node, only_primaries))}
    asked = [node for node in fleet.nodes if node not in skipped]
    run = on_primaries(act) if only_primaries else act

    def question(session: Session, node: Node) -> Outcome:
        try:
            return outcome(node, run(session, node), parts)
        except Skipped as exc:
            return Outcome(node, State.SKIPPED, str(exc))
        except Partly as exc:
            return _partly(node, exc, parts)

    answers = seats.ask(asked, question, deadline_s)
    found = {node: _of(node, answer) for node, answer in zip(asked, answers, strict=True)}
    return tuple(
        found.get(node) or Outcome(node, State.SKIPPED, skipped[node]) for node in fleet.nodes
    )


def _why_not(node: Node, only_primaries: bool) -> str:
    """Return why a node is not even asked. A file may be old, so its roles are not believed."""
    if node.unasked:
        return node.unasked
    if only_primaries and node.provider != "file" and node.role in STANDBYS:
        return f"a standby ({node.role}), where pg_sweep does nothing"
    return ""


def outcome(node: Node, pages: Sequence[Page], parts: Parts = Parts()) -> Outcome:
    """Return what the pages say, of one server or table, or of a table's parts on this node."""
    if not pages:
        return Outcome(node, State.SKIPPED, f"none of its {parts.noun} is here")
    said = [line for page in pages for line in _lines(page)]
    done = [page for page in pages if page.code == 0]
    first = said[0] if said else ""
    if len(pages) > 1:
        first = f"{len(done)} of {len(pages)} {parts.noun}: {first}"
    undo = dict.fromkeys(page.undo for page in done if page.undo)
    return Outcome(
        node,
        State.DONE if done else State.NOTHING,
        first,
        _of_table(tuple(undo), parts.table) if parts.table else tuple(undo),
        tuple(json.loads(page.document()) for page in pages),
    )


def _partly(node: Node, partly: Partly, parts: Parts) -> Outcome:
    """Return a failure that says how far it came. What was done can be undone."""
    done = len(partly.pages)
    said = partly.problem.one_line()
    if partly.of > 1:
        said += f" ({done} of {partly.of} {parts.noun} are done)"
    if not done:
        return Outcome(node, State.FAILED, said)
    return replace(outcome(node, partly.pages, parts), state=State.FAILED, said=said)


def _of_table(undo: tuple[tuple[str, ...], ...], table: str) -> tuple[tuple[str, ...], ...]:
    """Return the words that undo an act on parts, said of their table.

    The second word is the part. If the rest differs from part to part, they have to be undone
    one by one.
    """
    together = dict.fromkeys((words[0], table, *words[2:]) for words in undo)
    return tuple(together) if len(together) == 1 else undo


def _lines(page: Page) -> list[str]:
    """Return what a page says but for how it is undone: that is said for all nodes together."""
    lines = [line.plain.strip() for line in page.lines(WIDTH)]
    return [line for line in lines if line and not line.startswith(UNDO.strip())]


def _of(node: Node, answer: Answer[Outcome]) -> Outcome:
    if answer.value is not None:
        return answer.value
    if answer.silent:
        return Outcome(
            node,
            State.UNKNOWN,
            f"no answer in {answer.seconds:.1f} s: whether it was done is not known",
        )
    assert answer.problem is not None
    return Outcome(node, State.FAILED, answer.problem.one_line())


def code(outcomes: Sequence[Outcome]) -> int:
    """Return the exit code: 0 if all is done, 1 if some is not, 2 if nothing could be done."""
    states = {one.state for one in outcomes}
    if not states & {State.DONE, State.NOTHING} and states & set(BAD):
        return 2
    return 1 if states & {State.NOTHING, *BAD} or State.DONE not in states else 0


def undo_commands(
    outcomes: Sequence[Outcome], fleet: Sequence[str], everyone: int
) -> tuple[tuple[str, ...], ...]:
    """Return the commands that undo what was done, each for the nodes with the same words.

    `fleet` are the options that name the fleet, and `everyone` is how many nodes it has.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    # A node that is skipped now would be skipped then. So it need not be left out by name.
    acted = sum(one.state is not State.SKIPPED for one in outcomes)
    whole = len(outcomes) == everyone
    for one in outcomes:
        for words in dict.fromkeys(one.undo):
            groups.setdefault(words, []).append(one.node.name)
    return tuple(
        _command(words, fleet, "--node", [] if whole and len(names) == acted else names)
        for words, names in groups.items()
    )


def retry_command(
    words: Sequence[str], outcomes: Sequence[Outcome], fleet: Sequence[str]
) -> tuple[str, ...]:
    """Return the command that tries again where it failed. It is empty if it failed nowhere."""
    failed = [one.node.name for one in outcomes if one.state in BAD]
    return _command(words, fleet, "--retry", failed) if failed else ()


def _command(
    words: Sequence[str], fleet: Sequence[str], option: str, names: Sequence[str]
) -> tuple[str, ...]:
    picked = [word for name in names for word in (option, name)]
    return ("fleet", *words, *fleet, *picked)


def retried(fleet: Fleet, names: Sequence[str]) -> Fleet:
    """Return the fleet with only the nodes that are to be tried again."""
    known = {node.name for node in fleet.nodes}
    for name in names:
        if name not in known:
            raise errors.UsageError(
                f'there is no node "{name}" to try again', f"There are: {', '.join(known)}."
            )
    if not names:
        return fleet
    return replace(fleet, nodes=tuple(node for node in fleet.nodes if node.name in names))
