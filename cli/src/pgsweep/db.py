"""The only importer of psycopg: connects, reads the views, turns errors into ours.

Every session is read-only, has a search_path that no database owner can plant
objects in, and gives up after a while: watching a server must not become a load.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo, pq, sql
from psycopg.rows import class_row, dict_row

from pgsweep import __version__, errors
from pgsweep.compute import version_tuple
from pgsweep.core import rates
from pgsweep.core.blockers import blockers as core_blockers
from pgsweep.core.facts import (
    CoreFacts,
    Lock,
    Relation,
    Vacuum,
    XidRate,
)
from pgsweep.core.facts import Holder as CoreHolder
from pgsweep.model import (
    Blocker,
    Cause,
    Database,
    DatabaseAge,
    Day,
    Decision,
    Facts,
    Feature,
    Holder,
    LastHour,
    Limit,
    Progress,
    Run,
    RunFilter,
    Server,
    Snapshot,
    Status,
    StatusReport,
    Step,
    Table,
    TuneFacts,
    Waiting,
)
from pgsweep.tune.settings import Current

Row = TypeVar("Row")

CONNECT_TIMEOUT_S = 10
STATEMENT_TIMEOUT_S = 10
TOP_RUNS = 200
TOP_QUEUE = 50
DAY_HOURS = 24.0
# Shared memory can remember more tables than a page can show.
DAY_DECISIONS = 1000

SESSION_OPTIONS = (
    "-c search_path=pg_catalog",
    "-c default_transaction_read_only=on",
    f"-c statement_timeout={STATEMENT_TIMEOUT_S}s",
    "-c lock_timeout=2s",
    "-c idle_in_transaction_session_timeout=60s",
    "-c intervalstyle=postgres",
)


@dataclass(frozen=True)
class Target:
    """Where to connect: what was given on the command line; libpq fills in the rest."""

    dbname: str | None = None
    host: str | None = None
    port: str | None = None
    user: str | None = None
    ask_password: bool = False
    never_ask: bool = False

    def parameters(self) -> dict[str, Any]:
        """Return libpq parameters; a connection string as dbname wins over flags, as in psql."""
        params: dict[str, Any] = {
            key: value
            for key, value in (("host", self.host), ("port", self.port), ("user", self.user))
            if value
        }
        if self.dbname and ("=" in self.dbname or "://" in self.dbname):
            try:
                given = conninfo.conninfo_to_dict(self.dbname)
            except psycopg.Error as exc:
                raise errors.UsageError(
                    f"connection string is not valid: {exc}",
                    "Write it as psql takes it, for example postgresql://user@host:5432/dbname.",
                ) from exc
            params.update({key: value for key, value in given.items() if value is not None})
        elif self.dbname:
            params["dbname"] = self.dbname
        # Later -c options win, so whatever the caller or PGOPTIONS says, these hold.
        options = str(params.get("options") or os.environ.get("PGOPTIONS", ""))
        params["options"] = " ".join(filter(None, (options, *SESSION_OPTIONS)))
        params["application_name"] = "pgsweep"
        if "connect_timeout" not in params and not os.environ.get("PGCONNECT_TIMEOUT"):
            params["connect_timeout"] = CONNECT_TIMEOUT_S
        return params


def connect(target: Target, ask: Callable[[str], str] | None = None) -> Session:
    """Connect as psql would, asking for a password on a terminal when the server wants one."""
    params = target.parameters()
    if ask is None and not target.never_ask and sys.stdin is not None and sys.stdin.isatty():
        ask = getpass.getpass
    if target.ask_password and ask is not None:
        params["password"] = ask("Password: ")
    try:
        return Session(_open(params), params)
    except errors.PasswordRequiredError:
        if ask is None or target.ask_password:
            raise
        params["password"] = ask("Password: ")
        return Session(_open(params), params)


def _open(params: Mapping[str, Any]) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect("", autocommit=True, prepare_threshold=None, **params)
    except psycopg.Error as exc:
        raise _connect_error(exc) from exc
    except UnicodeError as exc:
        raise errors.CannotConnectError(f"connection parameters are not valid: {exc}") from exc


def _connect_error(exc: psycopg.Error) -> errors.CannotConnectError:
    lines = [line.strip(" \t-") for line in str(exc).splitlines() if line.strip()]
    # One line of one attempt is enough; psycopg lists every address of the host.
    failures = [line for line in lines if "failed:" in line or "error:" in line] or lines
    message = failures[-1] if failures else "connection failed"
    for prefix in ("connection failed: ", "host: "):
        if prefix in message and "connection to server" in message:
            message = message[message.index("connection to server") :]
    lower = message.lower()
    kind: type[errors.CannotConnectError] = errors.CannotConnectError
    hint: str | None = None
    if "no password supplied" in lower:
        kind = errors.PasswordRequiredError
        hint = "Set PGPASSWORD, write a password file (~/.pgpass), or use -W."
    elif "password authentication failed" in lower:
        hint = "Check user and password: PGPASSWORD, ~/.pgpass or -W."
    elif "pg_hba.conf" in lower:
        hint = "Add a line for this role, database and host to pg_hba.conf, then reload."
    elif "database" in lower and "does not exist" in lower:
        hint = "Name a database with -d."
    elif "role" in lower and "does not exist" in lower:
        hint = "Name a role with -U."
    elif "too many" in lower or "remaining connection slots" in lower:
        hint = "Wait for a free connection, or raise max_connections."
    elif "starting up" in lower or "shutting down" in lower or "recovery" in lower:
        hint = "Try again in a moment."
    else:
        hint = "Is the server running there? Check -h and -p, or PGHOST and PGPORT."
    return kind(message, hint)


@cache
def query_text(name: str) -> bytes:
    """Return the SQL of queries/<name>.sql."""
    return resources.files("pgsweep.queries").joinpath(f"{name}.sql").read_bytes()


def for_version(text: str, version_num: int) -> str:
    """Return SQL without the lines for other versions: they end in "-- before 18", "-- from 18"."""

    def fits(line: str) -> bool:
        match = re.search(r"-- (before|from) (\d+)$", line)
        if match is None:
            return True
        return (version_num >= int(match.group(2)) * 10000) == (match.group(1) == "from")

    return "".join(line for line in text.splitlines(keepends=True) if fits(line.rstrip()))


@dataclass(frozen=True)
class Views:
    """Whether the extension is in this database, and which of its newer objects."""

    extension: bool
    tables: bool
    queue: bool
    blockers: bool
    explain: bool


class Session:
    """One connection, and one method for each thing that can be read or asked for."""

    def __init__(self, conn: psycopg.Connection[Any], params: Mapping[str, Any]) -> None:
        self._conn = conn
        self._params = params
        self._notices: list[str] = []
        self._views: Views | None = None
        conn.add_notice_handler(self._on_notice)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; never raises."""
        self._conn.close()

    def again(self) -> Session:
        """Return a new connection made with the same parameters and password."""
        return Session(_open(self._params), self._params)

    def beside(self, dbname: str) -> Session:
        """Return a connection to another database of the same server."""
        params = {**self._params, "dbname": dbname}
        return Session(_open(params), params)

    def _on_notice(self, diag: psycopg.errors.Diagnostic) -> None:
        self._notices.append(diag.message_primary or "")

    # -- reading -----------------------------------------------------------

    def server(self) -> Server:
        """Return what kind of server this is, and as whom it was asked."""
        with self._translated():
            cur = self._conn.cursor(row_factory=dict_row)
            row = cur.execute(query_text("server")).fetchone()
            assert row is not None
            info = self._conn.info
            return Server(**row, host=info.host, port=info.port)

    def status(self) -> Status:
        """Return the row of sweep.status."""
        return self._rows("status", Status)[0]

    def progress(self) -> tuple[Progress, ...]:
        """Return the running vacuums of the whole cluster, oldest first."""
        return self._rows("progress", Progress)

    def runs(self, wanted: RunFilter) -> tuple[Run, ...]:
        """Return finished vacuums, the latest first."""
        return self._rows(
            "runs",
            Run,
            {
                "limit": wanted.limit,
                "schemaname": wanted.schemaname,
                "relname": wanted.relname,
                "datname": wanted.datname,
                "started_by": wanted.started_by,
                "outcome": wanted.outcome,
                "since": wanted.since,
            },
        )

    def databases(self) -> tuple[Database, ...]:
        """Return all databases, those with tables due first."""
        return self._rows("databases", Database)

    def features(self) -> tuple[Feature, ...]:
        """Return the parts of pg_sweep that depend on the server's private structures."""
        return self._rows("features", Feature)

    def last_hour(self) -> LastHour:
        """Return totals over the runs of the last hour."""
        return self._rows("last_hour", LastHour)[0]

    def snapshot(self) -> Snapshot:
        """Return everything `top` shows."""
        return Snapshot(
            status=self.status(),
            progress=self.progress(),
            runs=self.runs(RunFilter(limit=TOP_RUNS)),
            databases=self.databases(),
            queue=self.queue(TOP_QUEUE) if self.views().queue else None,
            # Last, so that "now" is never before what the views say.
            server=self.server(),
        )

    def status_report(self) -> StatusReport:
        """Return everything `status` shows."""
        return StatusReport(
            status=self.status(),
            last_hour=self.last_hour(),
            progress=self.progress(),
            databases=self.databases(),
            snoozed=self._dicts("snoozed")[0]["snoozed"],
            server=self.server(),
        )

    def decisions(self, limit: int) -> tuple[Decision, ...]:
        """Return what was decided about tables that looked due, the latest first."""
        return self._rows("decisions", Decision, {"limit": limit})

    def holders(self) -> tuple[Holder, ...]:
        """Return what holds the xmin horizon back, the oldest first."""
        return self._rows("horizon", Holder)

    def views(self) -> Views:
        """Return what there is of the extension; looked up once."""
        if self._views is None:
            self._views = self._rows("views", Views)[0]
        return self._views

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of this database, from sweep.tables."""
        return self._rows("tables", Table)

    def queue(self, limit: int) -> tuple[Waiting, ...]:
        """Return the tables that are to be vacuumed next, in their order."""
        return self._rows("queue", Waiting, {"limit": limit})

    def blockers(self) -> tuple[Blocker, ...]:
        """Return what holds the horizon back, from sweep.blockers, the oldest first."""
        return self._rows("blockers", Blocker)

    def budget(self) -> tuple[Limit, ...]:
        """Return the limits of what vacuums may use, from sweep.budget."""
        return self._rows("budget", Limit)

    def governor(self, steps: int) -> tuple[Step, ...]:
        """Return the last steps of the governor, the latest first."""
        return self._rows("governor", Step, {"steps": steps})

    def explain(self, relid: int | None) -> tuple[Cause, ...]:
        """Return what sweep.explain() says of a table, or of the worst ones."""
        if relid is None:
            return self._rows("explain_worst", Cause)
        return self._rows("explain", Cause, {"relid": relid})

    def find_relation(self, name: str) -> int:
        """Return the relation of a name as SQL has it; of several, the one in public."""
        dbname = self._conn.info.dbname
        found = self._dicts("find_relation", {"name": name})
        if not found:
            raise errors.UsageError(
                f'there is no table "{name}" in database "{dbname}"',
                "Name another database with -d; write SCHEMA.TABLE, with quotes as in SQL.",
            )
        if len(found) > 1 and found[0]["schemaname"] != "public":
            names = ", ".join(f"{row['schemaname']}.{row['relname']}" for row in found[:5])
            raise errors.UsageError(f'"{name}" is several tables', f"Write one of {names}.")
        return int(found[0]["relid"])

    def day(self) -> Day:
        """Return everything `report --live` shows."""
        return Day(
            status=self.status(),
            last_hour=self.last_hour(),
            block_size=int(self.setting("block_size")),
            hours=DAY_HOURS,
            runs=self.runs(RunFilter(limit=None, since=f"{DAY_HOURS} hours")),
            progress=self.progress(),
            databases=self.databases(),
            decisions=self.decisions(DAY_DECISIONS),
            holders=self.holders(),
            server=self.server(),
        )

    def facts(self) -> Facts:
        """Return what `doctor` needs; works without the extension and without the library."""
        settings = {row["name"]: row["setting"] for row in self._dicts("settings")}
        extension = self._dicts("extension")[0]
        role = self._dicts("role")[0]
        used = self._dicts("worker_slots")[0]["used"]
        may_call = {row["signature"]: bool(row["allowed"]) for row in self._dicts("may_call")}
        status: Status | None = None
        features: tuple[Feature, ...] = ()
        databases: tuple[Database, ...] = ()
        problem: errors.DatabaseError | None = None
        try:
            status = self.status()
            features = self.features()
            databases = self.databases()
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError as exc:
            problem = exc
        blockers: tuple[Blocker, ...] | None = None
        try:
            blockers = self.blockers() if self.views().blockers else self._core_blockers()
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError as exc:
            problem = problem or exc
        return Facts(
            server=self.server(),
            settings=settings,
            available_version=extension["available_version"],
            installed_version=extension["installed_version"],
            is_superuser=bool(role["is_superuser"]),
            in_pg_monitor=bool(role["in_pg_monitor"]),
            can_read_settings=bool(role["can_read_settings"]),
            worker_slots_used=used,
            may_call=may_call,
            status=status,
            status_error=problem.message if problem else None,
            status_hint=problem.hint if problem else None,
            features=features,
            databases=databases,
            blockers=blockers,
            core_databases=self.core_databases() if status is None else (),
        )

    # -- reading core's own views --------------------------------------------

    def core_facts(self, relid: int | None = None, seconds: float = 0.0) -> CoreFacts:
        """Return what core's views say of all tables, or of one and its TOAST table.

        With `seconds` the counters are read twice, so far apart.
        """
        version = self.version_num()
        which = {"relid": relid}
        earlier: dict[int, Relation] = {}
        earlier_at: datetime | None = None
        first_xid = self._next_xid()
        if seconds > 0:
            earlier_at = self.server().now
            rows = self._core_rows("core_relations", Relation, which)
            earlier = {row.relid: row for row in rows}
            time.sleep(seconds)
        relations = self._core_rows("core_relations", Relation, which)
        holders = self._core_rows("core_holders", CoreHolder)
        return CoreFacts(
            version_num=version,
            settings=self.core_settings(),
            relations=relations,
            holders=holders,
            locks=self._core_rows("core_locks", Lock, which),
            vacuums=self._core_rows("core_vacuums", Vacuum),
            databases=self.core_databases(),
            xid_rate=self._xid_rate(first_xid, seconds),
            earlier=earlier,
            earlier_at=earlier_at,
            sees_everything=bool(self._dicts("role")[0]["can_read_stats"]),
            # Last, so that "now" is never before what the views say.
            server=self.server(),
        )

    def version_num(self) -> int:
        """Return the server's version as a number: 150020."""
        return self._conn.info.server_version

    def _core_blockers(self) -> tuple[Blocker, ...]:
        holders = self._core_rows("core_holders", CoreHolder)
        return core_blockers(holders, self._conn.info.dbname)

    def core_databases(self) -> tuple[DatabaseAge, ...]:
        """Return all databases and their ages, the oldest first."""
        return self._core_rows("core_databases", DatabaseAge)

    def core_settings(self) -> dict[str, str]:
        """Return autovacuum's settings, in their own units."""
        return {row["name"]: row["setting"] for row in self._dicts("core_settings")}

    def _next_xid(self, query: str = "core_next_xid") -> tuple[datetime, int]:
        row = self._dicts(query)[0]
        return row["at"], int(row["next_xid"])

    def _xid_rate(self, first: tuple[datetime, int], seconds: float) -> XidRate | None:
        """Return how fast transaction ids are used, by two readings or since the checkpoint."""
        now = self._next_xid()
        if seconds > 0:
            return rates.xid_rate(first, now, "measured for {seconds:.0f} s", 0.1)
        try:
            checkpoint = self._next_xid("core_checkpoint")
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError:
            # Some clouds do not let the control file be read.
            return None
        return rates.xid_rate(
            checkpoint, now, "since the checkpoint {seconds:.0f} s ago", rates.LEAST_SECONDS
        )

    def _core_rows(
        self, name: str, row_type: type[Row], params: Mapping[str, Any] | None = None
    ) -> tuple[Row, ...]:
        query = for_version(query_text(name).decode(), self.version_num()).encode()
        with self._translated():
            cur = self._conn.cursor(row_factory=class_row(row_type))
            return tuple(cur.execute(query, params).fetchall())

    # -- whether it fits -----------------------------------------------------

    def require_extension(self) -> None:
        """Raise unless extension, library and this command fit each other."""
        row = self._dicts("versions")[0]
        sql, library = row["sql_version"], row["library_version"]
        if sql is None or library is None or sql == library:
            return
        if version_tuple(sql) < version_tuple(library):
            raise errors.VersionMismatchError(
                f'SQL objects of extension "pg_sweep" are version {sql}, the library is {library}',
                "Run ALTER EXTENSION pg_sweep UPDATE.",
            )
        raise errors.VersionMismatchError(
            f'library of extension "pg_sweep" is version {library}, its SQL objects are {sql}',
            "Restart the server so that it loads the newer library.",
        )

    def setting(self, name: str) -> str:
        """Return the value of a setting as SHOW prints it."""
        with self._translated():
            row = self._conn.execute("SELECT current_setting(%s)", (name,)).fetchone()
            assert row is not None
            return str(row[0])

    # -- acting ------------------------------------------------------------

    def cancel(self, pid: int) -> tuple[bool, str]:
        """Ask the process to give up its vacuum; return whether it was asked, and what was said."""
        return self._act("cancel", {"pid": pid})

    def slow(self, pid: int) -> tuple[bool, str]:
        """Have the vacuum of a process do half of what it does, as long as this session lives."""
        return self._act("slow", {"pid": pid})

    def hurry(self, pid: int) -> tuple[bool, str]:
        """Lift all limits of the vacuum of a process as long as this session lives."""
        return self._act("hurry", {"pid": pid})

    def release(self, pid: int) -> tuple[bool, str]:
        """Undo slow and hurry."""
        return self._act("release", {"pid": pid})

    def _act(self, name: str, params: Mapping[str, Any]) -> tuple[bool, str]:
        self._notices.clear()
        row = self._dicts(name, params)[0]
        return bool(row["done"]), "; ".join(self._notices)

    # -- tuning ------------------------------------------------------------

    def parameters_to_write(self, dbname: str | None, name: str) -> dict[str, Any]:
        """Return the parameters of this connection for one that may write and take its time."""
        found = dict(self._params)
        options = str(found.pop("options", ""))
        for own in SESSION_OPTIONS:
            options = options.replace(own, "")
        found.pop("connect_timeout", None)
        return {
            **found,
            "options": options.strip(),
            "dbname": dbname or self._conn.info.dbname,
            "application_name": name,
        }

    def settings_known(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these settings the server has."""
        found = self._dicts("tune_known", {"names": list(names)})
        return frozenset(row["name"] for row in found)

    def tune_facts(self) -> TuneFacts:
        """Return whether settings can be changed here, and who else manages them."""
        row = self._dicts("tune_facts")[0]
        signs = [
            sign
            for column, sign in (
                ("patroni_session", "it has a session here"),
                ("patroni_file", "settings come from its files"),
                ("patroni_command_line", "its settings are on the server's command line"),
            )
            if row.pop(column)
        ]
        files = {entry["name"] for entry in self._permitted("data_files")}
        if found := sorted(files & {"patroni.dynamic.json", "postgresql.base.conf"}):
            signs.append(f"{found[0]} is in the data directory")
        identifier = self._permitted("tune_identifier")
        return TuneFacts(
            **row,
            patroni=tuple(signs),
            system_identifier=identifier[0]["system_identifier"] if identifier else None,
        )

    def may_alter(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these settings this role may ALTER SYSTEM SET."""
        query = for_version(query_text("may_alter").decode(), self.version_num()).encode()
        with self._translated():
            cur = self._conn.cursor(row_factory=dict_row)
            found = cur.execute(query, {"names": list(names)}).fetchall()
            return frozenset(row["name"] for row in found)

    def current(self, names: Sequence[str]) -> dict[str, Current]:
        """Return settings as they are and as postgresql.auto.conf has them."""
        found = {row.name: row for row in self._rows("tune_settings", Current, {"names": names})}
        for name in names:
            if name not in found:
                raise errors.QueryError(
                    f'this server has no setting "{name}"',
                    "Is the library of pg_sweep loaded? Or use --for core.",
                )
        return found

    def alter_system(self, name: str, value: str | None) -> None:
        """Write a setting into postgresql.auto.conf, or take it out of there."""
        # A name with a dot is two identifiers.
        what = sql.SQL(".").join(sql.Identifier(part) for part in name.split("."))
        if value is None:
            statement = sql.SQL("ALTER SYSTEM RESET {}").format(what)
        else:
            statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(what, sql.Literal(value))
        with self._translated():
            self._conn.execute(statement)

    def reload(self) -> None:
        """Have the server read its files again."""
        self._dicts("reload")

    def _permitted(self, name: str) -> list[dict[str, Any]]:
        """Return the rows, or none if this role may not ask."""
        try:
            return self._dicts(name)
        except errors.PermissionDeniedError:
            return []

    # -- plumbing ----------------------------------------------------------

    def _rows(
        self, name: str, row_type: type[Row], params: Mapping[str, Any] | None = None
    ) -> tuple[Row, ...]:
        with self._translated():
            cur = self._conn.cursor(row_factory=class_row(row_type))
            return tuple(cur.execute(query_text(name), params).fetchall())

    def _dicts(self, name: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        with self._translated():
            cur = self._conn.cursor(row_factory=dict_row)
            return cur.execute(query_text(name), params).fetchall()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            raise self._query_error(exc) from exc

    def _query_error(self, exc: psycopg.Error) -> errors.DatabaseError:
        message = exc.diag.message_primary or str(exc).strip() or type(exc).__name__
        hint = exc.diag.message_hint
        if self._conn.closed or self._conn.info.status != pq.ConnStatus.OK:
            return errors.ConnectionLostError(message, "The connection is lost.")
        state = exc.sqlstate or ""
        info = self._conn.info
        if state == "55000":
            return errors.LibraryNotLoadedError(message, hint)
        if state in ("3F000", "42P01"):
            installed = self._installed_version()
            if installed is None:
                return errors.ExtensionMissingError(
                    f'extension "pg_sweep" is not installed in database "{info.dbname}"',
                    "Run CREATE EXTENSION pg_sweep there, or name a database that has it with -d.",
                )
            return _mismatch(message, installed)
        if state in ("42703", "42883", "42804"):
            return _mismatch(message, self._installed_version())
        if state == "58P01":
            return errors.LibraryNotLoadedError(
                message, "Install the library into this server (make install), then restart it."
            )
        if state == "42501":
            return errors.PermissionDeniedError(
                message, f'Run GRANT pg_monitor TO "{info.user}" as superuser.'
            )
        if state == "57014":
            return errors.QueryError(message, hint or "The server is slow to answer: try again.")
        return errors.QueryError(message, hint)

    def _installed_version(self) -> str | None:
        try:
            row = self._conn.execute(
                "SELECT extversion::text FROM pg_catalog.pg_extension WHERE extname = 'pg_sweep'"
            ).fetchone()
        except psycopg.Error:
            return None
        return None if row is None else str(row[0])


def _mismatch(message: str, installed: str | None) -> errors.VersionMismatchError:
    return errors.VersionMismatchError(
        f'extension "pg_sweep" {installed or "of unknown version"} does not fit '
        f"pgsweep {__version__}: {message}",
        "Run ALTER EXTENSION pg_sweep UPDATE after restarting with the newer library.",
    )
