"""What the agent decides: which tables need what, which rebuilds pay, what it remembers."""

from __future__ import annotations

import itertools
import re
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import samples
import test_bloat
from conftest import Pgsweep, until
from pgsweep.agent import freezing, hands, needs, pace, rebuilds
from pgsweep.agent.act import DONE, FAILED, LOST, Act, Outcome
from pgsweep.agent.loop import Agent
from pgsweep.agent.needs import Known, Moment, Parent, Right
from pgsweep.agent.password import PasswordCommand
from pgsweep.agent.rebuilds import Leftover, Place, Rebuilt, Room, Use
from pgsweep.agent.rules import Rules
from pgsweep.agent.store import HOUR_S, Size, Store
from pgsweep.base.errors import CannotConnectError, DatabaseError, QueryError, UsageError
from pgsweep.findings.core.tables import judge
from pgsweep.model.bloat import HeapFacts, IndexFacts
from pgsweep.output.web import growth_plots
from pgsweep.source.db import Target

NOW = 1_800_000_000.0
BLOCK = 8192
DAY = 86_400.0
RELID = samples.relation().relid
OLD = Known(due_since=NOW - needs.LATE_S)


def needed(
    known: Known = OLD,
    settings: dict[str, str] | None = None,
    horizon: int = 0,
    has_standby: bool = False,
    version: int = 150000,
    **given: Any,
) -> Act | None:
    facts = samples.core_facts(samples.relation(**given))
    facts = replace(facts, version_num=version, settings={**facts.settings, **(settings or {})})
    moment = Moment(NOW, {RELID: known}, horizon, has_standby)
    found = list(needs.acts(facts, judge(facts), moment))
    assert len(found) <= 1
    return found[0] if found else None


QUIET: dict[str, Any] = {
    "dead_tuples": 0,
    "ins_since_vacuum": 0,
    "mod_since_analyze": 0,
    "xid_age": 100,
}
DUE: dict[str, Any] = {**QUIET, "dead_tuples": 30_000}


def test_what_autovacuum_leaves_undone_is_vacuumed() -> None:
    act = needed(**DUE)
    assert act is not None
    assert act.kind == "vacuum"
    assert act.statement.startswith(
        "VACUUM (VERBOSE, SKIP_LOCKED, PARALLEL 0, PROCESS_TOAST FALSE)"
    )
    assert "dead tuples 30,000, late for 5 min" in act.reason
    assert needed(Known(due_since=NOW - 60), **DUE) is None
    assert needed(Known(due_since=NOW), {"autovacuum": "off"}, **DUE) is not None
    assert needed(**QUIET) is None


def test_a_busy_table_is_not_late_while_autovacuum_comes() -> None:
    def look(known: Known, now: float, **given: Any) -> Known:
        (judged,) = judge(samples.core_facts(samples.relation(**{**DUE, **given})))
        return needs.after_look(judged, known, now)

    first = look(Known(), NOW)
    assert first.due_since == NOW
    assert look(first, NOW + 60).due_since == NOW
    came = samples.NOW
    assert look(first, NOW + 60, last_vacuum=came).due_since == NOW + 60
    assert look(first, NOW + 60, dead_tuples=0).due_since is None


def test_a_large_table_is_not_waited_for() -> None:
    much = {**QUIET, "reltuples": 1e9, "dead_tuples": needs.CAP_ROWS + 1, "pages": 10_000_000}
    act = needed(Known(), **much)
    assert act is not None
    assert "threshold 200,000,050" in act.reason


@pytest.mark.parametrize(
    "given",
    [
        {"relpersistence": "t"},
        {"schemaname": "repack"},
        {"reloptions": ["autovacuum_enabled=off"]},
        {"relkind": "p"},
    ],
)
def test_what_is_left_alone(given: dict[str, Any]) -> None:
    assert needed(**{**DUE, **given}) is None


