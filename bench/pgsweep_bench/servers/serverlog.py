"""The log of a throwaway server, as records."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

# With these settings the server writes what is read here.
SETTINGS = {
    "logging_collector": "on",
    "log_destination": "jsonlog",
    "log_directory": "log",
    "log_filename": "server",
    "log_rotation_age": "0",
    "log_rotation_size": "0",
    "log_timezone": "UTC",
}


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the log of the server in this folder. `at` is their time."""
    entries = []
    for path in sorted((folder / "data" / "log").glob("*.json")):
        for line in path.read_text(errors="replace").splitlines():
            # The last line may be half-written.
            with suppress(json.JSONDecodeError):
                entry = json.loads(line)
                entry["at"] = _time(entry["timestamp"])
                entries.append(entry)
    return entries


def _time(timestamp: str) -> datetime:
    text = timestamp.removesuffix(" UTC") + " +0000"
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f %z")
