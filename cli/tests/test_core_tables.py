"""The columns of sweep.tables from core's views: thresholds, scores, decisions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import samples
from pgsweep.findings.core.tables import judge, pick
from pgsweep.model import Table
from pgsweep.model.core_options import boolean, options_of, scores, thresholds


def only(*, settings: dict[str, str] | None = None, **given: Any) -> Table:
    facts = samples.core_facts(samples.relation(**given))
    facts = replace(facts, settings={**facts.settings, **(settings or {})})
    (judged,) = judge(facts)
    return judged.table


@pytest.mark.parametrize(
    ("given", "settings", "vacuum", "insert", "analyze"),
    [
        # The server's defaults give 50 + 0.2 x 100,000, 1,000 + 0.2 x 100,000 and 50 + 0.1 x
        # 100,000.
        ({}, {}, 20_050, 21_000, 10_050),
        # Never vacuumed, from 14 on, and never vacuumed on 13.
        ({"reltuples": -1.0}, {}, 50, 1_000, 50),
        ({"reltuples": 0.0}, {}, 50, 1_000, 50),
        # A table's own parameters win over the server's.
        ({"reloptions": ["autovacuum_vacuum_threshold=7"]}, {}, 20_007, 21_000, 10_050),
        ({"reloptions": ["autovacuum_vacuum_scale_factor=0"]}, {}, 50, 21_000, 10_050),
        ({"reloptions": ["autovacuum_analyze_threshold=1"]}, {}, 20_050, 21_000, 10_001),
        # -1 switches inserts off, also as a table's own value.
        ({}, {"autovacuum_vacuum_insert_threshold": "-1"}, 20_050, None, 10_050),
        ({"reloptions": ["autovacuum_vacuum_insert_threshold=-1"]}, {}, 20_050, None, 10_050),
        (
            {"reloptions": ["autovacuum_vacuum_insert_threshold=5"]},
            {"autovacuum_vacuum_insert_threshold": "-1"},
            20_050,
            20_005,
            10_050,
        ),
        # 18 has a greatest threshold, which -1 switches off.
        ({}, {"autovacuum_vacuum_max_threshold": "9000"}, 9_000, 21_000, 10_050),
        ({}, {"autovacuum_vacuum_max_threshold": "-1"}, 20_050, 21_000, 10_050),
        (
            {"reloptions": ["autovacuum_vacuum_max_threshold=-1"]},
            {"autovacuum_vacuum_max_threshold": "9000"},
            20_050,
            21_000,
            10_050,
        ),
        # From 18 on only what is not frozen counts for inserts. The share is clamped.
        ({"frozen_pages": 750}, {}, 20_050, 6_000, 10_050),
        ({"frozen_pages": 5_000}, {}, 20_050, 1_000, 10_050),
    ],
)
def test_thresholds(
    given: dict[str, Any],
    settings: dict[str, str],
    vacuum: float,
    insert: float | None,
    analyze: float,
) -> None:
    table = only(settings=settings, **given)
    assert table.vacuum_threshold == pytest.approx(vacuum)
    assert table.insert_threshold == (None if insert is None else pytest.approx(insert))
    assert table.analyze_threshold == pytest.approx(analyze)


def test_a_toast_table_inherits_from_its_main_table() -> None:
    main = ["autovacuum_vacuum_threshold=7", "autovacuum_enabled=false"]
    toast = samples.relation(relkind="t", main_reloptions=main)
    inherited = options_of(toast, samples.CORE_SETTINGS)
    assert (inherited.vacuum_threshold, inherited.enabled, inherited.inherited) == (7, False, True)
    # It has one parameter of its own, and so nothing is inherited any more.
    own = options_of(
        replace(toast, reloptions=["autovacuum_vacuum_scale_factor=0.5"]), samples.CORE_SETTINGS
    )
    assert (own.vacuum_threshold, own.vacuum_scale_factor) == (50, 0.5)
    assert (own.enabled, own.inherited) == (None, False)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("100000000", 100_000_000),
        ("1e8", 100_000_000),
        ("0x5F5E100", 100_000_000),
        ("2000000000", 200_000_000),
        ("nonsense", 200_000_000),
        (None, 200_000_000),
    ],
)
def test_a_table_can_only_be_frozen_earlier(option: str | None, expected: int) -> None:
    given = [f"autovacuum_freeze_max_age={option}"] if option else None
    options = options_of(samples.relation(reloptions=given), samples.CORE_SETTINGS)
    assert options.freeze_max_age == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("on", True),
        ("yes", True),
        ("1", True),
        ("tr", True),
        ("Y", True),
        ("false", False),
        ("off", False),
        ("no", False),
        ("0", False),
        (None, False),
    ],
)
def test_boolean(text: str | None, expected: bool) -> None:
    assert boolean(text) is expected


@pytest.mark.parametrize(
    ("given", "settings", "part", "expected"),
    [
        ({"dead_tuples": 40_100}, {}, "vacuum", 2.0),
        ({"ins_since_vacuum": 10_500}, {}, "insert", 0.5),
        ({"mod_since_analyze": 10_050}, {}, "analyze", 1.0),
        ({"mod_since_analyze": 10_050, "relkind": "t"}, {}, "analyze", 0.0),
        ({"mod_since_analyze": 10_050, "relid": 2619}, {}, "analyze", 0.0),
        # A threshold below one row counts as one.
        (
            {"dead_tuples": 3, "reltuples": 0.0},
            {"autovacuum_vacuum_threshold": "0"},
            "vacuum",
            3.0,
        ),
        ({"ins_since_vacuum": 9}, {"autovacuum_vacuum_insert_threshold": "-1"}, "insert", 0.0),
        ({"xid_age": 100_000_000}, {}, "xid", 0.5),
        ({"xid_age": None}, {}, "xid", 0.0),
        ({"mxid_age": 800_000_000}, {}, "mxid", 2.0),
        # Where the failsafe strikes, the score is (age / limit) ^ (age / 100 million).
        ({"xid_age": 1_600_000_000}, {}, "xid", 8.0**16),
        ({"xid_age": 1_599_999_999}, {}, "xid", 1_599_999_999 / 200_000_000),
        # It never strikes before 105 % of the freeze limit.
        (
            {"xid_age": 205_000_000},
            {"vacuum_failsafe_age": "0"},
            "xid",
            1.025,
        ),
        ({"xid_age": 220_000_000}, {"vacuum_failsafe_age": "0"}, "xid", 1.1**2.2),
        # These are the weights of 19.
        ({"dead_tuples": 40_100}, {"autovacuum_vacuum_score_weight": "0.5"}, "vacuum", 1.0),
        ({"xid_age": 100_000_000}, {"autovacuum_freeze_score_weight": "0"}, "xid", 0.0),
    ],
)
def test_scores(
    given: dict[str, Any], settings: dict[str, str], part: str, expected: float
) -> None:
    relation = samples.relation(**given)
    known = {**samples.CORE_SETTINGS, **settings}
    options = options_of(relation, known)
    found = scores(relation, options, thresholds(relation, options), known)
    assert getattr(found, part) == pytest.approx(expected)
    assert found.total >= getattr(found, part)


@pytest.mark.parametrize(
    ("given", "settings", "decision", "do_vacuum", "reason"),
    [
        ({}, {}, "below threshold", False, "dead tuples 0 of threshold 20,050"),
        ({"dead_tuples": 20_050}, {}, "below threshold", False, "20,050 of threshold 20,050"),
        ({"dead_tuples": 20_051}, {}, "due", True, "dead tuples 20,051 above threshold 20,050"),
        (
            {"ins_since_vacuum": 21_001},
            {},
            "due",
            True,
            "inserted tuples 21,001 above threshold 21,000",
        ),
        ({"ins_since_vacuum": 99}, {}, "below threshold", False, "inserted tuples 99 of"),
        (
            {"dead_tuples": 30_000, "reloptions": ["autovacuum_enabled=off"]},
            {},
            "disabled",
            False,
            "autovacuum_enabled is off for this table",
        ),
        (
            {"relkind": "t", "main_reloptions": ["autovacuum_enabled=off"]},
            {},
            "disabled",
            False,
            "autovacuum_enabled is off for its main table",
        ),
        ({"dead_tuples": 30_000}, {"autovacuum": "off"}, "disabled", False, "autovacuum is off"),
        ({}, {"track_counts": "off"}, "disabled", False, "track_counts is off"),
        # Against wraparound it is vacuumed all the same.
        (
            {"xid_age": 200_000_001, "reloptions": ["autovacuum_enabled=off"]},
            {"autovacuum": "off"},
            "due",
            True,
            "age 200,000,001 above autovacuum_freeze_max_age 200,000,000",
        ),
        ({"mxid_age": 400_000_001}, {}, "due", True, "multixact age 400,000,001 above"),
        ({"relkind": "p"}, {}, "partitioned", False, "holds no rows"),
        (
            {"relpersistence": "t", "dead_tuples": 99_999},
            {},
            "temporary",
            False,
            "only its own session",
        ),
        (
            {"live_tuples": 0, "changed": 0, "last_vacuum": None},
            {},
            "unknown",
            False,
            "the statistics know nothing about it",
        ),
    ],
)
def test_decisions(
    given: dict[str, Any], settings: dict[str, str], decision: str, do_vacuum: bool, reason: str
) -> None:
    table = only(settings=settings, **given)
    assert (table.decision, table.do_vacuum) == (decision, do_vacuum)
    assert table.reason is not None
    assert reason in table.reason


def test_locked_and_running() -> None:
    due = samples.relation(dead_tuples=30_000)
    (judged,) = judge(samples.core_facts(due, locks=(samples.lock(), samples.lock(mode="x"))))
    assert judged.table.decision == "locked"
    assert judged.table.blocked_by == [4711]
    (judged,) = judge(samples.core_facts(due, locks=(samples.lock(pid=None, gid="g"),)))
    assert judged.table.reason is not None
    assert "locked by a prepared transaction" in judged.table.reason
    # A vacuum's own lock is not in its way.
    running = samples.worker(pid=4711, relid=due.relid)
    (judged,) = judge(samples.core_facts(due, locks=(samples.lock(),), vacuums=(running,)))
    assert (judged.table.decision, judged.table.blocked_by) == ("running", None)
    # The same oid in another database is another table.
    elsewhere = replace(running, datname="other")
    (judged,) = judge(samples.core_facts(due, vacuums=(elsewhere,)))
    assert judged.table.decision == "due"


@pytest.mark.parametrize(
    ("given", "lane"),
    [
        ({}, "user"),
        ({"is_catalog": True}, "catalog"),
        ({"is_catalog": True, "relkind": "t"}, "catalog"),
        ({"relkind": "t"}, "aux"),
        ({"schemaname": "cron"}, "aux"),
    ],
)
def test_lanes(given: dict[str, Any], lane: str) -> None:
    assert only(**given).lane == lane


def test_pick() -> None:
    tables = [
        samples.table(relname="b", score=1.0, dead_tuples=5, pages=9, xid_age=1, do_vacuum=False),
        samples.table(relname="a", score=1.0, dead_tuples=7, pages=1, xid_age=2),
        samples.table(relname="c", score=9.0, dead_tuples=1, pages=5, xid_age=None),
    ]
    tables[0] = replace(tables[0], freeze_time=samples.NOW + timedelta(days=2))
    tables[2] = replace(tables[2], freeze_time=samples.NOW + timedelta(days=1))

    def names(sort: str, **given: Any) -> str:
        return "".join(str(table.relname) for table in pick(tables, sort, **given))

    assert names("score") == "cab"
    assert names("dead") == "abc"
    assert names("size") == "bca"
    assert names("age") == "abc"
    assert names("freeze") == "cba"
    assert names("name") == "abc"
    assert names("score", due=True) == "ca"
    assert names("score", limit=1) == "c"