def test_rights() -> None:
    maintained = Right(RELID, owned=False, maintained=True)
    assert maintained.allows("vacuum")
    # It could not drop what a rebuild may leave behind.
    assert not maintained.allows("reindex")
    assert Right(RELID, owned=True, maintained=True).allows("drop")
    assert not Right(RELID, owned=False, maintained=False).allows("analyze")


def test_a_table_rests_in_proportion_to_its_vacuum() -> None:
    long = replace(OLD, ended=NOW - 1000, took_s=100)
    assert needed(long, **DUE) is None
    assert needed(replace(long, ended=NOW - 2000), **DUE) is not None
    failed = replace(OLD, ended=NOW - 1000, took_s=1, failures=2)
    assert needed(failed, **DUE) is None
    act = needed(replace(failed, ended=NOW - 1200), **DUE)
    assert act is not None
    assert needs.SKIP_INDEXES in act.statement
    assert needs.rest_s(replace(failed, failures=1000)) == needs.MOST_REST_S


def test_standbys_keep_it_from_truncating() -> None:
    act = needed(has_standby=True, **DUE)
    assert act is not None
    assert "TRUNCATE FALSE" in act.statement
    before_14 = needed(version=130000, **DUE)
    assert before_14 is not None
    assert "PROCESS_TOAST" not in before_14.statement


def test_a_growing_table_is_vacuumed_by_its_unfrozen_part() -> None:
    grown = {
        **QUIET,
        "reltuples": 10e6,
        "pages": 100_000,
        "all_visible_pages": 95_000,
        "ins_since_vacuum": 200_000,
    }
    act = needed(Known(), **grown)
    assert act is not None
    assert "FREEZE" in act.statement
    assert "above 101,000 of its unfrozen part" in act.reason
    assert needed(Known(), **{**grown, "ins_since_vacuum": 100_000}) is None
    assert needed(Known(), **{**grown, "dead_tuples": 11_000}) is None
    assert needed(Known(), **{**grown, "pages": 10_000, "all_visible_pages": 9_500}) is None


def test_old_tables_are_frozen_ahead() -> None:
    static = Known(changed=5, changed_at=NOW - needs.QUIET_S)
    act = needed(static, **{**QUIET, "xid_age": 150_000_000})
    assert act is not None
    assert (act.kind, act.waits_for_window) == ("freeze", True)
    assert "(VERBOSE, SKIP_LOCKED, FREEZE," in act.statement
    changing = needed(replace(static, changed_at=NOW), **{**QUIET, "xid_age": 150_000_000})
    assert changing is not None
    assert "FREEZE" not in changing.statement
    assert ("vacuum_freeze_min_age", "4000000") in changing.settings
    assert needed(static, horizon=145_000_000, **{**QUIET, "xid_age": 150_000_000}) is None
    # Past the limit nothing is waited for, and no switch of the table's keeps it from that.
    off = ["autovacuum_enabled=off"]
    late = needed(static, **{**QUIET, "xid_age": 250_000_000, "reloptions": off})
    assert late is not None
    assert not late.waits_for_window


def test_an_old_temporary_table_holds_nothing_back() -> None:
    holders = (
        samples.holder(source="temporary", xid_age=900_000_000),
        samples.holder(xid_age=7),
    )
    assert needs.horizon(replace(samples.core_facts(), holders=holders)) == 7
    assert needs.horizon(samples.core_facts()) == 0


def test_freeze_cases_are_those_of_the_extension() -> None:
    text = (Path(__file__).parents[2] / "test" / "unit" / "freeze_cases.h").read_text()
    cases = [[int(x) for x in row.split(",")] for row in re.findall(r"FREEZE_CASE\((.*)\)", text)]
    assert len(cases) >= 15
    for relid, early, age, limit, least, due, min_age in cases:
        at = freezing.share(relid, bool(early))
        assert freezing.is_due(age, limit, least, at) == bool(due), (relid, early, age)
        assert freezing.min_age(limit) == min_age


