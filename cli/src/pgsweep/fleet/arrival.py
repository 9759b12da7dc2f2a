"""Whether a change of Patroni's configuration has arrived at a member, and what came of it there.

Patroni takes any value. It writes the files of each member within its loop_wait, and the server
may refuse what stands there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.base import errors

if TYPE_CHECKING:
    from pgsweep.source.db import Session

POLL_S = 0.25


@dataclass(frozen=True)
class Written:
    """A setting of a member as it is, and as its files ask for it."""

    name: str
    # None means that the server does not know it
    shown: str | None
    pending_restart: bool
    # in the files that Patroni writes, and why the server refuses it
    written: str | None
    error: str | None
    # by ALTER SYSTEM, which wins
    auto: str | None


def read(session: Session, names: Sequence[str]) -> tuple[Written, ...]:
    """Return settings as a member has them."""
    return tuple(session.rows("fleet_written", Written, {"names": list(names)}))


def arrived(values: Mapping[str, str | None], there: Sequence[Written]) -> bool:
    """Tell whether all values are in the member's files. None is a setting that was removed."""
    return all(one.written == values[one.name] for one in there)


def said(there: Sequence[Written]) -> str:
    """Return what is so now. Raise if the member does not go by what has arrived."""
    for one in there:
        if one.auto is not None:
            raise errors.QueryError(
                f"{one.name} is {one.auto} by ALTER SYSTEM there, which wins over Patroni",
                f"Run ALTER SYSTEM RESET {one.name} there, and pg_reload_conf().",
            )
        if one.error is not None and not one.pending_restart:
            raise errors.QueryError(
                f'the server refuses {one.name} = "{one.written}": {one.error}',
                "Undo it, or set another value.",
            )
    return "; ".join(
        f"{one.name} takes effect after a restart (patronictl restart)"
        if one.pending_restart
        else f"{one.name} is {one.shown or 'empty'} now"
        for one in there
    )


def wait(session: Session, values: Mapping[str, str | None], patience_s: float) -> str:
    """Wait until the values have come, and return what is so then. Raise if they do not come."""
    deadline = time.monotonic() + patience_s
    while not arrived(values, read(session, list(values))):
        if time.monotonic() > deadline:
            raise errors.QueryError(
                f"it has not come here within {patience_s:g} s",
                "Does its Patroni run, and does that member's own file say otherwise?",
            )
        time.sleep(POLL_S)
    # The reload comes just after the file.
    time.sleep(POLL_S)
    return said(read(session, list(values)))
