"""A headless Chromium, spoken to over two pipes: no driver, no port, no network.

Its protocol is JSON with a zero byte at each message's end (--remote-debugging-pipe).
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 60.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)


def find() -> str | None:
    """Return a browser's path. $PG_SWEEP_CHROMIUM names another one."""
    given = os.environ.get("PG_SWEEP_CHROMIUM")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Seen:
    """What a page did while it was opened."""

    # console messages, exceptions, violations of the page's policy
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


class Browser:
    """One browser with one page. It and its profile are gone at the end."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self.seen = Seen()

    def __enter__(self) -> Browser:
        self._profile = tempfile.mkdtemp(prefix="pgsw-browser.")
        read_end, self._write = os.pipe()
        self._read, write_end = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        command = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self._process = subprocess.Popen(
            [
                *("bash", "-c", command, "bash", str(read_end), str(write_end)),
                *(self._path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"),
            ],
            pass_fds=(read_end, write_end),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._profile},
            start_new_session=True,
        )
        os.close(read_end)
        os.close(write_end)
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # The group is this browser's own, and contains its helpers.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")

    def open(
        self, file: Path, width: int, height: int = 800, dark: bool = False, scale: int = 1
    ) -> Seen:
        """Open a file as on a screen of that size, in CSS pixels.

        Return what the page did.
        """
        self.seen = Seen()
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=file.resolve().as_uri())
        self._until("Page.loadEventFired")
        # After two frames, fonts are chosen and everything is laid out.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return self.seen

    def evaluate(self, expression: str) -> Any:
        """Return what a JavaScript expression gives. Promises are waited for."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def screenshot(self, file: Path, height: int | None = None) -> None:
        """Write a PNG of the whole page, or of its first `height` CSS pixels."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": min(size["height"], height or size["height"]),
            "scale": 1,
        }
        shot = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
        )
        file.write_bytes(base64.b64decode(shot["data"]))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(None, self._number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _until(self, event: str | None, number: int | None = None) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            message = self._receive(deadline)
            self._note(message)
            if number is not None and message.get("id") == number:
                return message
            if event is not None and message.get("method") == event:
                return message

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"the browser did not answer within {PATIENCE_S} s")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise AssertionError("the browser ended")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.seen.requests.append(params["request"]["url"])
        elif method in (
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Audits.issueAdded",
        ):
            self.seen.complaints.append(json.dumps(params))
