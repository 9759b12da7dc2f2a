"""The rows of sweep.blockers, concluded from core's views: what holds the horizon back.

All of it is pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.model import Blocker
from pgsweep.source.core import words

if TYPE_CHECKING:
    from pgsweep.model.core_facts import Holder

TEMPORARY = "temporary table"
EVERYWHERE = "dead rows of all tables of all databases"


def literal(value: str) -> str:
    """Return a text as an SQL literal."""
    quoted = value.replace("'", "''")
    return f"E'{quoted}'".replace("\\", "\\\\") if "\\" in value else f"'{quoted}'"


def identifier(value: str) -> str:
    """Return a name as SQL takes it, quoted where that may be needed."""
    plain = value.replace("_", "a")
    if plain.isascii() and plain.isalnum() and value == value.lower() and not value[0].isdigit():
        return value
    return '"' + value.replace('"', '""') + '"'


@dataclass(frozen=True)
class Ahead:
    """A vacuum that others wait for. To end one of those would help nobody."""

    pid: int
    query: str | None

    @property
    def forced(self) -> bool:
        """Tell whether it is there to prevent wraparound."""
        return words.WRAPAROUND in (self.query or "")

    @property
    def gives_way(self) -> bool:
        """Tell whether it ends by itself as soon as somebody has waited for deadlock_timeout."""
        return (self.query or "").startswith("autovacuum:") and not self.forced

    @property
    def said(self) -> str:
        """Return what it is."""
        query = f" ({words.query(self.query)})" if self.query else ""
        return f"the vacuum of process {self.pid}{query}"

    @property
    def fix(self) -> str:
        """Return the statement that ends it."""
        return f"SELECT pg_cancel_backend({self.pid});"

    @property
    def risk(self) -> str:
        """Return what that costs."""
        again = ", and autovacuum begins it again: it prevents wraparound"
        return f"what the vacuum has done so far is lost{again if self.forced else ''}"

    @property
    def waited_for(self) -> str:
        """Return the same, of somebody who waits for it."""
        return f"it only waits for {self.said}. If you end the vacuum, {self.risk}"


def blockers(holders: Iterable[Holder], dbname: str) -> tuple[Blocker, ...]:
    """Return what holds dead rows back, the oldest first.

    What is as young as now is left out. A snapshot's xmin is the oldest transaction that ran when
    it was taken. While that transaction still runs, it is what holds the rows back. Others with
    the same xmin do not, and to end them would free nothing.
    """
    holders = tuple(holders)
    running = {holder.xid for holder in holders if holder.xid is not None}
    inherited = [holder for holder in holders if _inherits(holder, running)]
    # A standby or a slot in use makes a transaction felt in all databases.
    passed_on = {holder.xmin for holder in inherited if holder.source in ("slot", "standby")}
    found = [
        _felt_everywhere(blocker) if holder.xid in passed_on and holder.xid else blocker
        for holder in holders
        if holder not in inherited and max(holder.xid_age or 0, holder.catalog_xid_age or 0) > 0
        for blocker in (_blocker(holder, dbname),)
    ]
    return tuple(
        sorted(
            found,
            key=lambda row: (
                -(row.age or 0),
                row.since is None,
                row.since.timestamp() if row.since else 0.0,
                row.pid or 0,
            ),
        )
    )


def _inherits(holder: Holder, running: Collection[int | None]) -> bool:
    """Tell whether its age is only that of somebody else's running transaction."""
    if holder.source == "temporary":
        return False
    # A slot that nobody uses, and one that decodes, keeps rows for itself.
    if holder.source == "slot" and (not holder.active or holder.slot_type == "logical"):
        return False
    return holder.xmin is not None and holder.xmin != holder.xid and holder.xmin in running


def _felt_everywhere(blocker: Blocker) -> Blocker:
    return replace(blocker, withholds=EVERYWHERE)


def _blocker(holder: Holder, dbname: str) -> Blocker:
    kind = kind_of(holder)
    catalogs_only = kind == "logical slot" and holder.xid_age is None
    fix, risk = _remedy(kind, holder)
    age = holder.catalog_xid_age if catalogs_only else holder.xid_age
    return Blocker(
        kind=kind,
        pid=holder.pid,
        datname=holder.datname,
        usename=holder.usename,
        name=holder.name,
        state=_state(holder),
        xmin=holder.xmin,
        age=age,
        since=holder.since,
        query=holder.query,
        withholds=_withholds(kind, holder, catalogs_only, dbname),
        fix=fix,
        risk=risk,
    )


def kind_of(holder: Holder) -> str:
    """Return the word for what holds the horizon."""
    if holder.source == "prepared":
        return "prepared transaction"
    if holder.source == "setting":
        return "other"
    if holder.source == "temporary":
        return TEMPORARY
    if holder.source == "slot" and holder.slot_type == "logical":
        return "logical slot"
    if holder.source == "slot" and not holder.active:
        return "physical slot"
    if holder.source in ("slot", "standby"):
        return "standby feedback"
    if holder.doing == "create index":
        return "create index"
    if holder.doing in ("analyze", "rewrite") or holder.backend_type == "autovacuum worker":
        return "vacuum"
    if (holder.state or "").startswith("idle in transaction"):
        return "idle in transaction"
    if holder.backend_type == "walsender":
        return "other"
    return "transaction"


