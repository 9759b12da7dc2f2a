"""JSON for programs: keys are the views' columns.

Timestamps are ISO 8601 with their offset, intervals are seconds, unknown is null.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pgsweep.model import compute

if TYPE_CHECKING:
    from pgsweep.findings.core.overview import Overview
    from pgsweep.model import Limit, StatusReport, Step


def _default(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def dump(value: object) -> str:
    """Return one JSON document."""
    return json.dumps(value, default=_default, indent=2)


def rows(items: Sequence[Any]) -> str:
    """Return an array with an object for each row."""
    return dump([dataclasses.asdict(item) for item in items])


def status(report: StatusReport) -> str:
    """Return the object that `status --json` prints."""
    return dump(
        {
            "server": dataclasses.asdict(report.server),
            "status": dataclasses.asdict(report.status),
            "running": compute.started_by_counts(report.progress),
            "last_hour": dataclasses.asdict(report.last_hour),
            "databases": [dataclasses.asdict(database) for database in report.databases],
            "snoozed": report.snoozed,
            "problems": list(compute.problems(report)),
            "due": compute.due(report.status, report.queue),
            "overdue": [dataclasses.asdict(row) for row in compute.overdue(report.queue or ())],
            "blockers": [dataclasses.asdict(row) for row in report.blockers or ()],
        }
    )


def budget(limits: Sequence[Limit], steps: Sequence[Step]) -> str:
    """Return the object that `budget --json` prints."""
    return dump(
        {
            "limits": [dataclasses.asdict(limit) for limit in limits],
            "steps": [dataclasses.asdict(step) for step in steps],
        }
    )


def core_status(found: Overview) -> str:
    """Return the object that `status --json` prints where there is no extension."""
    return dump({**dataclasses.asdict(found), "status": None})
