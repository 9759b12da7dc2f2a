"""Reads what is exposed, part by part, so that one that fails does not take the others with it.

The parts that look at all tables of a database are read more rarely, by what they cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pgsweep.base import errors
from pgsweep.model import IdRates
from pgsweep.output.prometheus.reading import Outcome, Reading
from pgsweep.output.prometheus.runs import not_less
from pgsweep.output.prometheus.xid_samples import XidSamples
from pgsweep.source.core import views as core_views
from pgsweep.source.db import Session, Views

if TYPE_CHECKING:
    from pgsweep.model import Cluster, DeadTuples, QueueWait, ToFreeze, Totals

# All tables of the database are looked at so rarely, in seconds. With the extension the queue tells
# what is due. If a look takes long the next one comes later still, so that looks take no more than
# this share of the time.
LOOK_EVERY_S = 120.0
LOOK_WITH_QUEUE_EVERY_S = 300.0
LOOK_SHARE = 1 / 500
# What is frozen within days is looked at so rarely, and costs more.
TO_FREEZE_EVERY_S = 1800.0
# A queue that is longer than this costs the server milliseconds, and is read so rarely.
LONG_QUEUE = 200
LONG_QUEUE_EVERY_S = 60.0


def next_look_after(took_s: float, has_queue: bool) -> float:
    """Return for how many seconds all tables need not be looked at again."""
    least = LOOK_WITH_QUEUE_EVERY_S if has_queue else LOOK_EVERY_S
    return max(least, took_s / LOOK_SHARE)


def next_queue_after(length: int) -> float:
    """Return for how many seconds a queue of that length need not be read again."""
    return LONG_QUEUE_EVERY_S if length > LONG_QUEUE else 0.0


@dataclass(frozen=True)
class Part:
    """A part of a reading: the field that it fills, and how it is read."""

    name: str
    read: Callable[[Session], Any]
    # Which of the extension's views it needs.
    needs: Callable[[Views], bool] = lambda _views: True


NO_VIEWS = Views(**dict.fromkeys((field.name for field in fields(Views)), False))


def _with_extension(views: Views) -> bool:
    return views.extension


def _without(views: Views) -> bool:
    return not views.extension


PARTS = (
    Part("ages", core_views.databases),
    # sweep.blockers is more exact, and costs six times as much.
    Part("blockers", core_views.blockers),
    Part("conflicts", Session.recovery_conflicts),
    Part("progress", Session.progress, _with_extension),
    Part("progress", core_views.progress, _without),
    Part("status", Session.status, _with_extension),
    Part("totals", Session.totals, lambda views: views.totals),
    Part("databases", lambda session: session.databases(None), _with_extension),
    Part("limits", Session.budget, lambda views: views.budget),
    Part("step", lambda session: next(iter(session.governor(1)), None), _with_extension),
    Part("features", Session.features, _with_extension),
    Part("id_rates", Session.id_rates, _with_extension),
    Part("members", Session.members),
)


@dataclass
class Reader:
    """Reads one server again and again. One thread uses it."""

    # how many tables are named
    limit: int
    monotonic: Callable[[], float] = time.monotonic
    _totals: tuple[Totals, ...] | None = None
    _xids: XidSamples = field(default_factory=XidSamples)
    # What is not read each time: what it was last, and when it is read again.
    _waits: tuple[QueueWait, ...] | None = None
    _waits_again_at: float = 0.0
    _dead: tuple[DeadTuples, ...] | None = None
    _to_freeze: ToFreeze | None = None
    _to_freeze_again_at: float = 0.0
    _looked_at: datetime | None = None
    _look_again_at: float = 0.0

    def read(self, session: Session) -> Outcome:
        """Read everything.

        Raises DatabaseError if the server cannot be asked at all. A part that cannot be read is
        in the outcome with the reason.
        """
        cluster = session.cluster()
        said: dict[str, str | None] = {}
        views = NO_VIEWS
        with _tried(said, "extension"):
            views = session.views(again=True)
        found: dict[str, Any] = {"cluster": cluster, "extension": views.extension}
        for part in (part for part in PARTS if part.needs(views)):
            with _tried(said, part.name):
                found[part.name] = part.read(session)
        if views.queue:
            with _tried(said, "waits"):
                found["waits"] = self._queue(session)
        self._look_at_tables(session, cluster, views, said)
        reading = Reading(
            **found,
            dead_tuples=self._dead,
            dead_tuples_at=self._looked_at,
            to_freeze=self._to_freeze,
        )
        return Outcome(self._completed(reading), parts=said)

    def _completed(self, reading: Reading) -> Reading:
        """Return a reading with what follows from earlier ones."""
        if reading.totals is not None:
            self._totals = not_less(self._totals, reading.totals)
        self._xids.add(reading.cluster.now, reading.cluster.next_xid)
        rates = reading.id_rates or IdRates(self._xids.per_s(), None)
        return replace(reading, totals=reading.totals and self._totals, id_rates=rates)

    def _queue(self, session: Session) -> tuple[QueueWait, ...]:
        if self._waits is None or self.monotonic() >= self._waits_again_at:
            self._waits = session.queue_waits()
            self._waits_again_at = self.monotonic() + next_queue_after(len(self._waits))
        return self._waits

    def _look_at_tables(
        self, session: Session, cluster: Cluster, views: Views, said: dict[str, str | None]
    ) -> None:
        said["dead_tuples"] = None
        if views.tables:
            said["to_freeze"] = None
        else:
            self._to_freeze, self._to_freeze_again_at = None, 0.0
        begin = self.monotonic()
        if begin < self._look_again_at:
            return
        try:
            with _tried(said, "dead_tuples"):
                self._dead = session.dead_tuples(self.limit)
                self._looked_at = cluster.now
            if views.tables and begin >= self._to_freeze_again_at:
                with _tried(said, "to_freeze"):
                    self._to_freeze = session.to_freeze()
                    self._to_freeze_again_at = begin + TO_FREEZE_EVERY_S
        finally:
            # What fails, say by its timeout, is not tried again at once either.
            end = self.monotonic()
            self._look_again_at = end + next_look_after(end - begin, views.queue)


@contextmanager
def _tried(said: dict[str, str | None], name: str) -> Iterator[None]:
    """Write down whether a part could be read, or why not. A lost connection is everybody's."""
    try:
        yield
    except errors.ConnectionLostError:
        raise
    except errors.DatabaseError as exc:
        said[name] = exc.one_line()
    else:
        said[name] = None


def failed(outcome: Outcome) -> Mapping[str, str]:
    """Return the parts that could not be read, each with the reason."""
    return {name: why for name, why in outcome.parts.items() if why is not None}
