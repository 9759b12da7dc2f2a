"""How evidence is worded: queries, spans, dates and numbers."""

from __future__ import annotations

from datetime import datetime, timedelta

QUERY_ROOM = 60
# What core's worker says of a vacuum that gives way to nobody.
WRAPAROUND = "(to prevent wraparound)"


def query(text: str) -> str:
    """Return the beginning of a query, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= QUERY_ROOM else line[: QUERY_ROOM - 1] + "…"


def span(value: timedelta) -> str:
    """Return a time span as 12 min."""
    seconds = max(0.0, value.total_seconds())
    for limit, unit, divisor in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / divisor:.0f} {unit}"
    return f"{seconds / 86400:,.0f} d"


def date(value: datetime | None, now: datetime) -> str:
    """Return a date, and how far it is away. None is farther than a calendar reaches."""
    if value is None:
        return "a day in centuries"
    left = value - now
    shown = value.astimezone()
    text = f"{shown:%Y-%m-%d %H:%M}" if left < timedelta(days=2) else f"{shown:%Y-%m-%d}"
    return f"{text} (in {span(left)})"


def number(value: float) -> str:
    """Return a number. A small one has a decimal."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
