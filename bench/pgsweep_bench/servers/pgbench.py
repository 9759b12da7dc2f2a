"""pgbench as the experiments' load: its command line, and what it reports at its end."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgsweep.base.errors import ServerError

_FIGURES = {
    "tps": re.compile(r"^tps = ([\d.]+)", re.MULTILINE),
    "latency_ms": re.compile(r"^latency average = ([\d.]+) ms", re.MULTILINE),
    "latency_stddev_ms": re.compile(r"^latency stddev = ([\d.]+) ms", re.MULTILINE),
    "lag_ms": re.compile(r"^rate limit schedule lag: avg ([\d.]+)", re.MULTILINE),
    "max_lag_ms": re.compile(r"^rate limit schedule lag: .*max ([\d.]+)", re.MULTILINE),
    "transactions": re.compile(r"^number of transactions actually processed: (\d+)", re.MULTILINE),
    "failed": re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE),
}
STOP_TIMEOUT_S = 30


@dataclass(frozen=True)
class PgbenchResult:
    """What pgbench measured. A figure is 0 where it did not say.

    With a rate, the latency contains the lag.
    """

    tps: float = 0.0
    latency_ms: float = 0.0
    latency_stddev_ms: float = 0.0
    lag_ms: float = 0.0
    max_lag_ms: float = 0.0
    transactions: int = 0
    failed: int = 0


def parse(text: str) -> PgbenchResult:
    """Return the figures of pgbench's report."""
    if "tps = " not in text:
        last = text.strip().splitlines()[-1:] or ["it said nothing"]
        raise ServerError(f"pgbench measured nothing: {last[0]}")
    values = {name: (found := p.search(text)) and found[1] for name, p in _FIGURES.items()}
    floats = {name: float(value or 0) for name, value in values.items()}
    return PgbenchResult(
        tps=floats["tps"],
        latency_ms=floats["latency_ms"],
        latency_stddev_ms=floats["latency_stddev_ms"],
        lag_ms=floats["lag_ms"],
        max_lag_ms=floats["max_lag_ms"],
        transactions=int(floats["transactions"]),
        failed=int(floats["failed"]),
    )


def arguments(
    scripts: Sequence[str],
    builtin: str | None,
    clients: int,
    rate: float | None,
    seconds: float | None,
    transactions: int | None,
    protocol: str,
    extra: Sequence[str],
) -> list[str]:
    """Return pgbench's arguments but for the connection and the database."""
    # -T is at most 2000000. Without a given end, whoever started it stops it.
    end = ("-t", str(transactions)) if transactions else ("-T", str(max(1, round(seconds or 2e6))))
    command = ["-n", "-M", protocol, "-c", str(clients), "-j", str(min(clients, 2)), *end]
    command += ["--random-seed=0"]
    if rate is not None:
        command += ["-R", f"{rate:g}"]
    if builtin is not None:
        command += ["-b", builtin]
    for script in scripts:
        command += ["-f", script]
    return [*command, *extra]


class Pgbench:
    """A pgbench that runs."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        read_output: Callable[[], str],
        wait: Callable[[Callable[[], bool], str], None],
    ) -> None:
        self.process = process
        self._read_output = read_output
        self._wait = wait

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.poll() is None

    def wait(self) -> PgbenchResult:
        """Wait for its end and return its figures. Raise if it failed."""
        self._wait(lambda: not self.running, "pgbench")
        text = self._read_output()
        if self.process.returncode != 0:
            # Exit code 2 means that it ran, but clients were aborted. Every non-zero code is an
            # error of the experiment.
            errors = [line for line in text.splitlines() if "error" in line.lower()]
            last = (errors or text.strip().splitlines() or ["it said nothing"])[0]
            raise ServerError(f"pgbench failed: {last}")
        return parse(text)

    def stop(self) -> None:
        """End it now, without figures."""
        if self.running:
            self.process.terminate()
            try:
                self.process.wait(timeout=STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