def _state(holder: Holder) -> str | None:
    if holder.source == "slot":
        return "active" if holder.active else "inactive"
    return holder.state


def affects(blocker: Blocker, dbname: str, is_shared: bool, is_catalog: bool) -> bool:
    """Tell whether it withholds dead rows of such a table of this database."""
    if blocker.kind == TEMPORARY:
        return False
    if blocker.kind == "logical slot":
        # If the slot has an xmin as well, its row says that it withholds all tables.
        return is_catalog or is_shared or "all tables" in (blocker.withholds or "")
    if blocker.kind in ("physical slot", "standby feedback") or blocker.datname is None:
        return True
    if blocker.withholds == EVERYWHERE:
        return True
    return is_shared or blocker.datname == dbname


def _withholds(kind: str, holder: Holder, catalogs_only: bool, dbname: str) -> str:
    if kind == TEMPORARY:
        return f'the age of database "{holder.datname}"'
    if catalogs_only:
        return "dead rows of the system catalogs of all databases"
    if kind in ("logical slot", "physical slot", "standby feedback") or holder.datname is None:
        return EVERYWHERE
    if holder.datname == dbname:
        return f'dead rows of all tables of database "{holder.datname}" and of the shared catalogs'
    return (
        f'dead rows of database "{holder.datname}" and of the shared catalogs, '
        "but nothing else in this database"
    )


def _remedy(kind: str, holder: Holder) -> tuple[str, str]:
    """Return the statement that ends it, and what that costs."""
    pid = holder.pid
    if holder.behind is not None:
        ahead = Ahead(holder.behind, holder.behind_query)
        return ahead.fix, ahead.waited_for
    if kind == TEMPORARY and pid is not None:
        return (
            f"SELECT pg_terminate_backend({pid});",
            "the session ends and its temporary tables are dropped. "
            "Or its owner runs VACUUM on them there",
        )
    if kind == TEMPORARY:
        return (
            f"DROP TABLE {holder.name};",
            "its session may still use it. Before 16 the server does not tell which session that "
            "is, and from 16 on it has ended",
        )
    if kind == "prepared transaction":
        return _prepared(holder)
    if kind in ("physical slot", "logical slot"):
        return _slot(kind, holder)
    if kind == "standby feedback":
        return (
            "ALTER SYSTEM SET hot_standby_feedback = off; SELECT pg_reload_conf(); "
            "-- on the standby, or end its long query there",
            "replay then cancels queries on the standby that still need these rows, "
            "after max_standby_streaming_delay",
        )
    if kind == "create index":
        return (
            f"SELECT pg_cancel_backend({pid});",
            "the index built so far is lost. CONCURRENTLY leaves an invalid one. "
            "DROP INDEX CONCURRENTLY removes that",
        )
    if kind == "vacuum":
        return (
            f"SELECT pg_cancel_backend({pid});",
            "what it has done so far is lost. If autovacuum started it, it comes back",
        )
    if kind == "idle in transaction":
        return (
            f"SELECT pg_terminate_backend({pid});",
            "the session's uncommitted work is rolled back and its client loses the connection",
        )
    if holder.source == "setting":
        return (
            f"ALTER SYSTEM RESET {holder.name}; SELECT pg_reload_conf();",
            "queries on standbys without feedback are cancelled more often",
        )
    if kind == "other":
        return (
            f"SELECT pg_terminate_backend({pid});",
            "what this walsender was doing (a backup, the first copy of a subscription) "
            "fails and has to begin again",
        )
    return (
        f"SELECT pg_cancel_backend({pid});",
        "the running statement fails and its transaction is rolled back. "
        "A dump or report has to begin again",
    )


def _prepared(holder: Holder) -> tuple[str, str]:
    gid = holder.name or ""
    if gid.startswith("citus_"):
        return (
            "SELECT recover_prepared_transactions(); -- on the Citus coordinator",
            "Citus decides by its own records whether it was committed. ROLLBACK PREPARED "
            "by hand can leave the nodes with different data",
        )
    return (
        f"ROLLBACK PREPARED {literal(gid)}; "
        f"-- in database {identifier(holder.datname or '')}, or COMMIT PREPARED",
        "its changes are lost for good. Ask its transaction manager first. "
        "It may already have committed the other half",
    )


def _slot(kind: str, holder: Holder) -> tuple[str, str]:
    name = literal(holder.name or "")
    if kind == "physical slot":
        return (
            f"SELECT pg_drop_replication_slot({name});",
            "its standby loses its place. When the WAL it still needs is gone, "
            "it has to be built anew",
        )
    if holder.active:
        return (
            f"SELECT pg_terminate_backend({holder.pid}); "
            "-- better: find out why its consumer does not confirm what it received",
            "the consumer reconnects and starts again at the last position it confirmed",
        )
    return (
        f"SELECT pg_drop_replication_slot({name});",
        "its consumer loses every change it has not received yet, and has to be copied anew",
    )
