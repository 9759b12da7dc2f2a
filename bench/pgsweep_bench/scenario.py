"""A scenario file: what an experiment compares, on which settings, and what its seed said.

There is one TOML file per experiment in bench/scenarios/. It has no code. The workload is the
function `measure` of the module of the same name in pgsweep_bench.experiments.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pgsweep.base.errors import PgsweepError
from pgsweep_bench.result import Better, Kind, Metric, Said

# The order in which `run all` runs them.
NAMES = ("insert", "catalog", "cost", "cleaner", "limit", "tpcds")
# These run only when they are named. They are as large as a seed's own, or last a whole day.
EXTRA = ("insert_full", "day", "sparse")

OURS = "sweep"
OFF = "off"


class ScenarioError(PgsweepError):
    """A scenario file cannot be used."""


@dataclass(frozen=True)
class VariantSpec:
    """One kind of server of the experiment."""

    name: str
    label: str
    # If so, pg_sweep is preloaded, its extension is created, and sweep.mode is act.
    library: bool = False
    # These override those of the scenario.
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Size:
    """How long and how large: seconds of load per variant, and the scale.

    Scale 1 is for two cores.
    """

    seconds: float
    scale: float = 1.0
    repeats: int = 1


@dataclass(frozen=True)
class Scenario:
    """A scenario file, checked."""

    name: str
    seed: str
    title: str
    hypothesis: str
    settings: Mapping[str, str]
    variants: tuple[VariantSpec, ...]
    metrics: tuple[Metric, ...]
    said: tuple[Said, ...]
    defaults: Size
    smoke: Size
    # If so, all variants' servers run at once, and the variants take turns. Then measure is a
    # generator.
    interleaved: bool = False
    # If so, all are under load at the same time, and a turn only begins something.
    together: bool = False
    # If so, it can run on a server whose settings it does not choose (--dsn).
    existing_server: bool = False

    def variant(self, name: str) -> VariantSpec:
        """Return a variant by name."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise ScenarioError(f'scenario "{self.name}" has no variant "{name}"')


def folder() -> Path:
    """Return where the scenario files are: bench/scenarios."""
    return Path(__file__).resolve().parents[1] / "scenarios"


def load(name: str) -> Scenario:
    """Return the scenario of this name."""
    path = folder() / f"{name}.toml"
    try:
        text = path.read_text()
    except OSError as exc:
        raise ScenarioError(f'there is no scenario "{name}"', f"No file {path.name}.") from exc
    scenario = parse(text, path.name)
    if scenario.name != name:
        raise ScenarioError(f'{path.name}: name is "{scenario.name}", must be "{name}"')
    return scenario


def parse(text: str, where: str) -> Scenario:
    """Return the scenario that a file's text describes. `where` is for messages."""
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = _Table(toml.loads(text), where)
    except toml.TOMLDecodeError as exc:
        raise ScenarioError(f"{where}: {exc}") from exc
    metrics = tuple(_metric(entry) for entry in table.tables("metrics"))
    variants = tuple(_variant(entry) for entry in table.tables("variants"))
    defaults = table.table("defaults")
    smoke = table.table("smoke")
    scenario = Scenario(
        name=table.text("name"),
        seed=table.text("seed"),
        title=table.text("title"),
        hypothesis=table.text("hypothesis"),
        settings=table.table("settings", required=False).settings(),
        variants=variants,
        metrics=metrics,
        said=tuple(_said(entry) for entry in table.tables("said", required=False)),
        defaults=_size(defaults),
        smoke=_size(smoke),
        interleaved=table.flag("interleaved"),
        together=table.flag("together"),
        existing_server=table.flag("existing_server"),
    )
    table.no_more()
    _check(scenario, where)
    return scenario


