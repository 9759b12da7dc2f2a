"""The door to the server: the only importer of psycopg, whose errors become ours.

A Connection writes and has all the time it needs. A ReadOnlyConnection is read-only, has a
search_path that no database owner can plant objects in, and gives up after a while, because
watching a server must not become a load. A view that somebody has locked is tried again and
again, first for a millisecond, then each time for less than deadlock_timeout. So in a deadlock, say
with DROP EXTENSION, it is always we who let go.

A connection pooler may not pass on what a session of ours goes by. Then each query is in a
transaction that sets it for itself, because another client may have the server's session next. So
only what needs no session of its own can be done there, which is to read.
"""

from __future__ import annotations

import logging
import os
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo, pq, sql
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.rows import RowFactory, class_row, dict_row

from pgsweep import __version__, queries
from pgsweep.base import errors, names

Row = TypeVar("Row")
T = TypeVar("T")
Own = TypeVar("Own", bound="Connection")
Reader = TypeVar("Reader", bound="ReadOnlyConnection")

# psycopg warns of a server's time zone that Python does not know, and goes on in UTC. A moment is
# the same in any zone.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

CONNECT_TIMEOUT_S = 10
STATEMENT_TIMEOUT_S = 10
USUAL_ENCODING = "utf-8"
# before it is known how long deadlock_timeout is, and then
FIRST_LOCK_TIMEOUT_MS = 1
LOCK_TIMEOUT_MS = 250
LOCK_PATIENCE_S = 2.0

# What a session of ours goes by, whatever the owner of a database or a role has set for it.
SESSION_SETTINGS = {
    "search_path": "pg_catalog",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "read committed",
    # With this and "serializable" a transaction would wait for all others.
    "default_transaction_deferrable": "off",
    "statement_timeout": f"{STATEMENT_TIMEOUT_S}s",
    "lock_timeout": f"{FIRST_LOCK_TIMEOUT_MS}ms",
    "idle_in_transaction_session_timeout": "60s",
    # An error ends a statement, not the session.
    "exit_on_error": "off",
    # What functions say is read.
    "client_min_messages": "notice",
    # The driver reads no other text, and queries are written for these.
    "datestyle": "iso",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "array_nulls": "on",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
    # Citus hides shards from queries of pg_class. On a server without Citus this does nothing.
    "citus.override_table_visibility": "off",
}
SESSION_OPTIONS = tuple(
    "-c {}={}".format(name, value.replace(" ", r"\ ")) for name, value in SESSION_SETTINGS.items()
)
# The name of a server's parameter status, and what the driver needs it to begin with.
READABLE = {b"DateStyle": b"ISO", b"IntervalStyle": b"postgres"}


def written_parameters(written: str) -> dict[str, Any]:
    """Return what a connection string or URI says.

    What may be part of a password is not repeated: not what libpq quotes of one
    that it does not understand, nor what stands where a host or a database should, because an @ or
    a / of the password was not escaped.
    """
    try:
        found = conninfo.conninfo_to_dict(written)
    except psycopg.Error as exc:
        # libpq's own = may stay.
        said = re.match(r'([^"]|"="(?= ))*', str(exc).strip())
        problem = said[0].strip(" :") if said else ""
        if '"' in problem:
            problem += " ..."
        raise errors.UsageError(
            f"connection string is not valid: {problem}",
            "Write it as psql takes it, for example postgresql://user@host:5432/dbname.",
        ) from None
    _, is_uri, rest = written.partition("://")
    place = re.sub(r"^[^@/]*@", "", rest).partition("?")[0]
    if is_uri and "=" not in written.partition("://")[0] and "@" in place:
        raise errors.UsageError(
            "connection URI is not valid: an @ stands where its host and database should",
            "Write @ as %40, / as %2F, : as %3A and % as %25 in a user, a password and a database.",
        )
    return found


