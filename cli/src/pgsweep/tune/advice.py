"""Which limit is recommended, and whether it keeps what was asked. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.tune.fit import fit, fit_throttled
from pgsweep.tune.model import Point
from pgsweep.tune.targets import LEAST_LIMIT, LEAST_PART, MOST_LIMIT, MOST_PART

if TYPE_CHECKING:
    from pgsweep.tune.fit import Line, Throttled
    from pgsweep.tune.model import Measured
    from pgsweep.tune.targets import Targets

# A line says nothing about limits far beyond those that were measured.
FAR = 4.0


@dataclass(frozen=True)
class Advice:
    """The limit that is recommended, what is expected of it, and what cannot be had with it."""

    limit: int
    expected: Point
    line: Line
    curve: Throttled
    # The smallest limit that reaches the rate. None means that no limit does.
    for_rate: int | None
    # The greatest limit within the shares. None means that they were not asked for or not
    # measured.
    for_shares: int | None
    # Sentences that say why both cannot be had. It is empty if they can.
    conflicts: tuple[str, ...] = ()
    # sentences to be read beside it
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Whether the recommended limit, run once more, keeps what was asked."""

    point: Point
    rate_met: bool
    # None means that it was not asked for, or not measured.
    device_met: bool | None
    cpu_met: bool | None

    @property
    def all_met(self) -> bool:
        """Whether nothing that was asked for and measured was missed."""
        return self.rate_met and self.device_met is not False and self.cpu_met is not False


def advise(measured: Measured, targets: Targets) -> Advice:
    """Return the smallest limit that reaches the rate, or the greatest that keeps the shares.

    Shares that no limit keeps, because of other load, are told but do not count.
    """
    pairs = [(float(point.limit), point.rows_per_s) for point in measured.points]
    line, curve = fit(pairs), fit_throttled(pairs)
    wanted = curve.limit(targets.reclaim_rate)
    for_rate = None if wanted is None else max(LEAST_LIMIT, math.ceil(wanted - 1e-9))
    if for_rate is not None and for_rate > MOST_LIMIT:
        for_rate = None
    device = _greatest(measured.points, curve, targets.device, lambda p: p.device_percent)
    cpu = _greatest(measured.points, curve, targets.cpu, lambda p: p.cpu_percent)
    kept = [each for each in (device, cpu) if each is not None and each >= LEAST_LIMIT]
    allowed = min(kept, default=None)
    limit = for_rate if for_rate is not None else MOST_LIMIT
    if allowed is not None:
        limit = min(limit, allowed)
    expected = expect(measured.points, curve, limit)
    return Advice(
        limit=limit,
        expected=expected,
        line=line,
        curve=curve,
        for_rate=for_rate,
        for_shares=allowed,
        conflicts=tuple(
            _conflicts(measured, curve, targets, for_rate, expected, device=device, cpu=cpu)
        ),
        remarks=tuple(_remarks(measured, targets, expected)),
    )


def expect(points: Sequence[Point], curve: Throttled, limit: int) -> Point:
    """Return what is to be expected at a limit.

    Everything grows with the rate, along a line.
    """
    rate = curve.rate(limit)

    def at(get: Callable[[Point], float | None]) -> float | None:
        known = [(p.rows_per_s, value) for p in points if (value := get(p)) is not None]
        if not known:
            return None
        if len({x for x, _ in known}) < 2:
            return max(0.0, known[0][1] * rate / known[0][0])
        found = fit(known)
        return max(0.0, found.intercept + found.slope * rate)

    return Point(
        limit=limit,
        rows_per_s=rate,
        cpu_percent=at(lambda p: p.cpu_percent),
        read_mb_per_s=at(lambda p: p.read_mb_per_s),
        write_mb_per_s=at(lambda p: p.write_mb_per_s),
        wal_mb_per_s=at(lambda p: p.wal_mb_per_s),
        device_write_mb_per_s=at(lambda p: p.device_write_mb_per_s),
        device_percent=at(lambda p: p.device_percent),
    )


