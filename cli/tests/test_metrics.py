"""Metrics from made-up readings: what they say, how many they are, whether it is documented."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

import samples
from pgsweep.agent.store import Sum, Summary, Visited, Wasted
from pgsweep.model import DatabaseAge, IdRates, Members
from pgsweep.output.prometheus import exposition
from pgsweep.output.prometheus.agents import agents
from pgsweep.output.prometheus.reader import next_look_after, next_queue_after
from pgsweep.output.prometheus.reading import Reading
from pgsweep.output.prometheus.runs import not_less
from pgsweep.output.prometheus.tables import WAITS, wait_of
from pgsweep.output.prometheus.vacuums import limited_by
from pgsweep.output.prometheus.xid_samples import XidSamples

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
HOSTILE = 'a"} 1\npgsweep_up 0\n\\{\x1b[31m\u202e'


def families(reading: Reading, limit: int = 20) -> dict[str, Metric]:
    """Return what a scraper reads, by the name of the family."""
    found = exposition.families(reading, samples.health(), limit)
    content, _ = exposition.page(found, "")
    return {family.name: family for family in text_string_to_metric_families(content.decode())}


def value(found: dict[str, Metric], name: str, **labels: str) -> float:
    """Return the value of the one sample with these labels."""
    hits = [
        sample.value
        for sample in found[name].samples
        if all(sample.labels.get(label, "") == wanted for label, wanted in labels.items())
    ]
    assert len(hits) == 1, (name, labels, found[name].samples)
    return hits[0]


def test_values_are_in_base_units() -> None:
    found = families(samples.reading())
    mb = 1_048_576
    accounts = {"relname": "pgbench_accounts"}
    assert value(found, "pgsweep_vacuum_read_bytes_per_second", **accounts) == 12.34 * mb
    assert value(found, "pgsweep_vacuum_done_ratio", **accounts) == pytest.approx(0.571)
    assert value(found, "pgsweep_vacuum_eta_seconds", **accounts) == 9
    assert value(found, "pgsweep_vacuum_running_seconds", **accounts) == 12
    sweep = {"started_by": "sweep"}
    assert value(found, "pgsweep_run_read_bytes", **sweep) == 2_000 * 8192
    assert value(found, "pgsweep_run_seconds", **sweep) == 9.5
    assert (
        value(found, "pgsweep_budget_configured_bytes_per_second", limit="write_limit") == 30 * mb
    )
    assert value(found, "pgsweep_budget_configured_seconds", limit="io_latency_limit") == 0.02
    assert value(found, "pgsweep_budget_measured_cores", limit="cpu_limit") == 0.2
    assert value(found, "pgsweep_last_round_duration_seconds") == 0.00125
    held = value(found, "pgsweep_horizon_holder_seconds", kind="idle in transaction")
    assert held == 600


def test_a_state_is_one_of_all_that_are_known() -> None:
    found = families(samples.reading(step=samples.governor_step(decision="back off")))
    decisions = {s.labels["decision"]: s.value for s in found["pgsweep_governor_decision"].samples}
    assert decisions.pop("back off") == 1
    assert set(decisions.values()) == {0}
    assert len(decisions) == 5


def test_a_parallel_worker_is_part_of_its_leader() -> None:
    found = families(samples.reading())
    assert value(found, "pgsweep_vacuums", started_by="manual") == 1
    assert value(found, "pgsweep_vacuums", started_by="autovacuum") == 0


def test_a_table_without_a_known_name_has_its_number() -> None:
    found = families(samples.reading())
    assert value(found, "pgsweep_vacuum_running_seconds", relname="16401") == 12


def test_the_figure_of_a_limit_is_no_label() -> None:
    assert limited_by(samples.progress(limited_by="cost limit 200")) == "cost limit"
    assert limited_by(samples.progress(limited_by="sweep.slow()")) == "sweep.slow()"
    assert limited_by(samples.progress(limited_by="I/O")) == "I/O"


def test_hostile_names_stay_in_their_labels() -> None:
    names = {"datname": HOSTILE, "schemaname": HOSTILE, "relname": HOSTILE}
    reading = samples.reading(
        cluster=samples.cluster(dbname=HOSTILE),
        ages=(DatabaseAge(5, HOSTILE, 1, 1, None),),
        progress=(samples.progress(**names, limited_by=HOSTILE, phase=HOSTILE),),
        waits=(samples.queue_wait(**names, waiting_for=HOSTILE, lane=HOSTILE),),
        dead_tuples=(samples.dead_tuples(schemaname=HOSTILE, relname=HOSTILE),),
        databases=(samples.database(datname=HOSTILE),),
    )
    found = families(reading)
    assert value(found, "pgsweep_up") == 1
    for name in ("vacuum_running_seconds", "table_score", "table_dead_tuples"):
        (sample,) = found[f"pgsweep_{name}"].samples
        assert {sample.labels[label] for label in names} == {HOSTILE}
    assert value(found, "pgsweep_database_xid_age", datname=HOSTILE) == 1


def test_names_that_occur_twice_do_not_spoil_the_page() -> None:
    # In another database names may be unknown, so that two tables look alike.
    twice = (samples.progress(pid=1), samples.progress(pid=2))
    found = families(samples.reading(progress=twice))
    assert value(found, "pgsweep_vacuums", started_by="sweep") == 2
    assert len(found["pgsweep_vacuum_running_seconds"].samples) == 1


def test_a_million_tables_do_not_make_a_million_series() -> None:
    many = 2_000
    reading = samples.reading(
        waits=[samples.queue_wait(relname=f"t{i}", score=float(i)) for i in range(many)],
        progress=[samples.progress(pid=i, relname=f"t{i}") for i in range(many)],
        databases=[samples.database(datname=f"d{i}", due=i, dead_tuples=1) for i in range(many)],
        ages=[DatabaseAge(i, f"d{i}", i, i, None) for i in range(many)],
        blockers=[samples.blocker(pid=i, age=i) for i in range(many)],
    )
    found = families(reading, limit=5)
    assert sum(len(family.samples) for family in found.values()) < 500
    scores = found["pgsweep_table_score"].samples
    assert {sample.labels["relname"] for sample in scores} == {f"t{many - i}" for i in range(1, 6)}
    due = found["pgsweep_database_tables_due"].samples
    assert len(due) == 6
    assert sum(sample.value for sample in due) == sum(range(many))
    # The oldest of the others is what the others' age is.
    assert value(found, "pgsweep_database_xid_age", datname="") == many - 6
    assert value(found, "pgsweep_queue_tables", waiting_for="worker slot") == many
    assert value(found, "pgsweep_horizon_holders", kind="idle in transaction") == many


def test_all_tables_together_are_the_named_ones_and_the_rest() -> None:
    found = families(samples.reading())
    dead = found["pgsweep_table_dead_tuples"].samples
    assert sum(sample.value for sample in dead) == 23_456 + 77
    assert value(found, "pgsweep_tables_over_threshold", datname="bench") == 1


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("worker slot: all 2 busy with public.lock", "worker slot"),
        ("minimum interval until 2026-01-01", "minimum interval"),
        ("sweep.mode = act would vacuum it", "mode"),
        ("something new", "other"),
        (None, "other"),
    ],
)
def test_what_a_table_waits_for_is_one_of_a_few_words(said: str | None, word: str) -> None:
    assert wait_of(samples.queue_wait(waiting_for=said)) == word


def test_the_words_are_those_of_the_documentation() -> None:
    views = (DOCS.parent / "views.md").read_text()
    section = re.search(r"^\| waiting_for \|(.*?)\n\n", views, re.DOTALL | re.MULTILINE)
    assert section is not None
    described = re.findall(r"^\| (`.*?) \|", section.group(1), re.MULTILINE)
    begins = [name for cell in described for name in re.findall(r"`([^`]+)`", cell)]
    assert len(begins) >= len(WAITS)
    for begin in begins:
        assert wait_of(samples.queue_wait(waiting_for=begin)) != "other", begin


def test_the_date_of_the_wraparound() -> None:
    reading = samples.reading(id_rates=IdRates(1_000.0, 0.0))
    found = families(reading)
    left = value(found, "pgsweep_wraparound_left_ids", ids="xid")
    assert left == 2**31 - 3_000_000 - 2_000_000
    expected = samples.NOW.timestamp() + left / 1_000
    when = value(found, "pgsweep_wraparound_timestamp_seconds", ids="xid")
    assert when == pytest.approx(expected)
    # Where no multixact is used there is no date.
    assert len(found["pgsweep_wraparound_timestamp_seconds"].samples) == 1


def test_members_of_multixacts() -> None:
    rates = IdRates(1.0, 1.0, 1_000.0)
    found = families(samples.reading(id_rates=rates, members=Members(3 * 2**30, 2**32 - 1)))
    assert value(found, "pgsweep_multixact_members") == 3 * 2**30
    left = value(found, "pgsweep_wraparound_left_ids", ids="member")
    assert left == 2**30 - 1
    when = value(found, "pgsweep_wraparound_timestamp_seconds", ids="member")
    assert when == pytest.approx(samples.NOW.timestamp() + left / 1_000)
    # From 19 on the server does not stop, however many there are.
    found = families(samples.reading(id_rates=rates, members=Members(2**33, None)))
    assert value(found, "pgsweep_multixact_members") == 2**33
    for name in ("pgsweep_wraparound_left_ids", "pgsweep_wraparound_timestamp_seconds"):
        assert all(sample.labels["ids"] != "member" for sample in found[name].samples)


def test_an_archiver_that_fails() -> None:
    early, late = samples.NOW - timedelta(hours=1), samples.NOW
    for archived, failed, failing in (
        (early, late, 1),
        (late, early, 0),
        (None, late, 1),
        (None, None, 0),
    ):
        cluster = samples.cluster(last_archived_time=archived, last_failed_time=failed)
        found = families(samples.reading(cluster=cluster))
        assert value(found, "pgsweep_archiver_failing") == failing
    off = families(samples.reading(cluster=samples.cluster(archiving=False)))
    assert not [name for name in off if name.startswith("pgsweep_archiver")]


def test_what_could_not_be_read_is_absent() -> None:
    full = samples.reading()
    for field in fields(Reading):
        if field.name not in ("cluster", "extension"):
            without: dict[str, Any] = {field.name: None}
            found = families(replace(full, **without))
            assert value(found, "pgsweep_up") == 1
    bare = Reading(cluster=samples.cluster())
    assert value(families(bare), "pgsweep_extension") == 0


def test_without_a_server_there_is_still_a_page() -> None:
    state = samples.health(up=False, parts={}, last_took_s=None, last_ended_at=None)
    content, kind = exposition.page(exposition.families(None, state, 20), "")
    assert b"pgsweep_up 0.0" in content
    assert kind.startswith("text/plain")


def test_openmetrics_is_spoken_to_those_who_want_it() -> None:
    found = exposition.families(samples.reading(), samples.health(), 20)
    content, kind = exposition.page(found, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert content.endswith(b"# EOF\n")


# -- sums that only grow -------------------------------------------------------------------------


def test_a_sum_that_lost_its_last_seconds_stands_still() -> None:
    before = (samples.totals(vacuums=100, cost=50),)
    after = (samples.totals(vacuums=98, cost=60),)
    (kept,) = not_less(before, after)
    assert (kept.vacuums, kept.cost) == (100, 60)


def test_a_sum_that_began_anew_is_told() -> None:
    before = (samples.totals(vacuums=100),)
    after = (samples.totals(vacuums=2, since=samples.NOW),)
    assert not_less(before, after) == after
    assert not_less(None, before) == before


# -- how fast transaction ids are used -----------------------------------------------------------


def test_the_rate_is_that_of_the_last_hour() -> None:
    xids = XidSamples()
    assert xids.per_s() is None
    for minute in range(180):
        # 10 a second, and 20 a second in the last hour
        used = 600 * minute + 600 * max(0, minute - 119)
        xids.add(samples.NOW + timedelta(minutes=minute), used)
    assert xids.per_s() == pytest.approx(20)


def test_a_minute_has_to_pass() -> None:
    xids = XidSamples()
    xids.add(samples.NOW, 100)
    xids.add(samples.NOW + timedelta(seconds=59), 200)
    assert xids.per_s() is None
    xids.add(samples.NOW + timedelta(seconds=60), 400)
    assert xids.per_s() == 5


def test_another_server_begins_anew() -> None:
    xids = XidSamples()
    xids.add(samples.NOW, 1_000)
    xids.add(samples.NOW + timedelta(minutes=2), 2_000)
    xids.add(samples.NOW + timedelta(minutes=3), 10)
    assert xids.per_s() is None


# -- how rarely what is dear is read --------------------------------------------------------------


def test_what_is_dear_is_read_rarely() -> None:
    assert next_look_after(0.01, has_queue=False) == 120
    assert next_look_after(0.01, has_queue=True) == 300
    assert next_look_after(2.0, has_queue=True) == 1000
    assert next_queue_after(200) == 0
    assert next_queue_after(1000) == 60


# -- documentation --------------------------------------------------------------------------------


def documented() -> dict[str, tuple[str, ...]]:
    """Return the metrics in the documentation, each with its labels."""
    return documented_in(DOCS.read_text())


def documented_in(text: str) -> dict[str, tuple[str, ...]]:
    """Return the metrics in the tables of a text, each with its labels."""
    rows = re.findall(r"^\| `(pgsweep_\w+)` \| (.*?) \|", text, re.MULTILINE)
    return {name: tuple(sorted(re.findall(r"`(\w+)`", labels))) for name, labels in rows}


def test_every_metric_is_documented_and_no_other() -> None:
    exposed = {}
    for family in exposition.families(samples.reading(), samples.health(), 20):
        suffix = "_total" if family.type == "counter" else ""
        labels = {label for sample in family.samples for label in sample.labels}
        exposed[family.name + suffix] = tuple(sorted(labels))
    assert documented_in(DOCS.read_text().split("\n## A fleet\n")[0]) == exposed


def test_every_metric_of_the_agent_is_documented_and_no_other() -> None:
    summary = Summary(
        servers=[Visited("1", "a", 5.0, ""), Visited("2", "b", None, "it is a standby")],
        running=[],
        sums=[
            Sum("1", "reindex", "done", 2, 3.0, 0, 0, 400),
            Sum("3", "drop", "done", 1, 0, 0, 0, 0),
        ],
        bloat=[Wasted("1", "app", 70)],
        paused_until=None,
    )
    found = {family.name: family for family in agents(summary)}
    exposed = {
        name: tuple(sorted({label for sample in family.samples for label in sample.labels}))
        for name, family in found.items()
    }
    assert documented_in(DOCS.read_text().split("\n## The agent\n")[1]) == exposed
    up = {sample.labels["server"]: sample.value for sample in found["pgsweep_agent_up"].samples}
    assert up == {"a": 1, "b": 0}


def test_the_sample_has_every_metric() -> None:
    sources = (DOCS.parents[1] / "cli" / "src" / "pgsweep" / "output" / "prometheus").glob("*.py")
    written = {
        name for file in sources for name in re.findall(r'"(pgsweep_\w+)"', file.read_text())
    }
    assert written
    assert written <= set(documented())


def test_names_follow_prometheus() -> None:
    for family in exposition.families(samples.reading(), samples.health(), 20):
        assert family.documentation.endswith("."), family.name
        assert not re.search(r"_(ms|mb|kb|pct|percent|minutes|hours)(_|$)", family.name)
        if family.type == "gauge":
            assert not family.name.endswith("_total")
