"""Many nodes as one: deadlines, what follows for all of them, how it looks, acts that half fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text

from conftest import until
from fleets import age, moved, node, reading, row
from pgsweep.base import errors
from pgsweep.commands import fleet_acting as acting, fleet_server_settings as server_settings
from pgsweep.commands.fleet_acting import Partly, Parts
from pgsweep.fleet import arrival, asking, causes, parts, reader, view
from pgsweep.fleet.arrival import Written
from pgsweep.fleet.asking import Answer, Deadline, ask_all, first_answer
from pgsweep.fleet.causes import PartCause
from pgsweep.fleet.citus import Origin
from pgsweep.fleet.file import Plan
from pgsweep.fleet.outcome import Outcome, State
from pgsweep.fleet.parts import Part
from pgsweep.fleet.patroni import Cluster
from pgsweep.fleet.providers import Fleet
from pgsweep.fleet.reading import Row
from pgsweep.fleet.summary import skew, summary
from pgsweep.model.compute import STOP_AGE
from pgsweep.output.terminal import (
    fleet as render,
    fleet_acts,
    fleet_causes,
    fleet_json,
    fleet_tables,
)
from pgsweep.output.terminal.page import Page
from samples import NOW, blocker, cause, server, status

# -- asking many at the same time -------------------------------------------------------


def test_who_is_silent_is_not_waited_for() -> None:
    never = threading.Event()

    def ask(name: str, _: Deadline) -> str:
        if name == "silent":
            never.wait()
        if name == "broken":
            raise errors.CannotConnectError("no server")
        return name.upper()

    begun = time.monotonic()
    answers = ask_all(["a", "silent", "broken", "b"], ask, 0.3)
    assert time.monotonic() - begun < 10
    never.set()
    assert [answer.value for answer in answers] == ["A", None, None, "B"]
    assert [answer.silent for answer in answers] == [False, True, False, False]
    assert answers[2].problem is not None
    assert answers[1].seconds >= 0.3


def test_all_are_asked_at_the_same_time() -> None:
    together = threading.Barrier(50)

    def ask(_: int, __: Deadline) -> int:
        return together.wait(30)

    assert all(answer.value is not None for answer in ask_all(range(50), ask, 30))


def has_ended(one: int) -> bool:
    """Tell whether the thread that asks this one has ended."""
    return f"pgsweep-ask-{one}" not in {thread.name for thread in threading.enumerate()}


class Slowly(list[int]):
    """Whom to ask. By a clock of its own it takes a while to come from one to the next."""

    def __init__(self, count: int, pause_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(range(count))
        self.now = 0.0
        self.pause_s = pause_s
        # Whether all but the last have answered before the next is asked.
        self.in_turn = False
        monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: self.now))

    def __iter__(self) -> Iterator[int]:
        for one in range(len(self)):
            yield one
            if self.in_turn and one < len(self) - 1:
                until(partial(has_ended, one))
            self.now += self.pause_s


def test_each_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    others_are_seen = threading.Event()

    def ask(one: int, _: Deadline) -> int:
        if one == 49:
            others_are_seen.wait(30)
        return one

    whom = Slowly(50, 1.0, monkeypatch)
    whom.in_turn = True
    found = {}
    # It takes 49 s to come to the last one.
    for index, answer in asking.answers(whom, ask, 20):
        found[index] = answer.value
        if len(found) == 49:
            others_are_seen.set()
    assert found == {one: one for one in range(50)}


def test_an_answer_that_comes_too_late_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    first_is_silent = threading.Event()

    def ask(one: int, _: Deadline) -> int:
        if one == 0:
            first_is_silent.wait(30)
        else:
            # Only when the other one has answered.
            until(lambda: has_ended(0))
        return one

    found = []
    # The time of the first is over when the second is asked, and the second has all of its own.
    for index, answer in asking.answers(Slowly(2, 100.0, monkeypatch), ask, 120):
        found.append((index, answer.silent))
        first_is_silent.set()
    assert found == [(0, True), (1, False)]


def test_a_bug_is_the_answer_of_one_only() -> None:
    one, two = ask_all([0, 1], lambda x, _: 1 // x, 10)
    assert one.problem is not None
    assert one.problem.message.startswith("ZeroDivisionError: ")
    assert (two.value, two.problem) == (1, None)
    with pytest.raises(errors.PgsweepError, match=r"^ZeroDivisionError: "):
        first_answer([0], lambda x: 1 // x, 10, "it")
    assert first_answer([0, 1], lambda x: 1 // x, 10, "it") == 1


def test_nobody_is_asked() -> None:
    assert ask_all([], lambda one, _: str(one), 5) == ()


# -- what follows for all ------------------------------------------------------------------


def silent(name: str = "x") -> Row:
    return Row(node(name), 2.0, trouble="no answer in 2.0 s")


def test_all_is_well() -> None:
    found = summary([row("a", 0.1), row("b", 0.3), row("c", 0.2)])
    assert (found.nodes, found.answered, found.asked, found.code) == (3, 3, 3, 0)
    assert found.slowest is not None
    assert found.slowest.node.name == "b"
    assert found.problems == ()
    assert found.held is None


def test_skew() -> None:
    found = summary([row("a", due=4), row("b", due=2), row("c", due=12), row("d", due=2)])
    assert found.due is not None
    assert (found.due.node, found.due.largest, found.due.median, found.due.times) == (
        *("c", 12, 3.0, 4.0),
    )
    # A standby has nothing due of its own, and does not count.
    standby = row("e", due=100, server=server(in_recovery=True))
    assert summary([row("a", due=1), row("b", due=1), standby]).due == skew([(1, "a"), (1, "b")])
    assert summary([row("a", due=5)]).due is None
    assert summary([row("a", due=None), row("b", due=5)]).due is None
    nothing = skew([(0, "a"), (0, "b")])
    assert nothing is not None
    assert nothing.times is None
    busy = {"read_mb_per_s": 1.0, "dirty_mb_per_s": 2.0, "wal_mb_per_s": 3.0}
    found = summary([row("a", **busy), row("b", read_mb_per_s=0.0), row("c")])
    assert found.mb_per_s == skew([(6.0, "a"), (0.0, "b")])


def test_silence_is_a_problem_and_no_answer_at_all_cannot_be_told() -> None:
    found = summary([row("a"), silent()])
    assert found.code == 1
    assert found.problems == (("x", "no answer in 2.0 s"),)
    assert summary([silent("x"), silent("y")]).code == 2
    # A mirror is not asked, so it is not missed.
    mirror = Row(node("m", unasked="a mirror takes no sessions"), trouble="a mirror")
    found = summary([row("a"), mirror])
    assert (found.code, found.asked) == (0, 1)


def test_oldest_horizon_and_wraparound() -> None:
    rows = [
        row("a", blocker=blocker(age=10), oldest=age(300_000_000)),
        row("b", blocker=blocker(age=5_000), oldest=age(150_000_000)),
    ]
    found = summary(rows)
    assert found.held is not None
    assert found.held.node.name == "b"
    assert found.wraparound is not None
    assert found.wraparound.node.name == "a"
    assert [what for _, what in found.problems] == [
        'database "app" is at 150 % of autovacuum_freeze_max_age'
    ]


def test_days_left() -> None:
    one = reading(oldest=age(STOP_AGE - 86_400_000), xids_per_s=100.0)
    assert one.days_left == pytest.approx(10.0)
    assert reading(xids_per_s=None).days_left is None
    assert reading(xids_per_s=0.0).days_left is None
    assert reading(oldest=None, xids_per_s=5.0).days_left is None
    assert reading(oldest=age(2**31), xids_per_s=5.0).days_left == 0.0
    # That far no calendar goes.
    assert reading(xids_per_s=1e-6).days_left is None


def test_problems_of_nodes() -> None:
    old = blocker(since=NOW - timedelta(hours=2))
    assert "horizon held by" in summary([row("a", blocker=old)]).problems[0][1]
    off = row("a", server=server(autovacuum=False))
    assert "autovacuum is off" in summary([off]).problems[0][1]
    dead = row("a", status=status(launcher_pid=None))
    assert "launcher is not running" in summary([dead]).problems[0][1]
    late = row("a", status=status(overdue=2))
    assert "2 tables have waited longer" in summary([late]).problems[0][1]
    ill = moved(row("a"), state="start failed", provider="patroni")
    assert summary([ill]).problems == (("a", "patroni says: start failed"),)


def test_provider_and_server_disagree() -> None:
    was = moved(row("a", server=server(in_recovery=True)), role="leader", provider="patroni")
    assert "it is a standby, although patroni says" in summary([was]).problems[0][1]
    both = moved(row("a"), role="replica", provider="patroni")
    assert "it takes writes, although patroni says" in summary([both]).problems[0][1]


# -- who is behind a holder ------------------------------------------------------------------


def test_a_session_of_citus_is_traced_to_its_node() -> None:
    held = blocker(kind="transaction", pid=99, name="citus_internal gpid=30000000017")
    nodes = [node("w1", node_id=2), node("w2", node_id=3)]
    there, origin = reader.wanted_origin(nodes, reading(blocker=held)) or (None, None)
    assert there == nodes[1]
    assert origin == Origin(30_000_000_017, "w2", 17)
    unknown, origin = reader.wanted_origin([], reading(blocker=held)) or (None, None)
    assert unknown is None
    assert origin is not None
    assert origin.node == "node 3"
    assert reader.wanted_origin(nodes, reading(blocker=blocker())) is None
    assert reader.wanted_origin(nodes, None) is None
    told = reading(
        blocker=held, origin=Origin(30_000_000_017, "w2", 17, "alice", "billing", "active", "q")
    )
    assert render.holder(told) == (
        'an open transaction of process 99, for process 17 on w2 of user "alice" (billing)'
    )


# -- how it looks -----------------------------------------------------------------------------


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


EVERYTHING = [
    moved(
        row(
            "coordinator.example.com",
            status=status(mode="act", effective_mode="act", due=4),
            due=4,
            vacuums=2,
            read_mb_per_s=12.34,
            dirty_mb_per_s=4.5,
            wal_mb_per_s=120.0,
            xids_per_s=1234.0,
            blocker=blocker(),
            binding="write_limit",
        ),
        role="coordinator",
    ),
    moved(row("w\x1b[31m1"), role="worker"),
    silent("w2"),
    Row(node("w3 mirror", role="mirror", unasked="a mirror"), trouble="a mirror takes no sessions"),
]


@pytest.mark.parametrize("width", [80, 100, 160, 250])
def test_nodes_fit(width: int) -> None:
    lines = plain(render.lines(EVERYTHING, summary(EVERYTHING), width))
    assert max(len(line) for line in lines) <= width
    assert not any("\x1b" in line for line in lines)
    assert [word for word in lines[0].split() if word in ("GROUP", "HELD")] == (
        ["HELD"] if width == 100 else [] if width == 80 else ["GROUP", "HELD"]
    )


def test_nodes_at_80_columns() -> None:
    lines = plain(render.lines(EVERYTHING, summary(EVERYTHING), 80))
    assert " ".join(lines[0].split()) == "NODE ROLE MODE DUE RUN READ DIRTY WAL XID DAYS HORIZON"
    assert lines[1].startswith("…")
    assert " ".join(lines[1].split()[1:]) == "coord act 4 2 12.3 4.5 120 1.0M 20 123k"
    assert " ".join(lines[2].split()[1:]) == "worker core 0 0 - - - 1.0M - 0"
    assert "no answer in 2.0 s" in lines[3]
    assert "mirror" in lines[4]
    text = "\n".join(lines[5:])
    assert "slowest    coordinator.example.com answered in 100 ms" in text
    assert "horizon    coordinator.example.com: 123,456 transactions old, held for 10:00 by" in text
    assert "wraparound coordinator.example.com: 1,000,000, 0.0 % used up" in text
    assert "problems   w2: no answer in 2.0 s" in text


def test_many_problems_are_counted() -> None:
    rows = [silent(f"n{i}") for i in range(20)]
    lines = plain(render.lines(rows, summary(rows), 80))
    assert lines[-1].strip() == "and 12 more"


def test_notes() -> None:
    rows = [row(f"n{i}", missing=("xid rate: no",)) for i in range(7)]
    first, second = render.notes(rows)
    assert first.startswith("n0, n1, n2, n3, n4 and 2 more: there is no pg_sweep")
    assert second.endswith("not known there: xid rate: no.")
    assert render.notes([row("a", status=status())]) == ()


def test_json() -> None:
    found = summary(EVERYTHING)
    document = json.loads(fleet_json.document(EVERYTHING, found, ["said"]))
    assert list(document) == ["exit_code", "nodes", "summary", "notes"]
    first, _, third, fourth = document["nodes"]
    assert (first["mode"], first["due"], first["binding"]) == ("act", 4, "write_limit")
    assert first["blocker"]["pid"] == 4712
    assert (third["answered"], third["trouble"]) == (False, "no answer in 2.0 s")
    assert fourth["seconds"] is None
    assert document["summary"]["problems"][0] == {"node": "w2", "problem": "no answer in 2.0 s"}


def test_what_trouble_is_said() -> None:
    assert view.trouble_of(Answer(1.96, silent=True)) == "no answer in 2.0 s"
    refused = errors.CannotConnectError("refused", "Is it there?")
    assert view.trouble_of(Answer(0.1, problem=refused)) == "refused"


# -- tables over nodes --------------------------------------------------------------------------


def part(on: str, name: str, **given: Any) -> Part:
    base: dict[str, Any] = {
        "table": "orders",
        "due": False,
        "dead_tuples": 0,
        "score": 0.1,
        "pages": 10,
    }
    return Part(node=on, name=name, **{**base, **given})


def test_shards_come_together() -> None:
    rows = parts.together(
        [
            part("w1", "orders_1", due=True, dead_tuples=100, score=3.0),
            part("w1", "orders_2", dead_tuples=10),
            part("w2", "orders_3", dead_tuples=22, score=0.9),
            part("w2", "items", table="items", dead_tuples=5),
        ]
    )
    assert [one.table for one in rows] == ["orders", "items"]
    orders = rows[0]
    assert (orders.parts, orders.nodes, orders.due, orders.dead_tuples) == (3, 2, 1, 132)
    assert orders.worst.name == "orders_1"
    assert orders.skew == skew([(110, "w1"), (22, "w2")])
    lines = plain(fleet_tables.lines(rows, 20, 80))
    assert lines[1].split() == ["orders", "3", "2", "1", "132", "30", "1.7", "orders_1", "w1"]
    assert lines[-1] == "2 tables in 4 parts, 1 due"
    assert max(map(len, lines)) <= 80
    assert plain(fleet_tables.lines(rows, 1, 80))[-1] == "2 tables in 4 parts, 1 due, 1 shown"
    assert plain(fleet_tables.lines((), 20, 80)) == ["there are no tables"]


# -- causes over nodes --------------------------------------------------------------------------


def test_equal_causes_come_once_and_each_fix_has_its_node() -> None:
    def of(on: str, name: str, pid: int, **given: Any) -> PartCause:
        return PartCause(
            on,
            name,
            cause(
                relation=f"public.{name}",
                cause=f"horizon held by an open transaction of process {pid}",
                fix=f"SELECT pg_cancel_backend({pid});",
                **given,
            ),
        )

    below = cause(verdict="not due", cause="below threshold", fix="VACUUM public.orders_4;", rank=2)
    groups = causes.grouped(
        [
            of("w1", "orders_1", 11),
            of("w1", "orders_2", 11),
            of("w2", "orders_3", 12),
            PartCause("w2", "orders_4", below),
        ]
    )
    assert len(groups) == 2
    held = groups[0]
    assert held.nodes == ("w1", "w2")
    assert len(held.parts) == 3
    assert [(one.node, one.fix) for one in held.fixes] == [
        ("w1", "SELECT pg_cancel_backend(11);"),
        ("w2", "SELECT pg_cancel_backend(12);"),
    ]
    lines = plain(fleet_causes.lines(groups, "orders", (4, 2), 80))
    assert lines[0] == "orders: 4 parts on 2 nodes"
    assert "(3 of 4 parts, on w1, w2)" in " ".join(lines)
    assert "  fix      on w2: SELECT pg_cancel_backend(12);" in lines
    assert plain(fleet_causes.lines((), "t", (1, 1), 80))[-1].startswith("nothing keeps it")


def test_many_fixes_are_counted() -> None:
    many = [
        PartCause("w1", f"t_{i}", cause(cause="below threshold", fix=f"VACUUM t_{i};"))
        for i in range(20)
    ]
    lines = plain(fleet_causes.lines(causes.grouped(many), "t", (20, 1), 80))
    assert sum("fix" in line for line in lines) == fleet_causes.MOST_FIXES
    assert any("and 14 more, which --json has" in line for line in lines)


def test_no_node_has_the_table() -> None:
    with pytest.raises(errors.UsageError, match='no node has a table "t"'):
        causes.require_any([causes.NodeCauses(0, ())], "t")


# -- acts -----------------------------------------------------------------------------------------


def page(said: str = "it is done", code: int = 0, undo: tuple[str, ...] = ()) -> Page:
    return Page(
        lines=lambda _: [Text(said), Text("undo    something else")],
        document=lambda: json.dumps({"said": said}),
        code=code,
        undo=undo,
    )


FLEET = ["--file", "my fleet.toml"]


def test_an_answer_for_each_node_and_what_undoes_it() -> None:
    outcomes = [
        acting.outcome(node("a"), [page(undo=("hold", "0"))]),
        acting.outcome(node("b c"), [page(undo=("hold", "0"))]),
        Outcome(node("d"), State.FAILED, "cannot connect"),
        Outcome(node("e"), State.SKIPPED, "a standby"),
        Outcome(node("f"), State.UNKNOWN, "no answer"),
    ]
    assert acting.code(outcomes) == 1
    undo = acting.undo_commands(outcomes, FLEET, 5)
    assert undo == (("fleet", "hold", "0", *FLEET, "--node", "a", "--node", "b c"),)
    retry = acting.retry_command(("hold", "2 h"), outcomes, FLEET)
    assert retry == ("fleet", "hold", "2 h", *FLEET, "--retry", "d", "--retry", "f")
    lines = plain(fleet_acts.lines(outcomes, undo, retry, (), 80))
    assert lines[0] == "a   done    it is done"
    assert lines[5] == ("undo    pgsweep fleet hold 0 --file 'my fleet.toml' --node a --node 'b c'")
    assert lines[6] == (
        "retry   pgsweep fleet hold '2 h' --file 'my fleet.toml' --retry d --retry f"
    )
    document = json.loads(fleet_acts.document(outcomes, undo, retry, ()))
    assert [one["outcome"] for one in document["nodes"]] == [
        *("done", "done", "failed", "skipped", "unknown"),
    ]
    assert document["nodes"][0]["answers"] == [{"said": "it is done"}]


def test_where_all_is_done_no_node_is_named() -> None:
    outcomes = [
        acting.outcome(node("a"), [page(undo=("hold", "0"))]),
        Outcome(node("e"), State.SKIPPED, "a standby"),
    ]
    assert acting.undo_commands(outcomes, FLEET, 2) == (("fleet", "hold", "0", *FLEET),)
    # These were two of three, so the third must not be touched.
    assert acting.undo_commands(outcomes, FLEET, 3) == (
        ("fleet", "hold", "0", *FLEET, "--node", "a"),
    )
    assert acting.retry_command(("hold",), outcomes, FLEET) == ()
    assert acting.code(outcomes) == 0


def test_nodes_that_are_undone_differently_come_apart() -> None:
    outcomes = [
        acting.outcome(node("a"), [page(undo=("set", "t", "--reset", "x"))]),
        acting.outcome(node("b"), [page(undo=("set", "t", "x=5"))]),
    ]
    assert acting.undo_commands(outcomes, [], 2) == (
        ("fleet", "set", "t", "--reset", "x", "--node", "a"),
        ("fleet", "set", "t", "x=5", "--node", "b"),
    )


def test_shards_are_undone_by_their_table_where_that_can_be() -> None:
    same = [page(undo=("snooze", f"t_{i}", "0")) for i in (1, 2)]
    outcome = acting.outcome(node("a"), same, Parts(table="app.t"))
    assert outcome.said == "2 of 2 shards: it is done"
    assert outcome.undo == (("snooze", "app.t", "0"),)
    differ = [page(undo=("set", "t_1", "x=5")), page(undo=("set", "t_2", "--reset", "x"))]
    assert acting.outcome(node("a"), differ, Parts(table="app.t")).undo == (
        ("set", "t_1", "x=5"),
        ("set", "t_2", "--reset", "x"),
    )
    assert acting.outcome(node("a"), [], Parts(table="app.t")).state is State.SKIPPED


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([State.DONE, State.DONE], 0),
        ([State.DONE, State.SKIPPED], 0),
        ([State.DONE, State.NOTHING], 1),
        ([State.DONE, State.FAILED], 1),
        ([State.DONE, State.UNKNOWN], 1),
        ([State.NOTHING, State.FAILED], 1),
        ([State.FAILED, State.SKIPPED], 2),
        ([State.UNKNOWN], 2),
        # Nothing was done anywhere.
        ([State.SKIPPED], 1),
        ([State.NOTHING], 1),
    ],
)
def test_exit_codes_of_acts(states: list[State], code: int) -> None:
    assert acting.code([Outcome(node(), state, "") for state in states]) == code


class Seats:
    """Seats that answer what they are told to, without servers."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.asked: list[str] = []

    def ask(self, nodes: Any, question: Any, deadline_s: float) -> Any:
        del deadline_s
        self.asked = [one.name for one in nodes]
        return tuple(self._answer(one, question) for one in nodes)

    def _answer(self, one: Any, question: Any) -> Answer[Any]:
        try:
            return Answer(0.1, question(self.given[one.name], one))
        except errors.PgsweepError as exc:
            return Answer(0.1, problem=exc)


