"""Metrics of the budget and the governor. All of it is pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.output.prometheus.family import MB, gauge, gauges, moment, scaled, states

if TYPE_CHECKING:
    from pgsweep.model import Limit, Step
    from pgsweep.output.prometheus.family import Sample
    from pgsweep.output.prometheus.reading import Reading

# The units of sweep.budget, with the base unit of each and what it is a multiple of.
UNITS = {
    "MB/s": ("bytes_per_second", MB),
    "ms": ("seconds", 0.001),
    "%": ("ratio", 0.01),
    "% of a core": ("cores", 0.01),
    "MB": ("bytes", MB),
    "MB behind": ("bytes", MB),
    "MB left": ("bytes", MB),
    "users waiting": ("users", 1),
}
DECISIONS = ("steady", "back off", "recover", "floor", "no vacuum", "sensor lost")
SENSORS = ("ok", "absent", "broken", "not used")


def budget(reading: Reading) -> Iterator[Metric]:
    """Return what is set, used and left by each limit, which one binds, and the governor."""
    if reading.limits is not None:
        yield from _limits(reading.limits)
    if reading.step is not None:
        yield from _governor(reading.step)


def _limits(limits: tuple[Limit, ...]) -> Iterator[Metric]:
    for column, verb in (("configured", "is set to"), ("measured", "was measured")):
        for unit in dict.fromkeys(unit for unit, _ in UNITS.values()):
            samples: list[Sample] = [
                ((row.name,), scaled(getattr(row, column), UNITS[row.unit][1]))
                for row in limits
                if row.unit in UNITS and UNITS[row.unit][0] == unit
            ]
            yield from gauges(
                f"pgsweep_budget_{column}_{unit}",
                f"What each limit of sweep.budget {verb}, in {unit.replace('_', ' ')}.",
                ("limit",),
                samples,
            )
    yield from gauges(
        "pgsweep_budget_allowed_bytes_per_second",
        "What each limit leaves to vacuums. A limit that leaves everything has no sample.",
        ("limit",),
        [((row.name,), scaled(row.allowed_mb_per_s, MB)) for row in limits],
    )
    yield from gauges(
        "pgsweep_budget_binding",
        "1 for the limit that holds vacuums back most.",
        ("limit",),
        [((row.name,), row.binding) for row in limits if row.name != "floor"],
    )
    yield from gauges(
        "pgsweep_budget_sensor_broken",
        "1 if what the limit goes by cannot be measured at present.",
        ("limit",),
        [((row.name,), row.sensor == "broken") for row in limits if row.name != "floor"],
    )


def _governor(step: Step) -> Iterator[Metric]:
    yield from states(
        "pgsweep_governor_decision",
        "1 for what the governor decided last.",
        "decision",
        DECISIONS,
        step.decision,
    )
    yield from gauge(
        "pgsweep_governor_step_timestamp_seconds",
        "When the governor decided last. While no vacuum runs it decides nothing new.",
        moment(step.at),
    )
    yield from gauge("pgsweep_governor_vacuums", "Vacuums that keep the budget.", step.vacuums)
    yield from gauge(
        "pgsweep_governor_allowed_bytes_per_second",
        "Pages read, pages dirtied and WAL together that vacuums may make. Absent: everything.",
        scaled(step.allowed_mb_per_s, MB),
    )
    yield from gauge(
        "pgsweep_governor_floor_bytes_per_second",
        "What yielding to users does not go below.",
        scaled(step.floor_mb_per_s, MB),
    )
    used = (
        ("read", step.read_mb_per_s),
        ("dirty", step.dirty_mb_per_s),
        ("wal", step.wal_mb_per_s),
    )
    yield from gauges(
        "pgsweep_governor_used_bytes_per_second",
        "What the vacuums that keep the budget use: pages read, pages dirtied, WAL.",
        ("kind",),
        [((kind,), scaled(value, MB)) for kind, value in used],
    )
    yield from gauge(
        "pgsweep_governor_used_cores",
        "Processors that the vacuums that keep the budget use.",
        scaled(step.cpu_pct, 0.01),
    )
    yield from gauge(
        "pgsweep_governor_users_waiting",
        "Users that wait for I/O and WAL, on average.",
        step.users_waiting,
    )
