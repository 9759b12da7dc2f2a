"""Looks at a fleet again and again, in a thread of its own, for those who watch it for long.

Nobody who watches waits for a node. What a node said stays until it answers again, or until it has
been silent for the deadline. A silent node has no figures, only when it answered last.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.fleet import view
from pgsweep.fleet.providers import Roster
from pgsweep.fleet.reading import Row
from pgsweep.fleet.seats import Seats

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.providers import Choice, Fleet

# Who is there is asked as rarely as that, in seconds.
FIND_EVERY_S = 15.0
# Those who watch are told so often at most, in seconds, while answers come.
TELL_EVERY_S = 0.1
LEAST_WAIT_S = 0.1


@dataclass(frozen=True)
class Seen:
    """What is known of a fleet at a moment. Times are of the monotonic clock, in seconds."""

    # None: who is there is not known yet.
    fleet: Fleet | None = None
    rows: tuple[Row, ...] = ()
    # Why nobody looks, or who is there is not known.
    trouble: str = ""
    # looks that have ended, how long the last one took, and when it ended
    looks: int = 0
    took_s: float | None = None
    ended_at: float | None = None
    # looks that failed as a whole
    failures: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what has to be said about who is there."""
        return self.fleet.notes if self.fleet is not None else ()


class Lookout(threading.Thread):
    """The thread. `told` is called in it whenever there is something new, so it must only post."""

    def __init__(
        self,
        choice: Choice,
        deadline_s: float,
        interval_s: float,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        # The thread is a daemon because the end must not wait for a server that does not answer.
        super().__init__(name="pgsweep-fleet", daemon=True)
        self._roster = Roster(choice, deadline_s)
        self._deadline_s = deadline_s
        self._interval_s = interval_s
        self._told = told
        self._told_at = 0.0
        self._seen = Seen()
        self._found_at = 0.0
        self._paused = False
        self._stopping = False
        self._wake = threading.Event()

    @property
    def seen(self) -> Seen:
        """Return what is known now."""
        return self._seen

    @property
    def stale_after_s(self) -> float:
        """Return after how many seconds an answer is too old to be shown as the present one."""
        return 3 * self._interval_s + 2 * self._deadline_s

    def set(self, interval_s: float, paused: bool) -> None:
        """Change the seconds from one look to the next, and whether there are looks at all."""
        self._interval_s, self._paused = interval_s, paused

    def tell(self, told: Callable[[], None]) -> None:
        """Tell somebody else from now on."""
        self._told = told

    def look_now(self) -> None:
        """Look without waiting for the end of the interval."""
        self._wake.set()

    def stop(self) -> None:
        """End soon."""
        self._stopping = True
        self._wake.set()

    def run(self) -> None:
        """Look until stopped."""
        with Seats() as seats:
            while not self._stopping:
                begun = time.monotonic()
                if not self._paused:
                    self._step(seats)
                spent = time.monotonic() - begun
                self._wake.wait(max(LEAST_WAIT_S, self._interval_s - spent))
                self._wake.clear()

    def _step(self, seats: Seats) -> None:
        begun = time.monotonic()
        try:
            fleet = self._find(seats)
            before = {row.node: row for row in self._seen.rows}
            rows = view.look(seats, fleet, self._deadline_s, self._came, before)
        except errors.PgsweepError as exc:
            self._failed(exc.one_line())
            return
        except Exception as exc:
            # This is a bug. It is told, and the next look may do better.
            self._failed(f"{type(exc).__name__}: {exc}")
            return
        now = time.monotonic()
        self._publish(
            replace(
                self._seen,
                rows=rows,
                trouble="",
                looks=self._seen.looks + 1,
                took_s=now - begun,
                ended_at=now,
            )
        )

    def _find(self, seats: Seats) -> Fleet:
        now, fleet = time.monotonic(), self._seen.fleet
        if fleet is not None and now - self._found_at < FIND_EVERY_S:
            return fleet
        fleet = self._roster.find()
        self._found_at = now
        seats.keep(fleet.nodes)
        known: dict[Node, Row] = {row.node: row for row in self._seen.rows}
        rows = tuple(known.get(node) or view.unanswered(node) for node in fleet.nodes)
        self._publish(replace(self._seen, fleet=fleet, rows=rows))
        return fleet

    def _came(self, rows: tuple[Row, ...]) -> None:
        self._seen = replace(self._seen, rows=rows, trouble="")
        if time.monotonic() - self._told_at >= TELL_EVERY_S:
            self._publish(self._seen)

    def _failed(self, why: str) -> None:
        rows = tuple(
            Row(row.node, trouble=row.node.unasked or why, answered_at=row.answered_at)
            for row in self._seen.rows
        )
        failures = self._seen.failures + 1
        self._publish(replace(self._seen, rows=rows, trouble=why, failures=failures))

    def _publish(self, seen: Seen) -> None:
        self._seen = seen
        self._told_at = time.monotonic()
        self._told()
