"""What the agent remembers over a restart, in an SQLite file: acts, tables, sizes by the hour."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from pgsweep.agent.act import DONE, REBUILDS, REINDEX, RUNNING, WOULD
from pgsweep.agent.needs import Known
from pgsweep.agent.rebuilds import Rebuilt, Use
from pgsweep.base.errors import UsageError

if TYPE_CHECKING:
    from pgsweep.agent.act import Act, Outcome

# An older file gets what it lacks.
VERSION = 2
HOUR_S = 3600
# Older acts and sizes are forgotten, and so is all that is more than so many rows.
DAY_S = 86_400
KEPT_S = 90 * DAY_S
MOST_ACTS, MOST_SIZES = 100_000, 2_000_000
BUSY_S = 10.0
ON_A_PAGE = 100
CHARTS_ON_A_PAGE = 4

_TABLES = """
CREATE TABLE IF NOT EXISTS acts (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, datname TEXT NOT NULL, kind TEXT NOT NULL,
    relid INTEGER NOT NULL, table_relid INTEGER NOT NULL, name TEXT NOT NULL,
    statement TEXT NOT NULL, reason TEXT NOT NULL, began REAL NOT NULL, ended REAL,
    outcome TEXT NOT NULL, detail TEXT NOT NULL,
    size INTEGER, content INTEGER, size_after INTEGER, cost INTEGER, saves INTEGER,
    read_pages INTEGER, dirtied_pages INTEGER, pid INTEGER);
