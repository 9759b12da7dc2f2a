"""What the samples say: medians, spread, and whether ours is better. All of it is pure.

A figure is better or worse if the medians differ by more than its tolerance and the samples of
the two do not overlap. If the repeats of one server differ by as much among themselves, two
servers do not differ. Counters say what was done, whoever else uses the machine. Others disturb
times, so times are told apart.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pgsweep_bench.result import Experiment, Metric, Variant

# "unknown" means that one side has no samples. "info" means that the metric is not judged.
Judgement = Literal["better", "worse", "same", "info", "unknown"]

OURS = "sweep"


@dataclass(frozen=True)
class Summary:
    """Samples in short, in the metric's unit."""

    median: float
    low: float
    high: float
    number: int


@dataclass(frozen=True)
class Comparison:
    """One metric, ours against another's."""

    metric: Metric
    ours: Summary | None
    other: Summary | None
    judgement: Judgement
    # Ours divided by the other's median. It is None where that cannot be.
    ratio: float | None

    @property
    def times(self) -> float:
        """How many times the smaller of the medians the larger one is.

        It is infinite if only one of them is zero, or if they differ in sign.
        """
        if self.ours is None or self.other is None or self.ours.median == self.other.median:
            return 1.0
        if self.ratio is None or self.ratio <= 0:
            return math.inf
        return max(self.ratio, 1 / self.ratio)


def summary(samples: Sequence[float]) -> Summary | None:
    """Return median and range, or None without samples."""
    if not samples:
        return None
    return Summary(statistics.median(samples), min(samples), max(samples), len(samples))


def compare(metric: Metric, ours: Sequence[float], other: Sequence[float]) -> Comparison:
    """Judge one metric by its samples."""
    mine, theirs = summary(ours), summary(other)
    ratio = mine.median / theirs.median if mine and theirs and theirs.median else None
    return Comparison(metric, mine, theirs, _judge(metric, mine, theirs), ratio)


def _judge(metric: Metric, ours: Summary | None, other: Summary | None) -> Judgement:
    if metric.better == "info":
        return "info"
    if ours is None or other is None:
        return "unknown"
    if max(abs(ours.median), abs(other.median)) <= metric.negligible:
        return "same"
    if abs(ours.median - other.median) <= metric.tolerance * abs(other.median):
        return "same"
    if ours.low <= other.high and other.low <= ours.high:
        return "same"
    return "better" if (ours.median < other.median) == (metric.better == "lower") else "worse"


def variants(experiment: Experiment, name: str) -> tuple[Variant, ...]:
    """Return the variants of this name, one per server version, the oldest first."""
    found = (variant for variant in experiment.variants if variant.name == name)
    return tuple(sorted(found, key=lambda variant: (variant.major, variant.server_version)))


def pair(ours: Variant, other: Variant, metrics: Iterable[Metric]) -> tuple[Comparison, ...]:
    """Judge all metrics of one variant against another."""
    return tuple(
        compare(metric, ours.samples.get(metric.name, ()), other.samples.get(metric.name, ()))
        for metric in metrics
    )


def experiment(
    experiment: Experiment, against: str | None = None, server_version: str | None = None
) -> tuple[Comparison, ...]:
    """Judge ours against the experiment's other variant, on one server version.

    Without a version the newest on which both ran is taken. The result is () if there is none.
    """
    others = {
        variant.server_version: variant
        for variant in variants(experiment, against or experiment.against)
    }
    for ours in reversed(variants(experiment, OURS)):
        if server_version in (None, ours.server_version) and ours.server_version in others:
            return pair(ours, others[ours.server_version], experiment.metrics)
    return ()


def between(new: Experiment, old: Experiment, variant: str = OURS) -> tuple[Comparison, ...]:
    """Judge a result's variant against the same variant of another result, by major.

    The metrics are the newer result's. The result is () if no major is in both.
    """
    before = {found.major: found for found in variants(old, variant)}
    for found in reversed(variants(new, variant)):
        if found.major in before:
            return pair(found, before[found.major], new.metrics)
    return ()


def count(comparisons: Iterable[Comparison]) -> dict[Judgement, int]:
    """Return how many are better, worse and so on."""
    counts: dict[Judgement, int] = {}
    for comparison in comparisons:
        counts[comparison.judgement] = counts.get(comparison.judgement, 0) + 1
    return counts