def test_tables_without_statistics_are_analyzed() -> None:
    never = {**QUIET, "reltuples": -1.0, "live_tuples": 1000, "last_analyze": None}
    act = needed(**never)
    assert act is not None
    assert act.statement.startswith("ANALYZE (SKIP_LOCKED)")
    assert needed(**{**never, "reltuples": 1000.0}) is None
    changed = needed(**{**QUIET, "mod_since_analyze": 20_000})
    assert changed is not None
    assert changed.reason == "20,000 rows changed"


def test_partitioned_tables_are_analyzed() -> None:
    def found(parent: Parent, known: Known) -> list[Act]:
        moment = Moment(NOW, {7: known}, 0, False)
        return list(needs.parents(samples.core_facts(), (parent,), moment))

    parent = Parent(7, "public.p", 100_000, 500_000, is_analyzed=False)
    assert found(parent, Known())[0].statement == "ANALYZE (SKIP_LOCKED) public.p"
    analyzed = replace(parent, is_analyzed=True)
    assert found(analyzed, Known(analyzed_at=495_000)) == []
    assert len(found(analyzed, Known(analyzed_at=480_000))) == 1
    assert found(replace(parent, rows=0), Known()) == []
    assert needs.parent_after_look(parent, Known()).analyzed_at is None
    assert needs.parent_after_look(analyzed, Known()).analyzed_at == 500_000
    assert needs.parent_after_look(analyzed, Known(analyzed_at=9)).analyzed_at == 9


INDEX = replace(test_bloat.INDEX, pages=30_000)
PLENTY = Room(disk=1 << 40, databases=1 << 30)


def where(use: Use | None = None, room: Room = PLENTY) -> Place:
    uses = {} if use is None else {16390: use}
    return Place("db", NOW, BLOCK, room, uses)


def rebuilt(index: IndexFacts = INDEX, use: Use | None = None, **given: Any) -> Act | None:
    found = list(rebuilds.acts([index], where(use, **given)))
    return found[0] if found else None


def test_a_bloated_index_is_rebuilt() -> None:
    act = rebuilt()
    assert act is not None
    assert act.statement == "REINDEX INDEX CONCURRENTLY public.t_pkey"
    assert act.reason == "234 MB for about 21 MB of content"
    assert act.saves is not None
    assert act.cost is not None
    assert act.saves > act.cost
    assert act.waits_for_window


@pytest.mark.parametrize(
    "given",
    [
        {"pages": 3_800},  # 1.4 times its content, which the estimate may be off by
        {"is_valid": False},
        {"is_exclusion": True},
        {"is_catalog": True},
        {"built_by": 77},
        {"method": "brin"},
        {"table_rows": -1, "entries": -1},
        {"table_pages": 100_000_000},  # to read 800 GB for 200 MB does not pay
    ],
)
def test_an_index_that_is_not_rebuilt(given: dict[str, Any]) -> None:
    assert rebuilt(replace(INDEX, **given)) is None


def test_reads_that_it_saves_can_pay_for_it() -> None:
    large = replace(INDEX, table_pages=1_000_000)
    assert rebuilt(large) is None
    assert rebuilt(large, Use(reads_per_s=100)) is not None


def test_room_for_a_rebuild() -> None:
    content = 2745 * BLOCK
    assert rebuilt(room=Room(round(content * 2), 1 << 30)) is None
    assert rebuilt(room=Room(round(content * 2.5), 1 << 30)) is not None
    # Where the disk is not known, a gigabyte, or a hundredth of the databases.
    huge = replace(INDEX, pages=3_000_000, table_rows=1e8, entries=1e8, table_pages=1_000_000)
    assert rebuilt(huge, room=Room(None, 1 << 30)) is None
    assert rebuilt(huge, room=Room(None, 1 << 40)) is not None


