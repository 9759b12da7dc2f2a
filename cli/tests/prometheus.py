"""Prometheus' own programs, for tests: they are unpacked from Debian's packages, not installed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0
TOP = Path(__file__).parents[2]
NAMES = ("prometheus", "promtool")


@cache
def folder() -> Path | None:
    """Return where the programs are, or None if they cannot be had here.

    $PG_SWEEP_PROMETHEUS names another folder.
    """
    given = os.environ.get("PG_SWEEP_PROMETHEUS")
    found = Path(given) if given else _fetched()
    return found if found and all(os.access(found / name, os.X_OK) for name in NAMES) else None


def _fetched() -> Path | None:
    if all(shutil.which(name) for name in NAMES):
        return Path(str(shutil.which(NAMES[0]))).parent
    script = TOP / "tools" / "prometheus"
    if not script.exists():
        return None
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def program(name: str) -> str:
    """Return the path of one of them."""
    found = folder()
    assert found is not None
    return str(found / name)


def promtool(*arguments: str, given: str | None = None, cwd: Path | None = None) -> str:
    """Run promtool and return what it says. Fail if it finds something wrong."""
    done = subprocess.run(
        [program("promtool"), *arguments],
        input=given,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def free_address() -> str:
    """Return an address on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def get(url: str) -> str:
    """Return a page."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        content: bytes = answer.read()
    return content.decode()


class Daemon:
    """A program that answers over HTTP, for the length of a `with` block."""

    def __init__(
        self,
        arguments: list[str],
        address: str,
        ready: str,
        log: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._arguments, self._ready, self._log = arguments, ready, log
        self._env = {**os.environ, **(env or {})}
        self.url = f"http://{address}"

    def __enter__(self) -> Daemon:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._arguments, env=self._env, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        try:
            get(self.url + self._ready)
        except OSError:
            # This includes what HTTP calls an error.
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def api(self, path: str, **parameters: str) -> Any:
        """Return what Prometheus' API answers."""
        query = urllib.parse.urlencode(parameters)
        try:
            answer = json.loads(get(f"{self.url}/api/v1/{path}?{query}"))
        except urllib.error.HTTPError as exc:
            raise AssertionError(f"{parameters}: {exc.read().decode()}") from exc
        assert answer["status"] == "success"
        return answer["data"]

    def has_data(self, expression: str) -> bool:
        """Tell whether an expression had a value at any time of the last minutes."""
        now = time.time()
        found = self.api(
            "query_range", query=expression, start=str(now - 300), end=str(now), step="1"
        )
        return bool(found["result"])
