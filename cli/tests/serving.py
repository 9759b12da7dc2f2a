"""`pgsweep serve` as a process of its own, for tests that scrape it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

PATIENCE_S = 60.0


class Serving:
    """It listens on a free port of loopback, for the length of a `with` block."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.log: list[dict[str, Any]] = []
        self._heard = threading.Condition()

    def __enter__(self) -> Serving:
        source = Path(__file__).parents[1] / "src"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pgsweep", "serve", "--listen", "127.0.0.1:0", *self._arguments],
            env={**os.environ, "PYTHONPATH": str(source)},
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = str(self.event("listening")["address"])
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE_S)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self.log.append(json.loads(line))
                self._heard.notify_all()

    def event(self, event: str, **fields: str) -> dict[str, Any]:
        """Wait for a line of the log, and return it."""

        def found() -> dict[str, Any] | None:
            wanted = {"event": event, **fields}
            return next((line for line in self.log if wanted.items() <= line.items()), None)

        with self._heard:
            assert self._heard.wait_for(found, PATIENCE_S), (event, self.log)
            line = found()
        assert line is not None
        return line

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Return the status and the content of a page."""
        host, _, port = self.address.rpartition(":")
        conn = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
        try:
            conn.request("GET", path, headers=headers)
            answer = conn.getresponse()
            return answer.status, answer.read()
        finally:
            conn.close()

    def sign_in(self, token: str) -> str:
        """Return the cookie of a new visitor."""
        host, _, port = self.address.rpartition(":")
        conn = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
        try:
            body = urlencode({"token": token, "to": "/"})
            conn.request("POST", "/signin", body, {"origin": f"http://{self.address}"})
            answer = conn.getresponse()
            assert answer.status == 303, answer.read()
            return str(answer.getheader("set-cookie")).partition(";")[0]
        finally:
            conn.close()

    def scrape(self, **headers: str) -> dict[str, Metric]:
        """Return the families of /metrics by name."""
        status, content = self.get("/metrics", **headers)
        assert status == 200, content
        return {family.name: family for family in text_string_to_metric_families(content.decode())}

    def end(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


def value(found: dict[str, Metric], name: str, **labels: str) -> float | None:
    """Return the value of the sample with these labels, or None."""
    family = found.get(name)
    for sample in family.samples if family is not None else ():
        if all(sample.labels.get(label, "") == wanted for label, wanted in labels.items()):
            return float(sample.value)
    return None
