"""Curves through measured points. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """y = slope * x + intercept, and how well it fits. A fit of 1 is exact."""

    slope: float
    intercept: float
    r_squared: float


def fit(points: Sequence[tuple[float, float]]) -> Line:
    """Return the least-squares line through at least two points of different x."""
    xs, ys = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    mean = statistics.fmean(ys)
    spread = sum((y - mean) ** 2 for y in ys)
    left = sum((y - slope * x - intercept) ** 2 for x, y in points)
    return Line(slope, intercept, 1 - left / spread if spread else 1.0)


@dataclass(frozen=True)
class Throttled:
    """How long a dead row takes at a cost limit: its work, and its share of the naps.

    A vacuum naps whenever it has spent `limit` credits. So naps take credits ÷ limit, and the
    work between them does not depend on the limit: rows/s = 1 ÷ (work + naps ÷ limit). This is
    nearly a line while naps are long beside the work. It levels off at 1 ÷ work.
    """

    # seconds a row
    work: float
    # seconds a row at limit 1
    naps: float

    def rate(self, limit: float) -> float:
        """Return rows per second at a limit."""
        return limit / (self.work * limit + self.naps)

    def limit(self, rate: float) -> float | None:
        """Return the limit that reaches a rate, or None if no limit does."""
        left = 1 - rate * self.work
        return rate * self.naps / left if left > 0 else None

    @property
    def most(self) -> float | None:
        """Rows per second without any naps, or None if that cannot be seen yet."""
        return 1 / self.work if self.work > 0 else None


def fit_throttled(points: Sequence[tuple[float, float]]) -> Throttled:
    """Return the curve with the least relative error through points (limit, rows/s), rows/s > 0.

    Time per row is linear in 1 ÷ limit. Each point counts by its relative error. What is looked
    for is often at the small limits, and there the rates are small too.
    """
    # weights 1/y² of y = work + naps * x
    rows = [(1 / limit, 1 / rate) for limit, rate in points]
    s = sx = sy = sxx = sxy = 0.0
    for x, y in rows:
        weight = 1 / (y * y)
        s += weight
        sx += weight * x
        sy += weight * y
        sxx += weight * x * x
        sxy += weight * x * y
    determinant = s * sxx - sx * sx
    work = (sy * sxx - sx * sxy) / determinant if determinant > 1e-9 * s * sxx else 0.0
    if work <= 0:
        # There is one limit only, or there is noise. Nothing says that work takes time.
        return Throttled(0.0, sxy / sxx)
    naps = (s * sxy - sx * sy) / determinant
    if naps <= 0:
        # The limit changes nothing.
        return Throttled(sy / s, 0.0)
    return Throttled(work, naps)
