"""The experiments limit, cleaner and tpcds: their arithmetic, and one tiny run of each."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import needs_extension
from pgsweep.base.errors import UsageError
from pgsweep.tune.fit import fit
from pgsweep.tune.lab import deadrows, pagecache
from pgsweep.tune.lab.vacuumlog import VacuumLine
from pgsweep_bench import runner, scenario, tpcdata
from pgsweep_bench.experiments import cleaner, limit, tpcds
from pgsweep_bench.lab import Options
from pgsweep_bench.request import Request
from pgsweep_bench.result import Experiment
from pgsweep_bench.servers.server import default_pg_config

needs_duckdb = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in tpcdata.PACKAGES),
    reason="NOT TESTED: duckdb is not installed: run tools/venv bench",
)


def run(name: str, variant: str, output: Path, seconds: float, scale: float = 1) -> Experiment:
    """Measure one variant of an experiment, once."""

    def one(asked: str) -> scenario.Scenario:
        found = scenario.load(asked)
        return replace(found, variants=(found.variant(variant),))

    request = Request(
        names=(name,),
        output=output / "result.json",
        pg_configs=(default_pg_config(),),
        seconds=seconds,
        scale=scale,
        repeats=1,
        against=variant,
    )
    outcome = runner.run(request, one)
    assert outcome.failures == ()
    (experiment,) = outcome.result.experiments
    return experiment


def samples(experiment: Experiment) -> dict[str, float]:
    """Return the only variant's samples.

    All metrics must be there, and no others.
    """
    (variant,) = experiment.variants
    assert set(variant.samples) == {metric.name for metric in experiment.metrics}
    return {name: values[0] for name, values in variant.samples.items()}


# ---- limit


def vacuum(at: float, elapsed_s: float, **more: Any) -> VacuumLine:
    line = VacuumLine("db", "public", "t", False, False, "autovacuum")
    return replace(line, at=at, elapsed_s=elapsed_s, **more)


def test_fit_of_a_line() -> None:
    line = fit([(1, 3), (2, 5), (4, 9)])
    assert (line.slope, line.intercept, line.r_squared) == pytest.approx((2, 1, 1))
    assert fit([(1, 1), (2, 3), (3, 2)]).r_squared == pytest.approx(0.25)
    assert fit([(1, 7), (2, 7)]).r_squared == 1


def test_fit_of_the_seed() -> None:
    line = fit([(200, 32545), (85, 13644), (50, 7812), (35, 6015)])
    assert line.slope == pytest.approx(162, abs=1)
    assert line.r_squared > 0.999


def test_reclaim_is_over_the_time_from_first_to_last() -> None:
    counts = {"tuples_removed": 1000, "blks_hit": 50, "blks_read": 1280, "blks_dirtied": 1280}
    lines = [vacuum(110, 10, cpu_s=0.5, **counts), vacuum(120, 5, cpu_s=0.5, **counts)]
    found = limit.reclaim(200, lines)
    assert (found.rows, found.seconds, found.rows_per_s) == (2000, 20, 100)
    assert (found.read_mb_per_s, found.write_mb_per_s) == (1, 1)
    assert found.cpu_percent == pytest.approx(5)
    assert found.at_once == pytest.approx(0.75)
    # 200 credits each 2 ms allow 100,000 a second.
    assert found.budget_percent == pytest.approx(2 * (50 + 2 * 1280 + 20 * 1280) / 20 / 1000)


def test_tables_grow_with_the_limit() -> None:
    long = Options(seconds=12)
    assert limit.rows_per_table(200, long) == pytest.approx(4 * limit.rows_per_table(50, long))
    assert limit.rows_per_table(35, Options(seconds=0.1, scale=0.1)) == 5000


@pytest.mark.skipif(not pagecache.can_forget(), reason="NOT TESTED: no posix_fadvise here")
def test_files_are_forgotten(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(bytes(10000))
    assert pagecache.forget(tmp_path) == 10000
    assert (tmp_path / "inner" / "file").read_bytes() == bytes(10000)


@pytest.mark.server
@needs_extension
def test_limit_on_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "LIMITS", (5000, 2500))
    monkeypatch.setattr(deadrows, "TABLES", 2)
    experiment = scenario.load("limit")
    wanted = [m for m in experiment.metrics if not m.name[-1].isdigit()]
    assert {m.name for m in wanted} == {"over_limit_percent", "rows_per_s_per_unit"}
    (variant,) = run("limit", "sweep", tmp_path, seconds=0.02).variants
    assert variant.samples["rows_per_s_5000"][0] > 0
    (raw,) = variant.raw["repeats"]
    for one in raw["limits"]:
        assert one["rows"] >= deadrows.TABLES * 1000
        assert one["seconds"] > 0
        # After a restart, and with the files forgotten, pages are read.
        assert one["read_mb_per_s"] > 0
    assert raw["fit"]["r_squared"] <= 1


def test_limit_measures_what_its_scenario_names() -> None:
    names = {metric.name for metric in scenario.load("limit").metrics}
    for number in limit.LIMITS:
        for what in ("rows_per_s", "read_mb_per_s", "write_mb_per_s", "cpu_percent"):
            assert f"{what}_{number}" in names


# ---- cleaner


def test_scripts_differ_in_how_accounts_are_drawn() -> None:
    uniform = cleaner.script(cleaner.UNIFORM, 2).splitlines()
    gaussian = cleaner.script(cleaner.GAUSSIAN, 2).splitlines()
    assert uniform[0] == "\\set aid random(1, 200000)"
    assert gaussian[0] == "\\set aid random_gaussian(1, 200000, 10)"
    assert uniform[1:] == gaussian[1:]
    assert "\\set tid random(1, 20)" in uniform


@pytest.mark.server
@needs_extension
def test_cleaner_on_a_server(tmp_path: Path) -> None:
    experiment = run("cleaner", "sweep", tmp_path, seconds=2)
    found = samples(experiment)
    for access in ("uniform", "gaussian"):
        assert found[f"accounts_mb_{access}"] > 10
        assert found[f"tps_{access}"] > 0
    (variant,) = experiment.variants
    assert any("off by default" in note for note in variant.notes)
    (raw,) = variant.raw["repeats"]
    for access in ("uniform", "gaussian"):
        assert raw[access]["mb_before"]["accounts_ext"] > 0
        assert raw[access]["transactions"] > 0
    assert {series.name for series in variant.series} >= {"accounts_ext_mb_uniform"}


# ---- tpcds


@pytest.mark.parametrize(
    ("load_s", "single_s", "throughput_s", "said"),
    [
        (251, 817, 1128, 26948),
        (278, 831, 1133, 25861),
        (291, 848, 1172, 25014),
        (300, 893, 1224, 23989),
    ],
)
def test_score_is_the_seeds(load_s: float, single_s: float, throughput_s: float, said: int) -> None:
    """Use the seed's scale factor 10 and two streams.

    greenplum's ANALYZE is not part of it.
    """
    parts = tpcds.Parts(load_s=load_s, single_s=single_s, throughput_s=throughput_s)
    assert tpcds.score(10, 99, 2, parts) == said


def test_score_without_time_is_none() -> None:
    assert tpcds.score(10, 99, 2, tpcds.Parts()) == 0


def test_long_queries_are_left_out() -> None:
    queries = {number: f"SELECT {number}" for number in range(1, 100)}
    everything = tpcds.chosen(queries, 80)
    assert len(everything) == 99 - len(tpcds.LEFT_OUT)
    assert not set(tpcds.LEFT_OUT) & set(everything)
    assert tpcds.chosen(queries, 1000) == everything
    assert list(tpcds.chosen(queries, 1)) == [1, 2, 3, 5, 6]


def test_streams_have_orders_of_their_own() -> None:
    numbers = [3, 1, 2, *range(4, 50)]
    assert tpcds.order(numbers, 0) == sorted(numbers)
    assert tpcds.order(numbers, 1) == tpcds.order(numbers, 1)
    assert tpcds.order(numbers, 1) != tpcds.order(numbers, 2)
    assert sorted(tpcds.order(numbers, 2)) == sorted(numbers)


def test_missing_packages_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tpcdata, "PACKAGES", ("no_such_package",))
    with pytest.raises(UsageError) as raised:
        tpcdata.check()
    assert "no_such_package" in raised.value.one_line()
    assert "pip install 'pgsweep[bench]'" in raised.value.one_line()


def check_data(data: tpcdata.Data) -> None:
    assert set(data.tables) == set(data.files) == set(tpcdata.PRIMARY_KEYS)
    assert set(tpcdata.INDEXES) <= set(data.tables)
    assert sorted(data.queries) == list(range(1, 100))
    for name, columns in tpcdata.PRIMARY_KEYS.items():
        for column in (*columns.split(", "), *tpcdata.INDEXES.get(name, ())):
            assert f"{column} " in data.tables[name]
    assert data.files["date_dim"].read_text().count("\n") == 73049


@pytest.mark.server
@needs_extension
@needs_duckdb
def test_tpcds_on_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate = tpcdata.generate

    def checked(folder: Path, scale_factor: float) -> tpcdata.Data:
        data = generate(folder, scale_factor)
        check_data(data)
        return data

    monkeypatch.setattr(tpcdata, "generate", checked)
    monkeypatch.setattr(tpcds, "COLUMNS", 20)
    monkeypatch.setattr(tpcds, "ROUNDS_BEFORE", 2)
    experiment = run("tpcds", "sweep", tmp_path, seconds=1, scale=0.02)
    found = samples(experiment)
    for when in ("before", "during"):
        assert found[f"score_{when}"] > 0
        assert found[f"cut_off_{when}"] == 0
        assert found[f"attribute_mb_{when}"] > 0
    (raw,) = experiment.variants[0].raw["repeats"]
    assert raw["before"]["parts"]["queries"] == 5
    assert raw["before"]["rounds"] == 2
    # Others roll back as well, for example a vacuum that gives way.
    assert raw["during"]["rounds"] >= 0


@pytest.mark.parametrize("name", ["limit", "cleaner", "tpcds"])
def test_scenario_is_whole(name: str) -> None:
    found = scenario.load(name)
    assert found.hypothesis.endswith(".")
    variants = {variant.name for variant in found.variants}
    assert {"stock", "sweep"} <= variants
    assert {said.variant for said in found.said} <= variants