CREATE INDEX IF NOT EXISTS acts_of ON acts (server, datname, relid, ended);
CREATE INDEX IF NOT EXISTS acts_ended ON acts (ended);
CREATE TABLE IF NOT EXISTS tables (
    server TEXT NOT NULL, datname TEXT NOT NULL, relid INTEGER NOT NULL, seen REAL NOT NULL,
    due_since REAL, visited REAL,
    changed INTEGER, changed_at REAL, frozen_at INTEGER, analyzed_at INTEGER,
    ended REAL, took_s REAL NOT NULL, failures INTEGER NOT NULL,
    PRIMARY KEY (server, datname, relid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sizes (
    server TEXT NOT NULL, datname TEXT NOT NULL, relid INTEGER NOT NULL, hour INTEGER NOT NULL,
    bytes INTEGER NOT NULL, content INTEGER, reads INTEGER,
    PRIMARY KEY (server, datname, relid, hour)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hours (
    server TEXT NOT NULL, datname TEXT NOT NULL, hour INTEGER NOT NULL, wasted INTEGER NOT NULL,
    PRIMARY KEY (server, datname)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leftovers (
    server TEXT NOT NULL, datname TEXT NOT NULL, relid INTEGER NOT NULL, seen REAL NOT NULL,
    PRIMARY KEY (server, datname, relid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS servers (
    server TEXT PRIMARY KEY, name TEXT NOT NULL, looked REAL, problem TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pause (until REAL NOT NULL);
"""

# The columns of `tables` that are what is known of one.
_KNOWN = tuple(one.name for one in fields(Known))


@dataclass(frozen=True)
class Done:
    """An act in the history. Times are seconds since 1970, sizes bytes, and -1 pages unknown."""

    id: int
    server: str
    datname: str
    kind: str
    relid: int
    table_relid: int
    name: str
    statement: str
    reason: str
    began: float
    ended: float | None
    outcome: str
    detail: str
    size: int | None
    content: int | None
    size_after: int | None
    cost: int | None
    saves: int | None
    read_pages: int | None
    dirtied_pages: int | None
    pid: int | None


@dataclass(frozen=True)
class Size:
    """How large a relation was in an hour, in bytes, and how many blocks its scans have read."""

    relid: int
    bytes: int
    content: int | None
    reads: int | None


@dataclass(frozen=True)
class Visited:
    """A server, when it was looked at last, and what is in the way. Empty: nothing is."""

    server: str
    name: str
    looked: float | None
    problem: str


@dataclass(frozen=True)
class Sum:
    """Acts of a server of one kind that ended alike. Sizes are bytes."""

    server: str
    kind: str
    outcome: str
    acts: int
    seconds: float | None
    read_pages: int
    dirtied_pages: int
    given_back: int


@dataclass(frozen=True)
class Wasted:
    """What rebuilds in a database would give back, in bytes, as of its last measurement."""

    server: str
    datname: str
    bytes: int


@dataclass(frozen=True)
class Summary:
    """Servers, what is being done, and what the last day came to."""

    servers: list[Visited]
    running: list[Done]
    sums: list[Sum]
    bloat: list[Wasted]
    paused_until: float | None


@dataclass(frozen=True)
class Grown:
    """How large a relation was, by the hour, and when it was built anew.

    `sizes` has seconds since 1970, bytes, and the bytes of its content as far as they are known.
    """

    name: str
    datname: str
    sizes: tuple[tuple[float, int, int | None], ...]
    rebuilt: tuple[float, ...]


@dataclass(frozen=True)
class Told:
    """What a page shows: the summary, the latest acts and rebuilds, as of a moment."""

    summary: Summary
    acts: list[Done]
    grown: list[Grown]
    now: float


class Store:
    """The file. Each change is a transaction, so that an end at any moment leaves it whole."""

    def __init__(self, file: Path, write: bool = True) -> None:
        if not write and not file.exists():
            raise UsageError(
                f'there is no state of an agent in "{file}"', "Name its file by --state."
            )
        try:
            if write:
                file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(file, timeout=BUSY_S, check_same_thread=False)
            self._db.row_factory = sqlite3.Row
            self._lock = threading.RLock()
            self._forgotten = 0
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            with self._changing():
                self._make()
        except (OSError, sqlite3.Error) as exc:
            raise UsageError(
                f'cannot use the state file "{file}": {exc}',
                "Name another one by --state, in a folder that can be written.",
            ) from exc

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _make(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version < VERSION:
            for statement in filter(str.strip, _TABLES.split(";")):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"it is of version {version}, and {VERSION} is needed")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise

    def _rows(self, query: str, *args: object) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(query, args).fetchall()

    # -- acts ----------------------------------------------------------------

    def begin(self, server: str, act: Act, now: float, outcome: str = RUNNING) -> int:
        """Write down that an act begins, before it does. Return its number."""
        with self._changing():
            found = self._db.execute(
                "INSERT INTO acts (server, datname, kind, relid, table_relid, name, statement,"
                " reason, began, ended, outcome, detail, size, content, cost, saves)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?)",
                (
                    server,
                    act.datname,
                    act.kind,
                    act.relid,
                    act.table_relid,
                    act.name,
                    act.statement,
                    act.reason,
                    now,
                    None if outcome == RUNNING else now,
                    outcome,
                    act.size,
                    act.content,
                    act.cost,
                    act.saves,
                ),
            )
        assert found.lastrowid is not None
        return found.lastrowid

    def would(self, server: str, act: Act, now: float, once_s: float) -> bool:
        """Write down what would be done, unless that was said. Return whether it was not."""
        said = self._rows(
            "SELECT 1 FROM acts WHERE server = ? AND datname = ? AND relid = ? AND kind = ?"
            " AND outcome = ? AND ended > ?",
            server,
            act.datname,
            act.relid,
            act.kind,
            WOULD,
            now - once_s,
        )
        if said:
            return False
        self.begin(server, act, now, WOULD)
        return True

    def runs_as(self, number: int, pid: int) -> None:
        """Write down which server process does it."""
        with self._changing():
            self._db.execute("UPDATE acts SET pid = ? WHERE id = ?", (pid, number))

    def end(self, number: int, how: Outcome, now: float) -> None:
        """Write down how an act has ended."""
        with self._changing():
            self._db.execute(
                "UPDATE acts SET ended = ?, outcome = ?, detail = ?, read_pages = ?,"
                " dirtied_pages = ?, size_after = ? WHERE id = ?",
                (now, how.outcome, how.detail, how.read, how.dirtied, how.size, number),
            )

    def unfinished(self, server: str | None = None) -> list[Done]:
        """Return the acts without an end, of all servers or of one."""
        return [
            Done(**row)
            for row in self._rows(
                "SELECT * FROM acts WHERE ended IS NULL AND (? IS NULL OR server = ?)",
                server,
                server,
            )
        ]

    def history(self, limit: int | None = None, acts_only: bool = False) -> list[Done]:
        """Return acts, the latest first."""
        return [
            Done(**row)
            for row in self._rows(
                "SELECT * FROM acts WHERE NOT ? OR outcome <> ?"
                " ORDER BY began DESC, id DESC LIMIT ?",
                acts_only,
                WOULD,
                -1 if limit is None else limit,
            )
        ]

    def summary(self, now: float) -> Summary:
        """Return servers, what is being done, and what the last day came to."""
        return Summary(
            servers=self.servers(),
            running=self.unfinished(),
            sums=self.sums(now - DAY_S),
            bloat=self.bloat(),
            paused_until=self.paused_until(now),
        )

    def told(self, now: float) -> Told:
        """Return what a page shows."""
        return Told(self.summary(now), self.history(ON_A_PAGE), self.grown(CHARTS_ON_A_PAGE), now)

    def grown(self, limit: int) -> list[Grown]:
        """Return how those have grown that were, or would have been, built anew last."""
        found = self._rows(
            "SELECT server, datname, relid, name, max(began) AS last FROM acts"
            " WHERE kind IN (?, ?) GROUP BY server, datname, relid ORDER BY last DESC LIMIT ?",
            *REBUILDS,
            limit,
        )
        relations = []
        for row in found:
            where = row["server"], row["datname"], row["relid"]
            sizes = self._rows(
                "SELECT hour, bytes, content FROM sizes"
                " WHERE server = ? AND datname = ? AND relid = ? ORDER BY hour",
                *where,
            )
            done = self._rows(
                "SELECT ended FROM acts WHERE server = ? AND datname = ? AND relid = ?"
                " AND kind IN (?, ?) AND outcome = ? ORDER BY ended",
                *where,
                *REBUILDS,
                DONE,
            )
            relations.append(
                Grown(
                    row["name"],
                    row["datname"],
                    tuple((one["hour"] * HOUR_S, one["bytes"], one["content"]) for one in sizes),
                    tuple(one["ended"] for one in done),
                )
            )
        return relations

    def bloat(self) -> list[Wasted]:
        """Return what rebuilds would give back in each database."""
        rows = self._rows("SELECT server, datname, wasted AS bytes FROM hours")
        return [Wasted(**row) for row in rows]

    def sums(self, since: float) -> list[Sum]:
        """Return how many acts of each server and kind ended how, and what they came to."""
        rows = self._rows(
            "SELECT server, kind, outcome, count(*) AS acts, sum(ended - began) AS seconds,"
            " sum(coalesce(read_pages, 0)) AS read_pages,"
            " sum(coalesce(dirtied_pages, 0)) AS dirtied_pages,"
            " sum(CASE WHEN size_after IS NOT NULL THEN size - size_after ELSE 0 END) AS given_back"
            " FROM acts WHERE began >= ? GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            since,
        )
        return [Sum(**row) for row in rows]

    def own_tables(self, server: str, datname: str, since: float) -> frozenset[int]:
        """Return the tables of which a rebuild did not come to its end."""
        rows = self._rows(
            "SELECT DISTINCT table_relid FROM acts WHERE server = ? AND datname = ? AND kind = ?"
            " AND outcome NOT IN (?, ?) AND began >= ?",
            server,
            datname,
            REINDEX,
            DONE,
            WOULD,
            since,
        )
        return frozenset(row["table_relid"] for row in rows)

    # -- tables --------------------------------------------------------------

    def known(self, server: str, datname: str) -> dict[int, Known]:
        """Return what is remembered of the tables of a database."""
        rows = self._rows(
            f"SELECT relid, {', '.join(_KNOWN)} FROM tables WHERE server = ? AND datname = ?",
            server,
            datname,
        )
        found = (dict(row) for row in rows)
        return {row.pop("relid"): Known(**row) for row in found}

    def remember(self, server: str, datname: str, known: Mapping[int, Known], now: float) -> None:
        """Remember these tables of a database."""
        where = {"server": server, "datname": datname, "seen": now}
        columns = (*where, "relid", *_KNOWN)
        with self._changing():
            self._db.executemany(
                f"INSERT OR REPLACE INTO tables ({', '.join(columns)})"
                f" VALUES ({', '.join(':' + name for name in columns)})",
                [{**where, "relid": relid, **asdict(one)} for relid, one in known.items()],
            )

    # -- sizes ---------------------------------------------------------------

    def measured(self, server: str, datname: str, now: float) -> bool:
        """Tell whether sizes of this database are written down for this hour."""
        return bool(
            self._rows(
                "SELECT 1 FROM hours WHERE server = ? AND datname = ? AND hour = ?",
                server,
                datname,
                int(now // HOUR_S),
            )
        )

    def measure(self, server: str, datname: str, sizes: Iterable[Size], now: float) -> None:
        """Write down how large relations are in this hour."""
        hour = int(now // HOUR_S)
        rows = [
            (server, datname, one.relid, hour, one.bytes, one.content, one.reads) for one in sizes
        ]
        wasted = sum(row[4] - row[5] for row in rows if row[5] is not None)
        with self._changing():
            self._db.executemany("INSERT OR REPLACE INTO sizes VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._db.execute(
                "INSERT OR REPLACE INTO hours VALUES (?, ?, ?, ?)", (server, datname, hour, wasted)
            )

    def uses(self, server: str, datname: str) -> dict[int, Use]:
        """Return how the relations of a database grow, are used and were built anew."""
        where = server, datname
        first = {
            row["relid"]: (row["hour"] * HOUR_S, row["bytes"])
            for row in self._rows(
                "SELECT relid, min(hour) AS hour, bytes FROM sizes"
                " WHERE server = ? AND datname = ? GROUP BY relid",
                *where,
            )
        }
        last = self._rows(
            "SELECT relid, max(hour) AS hour, bytes FROM sizes"
            " WHERE server = ? AND datname = ? GROUP BY relid",
            *where,
        )
        sizes = {
            row["relid"]: tuple(sorted({first[row["relid"]], (row["hour"] * HOUR_S, row["bytes"])}))
            for row in last
        }
        rates = self._read_rates(server, datname)
        rebuilt: dict[int, Rebuilt] = {}
        failed: dict[int, list[float]] = {}
        for row in self._rows(
            "SELECT * FROM acts WHERE server = ? AND datname = ? AND kind IN (?, ?)"
            " AND ended IS NOT NULL AND outcome <> ? ORDER BY ended",
            server,
            datname,
            *REBUILDS,
            WOULD,
        ):
            if row["outcome"] == DONE:
                size = row["size_after"]
                rebuilt[row["relid"]] = Rebuilt(row["ended"], row["content"], size)
                failed.pop(row["relid"], None)
            else:
                failed.setdefault(row["relid"], []).append(row["ended"])
        return {
            relid: Use(
                reads_per_s=rates.get(relid, 0.0),
                sizes=sizes.get(relid, ()),
                rebuilt=rebuilt.get(relid),
                failures=len(failed.get(relid, ())),
                failed=max(failed.get(relid, ()), default=0.0),
            )
            for relid in sizes.keys() | rebuilt.keys() | failed.keys()
        }

    def _read_rates(self, server: str, datname: str) -> dict[int, float]:
        """Return blocks that scans have read in a second, over the hours whose counter went on."""
        rows = self._rows(
            "SELECT relid, sum(reads - before) / (sum(hour - hour_before) * ?) AS rate FROM"
            " (SELECT relid, hour, reads, lag(reads) OVER one AS before,"
            " lag(hour) OVER one AS hour_before FROM sizes WHERE server = ? AND datname = ?"
            " WINDOW one AS (PARTITION BY relid ORDER BY hour))"
            " WHERE reads >= before GROUP BY relid",
            float(HOUR_S),
            server,
            datname,
        )
        return {row["relid"]: row["rate"] for row in rows}

    def moved(self, server: str, datname: str, before: int, after: int) -> None:
        """Write down that an index has another oid."""
        with self._changing():
            for table in ("sizes", "acts"):
                self._db.execute(
                    f"UPDATE OR REPLACE {table} SET relid = ?"
                    " WHERE server = ? AND datname = ? AND relid = ?",
                    (after, server, datname, before),
                )

    def first_seen(
        self, server: str, datname: str, relids: Iterable[int], now: float
    ) -> dict[int, float]:
        """Return when each leftover was first seen. Those that are gone are forgotten."""
        wanted = set(relids)
        with self._changing():
            seen = {
                row["relid"]: row["seen"]
                for row in self._rows(
                    "SELECT relid, seen FROM leftovers WHERE server = ? AND datname = ?",
                    server,
                    datname,
                )
            }
            self._db.executemany(
                "DELETE FROM leftovers WHERE server = ? AND datname = ? AND relid = ?",
                [(server, datname, relid) for relid in seen.keys() - wanted],
            )
            self._db.executemany(
                "INSERT INTO leftovers VALUES (?, ?, ?, ?)",
                [(server, datname, relid, now) for relid in wanted - seen.keys()],
            )
        return {relid: seen.get(relid, now) for relid in wanted}

    # -- servers and pause -----------------------------------------------------

    def visited(self, server: str, name: str, now: float, problem: str = "") -> None:
        """Write down that a server was looked at, or what was in the way."""
        with self._changing():
            # Another server of the cluster has its name now, or it has become a primary.
            self._db.execute("DELETE FROM servers WHERE name = ? AND server <> ?", (name, server))
            self._db.execute(
                "INSERT INTO servers VALUES (?, ?, ?, ?) ON CONFLICT (server) DO UPDATE SET"
                " name = excluded.name, problem = excluded.problem,"
                " looked = coalesce(excluded.looked, looked)",
                (server, name, None if problem else now, problem),
            )

    def servers(self) -> list[Visited]:
        """Return the servers that were looked at."""
        return [Visited(**row) for row in self._rows("SELECT * FROM servers ORDER BY name")]

    def pause(self, until: float | None) -> None:
        """Begin no act until then. None ends that."""
        with self._changing():
            self._db.execute("DELETE FROM pause")
            if until is not None:
                self._db.execute("INSERT INTO pause VALUES (?)", (until,))

    def paused_until(self, now: float) -> float | None:
        """Return until when no act begins."""
        rows = self._rows("SELECT until FROM pause WHERE until > ?", now)
        return rows[0]["until"] if rows else None

    def forget(self, now: float) -> None:
        """Forget once an hour what is too old, and the oldest of what is too much.

        What was built anew is remembered for as long as it is not to be built again.
        """
        hour = int(now // HOUR_S)
        if hour == self._forgotten:
            return
        with self._changing():
            self._db.execute("DELETE FROM acts WHERE ended < ?", (now - KEPT_S,))
            self._db.execute(
                "DELETE FROM acts WHERE ended IS NOT NULL AND NOT (kind IN (?, ?) AND outcome = ?)"
                " AND id <= (SELECT max(id) FROM acts) - ?",
                (*REBUILDS, DONE, MOST_ACTS),
            )
            self._db.execute("DELETE FROM servers WHERE looked < ?", (now - DAY_S,))
            self._db.execute("DELETE FROM tables WHERE seen < ?", (now - KEPT_S,))
            last = int((now - KEPT_S) // HOUR_S)
            self._db.execute("DELETE FROM sizes WHERE hour < ?", (last,))
            while self._db.execute("SELECT count(*) FROM sizes").fetchone()[0] > MOST_SIZES:
                last += 24
                self._db.execute("DELETE FROM sizes WHERE hour < ?", (last,))
            self._db.execute("DELETE FROM hours WHERE hour < ?", (hour - DAY_S // HOUR_S,))
        self._forgotten = hour