class Session:
    """A session that is in recovery or not."""

    def __init__(self, in_recovery: bool) -> None:
        self._in_recovery = in_recovery

    def server(self) -> Any:
        return server(in_recovery=self._in_recovery)


def test_only_primaries() -> None:
    nodes = (
        node("leader", role="leader", provider="patroni"),
        node("replica", role="replica", provider="patroni"),
        # A file may be old. So it is asked, whatever role the file gives it.
        node("promoted", role="standby"),
        node("behind"),
        node("mirror", unasked="a mirror takes no sessions"),
        node("broken"),
        node("partly"),
    )
    sessions = {name: Session(False) for name in ("leader", "promoted", "broken", "partly")}
    seats = Seats({**sessions, "behind": Session(True)})
    problem = errors.PermissionDeniedError("permission denied", "Run GRANT.")

    def act(_: Any, one: Any) -> list[Page]:
        if one.name == "broken":
            raise problem
        if one.name == "partly":
            raise Partly([page(undo=("snooze", "t_1", "0"))], problem, 3)
        return [page()]

    fleet = Fleet(nodes, nodes, Plan())
    outcomes = acting.all_nodes(seats, fleet, act, 5.0, parts=Parts(table="t"))  # type: ignore[arg-type]
    assert seats.asked == ["leader", "promoted", "behind", "broken", "partly"]
    assert {one.node.name: one.state.value for one in outcomes} == {
        "leader": "done",
        "replica": "skipped",
        "promoted": "done",
        "behind": "skipped",
        "mirror": "skipped",
        "broken": "failed",
        "partly": "failed",
    }
    # What was done before it failed can be undone.
    assert outcomes[-1].undo == (("snooze", "t", "0"),)
    assert outcomes[-1].said == ("permission denied; hint: Run GRANT. (1 of 3 shards are done)")


