"""What the tables and indexes of a database need, as they are found at a look."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pgsweep.agent import needs, rebuilds
from pgsweep.agent.act import REPACK
from pgsweep.agent.needs import Moment, Parent, Right
from pgsweep.agent.rebuilds import Leftover, Place, Room
from pgsweep.agent.store import HOUR_S, Size
from pgsweep.base import errors
from pgsweep.findings.bloat import of_index, of_table
from pgsweep.findings.core.tables import judge
from pgsweep.model.bloat import SMALL_PAGES
from pgsweep.source.core import views

if TYPE_CHECKING:
    from pgsweep.agent.act import Act
    from pgsweep.agent.needs import Known
    from pgsweep.agent.rules import Rules
    from pgsweep.agent.store import Store
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model.bloat import IndexFacts
    from pgsweep.source.db import Session


LOGGER = logging.getLogger("pgsweep.agent")


class Looker:
    """Looks at the databases of one server, and remembers what it saw."""

    def __init__(self, store: Store, rules: Rules, clock: Callable[[], float]) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        # the server that is looked at, as the store calls it
        self.server = ""
        # by database: the hour in which its indexes were looked at, and what follows
        self._indexes: dict[str, tuple[int | None, list[Act]]] = {}
        # the hour in which all databases were measured, and their bytes
        self._databases: tuple[int | None, int] = (None, 0)

    def begins(self, act: Act) -> None:
        """Do not find an act again before the next look at indexes, whatever comes of it."""
        seen, planned = self._indexes.get(act.datname, (None, []))
        self._indexes[act.datname] = seen, [one for one in planned if one.relid != act.relid]

    def found(self, session: Session, standbys: int, daemon_acts: bool) -> list[Act]:
        """Return what the database of the session needs.

        Where pg_sweep acts, tables are its own matter in all databases.
        """
        now = self._clock()
        facts = views.facts(session, near=True)
        judged = judge(facts)
        dbname = facts.server.dbname
        block = int(facts.settings["block_size"])
        found: list[Act] = []
        if not daemon_acts:
            parents = session.rows("agent_parents", Parent)
            known = self._known(dbname, judged, parents, now)
            moment = Moment(now, known, needs.horizon(facts), standbys > 0, block)
            found += needs.acts(facts, judged, moment)
            found += needs.parents(facts, parents, moment)
        dirty = frozenset(one.relation.relid for one in judged if needs.is_due(one))
        found += self._drops(session, dbname, now)
        found += self._rebuilds(session, dbname, dirty, block, now)
        return self._allowed(session, found)

    def _allowed(self, session: Session, found: list[Act]) -> list[Act]:
        """Return the acts that the rules and the role's rights allow."""
        wanted = [act for act in found if act.kind in self._rules.kinds]
        relids = [act.relid for act in wanted]
        rows = session.rows("agent_rights", Right, {"relids": relids}) if relids else ()
        rights = {row.relid: row for row in rows}
        return [act for act in wanted if act.relid in rights and rights[act.relid].allows(act.kind)]

    def _known(
        self, dbname: str, judged: Sequence[Judged], parents: Sequence[Parent], now: float
    ) -> dict[int, Known]:
        """Return what is known of the tables after this look. What is new is written down."""
        before = self._store.known(self.server, dbname)
        # A table that was not sent is not due.
        found = {relid: replace(known, due_since=None) for relid, known in before.items()}
        for one in judged:
            relid = one.relation.relid
            found[relid] = needs.after_look(one, before.get(relid, needs.NOTHING), now)
        for parent in parents:
            known = before.get(parent.relid, needs.NOTHING)
            found[parent.relid] = needs.parent_after_look(parent, known)
        changed = {relid: one for relid, one in found.items() if before.get(relid) != one}
        self._store.remember(self.server, dbname, changed, now)
        return found

    def _drops(self, session: Session, dbname: str, now: float) -> list[Act]:
        leftovers = session.rows("agent_leftovers", Leftover)
        relids = [left.relid for left in leftovers]
        first = self._store.first_seen(self.server, dbname, relids, now)
        own = self._store.own_tables(self.server, dbname, now - needs.MOST_REST_S)
        return list(rebuilds.drops(leftovers, dbname, own, first, now))

    def _rebuilds(
        self,
        session: Session,
        dbname: str,
        dirty: frozenset[int],
        block: int,
        now: float,
    ) -> list[Act]:
        """Return the rebuilds that are due. They are looked for once an hour."""
        hour = int(now // HOUR_S)
        seen, found = self._indexes.get(dbname, (None, []))
        if seen != hour:
            try:
                found = self._look_for_rebuilds(session, dbname, block, now)
            except errors.ConnectionLostError:
                raise
            except errors.DatabaseError as exc:
                # The server is slow, say. Tables are vacuumed all the same.
                LOGGER.warning(
                    "rebuilds not looked for",
                    extra={"fields": {"datname": dbname, "why": exc.one_line()}},
                )
                found = []
            self._indexes[dbname] = hour, found
        # A rebuild of a table that is due for a vacuum would bring its dead rows along.
        return [act for act in found if act.kind == REPACK or act.table_relid not in dirty]

    def _look_for_rebuilds(
        self, session: Session, dbname: str, block: int, now: float
    ) -> list[Act]:
        indexes = list(views.indexes(session))
        if not self._store.measured(self.server, dbname, now):
            self._measure(session, dbname, indexes, block, now)
        where = Place(
            datname=dbname,
            now=now,
            block=block,
            room=self._room(session, int(now // HOUR_S)),
            uses=self._store.uses(self.server, dbname),
        )
        found = self._rewrites(session, where)
        rewritten = {act.relid for act in found}
        if not rebuilds.may_reindex(session.version_num):
            return found
        return found + [
            act for act in rebuilds.acts(indexes, where) if act.table_relid not in rewritten
        ]

    def _rewrites(self, session: Session, where: Place) -> list[Act]:
        """Return the tables to be written anew with their indexes, where the server can."""
        if REPACK not in self._rules.kinds or not session.dicts("agent_repacks")[0]["repacks"]:
            return []
        return list(rebuilds.rewrites(views.heaps(session), where))

    def _measure(
        self, session: Session, dbname: str, indexes: list[IndexFacts], block: int, now: float
    ) -> None:
        """Write down how large indexes and tables are."""
        rows = session.dicts("agent_reads", {"small": SMALL_PAGES})
        reads = {row["relid"]: row["reads"] for row in rows}
        sizes = [
            Size(one.relid, one.pages * block, of_index(one, block).content, reads.get(one.relid))
            for one in indexes
            if one.pages > SMALL_PAGES
        ]
        for heap in views.heaps(session):
            if heap.pages + heap.toast_pages > SMALL_PAGES:
                of = of_table(heap, block, session.version_num)
                sizes.append(Size(heap.relid, of.size, of.content, None))
        self._store.measure(self.server, dbname, sizes, now)

    def _room(self, session: Session, hour: int) -> Room:
        """Return how much disk is left, where that can be known."""
        databases = self._bytes_of_databases(session, hour)
        if self._rules.disk_size is not None:
            return Room(max(0, self._rules.disk_size - databases), databases)
        if session.host.startswith("/"):
            try:
                folder = Path(session.setting("data_directory"))
                if (folder / "postmaster.pid").exists():
                    left = os.statvfs(folder)
                    return Room(left.f_bavail * left.f_frsize, databases)
            except errors.ConnectionLostError:
                raise
            except (errors.DatabaseError, OSError):
                pass
        return Room(None, databases)

    def _bytes_of_databases(self, session: Session, hour: int) -> int:
        """Return their size. Each file is looked at, so they are measured once an hour."""
        if self._databases[0] != hour:
            self._databases = hour, int(session.dicts("agent_size")[0]["bytes"])
        return self._databases[1]