@dataclass(frozen=True)
class Target:
    """Where to connect: what was given on the command line. libpq fills in the rest."""

    dbname: str | None = None
    host: str | None = None
    port: str | None = None
    user: str | None = None
    ask_password: bool = False
    never_ask: bool = False
    # one of libpq's services, and options for the server
    service: str | None = None
    options: str | None = None
    # returns a password that may hold for minutes only, and is asked at each connection
    password: Callable[[], str] | None = None

    def parameters(self) -> dict[str, Any]:
        """Return libpq parameters. A connection string as dbname wins over flags, as in psql."""
        params: dict[str, Any] = {
            key: value
            for key, value in (
                ("service", self.service),
                ("host", self.host),
                ("port", self.port),
                ("user", self.user),
                ("options", self.options),
            )
            if value
        }
        if self.dbname and ("=" in self.dbname or "://" in self.dbname):
            given = written_parameters(self.dbname)
            params.update({key: value for key, value in given.items() if value is not None})
        elif self.dbname:
            params["dbname"] = self.dbname
        # Later -c options win. So these hold, whatever the caller or PGOPTIONS says.
        options = str(params.get("options") or os.environ.get("PGOPTIONS", ""))
        params["options"] = " ".join(filter(None, (options, *SESSION_OPTIONS)))
        params["application_name"] = "pgsweep"
        if self.password is not None:
            params["password"] = self.password
        # The server would refuse names of other databases that are invalid in this one's
        # encoding.
        params["client_encoding"] = "SQL_ASCII"
        if "connect_timeout" not in params and not os.environ.get("PGCONNECT_TIMEOUT"):
            params["connect_timeout"] = CONNECT_TIMEOUT_S
        return params


