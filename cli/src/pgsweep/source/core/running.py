"""The rows of sweep.progress, concluded from core's progress views. All of it is pure.

What a vacuum costs, how far the whole of it is and when it will end is not known there. So these
columns are None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pgsweep.model import Progress, Run
from pgsweep.source.core import words

if TYPE_CHECKING:
    from pgsweep.model.core_facts import LastRun, RunningVacuum

_UNKNOWN: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Progress))
_UNKNOWN_RUN: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Run))


def progress(rows: Iterable[RunningVacuum]) -> tuple[Progress, ...]:
    """Return the running vacuums, each followed somewhere by its parallel workers."""
    return tuple(_progress(row) for row in rows)


def _progress(row: RunningVacuum) -> Progress:
    same = (
        *("pid", "leader_pid", "datid", "datname", "relid", "schemaname", "relname", "command"),
        *("phase", "started_at", "pages", "index_pass", "waiters", "parallel_workers"),
        "waits_for",
    )
    known = {name: getattr(row, name) for name in same}
    known |= {
        "started_by": started_by(row),
        "phase_pct": phase_pct(row),
        "limited_by": limited_by(row),
    }
    return Progress(**{**_UNKNOWN, **known})


def started_by(row: RunningVacuum) -> str | None:
    """Return who started it. None means that this role may not see others' sessions."""
    if row.backend_type is None:
        return None
    if row.backend_type == "autovacuum worker":
        forced = words.WRAPAROUND in (row.query or "")
        return "autovacuum_wraparound" if forced else "autovacuum"
    return "sweep" if row.backend_type.startswith("sweep") else "manual"


def phase_pct(row: RunningVacuum) -> float | None:
    """Return how much of the phase is done, in percent, where the server counts it."""
    if row.done is None or not row.total:
        return None
    return min(100.0, 100.0 * row.done / row.total)


def limited_by(row: RunningVacuum) -> str | None:
    """Return what it waits for at this moment."""
    if row.backend_type is None:
        return None
    if row.wait_event == "VacuumDelay":
        return "cost limit"
    return {"Lock": "lock", "IO": "I/O", None: "nothing"}.get(row.wait_event_type, row.wait_event)


def runs(rows: Iterable[LastRun], datid: int, datname: str) -> tuple[Run, ...]:
    """Return the last run of each kind of each table. Only when it ended is known."""
    kinds = [("VACUUM", "manual"), ("VACUUM", "autovacuum")]
    kinds += [("ANALYZE", "manual"), ("ANALYZE", "autovacuum")]
    return tuple(
        Run(
            **{
                **_UNKNOWN_RUN,
                # A number that stays the same while that row does.
                "run_id": row.relid * len(kinds) + kinds.index((row.command, row.started_by)),
                "datid": datid,
                "datname": datname,
                "relid": row.relid,
                "schemaname": row.schemaname,
                "relname": row.relname,
                "command": row.command,
                "started_by": row.started_by,
                "ended_at": row.ended_at,
                "outcome": "done",
                "reason": f"{row.times:,} so far" if row.times > 1 else None,
            }
        )
        for row in rows
    )