def test_what_would_be_back_in_a_week_is_left() -> None:
    content = 2745 * BLOCK
    last = Rebuilt(NOW - 8 * DAY, content, content)

    def grown(pages: int) -> Use:
        return Use(sizes=((NOW - 8 * DAY, content), (NOW, pages * BLOCK)), rebuilt=last)

    assert rebuilt(use=grown(30_000)) is not None  # it took eight days
    soon = replace(grown(30_000), rebuilt=replace(last, ended=NOW - 6 * DAY))
    assert rebuilt(use=soon) is None
    fast = replace(grown(60_000), rebuilt=last)
    assert rebuilt(use=fast) is None


def test_each_try_that_comes_to_nothing_makes_the_next_one_rarer() -> None:
    assert rebuilt(use=Use(failures=1, failed=NOW - 3500)) is None
    assert rebuilt(use=Use(failures=1, failed=NOW - 3700)) is not None
    assert rebuilt(use=Use(failures=3, failed=NOW - 3 * 3600)) is None
    assert rebuilt(use=Use(failures=3, failed=NOW - 5 * 3600)) is not None
    assert rebuilt(use=Use(failures=10_000, failed=NOW - 6 * DAY)) is None
    assert rebuilt(use=Use(failures=10_000, failed=NOW - 8 * DAY)) is not None
    # Also where it was done long before.
    done = Rebuilt(NOW - 30 * DAY, 1000, 1000)
    assert rebuilt(use=Use(rebuilt=done, failures=1, failed=NOW - 60)) is None


def test_the_error_of_the_estimate_is_known_from_the_last_rebuild() -> None:
    # It came out twice as large as estimated, and so it will again.
    last = Rebuilt(NOW - 30 * DAY, 1000, 2000)
    assert rebuilds.content_of(500, Use(rebuilt=last)) == (1000, 1000)
    assert rebuilds.content_of(500, Use()) == (500, 700)
    assert rebuilt(replace(INDEX, pages=6_500), Use(rebuilt=last)) is None
    exact = replace(last, size=1000)
    assert rebuilt(replace(INDEX, pages=4_000), Use(rebuilt=exact)) is not None


TABLE = replace(test_bloat.TABLE, pages=60_000, index_pages=3_000)


def rewritten(table: HeapFacts = TABLE, use: Use | None = None, room: Room = PLENTY) -> Act | None:
    uses = {} if use is None else {table.relid: use}
    found = list(rebuilds.rewrites([table], Place("db", NOW, BLOCK, room, uses)))
    return found[0] if found else None


def test_a_bloated_table_is_rewritten_with_its_indexes() -> None:
    act = rewritten()
    assert act is not None
    assert act.statement == "REPACK (CONCURRENTLY) public.t"
    assert (act.kind, act.relid, act.table_relid) == ("repack", 16384, 16384)
    assert act.content is not None
    # It reads the table, and writes table and indexes, and that in WAL.
    assert act.cost == (60_000 + 2 * 3_000) * BLOCK + 2 * act.content
    assert act.waits_for_window
    takes = act.content + 3_000 * BLOCK
    assert rewritten(room=Room(round(takes * 2), 1 << 30)) is None
    assert rewritten(room=Room(round(takes * 2.5), 1 << 30)) is not None


@pytest.mark.parametrize(
    "given",
    [
        {"pages": 9_000},
        {"is_keyed": False},
        {"is_catalog": True},
        {"schemaname": "repack"},
        {"table_rows": -1},
        {"index_pages": 10_000_000},  # to build 80 GB of indexes for 400 MB does not pay
    ],
)
def test_a_table_that_is_not_rewritten(given: dict[str, Any]) -> None:
    assert rewritten(replace(TABLE, **given)) is None


def test_a_table_is_not_rewritten_twice_in_a_week() -> None:
    last = Rebuilt(NOW - 6 * DAY, 1000, 1000)
    assert rewritten(use=Use(rebuilt=last)) is None
    assert rewritten(use=Use(rebuilt=replace(last, ended=NOW - 8 * DAY))) is not None


