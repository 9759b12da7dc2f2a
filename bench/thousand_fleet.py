"""pgsweep fleet with connections that are none: bench/thousand starts it.

    thousand_fleet.py ANSWERS LATENCY_MS ARGUMENT...

The command runs with these arguments, and with all of its own code but for the connection. That
gives the answers of a server which bench/thousand has recorded, each after LATENCY_MS. A node
whose host begins with "silent" never answers. At the end what the command has used is written to
stderr, in JSON.
"""

# ruff: noqa: ANN401, SLF001 (it takes the place of a connection)

from __future__ import annotations

import json
import pickle
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pgsweep.base import errors
from pgsweep.cli import main
from pgsweep.source import connection

FOREVER_S = 3600


class Counts:
    """What the connections have counted."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened = 0
        self.open = 0
        self.most_open = 0
        self.most_threads = 0
        self.messages = 0
        self.spent_s = 0.0


class Stub:
    """What is put into pgsweep.source.connection.ReadOnlyConnection."""

    def __init__(self, answers: dict[str, Any], latency_s: float) -> None:
        self.answers = answers
        self.latency_s = latency_s
        self.counts = Counts()

    def open(self, conn: Any, parameters: Any) -> None:
        conn._parameters = dict(parameters)
        conn.notices = []
        if str(parameters.get("host", "")).startswith("silent"):
            time.sleep(FOREVER_S)
        self.wait()
        with self.counts.lock:
            self.counts.opened += 1
            self.counts.open += 1
            self.counts.most_open = max(self.counts.most_open, self.counts.open)
            self.counts.most_threads = max(self.counts.most_threads, threading.active_count())

    def close(self, _: Any) -> None:
        with self.counts.lock:
            self.counts.open -= 1

    def wait(self) -> None:
        time.sleep(self.latency_s)

    def several(self, _: Any, *names: str) -> list[list[dict[str, Any]]]:
        with self.counts.lock:
            self.counts.messages += 1
        self.wait()
        return [self.recorded(name) for name in names]

    def recorded(self, name: str) -> list[dict[str, Any]]:
        rows = self.answers["queries"].get(name)
        if rows is None:
            raise errors.QueryError(f'no answer was recorded for "{name}"')
        return [dict(row) for row in rows]

    def dicts(self, conn: Any, name: str, *_params: Any) -> list[dict[str, Any]]:
        return self.several(conn, name)[0]

    def rows(self, conn: Any, name: str, row_type: type, params: Any = None) -> tuple[Any, ...]:
        return tuple(row_type(**row) for row in self.dicts(conn, name, params))

    def install(self) -> None:
        of = connection.ReadOnlyConnection
        fixed = self.answers["fixed"]
        of.__init__ = lambda conn, parameters: self.open(conn, parameters)  # type: ignore[method-assign]
        of.close = lambda conn: self.close(conn)  # type: ignore[method-assign]
        of.several = lambda *args: self.several(*args)  # type: ignore[method-assign]
        of.dicts = lambda *args: self.dicts(*args)  # type: ignore[method-assign]
        of.rows = lambda *args: self.rows(*args)  # type: ignore[method-assign]
        for name in ("dbname", "user"):
            setattr(of, name, fixed[name])
        of.host = property(lambda conn: str(conn._parameters.get("host")))  # type: ignore[assignment]
        of.port = property(lambda conn: int(conn._parameters.get("port", 5432)))  # type: ignore[assignment]
        for name in ("pid", "version_num"):
            setattr(of, name, fixed[name])


def run() -> None:
    answers = pickle.loads(Path(sys.argv[1]).read_bytes())
    stub = Stub(answers, float(sys.argv[2]) / 1000)
    stub.install()
    sys.argv[1:] = sys.argv[3:]
    began = time.monotonic()
    try:
        main()
    finally:
        used = resource.getrusage(resource.RUSAGE_SELF)
        counts = stub.counts
        sys.stderr.write(
            json.dumps(
                {
                    "seconds": time.monotonic() - began,
                    "cpu_s": used.ru_utime + used.ru_stime,
                    "rss_mb": used.ru_maxrss / 1024,
                    "opened": counts.opened,
                    "most_open": counts.most_open,
                    "most_threads": counts.most_threads,
                    "messages": counts.messages,
                }
            )
            + "\n"
        )


if __name__ == "__main__":
    run()
