"""Structured logs: one JSON object a line, on stderr, for journald and the like."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timezone

from pgsweep.base.errors import UsageError

LOGGER = logging.getLogger("pgsweep.output.web")
# What `pgsweep agent` does.
OURS = (LOGGER.name, "pgsweep.agent")
LEVELS = ("debug", "info", "warning", "error")
# uvicorn says by these what we say ourselves, or what only concerns its own life.
QUIET = ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio")


class JsonLines(logging.Formatter):
    """Writes a record's event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line. No field can break it, whatever a name has in it."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def begin(level: str) -> None:
    """Send everything from this level on to stderr. uvicorn's warnings are included."""
    if level not in LEVELS:
        raise UsageError(f'"{level}" is no level of the log', f"Write one of {', '.join(LEVELS)}.")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (*OURS, *QUIET):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name in OURS else logging.WARNING)


def say(level: int, event: str, **fields: object) -> None:
    """Write an event with its fields."""
    LOGGER.log(level, event, extra={"fields": fields})