def test_leftovers() -> None:
    left = Leftover(5, 16384, "public", "t_pkey_ccnew", "public.t_pkey_ccnew", held=False)

    def dropped(one: Leftover, own: Sequence[int] = (), seen: float = NOW) -> int:
        return len(list(rebuilds.drops([one], "db", frozenset(own), {5: seen}, NOW)))

    assert dropped(left) == 0
    assert dropped(left, own=[16384]) == 1
    assert dropped(left, seen=NOW - rebuilds.FOREIGN_S) == 1
    assert dropped(replace(left, held=True), own=[16384]) == 0


def test_pace() -> None:
    settings = dict(pace.settings(20))
    per_s = int(settings["vacuum_cost_limit"]) / (pace.DELAY_MS / 1000)
    assert per_s / pace.PAGE / pace.PAGES_PER_MB == pytest.approx(20, rel=0.02)
    assert dict(pace.settings(0.001))["vacuum_cost_limit"] == "1"
    assert dict(pace.settings(1e9))["vacuum_cost_limit"] == "10000"
    assert pace.corrected(1, 20, 12_800, 10) == 2  # 10 MB/s where 20 were meant
    assert pace.corrected(1, 20, 10, 10) == 1
    assert pace.corrected(1, 20, 1_280_000, 10) == pace.FACTORS[0]


def test_who_waits_gets_the_lock() -> None:
    waits = hands.Waits()
    assert waits.reason(hands.Watch((5,), ""), 0.0) == ""
    assert waits.reason(hands.Watch((6,), ""), 0.2) == ""  # another one
    assert waits.reason(hands.Watch((6,), ""), 0.4) == ""
    assert waits.reason(hands.Watch((6,), ""), 0.5) == "process 6 waited for it"
    own = hands.Waits()
    assert own.reason(hands.Watch((), "relation"), 0.0) == ""
    assert own.reason(hands.Watch((), "transaction"), 0.9) == ""
    assert own.reason(hands.Watch((), "transaction"), 2.0) == ""
    assert "open for too long" in own.reason(hands.Watch((), "transaction"), 301.0)
    own = hands.Waits()
    own.reason(hands.Watch((), "relation"), 0.0)
    assert "lock on its table" in own.reason(hands.Watch((), "relation"), 1.0)


def test_who_falls_behind_meanwhile_is_given_way_to() -> None:
    gigabyte = 1 << 30
    followers = hands.Followers()
    assert followers.reason({1: 5 * gigabyte, 2: 0}) == ""
    assert followers.reason({1: 6 * gigabyte, 2: 0}) == ""
    # One that was away for a while has another process.
    assert followers.reason({2: gigabyte, 3: 9 * gigabyte}) == ""
    assert followers.reason({2: gigabyte + 1, 3: 9 * gigabyte}) == "a standby is 1024 MB behind"
    assert hands.Lag({1: 3, 2: 7}, 5).most == 7
    assert hands.Lag({}).most == 0


def test_window() -> None:
    night = Rules(window=(22 * 60, 5 * 60 + 30))
    assert night.is_open(datetime(2026, 1, 1, 23))  # noqa: DTZ001
    assert night.is_open(datetime(2026, 1, 1, 5, 29))  # noqa: DTZ001
    assert not night.is_open(datetime(2026, 1, 1, 5, 30))  # noqa: DTZ001
    assert Rules(window=(0, 60)).is_open(datetime(2026, 1, 1, 0, 59))  # noqa: DTZ001
    assert not Rules(window=(0, 60)).is_open(datetime(2026, 1, 1, 1))  # noqa: DTZ001
    assert Rules().is_open(datetime(2026, 1, 1))  # noqa: DTZ001


ACT = Act("reindex", "db", 16390, 16384, "public.t_pkey", "REINDEX …", "why", 5.0, size=100)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "below" / "agent.db")