def verify(point: Point, targets: Targets) -> Verdict:
    """Return whether a run at the recommended limit keeps what was asked."""

    def met(value: float | None, most: float | None) -> bool | None:
        return None if value is None or most is None else value <= most

    part = point.rows_per_s / targets.reclaim_rate
    return Verdict(
        point=point,
        rate_met=LEAST_PART <= part <= MOST_PART,
        device_met=met(point.device_percent, targets.device),
        cpu_met=met(point.cpu_percent, targets.cpu),
    )


def corrected(advice: Advice, verdict: Verdict, targets: Targets) -> int | None:
    """Return a better limit when the rate was missed though no share is in the way, else None.

    The curve was fitted elsewhere. Near the recommended limit, what was measured there counts.
    """
    if verdict.rate_met or advice.conflicts:
        return None
    limit = advice.limit * targets.reclaim_rate / verdict.point.rows_per_s
    found = min(MOST_LIMIT, max(LEAST_LIMIT, math.ceil(limit - 1e-9)))
    return found if found != advice.limit else None


def _greatest(
    points: Sequence[Point],
    curve: Throttled,
    most: float | None,
    get: Callable[[Point], float | None],
) -> int | None:
    """Return the greatest limit at which a share is kept, or 0 if none keeps it."""
    known = [(p.rows_per_s, value) for p in points if (value := get(p)) is not None]
    if most is None or len(known) < 2:
        return None
    line = fit(known)
    if line.slope <= 0:
        # It does not grow with the rate. So it is kept everywhere or nowhere.
        return MOST_LIMIT if line.intercept <= most else 0
    rate = (most - line.intercept) / line.slope
    if rate <= 0:
        return 0
    limit = curve.limit(rate)
    return MOST_LIMIT if limit is None else min(MOST_LIMIT, math.floor(limit + 1e-9))


def _conflicts(
    measured: Measured,
    curve: Throttled,
    targets: Targets,
    for_rate: int | None,
    expected: Point,
    *,
    device: int | None,
    cpu: int | None,
) -> list[str]:
    asked = f"{targets.reclaim_rate:,.0f} rows/s"
    if for_rate is None:
        most = curve.rate(MOST_LIMIT)
        found = [
            f"{asked} cannot be reached with a delay of {measured.delay_ms:g} ms: "
            f"one vacuum ends at about {most:,.0f} rows/s, whatever the limit. "
            "Several workers together reclaim more"
        ]
        for_rate = MOST_LIMIT
    else:
        found = []
    needed = expect(measured.points, curve, for_rate)
    for name, most_percent, limit, value in (
        ("device", targets.device, device, needed.device_percent),
        ("CPU", targets.cpu, cpu, needed.cpu_percent),
    ):
        if limit is None or limit >= for_rate or most_percent is None or value is None:
            continue
        if limit < LEAST_LIMIT:
            found.append(
                f"{name} {most_percent:g}% cannot be kept at any limit: it is "
                f"{value:.0f}% at limit {for_rate}, and other load may be part of it"
            )
        else:
            found.append(
                f"{asked} take limit {for_rate} and {value:.0f}% of the {name}. "
                f"{most_percent:g}% allow limit {limit} and "
                f"{expected.rows_per_s if limit == expected.limit else curve.rate(limit):,.0f} "
                "rows/s"
            )
    return found


def _remarks(measured: Measured, targets: Targets, expected: Point) -> list[str]:
    found, limit = [], expected.limit
    if limit == LEAST_LIMIT and expected.rows_per_s > MOST_PART * targets.reclaim_rate:
        found.append("limit 1 is the smallest there is: only a longer delay would be slower")
    limits = [point.limit for point in measured.points]
    far = limit * FAR < min(limits) or limit > FAR * max(limits)
    if far and measured.how == "experiment":
        found.append(
            f"limit {limit} is far from those that were measured: name nearer ones by --limits"
        )
    for name, most, get in (
        ("--device", targets.device, [p.device_percent for p in measured.points]),
        ("--cpu", targets.cpu, [p.cpu_percent for p in measured.points]),
    ):
        if most is not None and all(value is None for value in get):
            found.append(f"{name} {most:g}% could not be checked: it was not measured")
    return found