def _with_password(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with the password that holds now, if it has to be asked for."""
    password = parameters.get("password")
    return {**parameters, "password": password()} if callable(password) else parameters


class Connection:
    """A connection in which every statement commits itself."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        # what the server said meanwhile, and the SQLSTATE of each
        self.notices: list[str] = []
        self.states: list[str] = []
        self._conn = self._open(_with_password(parameters))

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session. A second call does nothing."""
        with suppress(psycopg.Error):
            self._conn.close()

    @property
    def pid(self) -> int:
        """The server process's pid."""
        return self._conn.info.backend_pid

    @property
    def version_num(self) -> int:
        """server_version_num, for example 150020."""
        return self._conn.info.server_version

    def _open(self, parameters: Mapping[str, Any]) -> psycopg.Connection[Any]:
        settings = {
            "connect_timeout": CONNECT_TIMEOUT_S,
            "client_encoding": "UTF8",
            **parameters,
        }
        try:
            conn = psycopg.connect(autocommit=True, prepare_threshold=None, **settings)
            _make_readable(conn)
        except (psycopg.Error, UnicodeError) as exc:
            raise errors.QueryError(f"cannot connect: {exc}") from exc
        conn.add_notice_handler(self._noticed)
        return conn

    def _noticed(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        parts = (diagnostic.message_primary, diagnostic.message_detail)
        self.notices.append("\n".join(part for part in parts if part))
        self.states.append(diagnostic.sqlstate or "")

    def _execute(
        self, statement: str | sql.Composed, args: tuple[object, ...] = ()
    ) -> psycopg.Cursor[dict[str, Any]]:
        with self._translated():
            # Without arguments a % stands for itself.
            return self._conn.cursor(row_factory=dict_row).execute(statement, args or None)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            raise self._failure(exc) from exc

    def _failure(self, exc: psycopg.Error) -> errors.DatabaseError:
        return errors.QueryError(exc.diag.message_primary or str(exc).strip())


# A session that is kept for long is not ended while it works or waits for its turn, and the server
# notices soon when its client has silently gone. Not every version has all of them.
KEPT_SETTINGS = (
    ("idle_session_timeout", "0"),
    ("transaction_timeout", "0"),
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "20s"),
)
SET_IF_THERE = "SELECT set_config(name, %s, false) FROM pg_catalog.pg_settings WHERE name = %s"
# An acting session never waits long for a lock, and ends with its client.
CLIENT_CHECK = "client_connection_check_interval"
ACTING_SETTINGS = (
    ("search_path", "pg_catalog"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_deferrable", "off"),
    ("statement_timeout", "0"),
    ("lock_timeout", "1s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("client_min_messages", "info"),
    ("exit_on_error", "off"),
)


class ActingConnection(Connection):
    """A connection that acts by one statement after the other, as somebody would type them.

    `cancel` may be called by another thread while a statement runs.
    """

    def prepare(self, settings: Sequence[tuple[str, str]]) -> None:
        """Set what the session goes by, whatever owners of databases and roles have set."""
        for name, value in (*ACTING_SETTINGS, *settings):
            self._execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        for name, value in KEPT_SETTINGS:
            self._execute(SET_IF_THERE, (value, name))
        # Some systems cannot tell whether a client is there.
        with suppress(errors.QueryError):
            self._execute(SET_IF_THERE, ("1s", CLIENT_CHECK))

    def act(self, statement: str) -> list[str]:
        """Run a statement. Return what the server said meanwhile."""
        self.notices.clear()
        self.states.clear()
        text = names.sendable(statement, _encoding(self._conn))
        with self._translated():
            self._conn.execute(text)
        return list(self.notices)

    def cancel(self) -> None:
        """Cancel the statement that runs, if one does."""
        with suppress(psycopg.Error):
            self._conn.cancel_safe(timeout=CONNECT_TIMEOUT_S)

    def _failure(self, exc: psycopg.Error) -> errors.DatabaseError:
        message = exc.diag.message_primary or str(exc).strip() or type(exc).__name__
        if self._conn.closed or self._conn.info.status != pq.ConnStatus.OK:
            return errors.ConnectionLostError(message, "The connection is lost.")
        if exc.sqlstate == "42501":
            return errors.PermissionDeniedError(message)
        return errors.QueryError(message, exc.diag.message_hint)


class ReadOnlyConnection(Connection):
    """A connection that asks the queries of queries/ and reads any name."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = dict(parameters)
        self._waits_longer = False
        self._lock_timeout_ms = FIRST_LOCK_TIMEOUT_MS
        self._pooled = False
        super().__init__(parameters)
        self._encoding = _encoding(self._conn)
        # psycopg's own handler would decode the notice. But a notice may have any name in it,
        # too.
        self._conn.pgconn.notice_handler = self._on_notice

    def is_lost(self) -> bool:
        """Return whether the server has ended the session. It is not asked, so this takes no time.

        It does so after idle_session_timeout, for one. It is no news that something has come: that
        can be a notice.
        """
        server = self._conn.pgconn
        with suppress(psycopg.Error):
            # select() would not do: its descriptors end at 1023, and a fleet may have more nodes.
            come = select.poll()
            come.register(server.socket, select.POLLIN)
            while server.status == pq.ConnStatus.OK:
                if not come.poll(0):
                    return False
                server.consume_input()
        return True

    def again(self: Reader) -> Reader:
        """Return a new connection made with the same parameters and password."""
        return type(self)(self._parameters)

    def beside(self: Reader, dbname: str) -> Reader:
        """Return a connection to another database of the same server."""
        return type(self)({**self._parameters, "dbname": dbname})

    def parameters_to_write(self, dbname: str | None, name: str) -> dict[str, Any]:
        """Return the parameters of this connection for one that may write and take its time."""
        self.require_own_session()
        found = dict(self._parameters)
        options = str(found.pop("options", ""))
        for own in SESSION_OPTIONS:
            options = options.replace(own, "")
        for own in ("connect_timeout", "client_encoding"):
            found.pop(own, None)
        return {
            **found,
            "options": options.strip(),
            "dbname": dbname or self.dbname,
            "application_name": name,
        }

    def stay(self) -> None:
        """Let the server end the session only when the other side has gone."""
        self.require_own_session()
        for name, value in KEPT_SETTINGS:
            self._execute(SET_IF_THERE, (value, name))

    def stay_light(self) -> None:
        """Cost the server little although the same is asked again and again.

        Each query is planned once. Counters are read one by one, without a copy.
        """
        if self._pooled:
            return
        self.dicts("stay_light")
        self._conn.prepare_threshold = 0

    def require_own_session(self) -> None:
        """Raise if a pooler may give the server's session to somebody else."""
        if self._pooled:
            raise errors.QueryError(
                "a connection pooler is between pgsweep and the server, by which it only reads",
                "Name the server itself by -h and -p.",
            )

    @property
    def dbname(self) -> str:
        """Return the name of the database that was asked, as the client wrote it."""
        return names.readable(self._conn.pgconn.db, "utf-8")

    @property
    def user(self) -> str:
        """Return the role that asked, as the client wrote it."""
        return names.readable(self._conn.pgconn.user, "utf-8")

    @property
    def host(self) -> str:
        """Return the server or its socket's folder, as the client wrote it."""
        return names.readable(self._conn.pgconn.host, "utf-8")

    @property
    def port(self) -> int:
        """Return the server's port."""
        return self._conn.info.port

    def rows(
        self, name: str, row_type: type[Row], params: Mapping[str, Any] | None = None
    ) -> tuple[Row, ...]:
        """Return the rows of queries/<name>.sql, each as a row_type."""
        return tuple(self._ask(name, class_row(row_type), params, row_type))

    def dicts(self, name: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Return the rows of queries/<name>.sql by column name."""
        return self._ask(name, dict_row, params)

    def several(self, *asked: str) -> list[list[dict[str, Any]]]:
        """Return the rows of several queries without parameters, asked in one message.

        There is a list for each statement in them.
        """
        text = b";\n".join(map(self._text, asked))

        def read(cur: psycopg.Cursor[dict[str, Any]]) -> list[list[dict[str, Any]]]:
            found = [cur.execute(text).fetchall()]
            while cur.nextset():
                found.append(cur.fetchall())
            return found

        return self._patiently(dict_row, read)

    def setting(self, name: str) -> str:
        """Return the value of a setting as SHOW prints it."""
        row = self._execute("SELECT current_setting(%s) AS value", (name,)).fetchone()
        assert row is not None
        return str(row["value"])

    def alter_system(self, name: str, value: str | None) -> None:
        """Write a setting into postgresql.auto.conf, or take it out of there."""
        self.require_own_session()
        # A name with a dot is two identifiers.
        what = sql.SQL(".").join(sql.Identifier(part) for part in name.split("."))
        if value is None:
            self._execute(sql.SQL("ALTER SYSTEM RESET {}").format(what))
        else:
            self._execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(what, sql.Literal(value)))

    def _open(self, parameters: Mapping[str, Any]) -> psycopg.Connection[Any]:
        try:
            conn = self._connected(parameters)
            if not self._pooled:
                _make_readable(conn)
            if _encoding(conn) != USUAL_ENCODING:
                _register_any_name(conn.adapters, _encoding(conn))
        except psycopg.Error as exc:
            raise _connect_error(exc) from exc
        except UnicodeError as exc:
            raise errors.CannotConnectError(
                f"connection parameters are not valid: {exc}",
                "Check -h and PGHOST: no part of a host's name is empty or has over 63 characters.",
            ) from exc
        return conn

    def _connected(self, parameters: Mapping[str, Any]) -> psycopg.Connection[Any]:
        def connect(given: Mapping[str, Any]) -> psycopg.Connection[Any]:
            return psycopg.connect(
                "",
                autocommit=True,
                prepare_threshold=None,
                context=_any_name(USUAL_ENCODING),
                **given,
            )

        try:
            conn = connect(parameters)
        except psycopg.OperationalError as exc:
            # PgBouncer refuses what it does not know how to pass on.
            if "unsupported startup parameter" not in str(exc):
                raise
            self._pooled = True
            # Empty, so that PGOPTIONS is not sent in its place.
            return connect({**parameters, "options": ""})
        # Others drop it, and so does PgBouncer if it is told to.
        told = conn.pgconn.parameter_status(b"default_transaction_read_only")
        if told is None:  # before 14
            told = conn.execute("SHOW default_transaction_read_only").fetchall()[0][0].encode()
        self._pooled = told != b"on"
        return conn

    def _execute(
        self, statement: str | sql.Composed, args: tuple[object, ...] = ()
    ) -> psycopg.Cursor[dict[str, Any]]:
        return self._patiently(dict_row, lambda cur: cur.execute(statement, args or None))

    def _on_notice(self, notice: pq.abc.PGresult) -> None:
        self.notices.append(self._said(notice, pq.DiagnosticField.MESSAGE_PRIMARY) or "")

    def _said(self, answer: pq.abc.PGresult | None, field: pq.DiagnosticField) -> str | None:
        """Return a field of an error or notice, whatever names are in it."""
        found = answer.error_field(field) if answer else None
        return names.readable(bytes(found), self._encoding) if found else None

    def _text(self, name: str, kind: type | None = None) -> bytes:
        """Return the SQL of queries/<name>.sql, which is asked next and read into `kind`."""
        return queries.text(name, self.version_num, kind)

    def _ask(
        self,
        name: str,
        row_factory: RowFactory[Row],
        params: Mapping[str, Any] | None,
        kind: type | None = None,
    ) -> list[Row]:
        """Return all rows."""
        query = self._text(name, kind)
        return self._patiently(row_factory, lambda cur: cur.execute(query, params).fetchall())

    def _patiently(
        self, row_factory: RowFactory[Row], read: Callable[[psycopg.Cursor[Row]], T]
    ) -> T:
        """Return what `read` does with a cursor, tried again for a while where a lock is held."""
        until = time.monotonic() + LOCK_PATIENCE_S
        with self._translated():
            while True:
                cur = self._conn.cursor(row_factory=row_factory)
                try:
                    with self._by_our_settings():
                        return read(cur)
                except psycopg.errors.LockNotAvailable:
                    # What was said belongs to what did not come to an end.
                    self.notices.clear()
                    if not self._waits_longer:
                        self._wait_longer()
                    elif time.monotonic() >= until:
                        raise

    @contextmanager
    def _by_our_settings(self) -> Iterator[None]:
        """Have the session go by our settings, where it does not do so anyway."""
        if not self._pooled:
            yield
            return
        settings = {**SESSION_SETTINGS, "lock_timeout": f"{self._lock_timeout_ms}ms"}
        # A transaction has begun by then, so what it begins with is said of itself.
        for name in [name for name in settings if name.startswith("default_transaction_")]:
            del settings[name]
        begin = ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE"]
        begin += [f"SET LOCAL {name} = '{value}'" for name, value in settings.items()]
        with self._conn.transaction():
            self._conn.execute("; ".join(begin).encode())
            yield

    def _wait_longer(self) -> None:
        """Wait for locks a quarter of a second from now on, but less than deadlock_timeout.

        That is asked of the server only now, because hardly any session ever waits.
        """
        shown = self._conn.execute("SHOW deadlock_timeout").fetchone()
        found = re.fullmatch(r"(\d+)(ms|s)", shown[0]) if shown else None
        # Any other unit is a minute or more.
        ms = int(found[1]) * (1 if found[2] == "ms" else 1000) if found else 4 * LOCK_TIMEOUT_MS
        self._lock_timeout_ms = min(LOCK_TIMEOUT_MS, max(1, ms // 4))
        if not self._pooled:
            self._conn.execute(f"SET lock_timeout = {self._lock_timeout_ms}")
        self._waits_longer = True

    def _failure(self, exc: psycopg.Error) -> errors.DatabaseError:
        found = self._meaning(exc)
        found.said = self._said(exc.pgresult, pq.DiagnosticField.MESSAGE_PRIMARY) or ""
        return found

    def _meaning(self, exc: psycopg.Error) -> errors.DatabaseError:
        """Return what an error means for somebody who wants to know about pg_sweep."""
        primary = self._said(exc.pgresult, pq.DiagnosticField.MESSAGE_PRIMARY)
        message = primary or str(exc).strip() or type(exc).__name__
        detail = self._said(exc.pgresult, pq.DiagnosticField.MESSAGE_DETAIL)
        hint = self._said(exc.pgresult, pq.DiagnosticField.MESSAGE_HINT)
        if self._conn.closed or self._conn.info.status != pq.ConnStatus.OK:
            return errors.ConnectionLostError(message, "The connection is lost.")
        state = exc.sqlstate or ""
        if state == "55000":
            return errors.LibraryNotLoadedError(message, " ".join(filter(None, (detail, hint))))
        if state in ("3F000", "42P01"):
            installed = self._installed_version()
            if installed is None:
                return self.extension_missing()
            return _mismatch(message, installed)
        if state in ("42703", "42883", "42804"):
            return _mismatch(message, self._installed_version())
        if state == "58P01":
            return errors.LibraryNotLoadedError(
                message, "Install the library into this server (make install), then restart it."
            )
        if state == "42501":
            # Functions that act say in the detail which right they want.
            return errors.PermissionDeniedError(message, detail or self._grant())
        if state in ("22007", "22008"):
            return errors.QueryError(message, "Write it as PostgreSQL takes it: '2 h', 30min.")
        if state == "57014":
            return errors.QueryError(message, hint or "The server is slow to answer: try again.")
        return errors.QueryError(message, hint)

    def extension_missing(self) -> errors.ExtensionMissingError:
        """Return the error that says so."""
        return errors.ExtensionMissingError(
            f'extension "pg_sweep" is not installed in database "{self.dbname}"',
            "Run CREATE EXTENSION pg_sweep there, or name a database that has it with -d.",
        )

    def _grant(self) -> str:
        """Return what gives this role the right that it lacked."""
        return f'Run GRANT pg_monitor TO "{self.user}" as superuser.'

    def _installed_version(self) -> str | None:
        try:
            if not self._waits_longer:
                self._wait_longer()
            with self._by_our_settings():
                row = self._conn.execute(
                    "SELECT extversion::text FROM pg_extension WHERE extname = 'pg_sweep'"
                ).fetchone()
        except psycopg.Error:
            return None
        return None if row is None else str(row[0])


def with_dbname(dsn: str, dbname: str) -> str:
    """Return a connection string or URI with another database, as a connection string."""
    return conninfo.make_conninfo(dsn, dbname=dbname)


def _encoding(conn: psycopg.Connection[Any]) -> str:
    """Return Python's name of the encoding of the database."""
    return names.codec((conn.pgconn.parameter_status(b"server_encoding") or b"UTF8").decode())


def _make_readable(conn: psycopg.Connection[Any]) -> None:
    """Have the server write dates as the driver reads them.

    PGDATESTYLE of the environment wins over what is said of it in `options`.
    """
    for name, needed in READABLE.items():
        shown = conn.pgconn.parameter_status(name) or needed
        if shown.split(b",")[0] != needed:
            conn.execute(b"SET " + name + b" = " + needed)


def _register_any_name(adapters: AdaptersMap, encoding: str) -> None:
    """Read all text in an encoding, and write it so. Nothing in it fails."""
    loader, dumper = _any_text(encoding)
    # 0 stands for types without a loader of their own.
    for type_of_text in ("text", "varchar", "bpchar", "name", '"char"', 0):
        adapters.register_loader(type_of_text, loader)
    adapters.register_dumper(str, dumper)


class Number(Loader):
    """Reads a number of any size, a whole one as an int."""

    def load(self, data: Any) -> int | float:  # noqa: ANN401
        text = bytes(data)
        return int(text) if text.removeprefix(b"-").isdigit() else float(text)


@cache
def _any_name(encoding: str) -> AdaptersMap:
    """Return how a connection reads numbers, and reads and writes what is in an encoding."""
    adapters = AdaptersMap(psycopg.adapters)
    for number in ("numeric", "xid", "xid8"):
        adapters.register_loader(number, Number)
    _register_any_name(adapters, encoding)
    return adapters


@cache
def _any_text(encoding: str) -> tuple[type[Loader], type[Dumper]]:
    """Return what reads and writes text of an encoding."""

    class AnyText(Loader):
        def load(self, data: Any) -> str:  # noqa: ANN401
            return names.readable(bytes(data), encoding)

    class AnyName(Dumper):
        oid = 0

        def dump(self, obj: str) -> bytes:
            return names.sendable(obj, encoding)

    return AnyText, AnyName


def _connect_error(exc: psycopg.Error) -> errors.CannotConnectError:
    lines = [line.strip(" \t-") for line in str(exc).splitlines() if line.strip()]
    # psycopg lists every address of the host. One line of one attempt is enough.
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
    elif "unsupported startup parameter" in lower:
        hint = "A connection pooler is there. Name the server itself by -h and -p."
    elif "starting up" in lower or "shutting down" in lower or "recovery" in lower:
        hint = "Try again in a moment."
    else:
        hint = "Is the server running there? Check -h and -p, or PGHOST and PGPORT."
    return kind(message, hint)


def _mismatch(message: str, installed: str | None) -> errors.VersionMismatchError:
    return errors.VersionMismatchError(
        f'extension "pg_sweep" {installed or "of unknown version"} does not fit '
        f"pgsweep {__version__}: {message}",
        "Run ALTER EXTENSION pg_sweep UPDATE after restarting with the newer library.",
    )