def _check(scenario: Scenario, where: str) -> None:
    for what, names in (
        ("variant", [variant.name for variant in scenario.variants]),
        ("metric", [metric.name for metric in scenario.metrics]),
    ):
        if not names:
            raise ScenarioError(f"{where}: no {what}")
        for name in names:
            if names.count(name) > 1:
                raise ScenarioError(f'{where}: {what} "{name}" is there twice')
    if not any(variant.name == OURS for variant in scenario.variants):
        raise ScenarioError(f'{where}: no variant "{OURS}"')
    known = {metric.name for metric in scenario.metrics}
    for said in scenario.said:
        if said.metric not in known:
            raise ScenarioError(f'{where}: said: there is no metric "{said.metric}"')


def _variant(table: _Table) -> VariantSpec:
    variant = VariantSpec(
        name=table.text("name"),
        label=table.text("label"),
        library=table.flag("library"),
        settings=table.table("settings", required=False).settings(),
    )
    table.no_more()
    return variant


def _metric(table: _Table) -> Metric:
    kind: Kind = table.choice("kind", get_args(Kind))  # type: ignore[assignment]
    better: Better = table.choice("better", get_args(Better))  # type: ignore[assignment]
    metric = Metric(
        name=table.text("name"),
        label=table.text("label"),
        unit=table.text("unit"),
        kind=kind,
        better=better,
        tolerance=table.number("tolerance", Metric.tolerance),
        negligible=table.number("negligible", Metric.negligible),
    )
    table.no_more()
    return metric


def _said(table: _Table) -> Said:
    said = Said(
        metric=table.text("metric"),
        variant=table.text("variant"),
        value=table.number("value"),
        remark=table.text("remark", ""),
    )
    table.no_more()
    return said


def _size(table: _Table) -> Size:
    size = Size(
        seconds=table.number("seconds"),
        scale=table.number("scale", 1.0),
        repeats=int(table.number("repeats", 1)),
    )
    table.no_more()
    if size.seconds <= 0 or size.scale <= 0 or size.repeats < 1:
        raise ScenarioError(f"{table.where}: seconds, scale and repeats must be positive")
    return size


class _Table:
    """A TOML table whose keys are taken out one by one. What is left is a mistake."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.where = where
        self._left = dict(values)

    def _take(self, key: str, kinds: tuple[type, ...], default: object) -> Any:  # noqa: ANN401
        if key not in self._left:
            if default is None:
                raise ScenarioError(f'{self.where}: "{key}" is missing')
            return default
        value = self._left.pop(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ScenarioError(f'{self.where}: "{key}" cannot be {value!r}')
        return value

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._take(key, (str,), default))

    def number(self, key: str, default: float | None = None) -> float:
        return float(self._take(key, (int, float), default))

    def flag(self, key: str) -> bool:
        return bool(self._take(key, (bool,), False))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise ScenarioError(f'{self.where}: "{key}" is "{value}", not {" or ".join(choices)}')
        return value

    def table(self, key: str, required: bool = True) -> _Table:
        value = self._take(key, (dict,), None if required else {})
        return _Table(value, f"{self.where}: {key}")

    def tables(self, key: str, required: bool = True) -> list[_Table]:
        values = self._take(key, (list,), None if required else [])
        where = f"{self.where}: {key}"
        if not all(isinstance(value, dict) for value in values):
            raise ScenarioError(f"{where}: must be tables, [[{key}]]")
        return [_Table(value, f"{where} {i}") for i, value in enumerate(values, 1)]

    def settings(self) -> dict[str, str]:
        """Return all that is left as settings of a server. Nested tables are dotted names."""
        found: dict[str, str] = {}
        for name, value in self._left.items():
            if isinstance(value, dict):
                inner = _Table(value, f"{self.where}: {name}").settings()
                found.update({f"{name}.{key}": text for key, text in inner.items()})
            elif isinstance(value, bool):
                found[name] = "on" if value else "off"
            elif isinstance(value, (str, int, float)):
                found[name] = str(value)
            else:
                raise ScenarioError(f'{self.where}: "{name}" cannot be {value!r}')
        return found

    def no_more(self) -> None:
        for key in self._left:
            raise ScenarioError(f'{self.where}: "{key}" is unknown')
