"""Asks one node without the extension what the view of the fleet shows.

Where core's views do not answer at once, each part is asked by itself, so that one that a server
does not have leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pgsweep.base import errors
from pgsweep.fleet import about
from pgsweep.fleet.due import MOST_ROWS, due as due_of, settings_of
from pgsweep.fleet.reading import NodeReading, cancelled, oldest_of
from pgsweep.model import core_rates as rates

if TYPE_CHECKING:
    from pgsweep.model import Blocker, Server
    from pgsweep.model.core_facts import XidRate
    from pgsweep.source.db import Session

T = TypeVar("T")

# So many statements of fleet_core.sql count vacuums. They follow the first one.
VACUUMS = 3


class _Parts:
    """Reads parts of which each may be missing."""

    def __init__(self) -> None:
        self.missing: list[str] = []

    def read(self, what: str, ask: Callable[[], T]) -> T | None:
        """Return a part. None means that this server does not have it, or does not show it."""
        try:
            return ask()
        except (errors.ConnectionLostError, errors.CannotConnectError):
            raise
        except errors.DatabaseError as exc:
            self.missing.append(f"{what}: {exc.said or exc.message}")
            return None


@dataclass(frozen=True)
class _Counts:
    """What there is on a server without the extension. None is what it does not show."""

    can_read_stats: bool
    vacuums: int
    # whether somebody may hold the horizon
    holders: bool
    due: int | None
    xids_per_s: float | None


def _xid_rate(session: Session) -> XidRate | None:
    # Where all is answered at once it need not be loaded.
    from pgsweep.source.core import views as core_views

    return core_views.xid_rate(session)


def _holder(session: Session, server: Server) -> Blocker | None:
    from pgsweep.model.core_facts import Holder
    from pgsweep.source.core.blockers import blockers

    return oldest_of(blockers(session.rows("core_holders", Holder), server.dbname))


def _due(
    session: Session,
    dead: Sequence[Mapping[str, Any]],
    shown: Sequence[Sequence[Mapping[str, str]]],
) -> int:
    """Return how many tables are due, by the rows of fleet_dead and of SHOW."""
    if len(dead) > MOST_ROWS:
        return int(session.dicts("fleet_due")[0]["due"])
    return due_of(dead, (row for (row,) in shown))


def _counts(session: Session, parts: _Parts) -> tuple[dict[str, Any], _Counts]:
    """Return what the server says of itself, and what there is.

    All is asked at once, and where that fails each by itself.
    """
    shows = tuple(f"show_{name}" for name in settings_of(session.version_num))
    always = (*about.QUERIES, *shows, "fleet_core")
    try:
        *there, (now,), (checkpoint,), dead = session.several(
            *always, "core_next_xid", "core_checkpoint", "fleet_dead"
        )
    except (errors.ConnectionLostError, errors.CannotConnectError):
        raise
    except errors.DatabaseError:
        there = session.several(*always)
        dead = None
        rate = parts.read("xid rate", lambda: _xid_rate(session))
    else:
        rate = rates.since_checkpoint(checkpoint, now)
    own, there = there[: len(about.QUERIES)], there[len(about.QUERIES) :]
    shown, ((role,), *found) = there[: len(shows)], there[len(shows) :]
    said = about.row(own)
    due = (
        parts.read(
            "due tables",
            lambda: _due(session, session.dicts("fleet_dead") if dead is None else dead, shown),
        )
        if said["autovacuum"]
        else 0
    )
    return said, _Counts(
        **role,
        vacuums=sum(row["vacuums"] for (row,) in found[:VACUUMS]),
        holders=any(found[VACUUMS:]),
        due=due,
        xids_per_s=None if rate is None else rate.per_s,
    )


def read(session: Session) -> NodeReading:
    """Return what a node says by core's views."""
    parts = _Parts()
    said, counts = _counts(session, parts)
    server = about.server(session, said)
    if not counts.can_read_stats:
        parts.missing.append(
            f'sessions of others, because role "{server.role}" is not in pg_monitor'
        )
    return NodeReading(
        server=server,
        due=counts.due,
        vacuums=counts.vacuums,
        oldest=about.oldest(said),
        xids_per_s=counts.xids_per_s,
        blocker=parts.read("horizon", lambda: _holder(session, server)) if counts.holders else None,
        conflicts=parts.read("standby conflicts", lambda: cancelled(session.recovery_conflicts()))
        if server.in_recovery
        else None,
        missing=tuple(parts.missing),
    )
