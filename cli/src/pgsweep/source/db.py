"""What the commands read and ask for: a method for each view, function and setting."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pgsweep import model, queries
from pgsweep.base import errors
from pgsweep.model.compute import (
    FREEZE_DAYS,
    QUEUE_LIMIT,
    known_since,
    version_tuple,
    with_due,
    within,
)
from pgsweep.source.connection import ReadOnlyConnection, Target

if TYPE_CHECKING:
    from pgsweep.model import (
        Blocker,
        Call,
        CallFilter,
        Cause,
        Cluster,
        CountedHour,
        Current,
        Database,
        DeadTuples,
        Decision,
        DecisionFilter,
        Feature,
        HourOfAll,
        HourOfOne,
        HourOfTable,
        IdRates,
        LastHour,
        Limit,
        Members,
        Progress,
        QueueWait,
        RecoveryConflict,
        Run,
        RunFilter,
        Server,
        SimulatedHour,
        SimulatedTable,
        SimulationSummary,
        Status,
        Step,
        Table,
        TableName,
        TableSetting,
        ToFreeze,
        Totals,
        TriedTable,
        TuneFacts,
        Waiting,
        Worth,
    )

# The functions that act, as GRANT wants to have them named.
ACTS = {
    "hold": "sweep.hold(interval)",
    "snooze": "sweep.snooze(regclass, interval)",
    "vacuum": "sweep.vacuum(regclass, boolean)",
    "set": "sweep.set(regclass, text, text)",
    "cancel": "sweep.cancel(integer, interval, boolean)",
    "slow": "sweep.slow(integer, double precision, double precision)",
    "hurry": "sweep.hurry(integer)",
    "release": "sweep.release(integer)",
}

__all__ = ["Session", "Target", "Views", "connect"]


def connect(
    target: Target,
    ask: Callable[[str], str] | None = None,
    extra: Mapping[str, object] | None = None,
) -> Session:
    """Connect as psql would, asking for a password on a terminal when the server wants one.

    `extra` are libpq's parameters that hold unless the target has them.
    """
    params = {**(extra or {}), **target.parameters()}
    if ask is None and not target.never_ask and sys.stdin is not None and sys.stdin.isatty():
        ask = getpass.getpass
    if target.ask_password and ask is not None:
        params["password"] = ask("Password: ")
    try:
        return Session(params)
    except errors.PasswordRequiredError:
        if ask is None or target.ask_password:
            raise
        params["password"] = ask("Password: ")
        return Session(params)


# A session that is kept for long has to notice when the other side has silently gone.
KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def connect_or_later(target: Target) -> tuple[Session | None, Callable[[], Session]]:
    """Connect for a long time, as `connect` does, and return how it is done again.

    The session is None if the server is not there yet. A password that is missing is an error all
    the same. Nobody is asked for one later.
    """
    try:
        session = light(connect(target, extra=KEEPALIVES))
    except errors.PasswordRequiredError:
        raise
    except errors.CannotConnectError:
        unattended = replace(target, never_ask=True)
        return None, lambda: light(connect(unattended, extra=KEEPALIVES))
    return session, lambda: light(session.again())


def light(session: Session) -> Session:
    """Return the session, which costs the server little from now on."""
    session.stay_light()
    return session


@dataclass(frozen=True)
class Views:
    """Whether the extension is in this database, and which of its newer objects."""

    extension: bool
    tables: bool
    queue: bool
    blockers: bool
    explain: bool
    totals: bool
    budget: bool
    audit: bool
    trial: bool
    worth: bool
    wraparound: bool


class Session(ReadOnlyConnection):
    """One connection, and one method for each thing that can be read or asked for."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._views: Views | None = None
        # Whether it is known that the extension is in this database.
        self._installed = False
        # The function that is being called to act.
        self._acting: str | None = None

    # -- reading -----------------------------------------------------------

    def server(self) -> Server:
        """Return what kind of server this is, and as whom it was asked."""
        return model.Server(**self.dicts("server")[0], host=self.host, port=self.port)

    def status(self) -> Status:
        """Return the row of sweep.status."""
        return self.rows("status", model.Status)[0]

    def progress(self) -> tuple[Progress, ...]:
        """Return the running vacuums of the whole cluster, oldest first."""
        return self.rows("progress", model.Progress)

    def runs(self, wanted: RunFilter) -> tuple[Run, ...]:
        """Return finished vacuums, the latest first."""
        return self.rows("runs", model.Run, asdict(wanted))

    def databases(self, waiting: Sequence[Waiting] | None) -> tuple[Database, ...]:
        """Return all databases, those with tables due first.

        The tables due are those that wait in the queue.
        """
        return with_due(self.rows("databases", model.Database), waiting, self.datid())

    def datid(self) -> int:
        """Return the oid of the database that was asked."""
        return int(self.dicts("own_database")[0]["datid"])

    def features(self) -> tuple[Feature, ...]:
        """Return the parts of pg_sweep that depend on the server's private structures."""
        return self.rows("features", model.Feature)

    def last_hour(self, status: Status) -> tuple[LastHour, datetime | None]:
        """Return totals over the runs of the last hour, and since when runs are known."""
        row = self.dicts("last_hour")[0]
        now, oldest, forgotten = row.pop("now"), row.pop("oldest"), row.pop("forgotten")
        known = status.runs_complete_since or known_since(
            oldest, forgotten, status.launcher_started_at
        )
        since = within(known, now, timedelta(hours=1))
        if since is not None and self.views().totals:
            # Some runs of that hour were forgotten, or pg_sweep was not there for all of it.
            # These sums count all runs.
            return model.LastHour(**self.dicts("last_hour_totals")[0]), known
        return model.LastHour(**row, since=since), known

    def history(
        self, datid: int | None = None, relid: int | None = None
    ) -> tuple[HourOfTable, ...]:
        """Return what the vacuums of all tables, or of one, came to by the hour, for a day."""
        return self.rows(
            "history", model.HourOfTable, {"datid": datid, "relid": relid, "since": None}
        )

    def history_by_table(self, since: datetime, until: datetime | None) -> tuple[HourOfTable, ...]:
        """Return what each table's vacuums came to, the latest first."""
        return self.rows("history_by_table", model.HourOfTable, {"since": since, "until": until})

    def history_by_hour(self, since: datetime, until: datetime | None) -> tuple[HourOfAll, ...]:
        """Return what all vacuums of each hour came to."""
        return self.rows("history_by_hour", model.HourOfAll, {"since": since, "until": until})

    def history_of_tables(
        self, since: datetime, until: datetime | None, tables: Sequence[tuple[int, int]]
    ) -> tuple[HourOfOne, ...]:
        """Return when these tables (datid, relid) were vacuumed, by the hour."""
        datids, relids = [datid for datid, _ in tables], [relid for _, relid in tables]
        wanted = {"since": since, "until": until, "datids": datids, "relids": relids}
        return self.rows("history_of_tables", model.HourOfOne, wanted)

    def counted_hours(self, since: datetime, until: datetime | None) -> tuple[CountedHour, ...]:
        """Return which hours were counted, and what users did in them."""
        return self.rows("counted_hours", model.CountedHour, {"since": since, "until": until})

    def ago(self, span: str) -> datetime:
        """Return when a span began that ends now. It is text as interval takes it."""
        found = self.dicts("ago", {"span": span})[0]["since"]
        assert isinstance(found, datetime)
        return found

    def day_totals(self) -> tuple[datetime | None, datetime | None]:
        """Return since when the last day is summed up, and since when nothing is missing."""
        row = self.dicts("day_totals")[0]
        return row["since"], row["complete_since"]

    def decisions(self, wanted: DecisionFilter) -> tuple[Decision, ...]:
        """Return what was decided about tables that looked due, the latest first."""
        return self.rows("decisions", model.Decision, asdict(wanted))

    def audit(self, wanted: CallFilter) -> tuple[Call, ...]:
        """Return who has called which of the functions that act, the latest first."""
        return self.rows("audit", model.Call, asdict(wanted))

    def trial(self) -> tuple[TriedTable, ...]:
        """Return what would have been done in mode observe, the most vacuums first."""
        return self.rows("trial", model.TriedTable)

    def simulate(
        self, settings: Sequence[str], since: str, back_test: bool = False
    ) -> tuple[SimulatedHour, ...]:
        """Return what vacuums would have come to with other settings, by the recorded hour."""
        params = {"settings": list(settings), "since": since, "back_test": back_test}
        return self.rows("simulate", model.SimulatedHour, params)

    def simulate_tables(
        self, settings: Sequence[str], since: str, back_test: bool = False
    ) -> tuple[SimulatedTable, ...]:
        """Return the same by table, the most vacuums first."""
        params = {"settings": list(settings), "since": since, "back_test": back_test}
        return self.rows("simulate_tables", model.SimulatedTable, params)

    def simulate_summary(self, settings: Sequence[str], since: str) -> SimulationSummary:
        """Return what a simulation with these settings goes by."""
        params = {"settings": list(settings), "since": since}
        return self.rows("simulate_summary", model.SimulationSummary, params)[0]

    def snoozed(self) -> int:
        """Return how many tables are left alone for a while."""
        return int(self.dicts("snoozed")[0]["snoozed"])

    def snoozed_until(self, relid: int) -> datetime | None:
        """Return until when a table of this database is left alone, as far as that is known."""
        rows = self.dicts("snoozed_until", {"relid": relid})
        return rows[0]["until"] if rows else None

    def views(self, again: bool = False) -> Views:
        """Return what there is of the extension. It is looked up once, unless asked for again."""
        if self._views is None or again:
            self._views = self.rows("views", Views)[0]
            self._installed = self._views.extension
        return self._views

    def extension_version(self) -> str | None:
        """Return the version of the extension in this database, or None if it is not there."""
        found = {row["extname"]: row["extversion"] for row in self.dicts("extensions")}
        self._installed = "pg_sweep" in found
        return found.get("pg_sweep")

    def tables(self, relid: int | None = None) -> tuple[Table, ...]:
        """Return the tables of this database, or one of them, from sweep.tables."""
        return self.rows("tables", model.Table, {"relid": relid})

    def worth(self, relid: int | None = None) -> tuple[Worth, ...]:
        """Return what garbage costs index scans in this database, the greatest loss first."""
        return self.rows("worth", model.Worth, {"relid": relid})

    def queue(self) -> tuple[Waiting, ...]:
        """Return the tables that are to be vacuumed next, in their order, at most 1,000 of them."""
        return self.rows("queue", model.Waiting, {"limit": QUEUE_LIMIT})

    def blockers(self) -> tuple[Blocker, ...]:
        """Return what holds the horizon back, from sweep.blockers, the oldest first."""
        return self.rows("blockers", model.Blocker)

    def budget(self) -> tuple[Limit, ...]:
        """Return the limits of what vacuums may use, from sweep.budget."""
        return self.rows("budget", model.Limit)

    def governor(self, steps: int) -> tuple[Step, ...]:
        """Return the last steps of the governor, the latest first."""
        return self.rows("governor", model.Step, {"steps": steps})

    def explain(self, relid: int | None) -> tuple[Cause, ...]:
        """Return what sweep.explain() says of a table, or of the worst ones."""
        if relid is None:
            return self.rows("explain_worst", model.Cause)
        return self.rows("explain", model.Cause, {"relid": relid})

    def find_relation(self, name: str) -> TableName:
        """Return the relation of a name as SQL has it. Of several, it is the one in public."""
        dbname = self.dbname
        found = self.rows("find_relation", model.TableName, {"name": name})
        if not found:
            raise errors.UsageError(
                f'there is no table "{name}" in database "{dbname}"',
                "Name another database with -d. Write SCHEMA.TABLE, with quotes as in SQL.",
            )
        if len(found) > 1 and found[0].schemaname != "public":
            names = ", ".join(f"{row.schemaname}.{row.relname}" for row in found[:5])
            raise errors.UsageError(f'"{name}" is several tables', f"Write one of {names}.")
        return found[0]

    def tables_like(self, beginning: str, limit: int) -> list[tuple[str, str]]:
        """Return schemas and names of tables that begin so, those in "public" first."""
        found = self.dicts("tables_like", {"beginning": beginning, "limit": limit})
        return [(row["schemaname"], row["relname"]) for row in found]

    def table_settings(self, relid: int | None) -> tuple[TableSetting, ...]:
        """Return the settings that a table, or any table of this database, has of its own."""
        return self.rows("table_settings", model.TableSetting, {"relid": relid})

    # -- for metrics ---------------------------------------------------------

    def cluster(self) -> Cluster:
        """Return what core's views say of the whole cluster."""
        return self.rows("cluster", model.Cluster)[0]

    def recovery_conflicts(self) -> tuple[RecoveryConflict, ...]:
        """Return how many queries were cancelled on this standby, by the kind of conflict."""
        return self.rows("recovery_conflicts", model.RecoveryConflict)

    def dead_tuples(self, limit: int) -> tuple[DeadTuples, ...]:
        """Return the tables of this database with the most dead rows, and one row for the rest.

        It looks at all tables: with 20,000 of them it takes the server about 14 ms.
        """
        return self.rows("dead_tuples", model.DeadTuples, {"limit": limit})

    def to_freeze(self) -> ToFreeze:
        """Return what pg_sweep freezes in this database in the next days.

        It looks at all tables through sweep.tables.
        """
        return self.rows("to_freeze", model.ToFreeze, {"days": FREEZE_DAYS})[0]

    def queue_waits(self) -> tuple[QueueWait, ...]:
        """Return what waits in sweep.queue, in no order."""
        return self.rows("queue_waits", model.QueueWait)

    def totals(self) -> tuple[Totals, ...]:
        """Return what all runs came to since the sums began, for each starter."""
        return self.rows("totals", model.Totals)

    def id_rates(self) -> IdRates:
        """Return how fast transaction ids, multixacts and their members are used."""
        return self.rows("xid_rate", model.IdRates)[0]

    def members(self) -> Members | None:
        """Return how many members of multixacts are kept, or None if that cannot be told.

        Without the extension it needs pg_ls_dir(), from 19 on pg_read_all_stats.
        """
        name = "core_members_19" if self.version_num >= 190000 else "core_members"
        try:
            if self.views().wraparound:
                name = "members"
            if name == "core_members" and not self.dicts("may_list")[0]["allowed"]:
                return None
            row = self.dicts(name)[0]
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError:
            # Neither the right, nor the library where the extension is.
            return None
        return None if row["used"] is None else model.Members(**row)

    # -- whether it fits -----------------------------------------------------

    def require_installed(self) -> None:
        """Raise unless the extension is in this database."""
        if not (self._installed or self.views(again=True).extension):
            raise self.extension_missing()

    def _text(self, name: str, kind: type | None = None) -> bytes:
        """Return a query. Nothing of the extension is used before it is known to be there.

        Where it is missing, the owner of the database may have planted another schema sweep.
        """
        if queries.uses_extension(name):
            self.require_installed()
        return super()._text(name, kind)

    def require_extension(self) -> None:
        """Raise unless extension, library and this command fit each other."""
        self.require_installed()
        row = self.dicts("versions")[0]
        self.check_versions(row["sql_version"], row["library_version"])

    def check_versions(self, sql: str | None, library: str | None) -> None:
        """Raise unless these versions of the SQL objects and the library fit each other."""
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

    # -- acting ------------------------------------------------------------

    def hold(self, duration: str) -> datetime | None:
        """Begin no new vacuum in any database for an interval, and return until when.

        '0' ends a hold and returns None.
        """
        until: datetime | None = self._act("hold", {"duration": duration})["until"]
        return until

    def snooze(self, relid: int, duration: str) -> datetime | None:
        """Leave a table alone for an interval, and return until when.

        '0' ends a snooze and returns None.
        """
        params = {"relid": relid, "duration": duration}
        until: datetime | None = self._act("snooze", params)["until"]
        return until

    def vacuum(self, relid: int, aux: bool) -> int:
        """Have a table, or its auxiliary tables, vacuumed next. Return the request's id.

        0 means that there is nothing to vacuum. What was said about it is in `notices`.
        """
        return int(self._act("vacuum", {"relid": relid, "aux": aux})["request_id"])

    def set(self, relid: int, values: Mapping[str, str | None]) -> None:
        """Give a table settings of its own. None removes one."""
        self.require_own_session()
        self.dicts("writable", {"read_only": "off"})
        try:
            self._act(
                "set", {"relid": relid, "names": list(values), "values": list(values.values())}
            )
        finally:
            with suppress(errors.DatabaseError):
                self.dicts("writable", {"read_only": "on"})

    def cancel(self, pid: int, snooze: str | None = None, force: bool = False) -> tuple[bool, str]:
        """Ask the process to give up its vacuum, and leave the table alone for an interval.

        Autovacuum's vacuum against wraparound is given up by force only.

        Return whether it was asked, and what was said.
        """
        return self._act_on("cancel", {"pid": pid, "snooze": snooze, "force": force})

    def slow(self, pid: int) -> tuple[bool, str]:
        """Have the vacuum of a process do half of what it does, as long as this session lives."""
        return self._act_on("slow", {"pid": pid})

    def hurry(self, pid: int) -> tuple[bool, str]:
        """Lift all limits of the vacuum of a process as long as this session lives."""
        return self._act_on("hurry", {"pid": pid})

    def release(self, pid: int) -> tuple[bool, str]:
        """Undo slow and hurry."""
        return self._act_on("release", {"pid": pid})

    def _act_on(self, name: str, params: Mapping[str, Any]) -> tuple[bool, str]:
        row = self._act(name, params)
        return bool(row["done"]), "; ".join(self.notices)

    def _act(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self.require_own_session()
        # A session may be old, and the extension gone.
        self._installed = False
        self.require_installed()
        self.notices.clear()
        self._acting = ACTS[name]
        try:
            return self.dicts(name, params)[0]
        finally:
            self._acting = None

    def _grant(self) -> str:
        if self._acting is None:
            return super()._grant()
        return (
            f'Run GRANT USAGE ON SCHEMA sweep TO "{self.user}" and '
            f'GRANT EXECUTE ON FUNCTION {self._acting} TO "{self.user}" as superuser.'
        )

    # -- tuning ------------------------------------------------------------

    def settings_known(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these settings the server has."""
        found = self.dicts("tune_known", {"names": list(names)})
        return frozenset(row["name"] for row in found)

    def tune_facts(self) -> TuneFacts:
        """Return whether settings can be changed here, and who else manages them."""
        row = self.dicts("tune_facts")[0]
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
        return model.TuneFacts(
            **row, patroni=tuple(signs), system_identifier=self.system_identifier()
        )

    def system_identifier(self) -> str | None:
        """Return what is the same for all servers that replicate from each other.

        Some clouds do not let the control file be read, each with an error of its own.
        """
        try:
            return str(self.dicts("identifier")[0]["system_identifier"])
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError:
            return None

    def read_ahead(self) -> tuple[float, str] | None:
        """Return what the kernel reads ahead for the data directory, in kB, and its device."""
        return next(((row["kb"], row["device"]) for row in self._permitted("read_ahead")), None)

    def may_alter(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these settings this role may ALTER SYSTEM SET."""
        found = self.dicts("may_alter", {"names": list(names)})
        return frozenset(row["name"] for row in found)

    def current(self, names: Sequence[str]) -> dict[str, Current]:
        """Return settings as they are and as postgresql.auto.conf has them."""
        found = {
            row.name: row for row in self.rows("tune_settings", model.Current, {"names": names})
        }
        for name in names:
            if name not in found:
                raise errors.QueryError(
                    f'this server has no setting "{name}"',
                    "Is the library of pg_sweep loaded? Or use --for core.",
                )
        return found

    def reload(self) -> None:
        """Have the server read its files again."""
        self.dicts("reload")

    def _permitted(self, name: str) -> list[dict[str, Any]]:
        """Return the rows, or none if this role may not ask."""
        try:
            return self.dicts(name)
        except errors.PermissionDeniedError:
            return []
