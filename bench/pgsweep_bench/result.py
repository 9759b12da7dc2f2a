"""What a benchmark found, as it is written to disk and read by `report`.

One file holds one Result. Nothing in it is derived. Medians, ratios and verdicts are computed
from the samples when they are shown (bench/verdict.py), so that a later release can look at old
results in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

FORMAT = 1

# A counter tells what was done: pages, records, vacuums. A time is disturbed on a shared machine.
Kind = Literal["counter", "time"]
# "info" is neither. Such a figure is shown, but never judged.
Better = Literal["lower", "higher", "info"]


@dataclass(frozen=True)
class Metric:
    """One figure of an experiment, sampled in each of its variants."""

    name: str
    label: str
    unit: str
    kind: Kind
    better: Better
    # Medians that differ by no more than this share of the other's are the same.
    tolerance: float = 0.1
    # Where both are at most this much, the difference is of no interest.
    negligible: float = 0.0


@dataclass(frozen=True)
class Series:
    """A figure over time, in one variant: pairs of seconds since the slice began and value."""

    name: str
    label: str
    unit: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Variant:
    """One server under the experiment's workload."""

    # "stock", "sweep", "off", or another that the scenario names ("stock_naptime_1s")
    name: str
    label: str
    major: int
    server_version: str
    settings: dict[str, str]
    # The key is Metric.name. A figure that could not be had is missing.
    samples: dict[str, tuple[float, ...]]
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    # anything a reader may want to look into: log lines, rows of sweep.runs
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """A figure of the seed itself, as it was published."""

    metric: str
    variant: str
    value: float
    # It says what was different there, or which unit the seed had if not the metric's.
    remark: str = ""


@dataclass(frozen=True)
class Experiment:
    """One scenario, run."""

    name: str
    seed: str
    title: str
    hypothesis: str
    metrics: tuple[Metric, ...]
    said: tuple[Said, ...]
    variants: tuple[Variant, ...]
    scale: float
    seconds: float
    started_at: str
    ended_at: str
    # Ours is compared with this variant.
    against: str = "stock"


@dataclass(frozen=True)
class Machine:
    """Where it ran. Names of hosts are left out."""

    cpus: int
    memory_mb: int
    kernel: str
    cpu_model: str


@dataclass(frozen=True)
class Result:
    """All that one call of `run` found."""

    release: str
    started_at: str
    machine: Machine
    experiments: tuple[Experiment, ...]
    format: int = FORMAT