def test_acts_are_remembered(store: Store) -> None:
    number = store.begin("s", ACT, NOW)
    store.runs_as(number, 4711)
    assert [(one.id, one.pid) for one in store.unfinished("s")] == [(number, 4711)]
    assert store.unfinished("another") == []
    store.end(number, Outcome(LOST, "gone"), NOW + 5)
    assert store.unfinished("s") == []
    assert store.own_tables("s", "db", NOW - 10) == {16384}
    assert store.would("s", replace(ACT, relid=1), NOW, 100)
    assert not store.would("s", replace(ACT, relid=1), NOW + 50, 100)
    assert store.would("s", replace(ACT, relid=1), NOW + 150, 100)
    assert [one.outcome for one in store.history()] == ["would", "would", "lost"]
    assert len(store.history(acts_only=True)) == 1
    done = store.begin("s", ACT, NOW + 20)
    store.end(done, Outcome(DONE, size=40), NOW + 30)
    assert [row.given_back for row in store.sums(NOW + 15) if row.outcome == DONE] == [60]


def test_sizes_follow_an_index_that_is_rebuilt(store: Store) -> None:
    store.measure("s", "db", [Size(16390, 1000, 100, 0)], NOW - 7200)
    store.measure("s", "db", [Size(16390, 2000, 100, 7200)], NOW)
    assert store.measured("s", "db", NOW)
    assert not store.measured("s", "db", NOW + 3600)
    assert store.uses("s", "db")[16390].reads_per_s == 1.0
    number = store.begin("s", replace(ACT, content=90), NOW)
    store.moved("s", "db", 16390, 20000)
    store.end(number, Outcome(DONE, size=100), NOW + 60)
    use = store.uses("s", "db")[20000]
    assert [size for _, size in use.sizes] == [1000, 2000]
    assert use.rebuilt == Rebuilt(NOW + 60, 90, 100)
    # A try that failed later does not hide it, and counts until one is done.
    for at in (100, 200):
        later = store.begin("s", replace(ACT, relid=20000), NOW + at)
        store.end(later, Outcome(FAILED), NOW + at + 1)
    found = store.uses("s", "db")[20000]
    assert found.rebuilt == use.rebuilt
    assert (found.failures, found.failed) == (2, NOW + 201)
    again = store.begin("s", replace(ACT, relid=20000), NOW + 300)
    store.end(again, Outcome(DONE, size=100), NOW + 301)
    assert store.uses("s", "db")[20000].failures == 0


def test_how_a_relation_has_grown_is_drawn_with_its_rebuilds(store: Store) -> None:
    mb = 1 << 20
    for hours, size, content in ((3, 40, None), (2, 80, 20), (1, 20, 20)):
        measured = [Size(16390, size * mb, content and content * mb, 0), Size(7, 1, 1, 0)]
        store.measure("s", "db", measured, NOW - hours * 3600)
    assert growth_plots.charts(store.grown(4)) == []
    number = store.begin("s", ACT, NOW - 2 * 3600)
    store.end(number, Outcome(DONE, size=20 * mb), NOW - 5000)
    store.would("s", replace(ACT, relid=8, kind="repack"), NOW, 100)  # without sizes
    (chart,) = growth_plots.charts(store.grown(4))
    assert chart.title == f"{ACT.name} in db"
    assert [one.values for one in chart.series] == [(40, 80, 20, 20), (None, 20, 20, 20)]
    assert [at.timestamp() for at in chart.marks] == [NOW - 5000]
    assert chart.description.startswith("20 MB, about 20 MB of it content, last built anew ")


def test_old_acts_and_sizes_are_forgotten(store: Store) -> None:
    number = store.begin("s", ACT, NOW)
    store.end(number, Outcome(DONE), NOW)
    store.measure("s", "db", [Size(16390, 1000, 100, 0)], NOW)
    store.forget(NOW + 91 * DAY)
    assert store.history() == []
    assert store.uses("s", "db") == {}


