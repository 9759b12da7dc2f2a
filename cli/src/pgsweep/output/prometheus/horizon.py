"""Metrics of ages: the horizon and who holds it, and the wraparound. All of it is pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.model import compute
from pgsweep.model.compute import held_since
from pgsweep.model.core_rates import when
from pgsweep.output.prometheus.family import REST, gauge, gauges, moment, most, seconds_since

if TYPE_CHECKING:
    from pgsweep.model import Blocker, DatabaseAge
    from pgsweep.output.prometheus.family import Sample
    from pgsweep.output.prometheus.reading import Reading

KINDS = (
    "transaction",
    "idle in transaction",
    "temporary table",
    "prepared transaction",
    "physical slot",
    "logical slot",
    "standby feedback",
    "vacuum",
    "create index",
    "other",
)


def horizon(reading: Reading) -> Iterator[Metric]:
    """Return how old the horizon is, and its holders by kind."""
    if reading.status is not None:
        yield from gauge(
            "pgsweep_horizon_age_xids",
            "Transactions that have begun since the oldest that rows may be needed by.",
            reading.status.horizon_age,
        )
    if reading.blockers is None:
        return
    now = reading.cluster.now
    by_kind: dict[str, list[Blocker]] = {kind: [] for kind in KINDS}
    for row in reading.blockers:
        by_kind.setdefault(row.kind, []).append(row)
    yield from gauges(
        "pgsweep_horizon_holders",
        "What keeps dead rows from being removed, by kind.",
        ("kind",),
        [((kind,), len(rows)) for kind, rows in by_kind.items()],
    )
    yield from gauges(
        "pgsweep_horizon_holder_age_xids",
        "Transactions that have begun since the oldest holder of each kind, or 0.",
        ("kind",),
        [
            ((kind,), max((row.age or 0 for row in rows), default=0))
            for kind, rows in by_kind.items()
        ],
    )
    yield from gauges(
        "pgsweep_horizon_holder_seconds",
        "For how long the holder of each kind has held that has held longest, as far as known.",
        ("kind",),
        [
            (
                (kind,),
                max((seconds_since(held_since(row), now) or 0.0 for row in rows), default=0.0),
            )
            for kind, rows in by_kind.items()
        ],
    )


def wraparound(reading: Reading, limit: int) -> Iterator[Metric]:
    """Return the ages of databases, how far the wraparound is, and when it would be."""
    cluster = reading.cluster
    yield from gauges(
        "pgsweep_freeze_max_age",
        "The age at which a vacuum is forced: autovacuum_freeze_max_age and its like.",
        ("ids",),
        [(("xid",), cluster.freeze_max_age), (("mxid",), cluster.multixact_freeze_max_age)],
    )
    if not reading.ages:
        return
    yield from gauges(
        "pgsweep_database_xid_age",
        "Age of the oldest transaction id of a database. Without a name: of the other databases.",
        ("datname",),
        _ages(reading.ages, "xid_age", limit),
    )
    yield from gauges(
        "pgsweep_database_mxid_age",
        "Age of the oldest multixact of a database. Without a name: of the other databases.",
        ("datname",),
        _ages(reading.ages, "mxid_age", limit),
    )
    left = {
        "xid": compute.STOP_AGE - max(row.xid_age for row in reading.ages),
        "mxid": compute.STOP_AGE - max(row.mxid_age for row in reading.ages),
    }
    if reading.members is not None:
        yield from gauges(
            "pgsweep_multixact_members",
            "Members of multixacts that are kept.",
            (),
            [((), reading.members.used)],
        )
        if reading.members.stop_at is not None:
            left["member"] = reading.members.stop_at - reading.members.used
    yield from gauges(
        "pgsweep_wraparound_left_ids",
        "Transaction ids, multixacts and members of those that are left until the server refuses "
        "to write.",
        ("ids",),
        [((ids,), count) for ids, count in left.items()],
    )
    if reading.id_rates is None:
        return
    rates = {
        "xid": reading.id_rates.xids_per_s,
        "mxid": reading.id_rates.mxids_per_s,
        "member": reading.id_rates.members_per_s,
    }
    yield from gauges(
        "pgsweep_ids_used_per_second",
        "Transaction ids, multixacts and members of those used in a second, over the last hour.",
        ("ids",),
        [((ids,), rate) for ids, rate in rates.items()],
    )
    yield from gauges(
        "pgsweep_wraparound_timestamp_seconds",
        "When the server would refuse to write at that rate, if nothing is frozen until then.",
        ("ids",),
        [((ids,), moment(when(cluster.now, count, rates[ids]))) for ids, count in left.items()],
    )


def _ages(ages: Sequence[DatabaseAge], column: str, limit: int) -> list[Sample]:
    shown, others = most(ages, lambda row: getattr(row, column), limit)
    found: list[Sample] = [((row.datname,), getattr(row, column)) for row in shown]
    if others:
        found.append(((REST,), max(getattr(row, column) for row in others)))
    return found
