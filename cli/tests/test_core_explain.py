"""Why a table is not vacuumed, from core's views: causes, and what holds the horizon."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import samples
from pgsweep.findings.core.explain import explain, explain_worst
from pgsweep.findings.core.overview import overview
from pgsweep.model import Cause
from pgsweep.model.compute import described
from pgsweep.model.core_facts import XidRate
from pgsweep.model.core_rates import when, xid_rate
from pgsweep.output.terminal import answers
from pgsweep.source.core.blockers import affects, blockers, identifier, literal

DUE = samples.relation(dead_tuples=30_000)


def causes(*relations: Any, settings: dict[str, str] | None = None, **given: Any) -> list[Cause]:
    facts = samples.core_facts(*relations, **given)
    return list(explain(replace(facts, settings={**facts.settings, **(settings or {})})))


def test_below_threshold() -> None:
    (cause,) = causes(samples.relation(dead_tuples=10_000))
    assert (cause.verdict, cause.cause) == ("not due", "below threshold")
    assert cause.evidence is not None
    assert "dead rows 10,000, 50 % of the threshold 20,050" in cause.evidence
    # 10,000 rows died in the ten minutes since the last vacuum. The other 10,050 die at the same
    # rate.
    assert "due by dead rows on 2026-09-22" in cause.evidence
    assert "(in 10 min)" in cause.evidence
    assert cause.fix == "VACUUM public.t;"


def test_below_threshold_measured() -> None:
    before = samples.relation(dead_tuples=9_900, ins_since_vacuum=0)
    (cause,) = causes(
        samples.relation(dead_tuples=10_000),
        earlier={before.relid: before},
        earlier_at=samples.NOW - timedelta(seconds=1),
    )
    # It gets 100 a second, and 10,050 are missing.
    assert cause.evidence is not None
    assert "(in 100 s)" in cause.evidence


def test_below_threshold_and_nothing_happens() -> None:
    (cause,) = causes(samples.relation(), settings={"autovacuum_vacuum_insert_threshold": "-1"})
    assert cause.evidence is not None
    assert "due by" not in cause.evidence
    assert "vacuum for inserts is switched off" in cause.evidence


@pytest.mark.parametrize(
    ("given", "settings", "cause", "fix"),
    [
        (
            {"reloptions": ["autovacuum_enabled=false"]},
            {},
            "autovacuum_enabled is off for this table",
            "ALTER TABLE public.t RESET (autovacuum_enabled);",
        ),
        (
            {"relkind": "t", "main_sql_name": "s.m", "reloptions": ["autovacuum_enabled=false"]},
            {},
            "autovacuum_enabled is off for this table",
            "ALTER TABLE s.m RESET (toast.autovacuum_enabled);",
        ),
        (
            {
                "relkind": "t",
                "main_sql_name": "s.m",
                "main_reloptions": ["autovacuum_enabled=false"],
            },
            {},
            "autovacuum_enabled is off for its main table",
            "ALTER TABLE s.m RESET (autovacuum_enabled);",
        ),
        ({}, {"autovacuum": "off"}, "autovacuum is off", "ALTER SYSTEM SET autovacuum = on;"),
        ({}, {"track_counts": "off"}, "track_counts is off", "ALTER SYSTEM SET track_counts = on"),
    ],
)
def test_disabled(given: dict[str, Any], settings: dict[str, str], cause: str, fix: str) -> None:
    (found,) = causes(replace(DUE, **given), settings=settings)
    assert found.cause == cause
    assert found.fix is not None
    assert fix in found.fix
    assert found.risk


def test_disabled_and_not_due_is_milder() -> None:
    off = ["autovacuum_enabled=false"]
    facts = samples.core_facts(samples.relation(reloptions=off))
    assert explain(facts)[0].verdict == "not due, and would not be vacuumed"
    assert explain_worst(facts) == ()


def test_all_workers_are_busy() -> None:
    workers = tuple(samples.worker(pid=5000 + i) for i in range(3))
    (cause,) = causes(DUE, vacuums=workers)
    assert cause.cause == "all 3 autovacuum workers are busy"
    assert cause.evidence is not None
    assert "5002 in bench: autovacuum: VACUUM public.huge for 3 h" in cause.evidence
    assert cause.fix is not None
    assert "needs a restart" in cause.fix
    (waits,) = causes(DUE, vacuums=workers[:2])
    assert waits.cause == "waiting for the next autovacuum worker in this database"


def test_workers_without_a_restart() -> None:
    workers = tuple(samples.worker(pid=5000 + i) for i in range(3))
    (cause,) = causes(DUE, vacuums=workers, version_num=180001)
    assert cause.fix is not None
    assert "restart" not in cause.fix


@pytest.mark.parametrize(
    ("given", "cause", "fix"),
    [
        ({}, "locked by process 4711", "SELECT pg_cancel_backend(4711);"),
        (
            {"state": "idle in transaction"},
            "locked by process 4711",
            "SELECT pg_terminate_backend(4711);",
        ),
        (
            {"pid": None, "gid": "it's"},
            'locked by prepared transaction "it\'s"',
            "ROLLBACK PREPARED 'it''s';",
        ),
        (
            {"pid": None, "gid": "citus_0_1"},
            'locked by prepared transaction "citus_0_1"',
            "SELECT recover_prepared_transactions();",
        ),
    ],
)
def test_locked(given: dict[str, Any], cause: str, fix: str) -> None:
    (found,) = causes(DUE, locks=(samples.lock(**given),))
    assert found.cause == cause
    assert found.fix is not None
    assert found.fix.startswith(fix)
    assert found.risk


def test_a_lock_on_a_table_that_is_not_due_is_no_news() -> None:
    (cause,) = causes(samples.relation(), locks=(samples.lock(),))
    assert cause.cause == "below threshold"


def test_being_vacuumed() -> None:
    (cause,) = causes(DUE, vacuums=(samples.worker(relid=DUE.relid),))
    assert (cause.verdict, cause.fix) == ("being vacuumed", "")


def test_statistics_missing() -> None:
    unknown = samples.relation(live_tuples=0, changed=0, last_vacuum=None)
    (cause,) = causes(unknown)
    assert cause.cause == "statistics are missing or were reset"
    assert cause.evidence is not None
    assert "1,000 pages and not one row counted" in cause.evidence
    reset = samples.database_age(stats_reset=samples.NOW - timedelta(minutes=3))
    (cause,) = causes(unknown, databases=(reset,))
    assert cause.evidence is not None
    assert "were reset 3 min ago" in cause.evidence


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"relkind": "f"}, "foreign table"),
        ({"relkind": "v"}, "view"),
        ({"relkind": "p"}, "partitioned table"),
        ({"relpersistence": "t"}, "temporary table"),
    ],
)
def test_never_vacuumed(given: dict[str, Any], cause: str) -> None:
    (found,) = causes(replace(DUE, **given))
    assert found.cause == cause
    assert found.verdict is not None
    assert found.verdict.startswith("never vacuumed")


@pytest.mark.parametrize(
    ("age", "verdict"),
    [
        (160_000_001, "a forced vacuum is near"),
        (200_000_001, "forced vacuum is due"),
        (300_000_000, "forced vacuum does not get through"),
        (1_700_000_000, "in danger of wraparound"),
    ],
)
def test_wraparound(age: int, verdict: str) -> None:
    found = causes(samples.relation(xid_age=age), xid_rate=XidRate(1000.0, "measured for 5 s"))
    cause = found[0]
    assert (cause.verdict, cause.cause) == (verdict, "wraparound ahead")
    assert cause.evidence is not None
    assert ". At 1,000 transactions/s (measured for 5 s)" in cause.evidence
    assert "the server would stop writing on 20" in cause.evidence
    assert ("a vacuum is forced on" in cause.evidence) == (age <= 200_000_000)


def test_wraparound_without_a_rate() -> None:
    found = causes(samples.relation(xid_age=200_000_001))
    assert found[0].evidence is not None
    assert f"stops writing in {2**31 - 3_000_000 - 200_000_001:,} transactions" in found[0].evidence


def test_multixacts_wrap_around_as_well() -> None:
    found = causes(samples.relation(mxid_age=400_000_001))
    assert found[0].evidence is not None
    assert "100 % of autovacuum_multixact_freeze_max_age" in found[0].evidence


def test_no_wraparound_below_four_fifths() -> None:
    (cause,) = causes(samples.relation(xid_age=160_000_000))
    assert cause.cause == "below threshold"


# -- the horizon ----------------------------------------------------------------

HOLDERS: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        {},
        "idle in transaction",
        "a session idle in transaction, process 4712",
        "SELECT pg_terminate_backend(4712);",
        "uncommitted work is rolled back",
    ),
    (
        {"state": "active"},
        "transaction",
        "an open transaction of process 4712",
        "SELECT pg_cancel_backend(4712);",
        "statement fails",
    ),
    (
        {"source": "prepared", "pid": None, "name": "tx'1", "state": None, "backend_type": None},
        "prepared transaction",
        'prepared transaction "tx\'1"',
        "ROLLBACK PREPARED 'tx''1';",
        "lost for good",
    ),
    (
        {"source": "prepared", "pid": None, "name": "citus_0_7_1_0", "backend_type": None},
        "prepared transaction",
        'prepared transaction "citus_0_7_1_0"',
        "SELECT recover_prepared_transactions();",
        "Citus decides",
    ),
    (
        {"source": "slot", "slot_type": "physical", "pid": None, "name": "s", "datname": None},
        "physical slot",
        'physical slot "s"',
        "SELECT pg_drop_replication_slot('s');",
        "built anew",
    ),
    (
        {
            "source": "slot",
            "slot_type": "physical",
            "pid": 7,
            "name": "s",
            "datname": None,
            "active": True,
        },
        "standby feedback",
        'feedback of standby "s"',
        "ALTER SYSTEM SET hot_standby_feedback = off;",
        "cancels queries on the standby",
    ),
    (
        {
            "source": "slot",
            "slot_type": "logical",
            "pid": None,
            "name": "l",
            "xid_age": None,
            "catalog_xid_age": 200_000,
        },
        "logical slot",
        'logical slot "l"',
        "SELECT pg_drop_replication_slot('l');",
        "loses every change",
    ),
    (
        {"source": "standby", "name": "replica", "datname": None, "state": "streaming"},
        "standby feedback",
        'feedback of standby "replica"',
        "ALTER SYSTEM SET hot_standby_feedback = off;",
        "cancels queries on the standby",
    ),
    (
        {"state": "active", "doing": "create index"},
        "create index",
        "CREATE INDEX, process 4712",
        "SELECT pg_cancel_backend(4712);",
        "DROP INDEX CONCURRENTLY",
    ),
    (
        {"state": "active", "doing": "rewrite"},
        "vacuum",
        "ANALYZE or a rewriting VACUUM, process 4712",
        "SELECT pg_cancel_backend(4712);",
        "lost",
    ),
    (
        {"backend_type": "walsender", "state": "active", "datname": None},
        "other",
        "process 4712",
        "SELECT pg_terminate_backend(4712);",
        "begin again",
    ),
]


def test_a_setting_can_hold_the_horizon() -> None:
    setting = samples.holder(
        source="setting", pid=None, datname=None, name="vacuum_defer_cleanup_age", since=None
    )
    (blocker,) = blockers((setting,), "bench")
    assert (blocker.kind, described(blocker, "bench")) == ("other", "vacuum_defer_cleanup_age")
    assert str(blocker.fix).startswith("ALTER SYSTEM RESET vacuum_defer_cleanup_age;")
    assert affects(blocker, "bench", is_shared=False, is_catalog=False)


@pytest.mark.parametrize(("given", "kind", "words", "fix", "risk"), HOLDERS)
def test_horizon(given: dict[str, Any], kind: str, words: str, fix: str, risk: str) -> None:
    holder = samples.holder(**given)
    (blocker,) = blockers((holder,), "bench")
    assert blocker.kind == kind
    assert described(blocker, "bench") == words
    assert blocker.fix is not None
    assert blocker.fix.startswith(fix)
    assert blocker.risk is not None
    assert risk in blocker.risk
    # It was there before the last vacuum, which left dead rows. So it is the reason.
    table = replace(DUE, is_catalog=kind == "logical slot")
    found = causes(table, holders=(holder,))
    assert found[0].cause == f"horizon held by {words}"
    assert found[0].verdict == "vacuumed, but its dead rows cannot be removed"
    assert found[0].fix == blocker.fix
    assert found[0].evidence is not None
    assert "30,000 dead rows after the vacuum 10 min ago" in found[0].evidence


def test_a_logical_slot_withholds_catalogs_only() -> None:
    (blocker,) = blockers(
        (
            samples.holder(
                source="slot", slot_type="logical", xid_age=None, catalog_xid_age=9, name="l"
            ),
        ),
        "bench",
    )
    assert blocker.age == 9
    assert affects(blocker, "bench", is_shared=False, is_catalog=True)
    assert affects(blocker, "other", is_shared=True, is_catalog=True)
    assert not affects(blocker, "bench", is_shared=False, is_catalog=False)


def test_another_database_withholds_shared_catalogs_only() -> None:
    holder = samples.holder(datname="shop")
    (blocker,) = blockers((holder,), "bench")
    assert not affects(blocker, "bench", is_shared=False, is_catalog=True)
    assert affects(blocker, "bench", is_shared=True, is_catalog=True)
    shared = replace(DUE, is_shared=True, is_catalog=True)
    found = causes(shared, holders=(holder,))
    assert found[0].cause == (
        'horizon held by a session idle in transaction, process 4712 in database "shop"'
    )
    (other,) = causes(DUE, holders=(holder,))
    assert "horizon" not in str(other.cause)


def test_a_young_holder_is_no_cause() -> None:
    young = samples.holder(since=samples.NOW - timedelta(seconds=5), xid_age=10)
    (cause,) = causes(DUE, holders=(young,))
    assert "horizon" not in str(cause.cause)
    # It is as young as now, and so it does not even count as a holder.
    assert blockers((samples.holder(xid_age=0),), "bench") == ()


def test_a_holder_that_no_vacuum_has_met_yet() -> None:
    holder = samples.holder(since=samples.NOW - timedelta(minutes=8))
    found = causes(DUE, holders=(holder,))
    assert [row.verdict for row in found] == [
        "a vacuum could not remove what died lately",
        "due",
    ]


def test_a_holder_keeps_from_freezing() -> None:
    old = samples.relation(xid_age=250_000_000)
    found = causes(old, holders=(samples.holder(xid_age=240_000_000),))
    assert [row.verdict for row in found[:2]] == [
        "vacuumed, but it cannot be frozen",
        "forced vacuum is due",
    ]


def test_a_slots_age_tells_since_when_it_holds() -> None:
    slot = samples.holder(source="slot", slot_type="physical", name="s", since=None, xid_age=900)
    assert "horizon" not in str(causes(DUE, holders=(slot,))[0].cause)
    # 900 transactions are 15 minutes. The last vacuum was 10 minutes ago.
    found = causes(DUE, holders=(slot,), xid_rate=XidRate(1.0, "measured"))
    assert found[0].cause == 'horizon held by physical slot "s"'
    # Now the same 900 are a second. So the holder cannot have been in that vacuum's way.
    found = causes(DUE, holders=(slot,), xid_rate=XidRate(900.0, "measured"))
    assert "horizon" not in str(found[0].cause)


def test_other_holders_as_old_are_counted() -> None:
    holders = (samples.holder(pid=1), samples.holder(pid=2), samples.holder(pid=3, xid_age=9))
    found = causes(DUE, holders=holders)
    assert found[0].evidence is not None
    assert found[0].evidence.endswith(". 1 other is nearly as old, see pgsweep blockers")


def test_holders_are_ordered_by_age() -> None:
    found = blockers(
        (
            samples.holder(pid=1, xid_age=5),
            samples.holder(pid=2, xid_age=50),
            samples.holder(pid=3, xid_age=50, since=samples.NOW - timedelta(days=1)),
        ),
        "bench",
    )
    assert [row.pid for row in found] == [3, 2, 1]


OWNER = {"source": "prepared", "pid": None, "name": "gid", "state": None, "xmin": 750, "xid": 750}
# It began this second, with a snapshot from when 750 was running.
BORN_LATER = {"doing": "create index", "state": "active", "since": samples.NOW, "xmin": 750}


def test_who_inherited_an_xmin_is_not_blamed() -> None:
    owner = samples.holder(**OWNER, backend_type=None, since=samples.NOW - timedelta(minutes=1))
    heirs = (samples.holder(**BORN_LATER), samples.holder(pid=2, xmin=750))
    (found,) = blockers((*heirs, owner), "bench")
    assert (found.kind, found.name) == ("prepared transaction", "gid")
    (cause, *_) = causes(DUE, holders=(*heirs, owner))
    assert cause.cause == 'horizon held by prepared transaction "gid"'
    assert "nearly as old" not in (cause.evidence or "")
    # Once 750 has ended, each of the snapshots holds the rows for itself.
    assert len(blockers(heirs, "bench")) == 2
    # This transaction has an xid of its own.
    writer = samples.holder(pid=3, xmin=750, xid=750)
    assert [row.pid for row in blockers((*heirs, writer), "bench")] == [3]


def test_a_slot_in_use_passes_a_transaction_on() -> None:
    slot = samples.holder(
        source="slot", slot_type="physical", active=True, name="s1", xmin=750, datname=None
    )
    elsewhere = samples.holder(pid=3, xmin=750, xid=750, datname="other")
    (found,) = blockers((slot, elsewhere), "bench")
    assert (found.pid, found.withholds) == (3, "dead rows of all tables of all databases")
    assert affects(found, "bench", is_shared=False, is_catalog=False)
    # Nobody uses it, so what it holds it holds for itself.
    idle = samples.holder(
        source="slot", slot_type="physical", active=False, name="s1", xmin=750, datname=None
    )
    assert len(blockers((idle, elsewhere), "bench")) == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"autovacuum_vacuum_cost_limit": "2000"},
        {"autovacuum_vacuum_cost_delay": "0"},
        {"autovacuum_vacuum_cost_delay": "-1", "vacuum_cost_delay": "0"},
        {"autovacuum_vacuum_cost_limit": "-1", "vacuum_cost_limit": "10000"},
    ],
)
def test_a_cost_limit_that_is_high_already_is_not_proposed(settings: dict[str, str]) -> None:
    workers = tuple(samples.worker(pid=5000 + i) for i in range(3))
    (cause,) = causes(DUE, vacuums=workers, settings=settings)
    assert str(cause.fix).startswith("ALTER SYSTEM SET autovacuum_max_workers = 6;")
    assert "restart" in str(cause.fix)


def test_what_is_being_done_is_not_proposed() -> None:
    old = samples.relation(xid_age=250_000_000)
    vacuum = samples.worker(relid=old.relid, datname="bench")
    found = causes(old, vacuums=(vacuum,))
    assert found[0].cause == "wraparound ahead"
    assert [row.fix for row in found] == ["", ""]


def test_a_quiet_table_needs_nothing() -> None:
    (cause,) = causes(samples.relation(dead_tuples=0, ins_since_vacuum=0))
    assert (cause.cause, cause.fix, cause.risk) == ("below threshold", "", "")


def test_on_a_standby() -> None:
    facts = samples.core_facts(DUE, server=samples.server(in_recovery=True))
    assert [row.cause for row in explain(facts)] == ["standby"]


# -- the worst of all ------------------------------------------------------------


def test_a_toast_table_is_mentioned_only_when_there_is_something_to_say() -> None:
    toast = samples.relation(
        relid=2, relkind="t", relname="pg_toast_1", main_schemaname="public", main_relname="t"
    )
    assert [row.relation for row in causes(DUE, toast)] == ["public.t"]
    assert [row.relation for row in causes(toast)] == ["public.pg_toast_1 (TOAST of public.t)"]
    dead = replace(toast, dead_tuples=90_000)
    assert len(causes(DUE, dead)) == 2


def test_of_holders_as_old_the_one_that_was_there_is_blamed() -> None:
    early = samples.holder(pid=1)
    late = samples.holder(pid=2, since=samples.NOW, xid_age=123_457)
    found = causes(DUE, holders=(late, early))
    assert str(found[0].cause).endswith("process 1")


def test_missing_statistics_are_told_once() -> None:
    unknown = {"live_tuples": 0, "changed": 0, "last_vacuum": None}
    tables = [samples.relation(relid=i, relname=f"t{i}", **unknown) for i in range(5)]
    (cause,) = explain_worst(samples.core_facts(*tables))
    assert str(cause.evidence).endswith(". 4 more tables have the same cause")
    # A small table can wait until somebody counts its rows.
    small = samples.relation(pages=64, **unknown)
    assert explain_worst(samples.core_facts(small)) == ()


def test_what_tables_have_in_common_is_told_once() -> None:
    tables = [replace(DUE, relid=i, relname=f"t{i}", dead_tuples=30_000 + i) for i in range(20)]
    facts = samples.core_facts(*tables, holders=(samples.holder(),))
    (cause,) = explain_worst(facts)
    assert cause.relation == "public.t19"
    assert cause.evidence is not None
    assert cause.evidence.endswith(". 19 more tables have the same cause")


def test_ten_worst() -> None:
    tables = [replace(DUE, relid=i, relname=f"t{i:02}", dead_tuples=30_000 + i) for i in range(20)]
    locked = samples.lock(relid=3)
    aged = samples.relation(relid=99, relname="aged", xid_age=1_700_000_000)
    found = explain_worst(samples.core_facts(*tables, aged, locks=(locked,)))
    assert [row.rank for row in found] == list(range(1, 11))
    assert [row.relation for row in found[:3]] == ["public.aged", "public.t03", "public.t19"]


def test_nothing_is_wrong() -> None:
    facts = samples.core_facts(samples.relation())
    assert explain_worst(facts) == ()
    (line,) = answers.cause_lines((), 80)
    assert "no table is due" in line.plain


# -- rates and words ---------------------------------------------------------------


def test_an_old_temporary_table_holds_the_age_of_its_database() -> None:
    table = samples.holder(source="temporary", name='pg_temp_3."my old"', state="idle", xmin=750)
    # A running transaction with the same id does not make it that one's.
    (found, _) = blockers((table, samples.holder(pid=7, xid=750, xmin=750, xid_age=5)), "bench")
    assert (found.kind, found.pid) == ("temporary table", 4712)
    assert found.withholds == 'the age of database "bench"'
    assert found.fix == "SELECT pg_terminate_backend(4712);"
    assert not affects(found, "bench", False, False)
    assert described(found, "bench") == 'temporary table pg_temp_3."my old" of process 4712'
    (orphan,) = blockers((replace(table, pid=None),), "bench")
    assert orphan.fix == 'DROP TABLE pg_temp_3."my old";'


def test_xid_rate() -> None:
    now = samples.NOW
    rate = xid_rate((now - timedelta(seconds=20), 1_000), (now, 3_000), "for {seconds:.0f} s", 10)
    assert rate == XidRate(100.0, "for 20 s")
    assert xid_rate(None, (now, 1), "", 0) is None
    # The time is too short to tell, or the clock was set back.
    assert xid_rate((now - timedelta(seconds=5), 1), (now, 9), "", 10) is None
    assert xid_rate((now + timedelta(seconds=50), 1), (now, 9), "", 10) is None


def test_when() -> None:
    assert when(samples.NOW, 100, 10) == samples.NOW + timedelta(seconds=10)
    assert when(samples.NOW, 100, 0) is None
    assert when(samples.NOW, 1e18, 0.001) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "'a'"), ("it's", "'it''s'"), ("a\\b'", "E'a\\\\b'''")],
)
def test_literal(text: str, expected: str) -> None:
    assert literal(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("shop", "shop"), ("Shop", '"Shop"'), ('a"b', '"a""b"'), ("1a", '"1a"'), ("", '""')],
)
def test_identifier(name: str, expected: str) -> None:
    assert identifier(name) == expected


# -- who waits behind a vacuum that gives way to nobody -----------------------------

FORCED = "autovacuum: VACUUM public.big (to prevent wraparound)"


def waiting(**given: Any) -> Any:
    """Return who waits for the sample relation, which a DROP TABLE that waits has already."""
    base = {"pid": 9000, "mode": "AccessShareLock", "behind": 77, "behind_relid": 555}
    return samples.lock(**{**base, "behind_query": FORCED, "query": "SELECT 1 FROM t", **given})


def test_users_who_wait_for_a_vacuum_of_another_table() -> None:
    waits = (waiting(), waiting(pid=9001, since=samples.NOW))
    (first, below) = causes(samples.relation(), waits=waits)
    assert first.verdict == "its users wait for a vacuum"
    assert first.cause == (
        "2 sessions wait for the table because of the vacuum of process 77 "
        "(autovacuum: VACUUM public.big (to prevent wraparound))"
    )
    assert first.evidence == "the first is process 9000 for 5 min, query: SELECT 1 FROM t"
    assert first.fix == "SELECT pg_cancel_backend(77);"
    assert "autovacuum begins it again" in (first.risk or "")
    assert below.verdict == "not due"


def test_users_who_wait_for_the_vacuum_of_this_table() -> None:
    vacuum = samples.worker(pid=77, relid=16401)
    waits = (waiting(behind_relid=16401),)
    first, running = causes(DUE, waits=waits, vacuums=(vacuum,))
    assert first.verdict == running.verdict == "being vacuumed"
    assert (first.cause or "").startswith("1 session waits for the table because of")


def test_who_only_waits_for_a_vacuum_is_not_to_be_ended() -> None:
    """The DROP TABLE locks this table, and waits for the vacuum of another one."""
    locked = samples.lock(behind=77, behind_relid=555, behind_query=FORCED)
    (cause,) = [c for c in causes(DUE, locks=(locked,)) if c.cause == "locked by process 4711"]
    assert cause.fix == "SELECT pg_cancel_backend(77);"
    (holder,) = blockers((samples.holder(behind=77, behind_query=FORCED),), "bench")
    assert holder.pid == 4712
    assert holder.fix == "SELECT pg_cancel_backend(77);"
    assert (holder.risk or "").startswith("it only waits for the vacuum of process 77 (autovacuum")


def test_waits_behind_a_vacuum_are_a_problem() -> None:
    facts = samples.core_facts(samples.relation(), waits=(waiting(), waiting(pid=9001)))
    assert overview(facts).problems == (
        "2 sessions wait for the vacuum of process 77 (autovacuum: VACUUM public.big "
        "(to prevent wraparound)): see pgsweep explain",
    )
    # This one ends by itself.
    waits = (waiting(behind_query="autovacuum: VACUUM public.big"), waiting(behind=None))
    assert overview(samples.core_facts(samples.relation(), waits=waits)).problems == ()


# -- status -----------------------------------------------------------------------


def test_overview() -> None:
    workers = tuple(samples.worker(pid=5000 + i) for i in range(3))
    holder = samples.holder(since=samples.NOW - timedelta(hours=2))
    old = samples.database_age(datname="old", xid_age=310_000_000)
    facts = samples.core_facts(DUE, vacuums=workers, holders=(holder,), databases=(old,))
    facts = replace(facts, settings={**facts.settings, "track_counts": "off", "autovacuum": "off"})
    found = overview(facts)
    assert [problem.split(":")[0] for problem in found.problems] == [
        'database "old" is at 155 % of autovacuum_freeze_max_age',
        "track_counts is off",
        "autovacuum is off",
        "horizon held by a session idle in transaction, process 4712",
    ]
    lines = [line.plain for line in answers.overview_lines(found, 80)]
    assert len(lines) == 10
    assert max(len(line) for line in lines) <= 80


def test_overview_of_a_server_at_rest() -> None:
    found = overview(samples.core_facts(samples.relation()))
    assert found.problems == ()
    lines = [line.plain for line in answers.overview_lines(found, 80)]
    assert lines[-1] == "problems   none"
    assert "due        0 of 1 table of this database" in lines


def test_busy_workers_are_a_problem_only_when_something_is_due() -> None:
    workers = tuple(samples.worker(pid=5000 + i) for i in range(3))
    assert overview(samples.core_facts(samples.relation(), vacuums=workers)).problems == ()
    (problem,) = overview(samples.core_facts(DUE, vacuums=workers)).problems
    assert problem.startswith("all autovacuum workers are busy while tables are due")