def test_rebuilds_are_remembered_however_much_else_is_done(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgsweep.agent.store.MOST_ACTS", 10)
    for kind in ("reindex", *["vacuum"] * 20):
        store.end(store.begin("s", replace(ACT, kind=kind), NOW), Outcome(DONE), NOW)
    store.forget(NOW)
    kinds = [row.kind for row in store.history()]
    assert kinds == ["vacuum"] * 10 + ["reindex"]


def test_what_a_relation_is_read_and_has_grown(store: Store) -> None:
    hours = [(1000, 0), (1500, 7200), (1200, 100), (2000, 3700)]
    for hour, (size, reads) in enumerate(hours):
        store.measure("s", "db", [Size(16390, size, 400, reads)], NOW + hour * HOUR_S)
    use = store.uses("s", "db")[16390]
    assert [size for _, size in use.sizes] == [1000, 2000]
    # The counter was set back once, and that hour says nothing.
    assert use.reads_per_s == (7200 + 3600) / (2 * HOUR_S)
    assert [one.bytes for one in store.bloat()] == [1600]
    assert store.measured("s", "db", NOW + 3 * HOUR_S)
    assert not store.measured("s", "db", NOW + 4 * HOUR_S)


def test_an_older_file_gets_what_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    old = Store(file)
    old.begin("s", ACT, NOW)
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TABLE hours")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    old.close()
    new = Store(file)
    assert new.bloat() == []
    assert len(new.history()) == 1
    new.close()


def test_tables_leftovers_and_pauses(store: Store) -> None:
    known = Known(NOW, NOW, 5, NOW, 4, 3, NOW, 1.5, 2)
    store.remember("s", "db", {7: known}, NOW)
    assert store.known("s", "db") == {7: known}
    assert store.first_seen("s", "db", [5], NOW) == {5: NOW}
    assert store.first_seen("s", "db", [5, 6], NOW + 9) == {5: NOW, 6: NOW + 9}
    assert store.first_seen("s", "db", [6], NOW + 10) == {6: NOW + 9}
    assert store.first_seen("s", "db", [5], NOW + 11) == {5: NOW + 11}
    store.pause(NOW + 10)
    assert store.paused_until(NOW) == NOW + 10
    assert store.paused_until(NOW + 11) is None
    store.pause(None)
    assert store.paused_until(NOW) is None


def test_a_file_that_is_none_of_ours(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no state of an agent"):
        Store(tmp_path / "absent.db", write=False)
    other = tmp_path / "other.db"
    other.write_text("this is no database, and stays as it is" * 30)
    with pytest.raises(UsageError, match="cannot use the state file"):
        Store(other)
    newer = tmp_path / "newer.db"
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UsageError, match="version 99"):
        Store(newer)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--without", "everything"], "is no act"),
        (["--window", "22-5"], "is no window"),
        (["--window", "22:00-22:00"], "never opens"),
        (["--log-level", "loud"], "is no level of the log"),
        (["--disk-size", "5"], "is no size"),
        (["--disk-size", "xGB"], "is no size"),
        (["--act", "status"], "options stand before status"),
    ],
)
def test_what_cannot_be_meant(pgsweep: Pgsweep, arguments: list[str], said: str) -> None:
    result = pgsweep("agent", *arguments)
    assert result.code == 2
    assert said in result.err


