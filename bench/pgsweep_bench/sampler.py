"""Figures over time: queries that are repeated in a thread while a load runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgsweep.base.errors import PgsweepError
from pgsweep.tune.lab.session import LabSession
from pgsweep_bench.result import Series

# More points than this tell a reader nothing more, and make the report heavy.
MAX_POINTS = 600


@dataclass(frozen=True)
class Probe:
    """A figure to sample: SQL that returns one number, or a function.

    NULL makes no point.
    """

    name: str
    label: str
    unit: str
    read: str | Callable[[LabSession], float | None]


class Sampler:
    """Samples probes from its `with` block's begin to its end. Seconds count from the begin."""

    def __init__(
        self, connect: Callable[[], LabSession], probes: Sequence[Probe], every_s: float
    ) -> None:
        self._connect = connect
        self._probes = probes
        self._every_s = every_s
        self._stop = threading.Event()
        self._points: dict[str, list[tuple[float, float]]] = {probe.name: [] for probe in probes}
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._session: LabSession | None = None
        self.error: PgsweepError | None = None

    def __enter__(self) -> Sampler:
        self._session = self._connect()
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        if self._session is not None:
            self._session.close()
        if self.error is not None and kind is None:
            raise self.error

    def since(self, monotonic: float) -> float:
        """Return a time of time.monotonic() on the samples' clock, in seconds."""
        return monotonic - self._began

    def points(self, name: str) -> tuple[tuple[float, float], ...]:
        """Return what was sampled, as pairs of seconds and value."""
        return tuple(self._points[name])

    def values(self, name: str) -> list[float]:
        """Return the values without their times."""
        return [value for _, value in self._points[name]]

    def series(self) -> tuple[Series, ...]:
        """Return all probes' points, thinned to what a plot can show."""
        found = []
        for probe in self._probes:
            points = self._points[probe.name]
            step = -(-len(points) // MAX_POINTS) or 1
            found.append(Series(probe.name, probe.label, probe.unit, tuple(points[::step])))
        return tuple(found)

    def _run(self) -> None:
        assert self._session is not None
        due = self._began
        try:
            while not self._stop.is_set():
                for probe in self._probes:
                    at = time.monotonic() - self._began
                    if callable(probe.read):
                        value = probe.read(self._session)
                    else:
                        value = self._session.value(probe.read)
                    if value is not None:
                        self._points[probe.name].append((round(at, 3), float(value)))
                # After a slow sample there are never two at once. The next full interval is
                # taken.
                due = max(due + self._every_s, time.monotonic())
                self._stop.wait(due - time.monotonic())
        except PgsweepError as exc:
            self.error = exc
