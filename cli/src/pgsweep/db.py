"""What the commands read and ask for: a method for each view, function and setting."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pgsweep import errors
from pgsweep.compute import QUEUE_LIMIT, known_since, version_tuple, with_due, within
from pgsweep.connection import ReadOnlyConnection, Target
from pgsweep.model import (
    Blocker,
    Cause,
    Database,
    Decision,
    Feature,
    HourOfTable,
    LastHour,
    Limit,
    Progress,
    Run,
    RunFilter,
    Server,
    Status,
    Step,
    Table,
    TuneFacts,
    Waiting,
)
from pgsweep.tune.settings import Current

__all__ = ["Session", "Target", "Views", "connect"]


def connect(target: Target, ask: Callable[[str], str] | None = None) -> Session:
    """Connect as psql would, asking for a password on a terminal when the server wants one."""
    params = target.parameters()
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


@dataclass(frozen=True)
class Views:
    """Whether the extension is in this database, and which of its newer objects."""

    extension: bool
    tables: bool
    queue: bool
    blockers: bool
    explain: bool
    totals: bool


class Session(ReadOnlyConnection):
    """One connection, and one method for each thing that can be read or asked for."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._views: Views | None = None

    # -- reading -----------------------------------------------------------

    def server(self) -> Server:
        """Return what kind of server this is, and as whom it was asked."""
        return Server(**self.dicts("server")[0], host=self.host, port=self.port)

    def status(self) -> Status:
        """Return the row of sweep.status."""
        return self.rows("status", Status)[0]

    def progress(self) -> tuple[Progress, ...]:
        """Return the running vacuums of the whole cluster, oldest first."""
        return self.rows("progress", Progress)

    def runs(self, wanted: RunFilter) -> tuple[Run, ...]:
        """Return finished vacuums, the latest first."""
        return self.rows(
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

    def databases(self, waiting: Sequence[Waiting] | None) -> tuple[Database, ...]:
        """Return all databases, those with tables due first.

        The tables due are those that wait in the queue.
        """
        here = int(self.dicts("own_database")[0]["datid"])
        return with_due(self.rows("databases", Database), waiting, here)

    def features(self) -> tuple[Feature, ...]:
        """Return the parts of pg_sweep that depend on the server's private structures."""
        return self.rows("features", Feature)

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
            return LastHour(**self.dicts("last_hour_totals")[0]), known
        return LastHour(**row, since=since), known

    def history(self) -> tuple[HourOfTable, ...]:
        """Return what the vacuums of each table came to in each hour, the latest first."""
        return self.rows("history", HourOfTable)

    def day_totals(self) -> tuple[datetime | None, datetime | None]:
        """Return since when the last day is summed up, and since when nothing is missing."""
        row = self.dicts("day_totals")[0]
        return row["since"], row["complete_since"]

    def decisions(self, limit: int) -> tuple[Decision, ...]:
        """Return what was decided about tables that looked due, the latest first."""
        return self.rows("decisions", Decision, {"limit": limit})

    def snoozed(self) -> int:
        """Return how many tables are left alone for a while."""
        return int(self.dicts("snoozed")[0]["snoozed"])

    def views(self) -> Views:
        """Return what there is of the extension. It is looked up once."""
        if self._views is None:
            self._views = self.rows("views", Views)[0]
        return self._views

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of this database, from sweep.tables."""
        return self.rows("tables", Table)

    def queue(self) -> tuple[Waiting, ...]:
        """Return the tables that are to be vacuumed next, in their order, at most 1,000 of them."""
        return self.rows("queue", Waiting, {"limit": QUEUE_LIMIT})

    def blockers(self) -> tuple[Blocker, ...]:
        """Return what holds the horizon back, from sweep.blockers, the oldest first."""
        return self.rows("blockers", Blocker)

    def budget(self) -> tuple[Limit, ...]:
        """Return the limits of what vacuums may use, from sweep.budget."""
        return self.rows("budget", Limit)

    def governor(self, steps: int) -> tuple[Step, ...]:
        """Return the last steps of the governor, the latest first."""
        return self.rows("governor", Step, {"steps": steps})

    def explain(self, relid: int | None) -> tuple[Cause, ...]:
        """Return what sweep.explain() says of a table, or of the worst ones."""
        if relid is None:
            return self.rows("explain_worst", Cause)
        return self.rows("explain", Cause, {"relid": relid})

    def find_relation(self, name: str) -> int:
        """Return the relation of a name as SQL has it. Of several, it is the one in public."""
        dbname = self.dbname
        found = self.dicts("find_relation", {"name": name})
        if not found:
            raise errors.UsageError(
                f'there is no table "{name}" in database "{dbname}"',
                "Name another database with -d. Write SCHEMA.TABLE, with quotes as in SQL.",
            )
        if len(found) > 1 and found[0]["schemaname"] != "public":
            names = ", ".join(f"{row['schemaname']}.{row['relname']}" for row in found[:5])
            raise errors.UsageError(f'"{name}" is several tables', f"Write one of {names}.")
        return int(found[0]["relid"])

    # -- whether it fits -----------------------------------------------------

    def require_extension(self) -> None:
        """Raise unless extension, library and this command fit each other."""
        row = self.dicts("versions")[0]
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

    # -- acting ------------------------------------------------------------

    def cancel(self, pid: int) -> tuple[bool, str]:
        """Ask the process to give up its vacuum.

        Return whether it was asked, and what was said.
        """
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
        self.notices.clear()
        row = self.dicts(name, params)[0]
        return bool(row["done"]), "; ".join(self.notices)

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
        identifier = self._permitted("tune_identifier")
        return TuneFacts(
            **row,
            patroni=tuple(signs),
            system_identifier=identifier[0]["system_identifier"] if identifier else None,
        )

    def may_alter(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these settings this role may ALTER SYSTEM SET."""
        found = self.dicts("may_alter", {"names": list(names)})
        return frozenset(row["name"] for row in found)

    def current(self, names: Sequence[str]) -> dict[str, Current]:
        """Return settings as they are and as postgresql.auto.conf has them."""
        found = {row.name: row for row in self.rows("tune_settings", Current, {"names": names})}
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
