"""One server: what its tables need is found again and again, and done, one act at a time."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pgsweep.agent import hands, needs, pace, rebuilds
from pgsweep.agent.act import (
    ANALYZE,
    DONE,
    DROP,
    FAILED,
    FREEZE,
    LOST,
    REBUILDS,
    REINDEX,
    Outcome,
)
from pgsweep.agent.look import Looker
from pgsweep.agent.rebuilds import Leftover
from pgsweep.base import errors
from pgsweep.model.compute import is_old
from pgsweep.source import db
from pgsweep.source.core import views
from pgsweep.source.core.blockers import TEMPORARY

if TYPE_CHECKING:
    from pgsweep.agent.act import Act
    from pgsweep.agent.rules import Rules
    from pgsweep.agent.store import Done, Store
    from pgsweep.source.db import Session, Target

LOGGER = logging.getLogger("pgsweep.agent")

# What would be done is said once in so long.
SAY_AGAIN_S = 86_400.0
# A rebuild waits for standbys that are so far behind, and for slots, in bytes of WAL.
LAG_FIRST = 128 << 20
# So many users who wait for I/O at each of so many looks show that the device has no room.
BUSY_USERS, BUSY_LOOKS, BUSY_EVERY_S = 2, 3, 0.2
# A leftover is tried again so soon and so often. After that each look tries it once.
DROP_AGAIN_S, DROP_TRIES = 1.0, 5
DROP_S = 20.0
# The process of an agent that has gone ends so soon.
GONE_S = 30.0
# A problem is tried again after so long, and then after twice that.
RETRY_S, RETRY_MOST_S = 1.0, 60.0
# So is a database that cannot be entered.
LEFT_OUT_S, LEFT_OUT_MOST_S = 60.0, 600.0
# An act that takes long is no reason to think that nobody is there.
HEARTBEAT_S = 60.0


@dataclass(frozen=True)
class LeftOut:
    """Why a database is left out, until when, and for how long, in seconds."""

    why: str
    until: float
    wait: float


class Agent:
    """Looks after one server. Not for several threads, but for `stop`."""

    def __init__(
        self,
        target: Target,
        store: Store,
        rules: Rules,
        stop: threading.Event,
        name: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Remember what to do."""
        self._target = target
        self._store = store
        self._rules = rules
        self._stop = stop
        self._clock = clock
        self.name = name
        self.server = ""
        self._session: Session | None = None
        self._factor = 1.0
        # There was more to do than the last step had time for.
        self._goes_on = False
        # why databases could not be looked at, and when that is tried again
        self._left_out: dict[str, LeftOut] = {}
        # what acts wait for, by database and relation: each is said once
        self._waits: dict[tuple[str, int], str] = {}
        self._looker = Looker(store, rules, clock)

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def run(self) -> None:
        """Look and act until `stop` is set. A server that is not there is tried again."""
        retry = RETRY_S
        while not self._stop.is_set():
            if self.attempt():
                wait = RETRY_S if self._goes_on else self._rules.every_s
                retry = RETRY_S
            else:
                wait, retry = retry, min(RETRY_MOST_S, retry * 2)
            self._stop.wait(wait)
        self.close()

    def attempt(self) -> bool:
        """Make a step, or write down what is in the way. Return whether it was made."""
        try:
            self.step()
        except errors.PgsweepError as exc:
            self._failed(exc.one_line())
            return False
        except Exception as exc:
            # A state file on a full disk, for one. It must not end the agent without a word.
            LOGGER.exception("cannot go on", extra={"fields": {"server": self.name}})
            self._failed(f"{type(exc).__name__}: {exc}")
            return False
        return True

    def _failed(self, why: str) -> None:
        self.close()
        self._say(logging.WARNING, "not looked after", why=why)
        if key := self.server or self.name:
            with suppress(sqlite3.Error):
                self._store.visited(key, self.name, self._clock(), why)

    def step(self) -> list[Act]:
        """Look at all databases once, and do what they need. Return what they needed."""
        session = self._connected()
        state = session.dicts("agent_server")[0]
        now = self._clock()
        self._goes_on = False
        if state["in_recovery"]:
            # The primary has the identifier. This one has nothing to do until it takes over.
            self._store.visited(self.name, self.name, now)
            return []
        if not session.dicts("agent_lock")[0]["locked"]:
            raise errors.QueryError("another agent looks after this server", "Stop one of them.")
        self._finish_what_others_began(session)
        found: list[Act] = []
        for dbname in self._databases(session):
            if self._stop.is_set():
                break
            found += self.look(session, dbname, state)
        self._store.visited(self.server, self.name, now)
        self._store.forget(now)
        found.sort(key=lambda act: -act.urgency)
        self._do(session, found)
        return found

    # -- the server --------------------------------------------------------

    def _connected(self) -> Session:
        """Return the session that is kept. Databases are looked at by others."""
        if self._session is not None and not self._session.is_lost():
            return self._session
        self.close()
        session = db.connect(self._target, extra=db.KEEPALIVES)
        try:
            session.stay()
            where = f"{session.host}:{session.port}"
            self.server = self._looker.server = session.system_identifier() or where
            self.name = self.name or where
        except BaseException:
            session.close()
            raise
        self._session = session
        return session

    def _databases(self, session: Session) -> Iterator[str]:
        for row in session.dicts("agent_databases"):
            if row["datname"] not in self._rules.exclude:
                yield row["datname"]

    def _finish_what_others_began(self, session: Session) -> None:
        """End what an agent before this one left at work, and write down that it was lost."""
        for act in self._store.unfinished(self.server):
            until = time.monotonic() + GONE_S
            while act.pid is not None and session.dicts("agent_process", {"pid": act.pid}):
                if time.monotonic() > until or self._stop.wait(hands.LOOK_S * 5):
                    raise errors.QueryError(
                        f"process {act.pid} still does what an agent before this one began",
                        "It was cancelled, and is waited for.",
                    )
            self._store.end(act.id, Outcome(LOST, "the agent ended meanwhile"), self._clock())
            self.remember_end(act, LOST, 0.0)

    # -- looking -----------------------------------------------------------

    def look(self, home: Session, dbname: str, state: dict[str, int]) -> list[Act]:
        """Return what a database needs. What is wrong with one keeps nobody from the others."""
        before, now = self._left_out.get(dbname), self._clock()
        if before is not None and now < before.until:
            return []
        try:
            with home.beside(dbname) as session:
                found = self._looker.found(session, state["standbys"], bool(state["daemon_acts"]))
        except errors.DatabaseError as exc:
            if home.is_lost():
                raise
            # Clouds have databases that nobody may enter. That is said once.
            if before is None or before.why != exc.message:
                self._say(logging.WARNING, "database left out", datname=dbname, why=exc.one_line())
            wait = LEFT_OUT_S if before is None else min(LEFT_OUT_MOST_S, 2 * before.wait)
            if not isinstance(exc, errors.CannotConnectError):
                wait = 0.0
            self._left_out[dbname] = LeftOut(exc.message, now + wait, wait)
            return []
        self._left_out.pop(dbname, None)
        return found

    # -- acting ------------------------------------------------------------

    def _do(self, home: Session, found: list[Act]) -> None:
        until = time.monotonic() + self._rules.every_s
        waits: dict[tuple[str, int], str] = {}
        # why no rebuild can be begun, as far as that was asked since the last act
        crowded: str | None = None
        for act in found:
            now = self._clock()
            if self._stop.is_set():
                return
            if not self._rules.act or self._store.paused_until(now) is not None:
                if self._store.would(self.server, act, now, SAY_AGAIN_S):
                    self._say(logging.INFO, "would act", **_shown(act))
                continue
            # What comes later in the list is found again by the next look, which comes soon.
            if time.monotonic() > until:
                self._goes_on = True
                return
            why = self._not_now(act)
            if not why and act.kind in REBUILDS:
                crowded = self._crowded(home) if crowded is None else crowded
                why = crowded
            if why:
                if self._waits.get((act.datname, act.relid)) != why:
                    self._say(logging.INFO, "not now", why=why, **_shown(act))
                waits[act.datname, act.relid] = why
                continue
            self.carry_out(home, act)
            crowded = None
        self._waits = waits

    def _not_now(self, act: Act) -> str:
        """Return what an act has to wait for by itself. Empty: nothing."""
        if act.waits_for_window and not self._rules.is_open(
            datetime.fromtimestamp(self._clock()).astimezone()
        ):
            return "the window is not open"
        return ""

    def _crowded(self, home: Session) -> str:
        """Return why no rebuild can be begun on the server now. Empty: one can."""
        behind = hands.lag(home).most
        if behind > LAG_FIRST:
            return f"a standby or slot is {behind >> 20} MB behind"
        server = home.server()
        for blocker in views.blockers(home):
            # The age of a temporary table keeps no row from being removed.
            if blocker.kind != TEMPORARY and is_old(blocker, server.now):
                return f"old rows are needed by {blocker.kind}, and would be written anew"
        busy = 0
        for _ in range(BUSY_LOOKS):
            busy += home.dicts("agent_server")[0]["waiting_for_io"] > BUSY_USERS
            self._stop.wait(BUSY_EVERY_S)
        return "users wait for I/O" if busy == BUSY_LOOKS else ""

    def carry_out(self, home: Session, act: Act) -> Outcome:
        """Carry out an act, and write down before and after it that it is done."""
        number = self._store.begin(self.server, act, self._clock())
        self._looker.begins(act)
        self._say(logging.INFO, "begins", **_shown(act))
        began = heard = time.monotonic()

        def ends() -> str:
            nonlocal heard
            if time.monotonic() - heard >= HEARTBEAT_S:
                heard = time.monotonic()
                with suppress(sqlite3.Error):
                    self._store.visited(self.server, self.name, self._clock())
            if act.kind == DROP:
                # What was begun is tidied up although the agent ends.
                return "took too long" if time.monotonic() - began >= DROP_S else ""
            return "the agent was stopped" if self._stop.is_set() else ""

        settings = pace.settings(self._rules.mb_per_s, self._factor)
        with home.beside(act.datname) as session:
            how = hands.carry_out(
                act, session, settings, ends, lambda pid: self._store.runs_as(number, pid)
            )
            if act.kind in REBUILDS and how.outcome == DONE:
                how = self._rebuilt(session, act, how)
        took = time.monotonic() - began
        if how.read is not None and how.dirtied is not None:
            self._factor = pace.corrected(
                self._factor, self._rules.mb_per_s, how.read + how.dirtied, took
            )
        self._store.end(number, how, self._clock())
        self._say(
            logging.INFO if how.outcome == DONE else logging.WARNING,
            how.outcome,
            detail=how.detail,
            seconds=round(took, 1),
            **_shown(act),
        )
        self.remember_end(act, how.outcome, took)
        if act.kind == REINDEX and how.outcome != DONE:
            self._drop_leftovers(home, act)
        return how

    def _rebuilt(self, session: Session, act: Act, how: Outcome) -> Outcome:
        """Return how a rebuild ended with the new size. An index has another oid then."""
        wanted = {"table_relid": act.table_relid, "name": act.name}
        try:
            rows = session.dicts("agent_built", wanted)
        except errors.QueryError:
            # Somebody has a lock on it.
            return how
        for row in rows:
            self._store.moved(self.server, act.datname, act.relid, row["relid"])
            return replace(how, size=row["bytes"])
        return how

    def remember_end(self, act: Act | Done, outcome: str, took: float) -> None:
        """Remember for the next look what was done to the table, and how it ended."""
        if act.kind in (*REBUILDS, DROP):
            return
        now = self._clock()
        known = self._store.known(self.server, act.datname).get(act.relid, needs.NOTHING)
        # Who gave way has not failed, nor has who was killed.
        failures = {FAILED: known.failures + 1, DONE: 0}.get(outcome, known.failures)
        changed = replace(known, ended=now, took_s=took, failures=failures, due_since=None)
        if outcome == DONE and act.kind == FREEZE:
            changed = replace(changed, frozen_at=known.changed)
        if outcome == DONE and act.kind == ANALYZE:
            changed = replace(changed, analyzed_at=known.changed)
        self._store.remember(self.server, act.datname, {act.relid: changed}, now)

    def _drop_leftovers(self, home: Session, act: Act) -> None:
        """Drop the invalid index that a REINDEX CONCURRENTLY of ours has left behind."""
        for _ in range(DROP_TRIES):
            with home.beside(act.datname) as session:
                left = [
                    one
                    for one in session.rows("agent_leftovers", Leftover)
                    if one.table_relid == act.table_relid
                ]
            if not left:
                return
            for one in left:
                if not one.held:
                    self.carry_out(home, rebuilds.drop(one, act.datname))
            time.sleep(DROP_AGAIN_S)

    def _say(self, level: int, event: str, **fields: object) -> None:
        LOGGER.log(level, event, extra={"fields": {"server": self.name, **fields}})


def _shown(act: Act) -> dict[str, object]:
    return {
        "datname": act.datname,
        "act": act.kind,
        "name": act.name,
        "statement": act.statement,
        "reason": act.reason,
    }
