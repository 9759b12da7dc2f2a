"""A span of hours or days: its stretches of time, and what is not known of it.

Rows go in, numbers come out, and nothing else happens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model import CountedHour, Day, HourOfAll, Span

MB = 1024 * 1024
HOUR = timedelta(hours=1)
# Up to this the time axis has hours, and beyond it days.
MOST_BY_HOUR = timedelta(days=3)
# The hour that is over is counted some seconds later.
LATE = timedelta(minutes=1)


@dataclass
class Stretch:
    """An hour or a day."""

    begin: datetime
    end: datetime
    # For so long is something known of it.
    known: timedelta = timedelta(0)
    runs: int = 0
    # in MB
    mb: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("read", "dirtied", "wal"), 0.0)
    )
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    xids: int | None = None

    def mb_per_s(self) -> dict[str, float]:
        """Return MB/s while it was known."""
        seconds = max(1.0, self.known.total_seconds())
        return {kind: mb / seconds for kind, mb in self.mb.items()}


def begin(day: Day, span: Span) -> datetime:
    """Return since when something is known of the span."""
    return max(day.history_since or span.begin, span.begin)


def known_hours(span: Span) -> list[datetime]:
    """Return when the hours begin of which something is known."""
    return sorted({row.hour for row in span.work} | {row.hour for row in span.counted})


def end(day: Day, span: Span) -> datetime:
    """Return when the span ends: now, if it has not ended before."""
    return day.server.now if span.until is None else min(span.until, day.server.now)


def is_by_day(day: Day, span: Span) -> bool:
    """Tell whether the time axis has days."""
    return end(day, span) - begin(day, span) > MOST_BY_HOUR


def stretches(day: Day, span: Span) -> list[Stretch]:
    """Return the hours or days of the span, also those of which nothing is known."""
    found: list[Stretch] = []
    last = end(day, span)
    by_day = is_by_day(day, span)
    at = begin(day, span)
    while at < last:
        after = min(_midnight_after(at) if by_day else at + HOUR, last)
        found.append(Stretch(at, after))
        at = after
    for hour in known_hours(span):
        one = _of(found, hour)
        if one is not None:
            one.known += min(HOUR, last - hour)
    for work in span.work:
        _add_work(_of(found, work.hour), work, day.block_size)
    for counted in span.counted:
        _add_counted(_of(found, counted.hour), counted)
    for one in found:
        one.known = min(one.known, one.end - one.begin)
    return found


def _of(found: list[Stretch], hour: datetime) -> Stretch | None:
    """Return the stretch in which an hour begins."""
    return next((one for one in found if one.begin <= hour < one.end), None)


def _add_work(to: Stretch | None, work: HourOfAll, block_size: int) -> None:
    if to is None:
        return
    to.runs += work.runs
    to.mb["read"] += work.blks_read * block_size / MB
    to.mb["dirtied"] += work.blks_dirtied * block_size / MB
    to.mb["wal"] += work.wal_bytes / MB


def _add_counted(to: Stretch | None, counted: CountedHour) -> None:
    if to is None:
        return
    to.inserted += counted.inserted
    to.updated += counted.updated
    to.deleted += counted.deleted
    if counted.xids is not None:
        to.xids = (to.xids or 0) + counted.xids


def _midnight_after(at: datetime) -> datetime:
    """Return the next midnight here."""
    there = at.astimezone().date() + timedelta(days=1)
    return datetime(there.year, there.month, there.day).astimezone()


def gaps(day: Day, span: Span) -> list[tuple[datetime, datetime]]:
    """Return when nothing was counted: the server was down, or sweep.mode was off."""
    found: list[tuple[datetime, datetime]] = []
    at = begin(day, span)
    for hour in known_hours(span):
        if hour - at > LATE:
            found.append((at, hour))
        at = max(at, hour + HOUR)
    # Nobody can know yet of the hour that it is.
    if end(day, span) - at > (HOUR + LATE if span.until is None else LATE):
        found.append((at, end(day, span)))
    return found
