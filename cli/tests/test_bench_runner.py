"""What is run in which order, kept and resumed.

The experiment is a fake, and there is no server.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgsweep.base.errors import ServerError, UsageError
from pgsweep.base.interrupts import Interrupted
from pgsweep_bench import experiments, runner, scenario, store
from pgsweep_bench.lab import Measured, Options, Turns
from pgsweep_bench.request import Request
from pgsweep_bench.scenario import VariantSpec

STOCK, SWEEP = VariantSpec("stock", "Stock"), VariantSpec("sweep", "Ours", library=True)
BASE = replace(
    scenario.load("insert"),
    variants=(STOCK, SWEEP),
    settings={"shared_buffers": "1MB"},
    defaults=scenario.Size(5),
    smoke=scenario.Size(1, 0.5),
)


class Bench:
    """Runs fake experiments and writes down what happens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.events: list[str] = []
        self.fail: set[tuple[str, str]] = set()
        self.interrupt: str | None = None
        self.scenarios = {"insert": BASE, "cost": replace(BASE, name="cost")}
        self.path = path / "result.json"
        monkeypatch.setattr(runner, "_throwaway", self._throwaway)
        monkeypatch.setattr(runner, "_check_settings", lambda *_: None)
        monkeypatch.setattr(runner, "extension_is_installed", lambda _: True)
        monkeypatch.setattr(
            runner, "pg_config_value", lambda config, _: f"PostgreSQL {config.strip('/')} (x)"
        )
        monkeypatch.setattr(experiments, "load", lambda name: lambda *a: self._measure(name, *a))

    @contextmanager
    def _throwaway(self, piece: Any, spec: VariantSpec, *_: Any) -> Iterator[Any]:
        self.events.append(f"+{spec.name}")
        yield SimpleNamespace(variant=spec, major=int(piece.server_version.split(".")[0]))
        self.events.append(f"-{spec.name}")

    def _measure(self, name: str, lab: Any, options: Options) -> Measured | Turns:
        if (name, lab.variant.name) in self.fail:
            raise ServerError("it broke", "Mend it.")
        if self.interrupt == lab.variant.name:
            raise Interrupted(2)
        measured = Measured(raw={"scale": options.scale})
        measured.add("vacuums", 1, 2)
        if not (self.scenarios[name].interleaved or self.scenarios[name].together):
            self.events.append(lab.variant.name)
            return measured
        return self._turns(lab, measured)

    def _turns(self, lab: Any, measured: Measured) -> Turns:
        for number in range(3):
            self.events.append(f"{lab.variant.name}{number}")
            yield
        return measured

    def run(self, *names: str, **more: Any) -> runner.Outcome:
        request = Request(
            names or ("insert",), self.path, more.pop("pg_configs", ("/15.20",)), **more
        )
        return runner.run(request, lambda name: self.scenarios[name])


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    return Bench(monkeypatch, tmp_path)


def test_variants_run_one_after_the_other(bench: Bench) -> None:
    outcome = bench.run()
    assert bench.events == ["+stock", "stock", "-stock", "+sweep", "sweep", "-sweep"]
    assert outcome.failures == ()
    assert store.load(bench.path) == outcome.result
    (found,) = outcome.result.experiments
    assert (found.seconds, found.scale, found.against) == (5, 1, "stock")
    stock, sweep = found.variants
    assert stock.settings == {"shared_buffers": "1MB"}
    assert sweep.settings["sweep.mode"] == "act"
    assert stock.samples == {"vacuums": (1, 2)}
    assert (stock.major, stock.server_version) == (15, "15.20")


@pytest.mark.parametrize("found", [replace(BASE, interleaved=True), replace(BASE, together=True)])
def test_variants_by_turns(bench: Bench, found: scenario.Scenario) -> None:
    bench.scenarios["insert"] = found
    bench.run()
    assert bench.events == [
        *("+stock", "+sweep", "stock0", "sweep0", "sweep1", "stock1", "stock2", "sweep2"),
        *("-sweep", "-stock"),
    ]


def test_repeats_add_samples(bench: Bench) -> None:
    outcome = bench.run(repeats=2)
    assert [event for event in bench.events if event[0] == "+"] == ["+stock", "+sweep"] * 2
    for variant in outcome.result.experiments[0].variants:
        assert variant.samples == {"vacuums": (1, 2, 1, 2)}
        assert len(variant.raw["repeats"]) == 2


