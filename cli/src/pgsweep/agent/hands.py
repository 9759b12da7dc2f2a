"""Carries out one act, and looks ten times a second whether it is in somebody's way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.agent.act import DONE, DROP, FAILED, GAVE_WAY, LOST, REINDEX, SKIPPED, Outcome
from pgsweep.base import errors
from pgsweep.source.connection import ActingConnection

if TYPE_CHECKING:
    from pgsweep.agent.act import Act
    from pgsweep.source.db import Session

NAME = "pgsweep agent"
LOOK_S = 0.1
# Who is kept waiting for so long gets the lock.
PATIENCE_S = 0.3
# So long it waits for a lock on a relation itself, because others may wait behind it, and for
# transactions to end, meanwhile nobody else can vacuum the table.
OWN_WAIT_S, TRANSACTIONS_S = 1.0, 300.0
LAG_EVERY_S = 1.0
# bytes of WAL by which a standby may fall behind meanwhile
MOST_LAG = 1 << 30
# What is past its age limit is vacuumed even so.
PAST_LIMIT = 100
# A statement that does not end although it was cancelled is left to the server.
CANCEL_S = 30.0
# The SQLSTATE of a warning that a table is skipped because of somebody's lock.
LOCKED = "55P03"
# VACUUM (VERBOSE) from 15 on: "buffer usage: 10 hits, 2 misses, 3 dirtied", from 17 on "reads"
_BUFFERS = re.compile(r"buffer usage: \d+ hits, (\d+) (?:misses|reads), (\d+) dirtied")
_SKIPPED = re.compile(r"\bskipping\b")


@dataclass(frozen=True)
class Watch:
    """Who waits for a process, and what it waits for itself: "relation", "transaction", nothing."""

    behind: tuple[int, ...]
    waits: str


class Waits:
    """How long each has been waiting, as far as the looks tell."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}
        self._own = ("", 0.0)

    def reason(self, seen: Watch, now: float) -> str:
        """Return why to give way. Empty: nobody is in the way of anybody."""
        self._since = {pid: self._since.get(pid, now) for pid in seen.behind}
        if seen.waits != self._own[0]:
            self._own = seen.waits, now
        for pid, since in self._since.items():
            if now - since >= PATIENCE_S:
                return f"process {pid} waited for it"
        waits, since = self._own
        if waits == "relation" and now - since >= OWN_WAIT_S:
            return "somebody has a lock on its table"
        if waits == "transaction" and now - since >= TRANSACTIONS_S:
            return "a transaction was open for too long"
        return ""


def watch(session: Session, pid: int) -> Watch:
    """Return who waits for the process."""
    rows = session.dicts("agent_waits", {"pid": pid})
    return Watch(
        tuple(sorted({row["pid"] for row in rows if row["behind"]})),
        next((row["waits"] for row in rows if not row["behind"]), ""),
    )


@dataclass(frozen=True)
class Lag:
    """How much WAL standbys, by their walsenders, and unused slots are behind, in bytes."""

    standbys: Mapping[int, int]
    slots: int = 0

    @property
    def most(self) -> int:
        """The largest of all."""
        return max(self.slots, *self.standbys.values(), 0)


def lag(session: Session) -> Lag:
    """Return how much WAL somebody is behind. Some clouds do not tell."""
    try:
        rows = session.dicts("agent_lag")
    except errors.ConnectionLostError:
        raise
    except errors.DatabaseError:
        return Lag({})
    behind = {row["pid"]: row["behind"] for row in rows}
    slots = behind.pop(None, 0)
    return Lag(behind, slots)


class Followers:
    """How far standbys fall behind meanwhile. One may be behind anyway, even on purpose."""

    def __init__(self) -> None:
        self._least: dict[int, int] = {}

    def reason(self, standbys: Mapping[int, int]) -> str:
        """Return why to give way. Empty: nobody has fallen behind by much."""
        self._least = {
            pid: min(behind, self._least.get(pid, behind)) for pid, behind in standbys.items()
        }
        for pid, behind in standbys.items():
            if behind - self._least[pid] > MOST_LAG:
                return f"a standby is {behind >> 20} MB behind"
        return ""


def carry_out(
    act: Act,
    session: Session,
    settings: Sequence[tuple[str, str]],
    ends: Callable[[], str],
    began: Callable[[int], None],
) -> Outcome:
    """Carry out an act by a session of its own, watched by `session` of the same database.

    `ends` returns why it should end before its time, or nothing. `began` is told the server's
    process before the statement begins.
    """
    # Any name is sent in the encoding of its database.
    parameters = {
        **session.parameters_to_write(act.datname, NAME),
        "client_encoding": "SQL_ASCII",
    }
    try:
        acting = ActingConnection(parameters)
    except errors.DatabaseError as exc:
        # It says nothing of the table.
        return Outcome(LOST, exc.message)
    with acting, ThreadPoolExecutor(1) as thread:
        try:
            # What is done CONCURRENTLY waits for transactions as well as for its table, and leaves
            # an invalid index behind when it gives up. How long it waits for what is watched.
            own = [("lock_timeout", "0")] if act.kind in (REINDEX, DROP) else []
            acting.prepare((*settings, *act.settings, *own))
            began(acting.pid)
        except errors.DatabaseError as exc:
            return Outcome(FAILED, exc.message)
        running = thread.submit(acting.act, act.statement)
        try:
            heeds_lag = act.urgency < PAST_LIMIT
            why = _see_to_its_end(running, acting, session, ends, heeds_lag)
        except BaseException:
            # Nobody would watch it any more.
            acting.cancel()
            raise
        return _outcome(running, why, LOCKED in acting.states)


def _see_to_its_end(
    running: Future[list[str]],
    acting: ActingConnection,
    session: Session,
    ends: Callable[[], str],
    heeds_lag: bool,
) -> str:
    """Wait for the statement. Return why it was cancelled, or nothing."""
    waits = Waits()
    followers = Followers()
    looked_at_lag = time.monotonic()
    why = ""
    while not why and not wait((running,), LOOK_S).done:
        now = time.monotonic()
        try:
            why = waits.reason(watch(session, acting.pid), now)
            if heeds_lag and not why and now - looked_at_lag >= LAG_EVERY_S:
                looked_at_lag = now
                why = followers.reason(lag(session).standbys)
        except errors.DatabaseError as exc:
            why = f"it could not be watched: {exc.message}"
        why = why or ends()
    if why:
        until = time.monotonic() + CANCEL_S
        # What a statement does between two checks for interrupts may take a while, and a cancel
        # that comes between two statements of it is lost.
        while not running.done() and time.monotonic() < until:
            acting.cancel()
            wait((running,), LOOK_S * 5)
        if not running.done():
            acting.close()
    return why


def _outcome(running: Future[list[str]], why: str, locked: bool) -> Outcome:
    try:
        said = running.result()
    except errors.ConnectionLostError as exc:
        return Outcome(LOST, exc.message)
    except errors.DatabaseError as exc:
        return Outcome(GAVE_WAY, why) if why else Outcome(FAILED, exc.message)
    text = "\n".join(said)
    found = _BUFFERS.search(text)
    read, dirtied = (int(found[1]), int(found[2])) if found else (None, None)
    skipped = next((line for line in said if locked or _SKIPPED.search(line)), "")
    if skipped and read is None:
        return Outcome(SKIPPED, skipped.splitlines()[0])
    return Outcome(DONE, "", read, dirtied)
