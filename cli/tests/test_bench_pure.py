"""The parts of the benchmark that need no server: verdicts, files, what programs say."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from pgsweep.base.errors import UsageError
from pgsweep.tune.lab import progress
from pgsweep_bench import (
    experiments,
    request,
    scenario,
    store,
    summary,
    verdict,
)
from pgsweep_bench.result import (
    Better,
    Experiment,
    Kind,
    Machine,
    Metric,
    Result,
    Said,
    Series,
    Variant,
)

Samples = tuple[float, ...]


def metric(kind: Kind = "counter", better: Better = "lower", **more: float) -> Metric:
    return Metric("m", "a metric", "pages", kind, better, **more)


def variant(name: str, version: str = "15.20", **samples: Samples) -> Variant:
    major = int(version.split(".")[0])
    return Variant(
        name,
        f"label of {name}",
        major,
        version,
        {"shared_buffers": "16MB"},
        samples=dict(samples),
        series=(Series("s", "a series", "MB", ((0.0, 1.0), (1.5, 2.0))),),
        notes=("a note",),
        raw={"repeats": [{"line": "text", "null": None}]},
    )


def experiment(*variants: Variant, **more: Any) -> Experiment:
    fields: dict[str, Any] = {
        "name": "fake",
        "seed": "000",
        "title": "a title",
        "hypothesis": "A sentence.",
        "metrics": (metric(),),
        "said": (Said("m", "stock", 3.0, "then"),),
        "variants": variants,
        "scale": 0.5,
        "seconds": 2.0,
        "started_at": "2026-01-01T00:00:00+00:00",
        "ended_at": "2026-01-01T00:01:00+00:00",
    }
    return Experiment(**{**fields, **more})


def result(*experiments_: Experiment) -> Result:
    machine = Machine(2, 4096, "Linux 6", "a processor")
    return Result("0.1.0", "2026-01-01T00:00:00+00:00", machine, experiments_)


# ---- verdicts


@pytest.mark.parametrize(
    ("kind", "better", "ours", "other", "judgement"),
    [
        # medians and the tolerance, which still counts as "same"
        ("counter", "lower", (100,), (200,), "better"),
        ("counter", "lower", (200,), (100,), "worse"),
        ("counter", "higher", (200,), (100,), "better"),
        ("counter", "higher", (100,), (200,), "worse"),
        ("counter", "lower", (110,), (100,), "same"),
        ("counter", "lower", (90,), (100,), "same"),
        ("counter", "lower", (111,), (100,), "worse"),
        ("counter", "lower", (89,), (100,), "better"),
        # It is still the same while the samples overlap.
        ("counter", "lower", (1, 50, 300), (100, 100, 100), "same"),
        ("counter", "lower", (1, 50, 60), (100, 100, 100), "better"),
        # The other has none, so any at all is worse.
        ("counter", "lower", (7,), (0,), "worse"),
        ("counter", "lower", (0,), (7,), "better"),
        ("counter", "lower", (0,), (0,), "same"),
        # Times are judged in the same way.
        ("time", "lower", (50, 60, 101), (100, 110, 120), "same"),
        ("time", "lower", (50, 60, 99), (100, 110, 120), "better"),
        ("time", "higher", (50, 60, 99), (100, 110, 120), "worse"),
        ("time", "lower", (95, 96), (100, 101), "same"),
        ("time", "lower", (50,), (100,), "better"),
        # This one is not judged.
        ("counter", "info", (50,), (100,), "info"),
        ("counter", "info", (), (100,), "info"),
        ("counter", "lower", (), (100,), "unknown"),
        ("time", "lower", (1,), (), "unknown"),
        ("counter", "lower", (), (), "unknown"),
        # These are values below zero.
        ("counter", "lower", (-20,), (-10,), "better"),
    ],
)
def test_judgement(
    kind: Kind, better: Better, ours: Samples, other: Samples, judgement: str
) -> None:
    assert verdict.compare(metric(kind, better), ours, other).judgement == judgement


@pytest.mark.parametrize(
    ("ours", "other", "judgement"), [(5, 10, "same"), (5, 11, "better"), (11, 5, "worse")]
)
def test_negligible(ours: float, other: float, judgement: str) -> None:
    found = verdict.compare(metric(negligible=10), (ours,), (other,))
    assert found.judgement == judgement


def test_comparison_has_medians_spread_and_ratio() -> None:
    found = verdict.compare(metric(), (1, 9, 2), (4, 4))
    assert found.ours == verdict.Summary(2, 1, 9, 3)
    assert found.other == verdict.Summary(4, 4, 4, 2)
    assert found.ratio == 0.5
    assert verdict.compare(metric(), (1,), (0,)).ratio is None
    assert verdict.compare(metric(), (), (1,)).ratio is None


def test_variants_are_compared_on_the_same_version() -> None:
    found = experiment(
        variant("stock", "15.20", m=(10,)),
        variant("sweep", "15.20", m=(5,)),
        variant("stock", "18.4", m=(10,)),
        variant("sweep", "18.4", m=(20,)),
        variant("sweep", "19.1", m=(1,)),
        variant("off", "15.20", m=(1,)),
    )
    # The newest on which both ran.
    assert [c.judgement for c in verdict.experiment(found)] == ["worse"]
    assert [c.judgement for c in verdict.experiment(found, server_version="15.20")] == ["better"]
    assert [c.judgement for c in verdict.experiment(found, "off")] == ["worse"]
    assert verdict.experiment(found, server_version="19.1") == ()
    assert verdict.experiment(experiment(variant("sweep"))) == ()
    assert verdict.count(verdict.experiment(found)) == {"worse": 1}


def test_two_results_are_compared_by_major() -> None:
    old = experiment(variant("sweep", "15.19", m=(10,)), variant("sweep", "17.1", m=(1,)))
    new = experiment(variant("sweep", "15.20", m=(20,)))
    assert [c.judgement for c in verdict.between(new, old)] == ["worse"]
    assert verdict.between(experiment(variant("sweep", "18.1", m=(2,))), old) == ()


def test_summary_for_the_terminal() -> None:
    metrics = (metric(), Metric("n", "n" * 60, "MB", "time", "higher"))
    found = experiment(variant("stock", m=(1000,)), variant("sweep", m=(1,)), metrics=metrics)
    texts = [line.plain for line in summary.lines(result(found), ["fake"])]
    assert max(map(len, texts)) <= 80
    assert texts[2].split() == ["a", "metric,", "pages", "1,000", "1", "better"]
    assert texts[3].endswith("not measured")
    assert [*summary.lines(result(found), ["other"])] == []
    alone = [*summary.lines(result(experiment(variant("stock", m=(3,)))), ["fake"])]
    assert "a metric, pages" in alone[2].plain
    alone = [*summary.lines(result(experiment(variant("sweep", m=(3,)))), ["fake"])]
    assert alone[2].plain.split() == ["a", "metric,", "pages", "3"]


# ---- files


def test_result_round_trip(tmp_path: Path) -> None:
    found = result(experiment(variant("stock", m=(1, 2.5)), variant("sweep")), experiment())
    path = tmp_path / "result.json"
    store.save(found, path)
    store.save(found, path)
    assert store.load(path) == found
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_a_result_takes_few_lines() -> None:
    points = tuple((at / 8, 1000.0 * at) for at in range(600))
    long = replace(
        variant("sweep", m=(1.5, 2)),
        series=(Series("s", "a series", "MB", points),),
        notes=("several words  and two blanks " * 20, "a\nline"),
        raw={"repeats": [{"texts": ["a b  c"] * 100, "numbers": [[1, None, True]] * 100}]},
    )
    found = result(experiment(long))
    text = store.dumps(found)
    assert store.loads(text) == found
    assert len(text.splitlines()) < 250
    assert '\n     "samples": {"m": [1.5, 2]},\n' in text


def test_result_of_a_later_release_may_have_more() -> None:
    document = json.loads(store.dumps(result(experiment(variant("sweep")))))
    document["experiments"][0]["weather"] = "fine"
    del document["experiments"][0]["variants"][0]["notes"]
    found = store.loads(json.dumps(document))
    assert found.experiments[0].variants[0].notes == ()


def _change(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        if to is None:
            del document[path[-1]]
        else:
            document[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change("format", to=99), "has format 99"),
        (_change("format", to=None), "is no result of an experiment"),
        (_change("machine", to=None), '"machine" is missing'),
        (_change("experiments", 0, "seconds", to="long"), "'long' is not a number"),
        (_change("experiments", 0, "variants", to={}), "'{}' is not a list"),
        (_change("experiments", 0, "metrics", 0, "kind", to="x"), "'x' is not one of counter"),
        (_change("experiments", 0, "variants", 0, "samples", "m", to=[True]), "is not a number"),
        (_change("experiments", 0, "variants", 0, "series", 0, "points", 0, to=[1]), "2 values"),
    ],
)
def test_result_that_is_wrong(change: Callable[[Any], None], message: str) -> None:
    document = json.loads(store.dumps(result(experiment(variant("sweep", m=(1,))))))
    change(document)
    with pytest.raises(store.ResultError, match="result") as error:
        store.loads(json.dumps(document))
    assert message in error.value.message


def test_result_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(store.ResultError, match="is no JSON"):
        store.loads("{")
    with pytest.raises(store.ResultError, match="is no result"):
        store.loads("[]")
    with pytest.raises(store.ResultError, match="No such file"):
        store.load(tmp_path / "none.json")
    with pytest.raises(store.ResultError, match="could not write"):
        store.save(result(), tmp_path / "none" / "result.json")


# ---- scenarios

SCENARIO = """
name = "fake"
seed = "000"
title = "t"
hypothesis = "h"
[defaults]
seconds = 5
[smoke]
seconds = 1
scale = 0.5
[settings]
shared_buffers = "1MB"
fsync = false
autovacuum_naptime = 2
sweep.naptime = "1s"
[[variants]]
name = "sweep"
label = "l"
library = true
settings = { jit = true }
[[metrics]]
name = "m"
label = "l"
unit = "u"
kind = "counter"
better = "lower"
[[said]]
metric = "m"
variant = "stock"
value = 3
"""


def test_scenario_is_parsed() -> None:
    found = scenario.parse(SCENARIO, "fake.toml")
    assert found.settings == {
        "shared_buffers": "1MB",
        "fsync": "off",
        "autovacuum_naptime": "2",
        "sweep.naptime": "1s",
    }
    assert found.variant("sweep").settings == {"jit": "on"}
    assert found.smoke == scenario.Size(1, 0.5, 1)
    assert found.said == (Said("m", "stock", 3.0),)
    assert found.metrics[0].tolerance == Metric.tolerance
    assert not found.interleaved


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "t"', "", 'fake.toml: "title" is missing'),
        ('title = "t"', "title = 3", 'fake.toml: "title" cannot be 3'),
        ('title = "t"', 'title = "t', "fake.toml: "),
        ('title = "t"', 'title = "t"\ncolour = 1', 'fake.toml: "colour" is unknown'),
        ("seconds = 5", "seconds = 0", "must be positive"),
        ("seconds = 5", "seconds = true", '"seconds" cannot be True'),
        ("seconds = 5", "secs = 5", 'defaults: "seconds" is missing'),
        ('kind = "counter"', 'kind = "count"', '"kind" is "count", not counter or time'),
        ('metric = "m"', 'metric = "x"', 'there is no metric "x"'),
        ('name = "sweep"', 'name = "stock"', 'no variant "sweep"'),
        ("library = true", 'library = "yes"', "variants 1: \"library\" cannot be 'yes'"),
        ("fsync = false", "fsync = [1]", '"fsync" cannot be [1]'),
        ("[[said]]", '[[variants]]\nname = "sweep"\nlabel = "l"\n[[said]]', "is there twice"),
    ],
)
def test_scenario_that_is_wrong(old: str, new: str, message: str) -> None:
    assert old in SCENARIO
    with pytest.raises(scenario.ScenarioError) as error:
        scenario.parse(SCENARIO.replace(old, new, 1), "fake.toml")
    assert message in error.value.message


def test_every_scenario_has_its_workload() -> None:
    names = {path.stem for path in scenario.folder().glob("*.toml")}
    assert names == {*scenario.NAMES, *scenario.EXTRA}
    for name in names:
        found = scenario.load(name)
        assert callable(experiments.load(name))
        assert {"stock", "sweep"} <= {variant.name for variant in found.variants}
        assert found.hypothesis.endswith(".")
    with pytest.raises(scenario.ScenarioError, match="there is no scenario"):
        scenario.load("none")


# ---- the command line


def test_names() -> None:
    assert request.names_of(["all"]) == scenario.NAMES
    assert request.names_of(["cost", "insert", "cost"]) == ("insert", "cost")
    with pytest.raises(UsageError, match="no experiment"):
        request.names_of(["speed"])


def test_settings() -> None:
    given = ["sweep.min_interval=600", "a = b=c"]
    assert request.settings_of(given) == {"sweep.min_interval": "600", "a": "b=c"}
    for wrong in ("x", "=1"):
        with pytest.raises(UsageError, match="is not NAME=VALUE"):
            request.settings_of([wrong])


# ---- progress


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, highlight=False)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    with progress.reporter(2) as found:
        found.begin("a piece", 10)
        found.stage("loading")
        found.note("said [in between]")
        found.end()
    assert isinstance(found, progress.Bars)
    assert " 50%" in screen.getvalue()
    assert "pgsweep: said [in between]" in screen.getvalue()


def test_progress_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.reporter(2) as found:
        found.begin("a piece", 10)
        found.stage("loading")
        found.tick()
        found.end()
        found.begin("another", 1)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "pgsweep: 1/2 a piece, about 10 s",
        "pgsweep: a piece: loading",
        "pgsweep: 2/2 another, about 1 s",
    ]
