"""JSON for programs: keys are the views' columns.

Timestamps are ISO 8601 with their offset, intervals are seconds, unknown is null.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pgsweep import compute
from pgsweep.checks import Check, exit_code
from pgsweep.core.overview import Overview
from pgsweep.model import Limit, StatusReport, Step
from pgsweep.nagios import BY_NAME, Outcome


def _default(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def dump(value: object) -> str:
    """Return one JSON document."""
    return json.dumps(value, default=_default, indent=2, ensure_ascii=False)


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


def check(outcome: Outcome) -> str:
    """Return the object that `check --json` prints."""
    rules = outcome.rules
    return dump(
        {
            "exit_code": outcome.state.value,
            "state": outcome.state.name,
            "text": outcome.text,
            "figures": [
                {
                    "name": figure.name,
                    "value": figure.value,
                    "unit": BY_NAME[figure.name].unit,
                    "warning": rules.warning[figure.name] if rules else None,
                    "critical": rules.critical[figure.name] if rules else None,
                    "text": figure.text,
                }
                for figure in outcome.figures
            ],
        }
    )


def doctor(checks: tuple[Check, ...]) -> str:
    """Return the object that `doctor --json` prints."""
    return dump(
        {
            "exit_code": exit_code(checks),
            "checks": [
                {
                    "level": check.level.label.lower(),
                    "subject": check.subject,
                    "text": check.text,
                    "fix": list(check.fix),
                }
                for check in checks
            ],
        }
    )