def test_several_majors(bench: Bench) -> None:
    outcome = bench.run(pg_configs=("/15.20", "/18.4"))
    (found,) = outcome.result.experiments
    assert [(v.name, v.major) for v in found.variants] == [
        ("stock", 15),
        ("sweep", 15),
        ("stock", 18),
        ("sweep", 18),
    ]
    with pytest.raises(UsageError, match="are both PostgreSQL"):
        bench.run(pg_configs=("/15.20", "15.20"))


def test_set_goes_to_our_variant(bench: Bench) -> None:
    outcome = bench.run(settings={"sweep.min_interval": "600"})
    stock, sweep = outcome.result.experiments[0].variants
    assert "sweep.min_interval" not in stock.settings
    assert sweep.settings["sweep.min_interval"] == "600"
    assert sweep.label == "Ours, sweep.min_interval = 600"


def test_against_off(bench: Bench) -> None:
    outcome = bench.run(against="off")
    (found,) = outcome.result.experiments
    assert [v.name for v in found.variants] == ["off", "sweep"]
    assert found.variants[0].settings["autovacuum"] == "off"
    assert found.against == "off"


def test_against_off_where_the_scenario_has_it(bench: Bench) -> None:
    off = VariantSpec("off", "Off", settings={"autovacuum": "off"})
    bench.scenarios["insert"] = replace(BASE, variants=(STOCK, off, SWEEP))
    outcome = bench.run(against="off")
    assert [v.name for v in outcome.result.experiments[0].variants] == ["stock", "off", "sweep"]


def test_size(bench: Bench) -> None:
    assert bench.run(smoke=True).result.experiments[0].scale == 0.5
    bench.path.unlink()
    found = bench.run(smoke=True, seconds=3.0, scale=2.0).result.experiments[0]
    assert (found.seconds, found.scale) == (3, 2)
    assert found.variants[0].raw["repeats"] == [{"scale": 2.0}]


def test_interrupted_run_is_resumed(bench: Bench) -> None:
    bench.interrupt = "sweep"
    with pytest.raises(Interrupted):
        bench.run(repeats=2, seconds=7.0)
    kept = store.load(bench.path)
    assert [v.name for v in kept.experiments[0].variants] == ["stock"]

    bench.events.clear()
    bench.interrupt = None
    outcome = bench.run("insert", "cost", repeats=2, resume=kept)
    started = [event for event in bench.events if event[0] == "+"]
    assert started == ["+sweep", "+stock", "+sweep", *["+stock", "+sweep"] * 2]
    cost, insert = sorted(outcome.result.experiments, key=lambda found: found.name)
    assert insert.seconds == 7
    assert cost.seconds == 5
    assert insert.started_at == kept.experiments[0].started_at
    assert all(len(v.raw["repeats"]) == 2 for v in (*insert.variants, *cost.variants))

    bench.events.clear()
    again = bench.run("insert", repeats=2, resume=outcome.result)
    assert bench.events == []
    assert again.result == outcome.result


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seconds": 9.0}, "was begun with --seconds 5, not 9"),
        ({"scale": 9.0}, "was begun with --scale 1, not 9"),
        ({"smoke": True}, "was begun with --seconds 5, not 1"),
        ({"against": "off"}, "was begun with --against stock"),
        ({"settings": {"sweep.naptime": "2s"}}, "was begun with other settings"),
    ],
)
def test_resume_must_be_the_same_run(bench: Bench, more: dict[str, Any], message: str) -> None:
    kept = bench.run().result
    with pytest.raises(UsageError, match=message):
        bench.run(resume=kept, **more)


def test_failure_does_not_keep_the_others_from_running(bench: Bench) -> None:
    bench.fail = {("insert", "sweep")}
    outcome = bench.run("insert", "cost", repeats=2)
    assert [(name, str(exc)) for name, exc in outcome.failures] == [("insert", "it broke")]
    insert, cost = outcome.result.experiments
    assert [v.name for v in insert.variants] == ["stock"]
    assert [len(v.raw["repeats"]) for v in cost.variants] == [2, 2]


def test_existing_server_is_refused(bench: Bench) -> None:
    with pytest.raises(UsageError, match="needs servers that it can set up"):
        bench.run(dsn="host=nowhere")
    bench.scenarios["insert"] = replace(BASE, existing_server=True)
    with pytest.raises(UsageError, match="are not changed"):
        bench.run(dsn="host=nowhere", settings={"a": "b"})