def test_silence_after_an_act_is_no_failure_that_is_known() -> None:
    class Silent:
        def ask(self, nodes: Any, *_: Any) -> Any:
            return tuple(Answer[Outcome](10.0, silent=True) for _ in nodes)

    nodes = (node("a"),)
    fleet = Fleet(nodes, nodes, Plan())
    (one,) = acting.all_nodes(Silent(), fleet, lambda *_: [], 10.0)  # type: ignore[arg-type]
    assert one.state is State.UNKNOWN
    assert one.said == "no answer in 10.0 s: whether it was done is not known"


def test_only_what_failed_is_tried_again() -> None:
    nodes = (node("a"), node("b"))
    fleet = Fleet(nodes, nodes, Plan())
    assert acting.retried(fleet, ()) == fleet
    assert [one.name for one in acting.retried(fleet, ["b"]).nodes] == ["b"]
    with pytest.raises(errors.UsageError, match='no node "c" to try again'):
        acting.retried(fleet, ["c"])


# -- settings of servers ---------------------------------------------------------------------


def test_members_of_patroni_are_told_from_others() -> None:
    one, two = Cluster(("http://a",)), Cluster(("http://b",))
    nodes = [node("x", patroni=("http://a",), group="g"), node("y"), node("z", group="g")]
    (found,) = server_settings.managed(nodes, [one, two])
    assert (found.cluster, found.group, found.nodes) == (one, "g", (nodes[0],))


