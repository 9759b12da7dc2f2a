"""What `pgsweep agent` exposes about itself. Sums are over the last day. All of it is pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.output.prometheus.family import gauges

if TYPE_CHECKING:
    from pgsweep.agent.store import Summary


def agents(summary: Summary) -> Iterator[Metric]:
    """Return the metrics of the agent's servers."""
    names = {one.server: one.name for one in summary.servers}
    of_server = ("server",)
    yield from gauges(
        "pgsweep_agent_up",
        "1 if the agent looks after the server, 0 if something is in the way.",
        of_server,
        [((one.name,), not one.problem) for one in summary.servers],
    )
    yield from gauges(
        "pgsweep_agent_last_look_timestamp_seconds",
        "When the agent looked at the server last.",
        of_server,
        [((one.name,), one.looked) for one in summary.servers],
    )
    yield from gauges(
        "pgsweep_agent_acts",
        "Acts of the last 24 hours, by what was done and how it ended.",
        ("server", "act", "outcome"),
        [
            ((names.get(one.server, one.server), one.kind, one.outcome), one.acts)
            for one in summary.sums
        ],
    )
    yield from gauges(
        "pgsweep_agent_bloat_bytes",
        "What rebuilds of a database's indexes and tables would give back, as estimated.",
        ("server", "datname"),
        [((names.get(one.server, one.server), one.datname), one.bytes) for one in summary.bloat],
    )