def test_commands_below_it(pgsweep: Pgsweep, tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    store = Store(file)
    number = store.begin("s", ACT, NOW)
    store.end(number, Outcome(DONE, size=40), NOW + 1)
    store.visited("s", "db1:5432", NOW)
    store.visited("t", "db2:5432", NOW, "it is a standby")
    store.close()
    state = ("--state", str(file))
    shown = pgsweep("agent", "history", *state)
    assert "public.t_pkey" in shown.out
    assert "why; now 40 B" in shown.out
    assert pgsweep("agent", "history", "--json", *state).json()[0]["statement"] == "REINDEX …"
    status = pgsweep("agent", "status", *state)
    assert status.code == 1
    assert "db2:5432: it is a standby" in status.out
    assert len(pgsweep("agent", "status", "--json", *state).json()["servers"]) == 2
    assert "No act begins until" in pgsweep("agent", "pause", "2", *state).out
    assert "No act begins until" in pgsweep("agent", "status", *state).out
    assert "acts again" in pgsweep("agent", "resume", *state).out


def test_servers_that_change_places(store: Store) -> None:
    store.visited("1", "a", NOW)
    store.visited("b", "b", NOW)
    # b takes over, and a comes back as a standby.
    store.visited("1", "b", NOW + 60)
    store.visited("a", "a", NOW + 60)
    assert [(one.server, one.name) for one in store.servers()] == [("a", "a"), ("1", "b")]
    store.visited("1", "b", NOW + 90, "connection refused")
    (_, lost) = store.servers()
    assert (lost.looked, lost.problem) == (NOW + 60, "connection refused")
    store.forget(NOW + 2 * DAY)
    assert store.servers() == []


def test_password_command(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = tmp_path / "token"
    script.write_text(f'#!/bin/sh\necho x >> {count}\necho "secret $1"\n')
    script.chmod(0o700)
    now = [0.0]
    password = PasswordCommand(f"{script} 'a b'", lambda: now[0])
    assert password() == password() == "secret a b"
    now[0] = 301.0
    assert password() == "secret a b"
    assert count.read_text() == "x\nx\n"
    with pytest.raises(CannotConnectError, match="password command failed"):
        PasswordCommand("false")()
    with pytest.raises(CannotConnectError, match="No such file"):
        PasswordCommand(str(tmp_path / "absent"))()


def test_what_gives_way_has_not_failed(store: Store) -> None:
    stop = threading.Event()
    agent = Agent(Target(), store, Rules(), stop, clock=lambda: NOW)
    agent.server = "s"
    act = replace(ACT, kind="vacuum", relid=7)
    for outcome, failures in ((FAILED, 1), (FAILED, 2), ("gave way", 2), (LOST, 2), (DONE, 0)):
        agent.remember_end(act, outcome, 3.0)
        known = store.known("s", "db")[7]
        assert (known.failures, known.took_s, known.ended) == (failures, 3.0, NOW)


def test_what_nobody_expects_does_not_end_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Agent(Target(), store, Rules(), threading.Event(), "db1", clock=lambda: NOW)

    def step() -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(agent, "step", step)
    assert not agent.attempt()
    (server,) = store.servers()
    assert server.problem == "OperationalError: database or disk is full"


def test_what_cannot_be_entered_is_tried_less_and_less_often(store: Store) -> None:
    now, asked = [NOW], []

    class Home:
        def beside(self, _dbname: str) -> None:
            asked.append(now[0])
            raise error

        def is_lost(self) -> bool:
            return False

    agent = Agent(Target(), store, Rules(), threading.Event(), "db1", clock=lambda: now[0])
    error: DatabaseError
    for error, gaps in (
        (CannotConnectError("refused"), [60, 120, 240, 480, 600, 600]),
        (QueryError("too slow"), [60] * 6),
    ):
        asked.clear()
        now[0] += DAY
        while len(asked) <= len(gaps):
            found = agent.look(Home(), str(error), {"standbys": 0, "daemon_acts": 0})  # type: ignore[arg-type]
            assert found == []
            now[0] += 60
        assert [after - before for before, after in itertools.pairwise(asked)] == gaps


@pytest.mark.parametrize(
    ("version", "trusted"), [(130022, True), (140003, False), (140004, True), (150000, True)]
)
def test_reindex_is_not_trusted_where_it_is_broken(version: int, trusted: bool) -> None:
    assert rebuilds.may_reindex(version) is trusted


def test_a_server_that_is_not_there_is_tried_again(store: Store, tmp_path: Path) -> None:
    stop = threading.Event()
    target = Target(dbname="x", host=str(tmp_path), port="1", user="u", never_ask=True)
    agent = Agent(target, store, Rules(every_s=0.01), stop, "db1")
    thread = threading.Thread(target=agent.run)
    thread.start()
    try:
        until(lambda: [one.problem for one in store.servers() if "No such file" in one.problem])
    finally:
        stop.set()
        thread.join()
