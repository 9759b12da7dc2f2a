"""The charts of the agent's page: how large a relation was, and when it was built anew."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.output.report.charts import Chart, Series, Span

if TYPE_CHECKING:
    from pgsweep.agent.store import Grown

HOUR_S = 3600
MB = 1 << 20


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def charts(found: list[Grown]) -> list[Chart]:
    """Return a chart of each relation whose size is known at more than one time."""
    return [_chart(f"grown{i}", one) for i, one in enumerate(found) if len(one.sizes) > 1]


def _chart(name: str, of: Grown) -> Chart:
    _, size, content = of.sizes[-1]
    parts = [text.size(size)]
    if content is not None:
        parts.append(f"about {text.size(content)} of it content")
    if of.rebuilt:
        parts.append(f"last built anew {text.short(_at(of.rebuilt[-1]))}")
    # The last value holds for its hour.
    times = (*(at for at, _, _ in of.sizes), of.sizes[-1][0] + HOUR_S)
    rows = (*of.sizes, of.sizes[-1])
    return Chart(
        name=name,
        title=f"{of.name} in {of.datname}",
        description=", ".join(parts),
        shown=Span(_at(times[0]), _at(times[-1])),
        times=tuple(_at(at) for at in times),
        series=(
            Series("size", "stock", tuple(round(row[1] / MB, 3) for row in rows)),
            Series(
                "content",
                "sweep",
                tuple(None if row[2] is None else round(row[2] / MB, 3) for row in rows),
            ),
        ),
        unit="MB",
        marks=tuple(_at(at) for at in of.rebuilt if at >= times[0]),
        marked="built anew",
    )
