"""The experiment day: its logs, its hours, its plot, and one tiny day on two servers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import results
from conftest import needs_extension
from pgsweep.tune.lab.vacuumlog import VacuumLine
from pgsweep_bench import runner, scenario, transactions
from pgsweep_bench.experiments import day
from pgsweep_bench.lab import Options
from pgsweep_bench.report import day_plot, model as bench_model, page as bench_page
from pgsweep_bench.request import Plan, Request, expected_s, names_of
from pgsweep_bench.result import Experiment, Series, Variant
from pgsweep_bench.servers.server import default_pg_config
from pgsweep_bench.transactions import Done

SERVERS = ("stock", "sweep")
LOG = """0 1 1500 0 1000 500000 200
1 1 2500 1 1001 0 0
0 2 failed 0 1001 1 0
0 3 skipped 1 1001 2 9
1 2 900
"""


def test_a_log_has_what_was_done() -> None:
    found = list(transactions.parse_log(LOG.splitlines(), ("read", "queue")))
    assert found == [Done("read", 1000.5, 1.5), Done("queue", 1001.0, 2.5)]


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert [transactions.percentile(values, percent) for percent in (1, 50, 99, 100)] == [
        1,
        50,
        99,
        100,
    ]
    assert transactions.percentile([7.0], 50) == 7


def test_hours_have_what_ended_in_them() -> None:
    done = [
        Done("read", 100.0, 1.0),
        Done("session", 109.9, 9.0),
        Done("read", 110.0, 3.0),
        # after the end
        Done("read", 400.0, 5.0),
    ]
    found = day.hours(done, 100.0, 10.0)
    assert [hour["hour"] for hour in found] == list(range(24))
    once = {"transactions": 1, "p50": 1.0, "p95": 1.0, "p99": 1.0}
    assert found[0]["read"] == found[0]["most"] == once
    assert found[0]["session"]["p99"] == 9
    assert found[1]["most"]["p50"] == 3
    assert set(found[2]) == {"hour"}
    assert found[23]["read"]["transactions"] == 1


def test_vacuums_are_summed_by_table_and_by_who_began_them() -> None:
    line = VacuumLine("db", "public", "queue", False, False, "autovacuum", blks_read=3)
    found = day.sums_of([line, line, replace(line, started_by="sweep", tuples_removed=7)])
    assert set(found) == {"queue"}
    assert found["queue"]["autovacuum"]["vacuums"] == 2
    assert found["queue"]["autovacuum"]["blks_read"] == 6
    assert found["queue"]["sweep"]["tuples_removed"] == 7


def test_the_plan_is_in_order_and_within_the_day() -> None:
    plan = day.tasks()
    assert [begin for begin, _ in plan] == sorted(begin for begin, _ in plan)
    assert {task.name for _, task in plan} == {each.name for each in (*day.SHIFTS, *day.JOBS)}
    assert all(shift.begin < shift.end <= day.HOURS for shift in day.SHIFTS)
    assert sum(weight for weight, _ in day.KINDS.values()) == 100


def test_it_is_no_part_of_all() -> None:
    assert "day" not in names_of(["all"])
    assert names_of(["day", "all"])[-1] == "day"
    found = scenario.load("day")
    options = Options(seconds=100)
    plan = Plan(found, found.variants, options, repeats=1, against="stock")
    # Both servers are loaded at the same time.
    assert 100 < expected_s(plan, 2) < 200


def test_only_what_a_scratch_server_needs_is_set() -> None:
    found = scenario.load("day")
    assert found.settings == {}
    for variant in found.variants:
        assert variant.settings == {}
    assert found.together


# ---- its plot


def a_variant(name: str, followed: tuple[str, ...] = ()) -> Variant:
    series = tuple(
        Series(panel, panel, "", tuple((hour * 60.0, 1.0 + hour) for hour in range(24)))
        for panel in (*day_plot.PANELS, *followed)
    )
    jobs = [{"label": "bulk <DELETE>", "begin": 2.0, "end": 2.01}]
    raw = {"repeats": [{"jobs": jobs}]}
    return results.variant(name, series=series, raw=raw)


def section_of(experiment: Experiment) -> bench_model.Section:
    (section,) = bench_model.build([results.result(experiment)]).sections
    return section


def a_day(*followed: str) -> Experiment:
    variants = tuple(a_variant(name, followed) for name in SERVERS)
    return results.experiment("day", seconds=1440.0, variants=variants)


def test_one_plot_has_all_panels_and_both_servers() -> None:
    section = section_of(a_day())
    plot = day_plot.plot(section, "x")
    assert plot is not None
    assert "bulk <DELETE>" in plot.title
    for svg in (str(plot.wide), str(plot.narrow)):
        for panel in day_plot.PANELS.values():
            assert panel.replace("'", "&#39;") in svg or panel in svg
        assert "<DELETE>" not in svg
        # a line for each server in each panel
        for colour in ("sweep", "stock"):
            lines = re.findall(rf'<path[^>]* stroke="var\(--{colour}\)"', svg)
            assert len(lines) == len(day_plot.PANELS) + 1  # and its sign in the legend
    assert "stock at most 24" in plot.description


def test_the_page_shows_it_and_folds_the_rest() -> None:
    drawn = bench_page.plots(section_of(a_day("dead_queue")))
    assert [plot.title.partition(":")[0] for plot in drawn.first][-1] == "A day"
    assert [plot.title for plot in drawn.rest] == ["dead_queue, over time"]


def test_other_experiments_and_half_a_day_have_no_such_plot() -> None:
    assert day_plot.plot(section_of(results.experiment()), "x") is None
    half = a_day()
    cut = tuple(replace(variant, series=variant.series[:1]) for variant in half.variants)
    assert day_plot.plot(section_of(replace(half, variants=cut)), "x") is None


# ---- on servers


@pytest.mark.server
@needs_extension
def test_day_on_servers(tmp_path: Path) -> None:
    request = Request(
        names=("day",),
        output=tmp_path / "result.json",
        pg_configs=(default_pg_config(),),
        seconds=7.2,
        scale=0.002,
        repeats=1,
    )
    outcome = runner.run(request)
    assert outcome.failures == ()
    (experiment,) = outcome.result.experiments
    assert [variant.name for variant in experiment.variants] == ["stock", "sweep"]
    for variant in experiment.variants:
        contrib = (
            {"events_frozen"} if any("pgstattuple, which" in n for n in variant.notes) else set()
        )
        expected = {metric.name for metric in experiment.metrics} - {"events_frozen"} | contrib
        assert set(variant.samples) == expected
        (raw,) = variant.raw["repeats"]
        assert [job["label"] for job in raw["jobs"]] == [job.label for job in day.JOBS]
        for job, done in zip(day.JOBS, raw["jobs"], strict=True):
            assert done["begin"] >= job.begin
        # the snapshot is open for an hour
        assert raw["jobs"][-1]["end"] - raw["jobs"][-1]["begin"] >= 1
        found = [hour["most"]["transactions"] for hour in raw["hours"] if "most" in hour]
        assert variant.samples["transactions"][0] >= sum(found) > 0
        # a third was deleted, 18 % updated: somebody must have seen dead rows
        assert variant.samples["dead_peak"][0] > 100
        assert {series.name for series in variant.series} >= set(day_plot.PANELS)
    section = section_of(experiment)
    assert day_plot.plot(section, "x") is not None