def test_what_brings_settings_back() -> None:
    assert server_settings.undo_words({"a.b": "1", "c": None, "d": "x y"}) == (
        *("set", "a.b=1", "d=x y", "--reset", "c"),
    )


# -- what Patroni has brought to a member ------------------------------------------------------


def written(name: str = "a.b", **given: Any) -> Written:
    base: dict[str, Any] = {
        "shown": "5",
        "pending_restart": False,
        "written": "5",
        "error": None,
        "auto": None,
    }
    return Written(name=name, **{**base, **given})


def test_a_change_has_arrived_when_all_of_it_has() -> None:
    both = [written(), written("c", written=None)]
    assert arrival.arrived({"a.b": "5", "c": None}, both)
    assert not arrival.arrived({"a.b": "6", "c": None}, both)
    assert not arrival.arrived({"a.b": "5", "c": "x"}, both)


def test_what_became_of_a_change() -> None:
    assert arrival.said([written(), written("c", shown="", written=None)]) == (
        "a.b is 5 now; c is empty now"
    )
    waits = written(pending_restart=True, error="setting could not be applied")
    assert "after a restart" in arrival.said([waits])
    with pytest.raises(errors.QueryError, match=r'the server refuses a\.b = "x": no'):
        arrival.said([written(written="x", error="no")])
    with pytest.raises(errors.QueryError, match=r"a\.b is 7 by ALTER SYSTEM there"):
        arrival.said([written(auto="7")])


def test_a_change_that_does_not_come() -> None:
    class Stale:
        def rows(self, *_: object) -> list[Written]:
            return [written()]

    with pytest.raises(errors.QueryError, match="has not come here within 0 s"):
        arrival.wait(Stale(), {"a.b": "6"}, 0.0)  # type: ignore[arg-type]
    assert arrival.wait(Stale(), {"a.b": "5"}, 0.0) == "a.b is 5 now"  # type: ignore[arg-type]
