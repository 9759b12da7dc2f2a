"""What the pages show: from what was read to what the templates fill in. No HTTP here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import errors
from pgsweep.base.text import printable
from pgsweep.findings import sources, trial as trial_words
from pgsweep.findings.core.tables import SORTS, frozen_soon, pick
from pgsweep.findings.watcher import Watcher
from pgsweep.model import (
    CallFilter,
    TableKey,
    compute,
)
from pgsweep.output.terminal import (
    agents,
    answers,
    bloats,
    budgets,
    columns,
    story,
    trials,
    worths,
)
from pgsweep.output.terminal.grid import titled
from pgsweep.output.top import header
from pgsweep.output.web.html import meaning, plain, sheet
from pgsweep.source.core import views as core_views

if TYPE_CHECKING:
    from pgsweep.agent.store import Told
    from pgsweep.findings.sources import Answer
    from pgsweep.model import (
        Blocker,
        Call,
        Cause,
        Decision,
        Limit,
        Progress,
        Run,
        Server,
        Snapshot,
        Table,
        TableHistory,
        TriedTable,
        Waiting,
        Worth,
    )
    from pgsweep.model.bloat import Bloat
    from pgsweep.model.compute import Line
    from pgsweep.output.web.html import Sheet
    from pgsweep.source.db import Session

# A page has at most so many rows of a kind, and says how many there are.
ROWS = 100
RUNS = 20
# Sentences are not cut.
WIDE = 1000
STEPS = 256
MB_PER_S = {"READ": "MB/s", "DIRTY": "MB/s", "WAL": "MB/s"}
PAGES = {"READ": "pages", "DIRTIED": "pages"}


def href(datid: int | None, relid: int | None) -> str | None:
    """Return the address of a table's page. The catalogs that all databases share have 0."""
    return f"/table/{datid or 0}/{relid}" if relid else None


def _link(row: Progress | Run | Waiting | Decision | Call | TriedTable) -> str | None:
    return href(row.datid, row.relid)


@dataclass(frozen=True)
class Part:
    """A piece of a line, and what it means."""

    text: str
    meaning: str


def _parts(found: Iterable[header.Part]) -> tuple[Part, ...]:
    return tuple(Part(text, meaning(Text(text, style=style))) for text, style, _ in found if text)


@dataclass(frozen=True)
class Top:
    """What stands on top of every page."""

    server: tuple[Part, ...]
    state: tuple[Part, ...]
    horizon: tuple[Part, ...]
    budget: tuple[Part, ...]
    extension: bool


def top(snapshot: Snapshot) -> Top:
    """Return the summary of a server."""
    return Top(
        server=_parts(header.about(snapshot.server)),
        state=_parts(header.state(snapshot)),
        horizon=_parts(header.horizon(snapshot)),
        budget=_parts(header.budget(snapshot)),
        extension=snapshot.status is not None,
    )


@dataclass(frozen=True)
class Vacuum:
    """A running vacuum: its row, and what is needed to steer it."""

    pid: int
    name: str
    began: str
    # Parallel workers are steered by their leader, and core tells nothing of an ANALYZE.
    may_steer: bool
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Now:
    """What runs, and what has just ended."""

    vacuums: tuple[Vacuum, ...]
    sheet: Sheet
    runs: Sheet
    databases: Sheet


def now(snapshot: Snapshot) -> Now:
    """Return what runs now."""
    at = snapshot.server.now
    lines = compute.with_workers(snapshot.progress)
    shown = columns.progress_columns(at, with_bar=False)
    known = sheet(shown, lines, MB_PER_S, {"TABLE": lambda line: _link(line.row)})
    core = snapshot.core is not None
    runs = snapshot.runs[:RUNS]
    of_runs = columns.core_run_columns(at) if core else story.run_columns(at)
    named = (columns.run_columns()[3], *of_runs) if not core else of_runs
    of_databases = (
        columns.core_database_columns(snapshot.server)
        if core
        else columns.database_columns(snapshot.server)
    )
    return Now(
        vacuums=tuple(_vacuum(line, at) for line in lines),
        sheet=_with_bars(known, lines),
        runs=sheet(named, runs, MB_PER_S | {"WAL": ""}, {"TABLE": _link}),
        databases=sheet(of_databases, snapshot.databases, head="DATABASE"),
    )


def _vacuum(line: Line, at: datetime) -> Vacuum:
    row = line.row
    return Vacuum(
        pid=row.pid,
        name=printable(compute.relation(row)),
        began=row.started_at.isoformat() if row.started_at else "",
        may_steer=not line.is_worker and row.started_at is not None,
        facts=tuple(filter(None, columns.progress_details(row, at))),
    )


def _with_bars(known: Sheet, lines: Sequence[Line]) -> Sheet:
    at = known.titles.index("Done")
    rows = []
    for cells, line in zip(known.rows, lines, strict=True):
        row = line.row
        pct = row.phase_pct if row.done_pct is None else row.done_pct
        cell = cells[at] if line.is_worker or pct is None else replace(cells[at], pct=pct)
        rows.append((*cells[:at], cell, *cells[at + 1 :]))
    return replace(known, rows=tuple(rows))


@dataclass(frozen=True)
class Asked:
    """A table that a button is about."""

    datid: int
    relid: int
    name: str


@dataclass(frozen=True)
class Next:
    """What is vacuumed next."""

    # None means that it is not known here.
    sheet: Sheet | None
    tables: tuple[Asked, ...]
    shown: int
    number: int


def next_(snapshot: Snapshot) -> Next:
    """Return what is vacuumed next, and what each table waits for."""
    if snapshot.queue is None:
        return Next(None, (), 0, 0)
    rows = snapshot.queue[:ROWS]
    return Next(
        sheet=sheet(answers.queue_columns(snapshot.server.now), rows, links={"TABLE": _link}),
        tables=tuple(asked(row.datid, row.relid, compute.relation(row)) for row in rows),
        shown=len(rows),
        number=max(len(snapshot.queue), compute.due(snapshot.status, snapshot.queue)),
    )


def asked(datid: int | None, relid: int, name: str) -> Asked:
    """Return what a button has to say about a table."""
    return Asked(datid or 0, relid, printable(name))


@dataclass(frozen=True)
class Tables:
    """The tables of one database."""

    sheet: Sheet
    shown: int
    number: int
    notes: tuple[str, ...]
    dbname: str
    catalogs: bool
    find: str
    by: str


@dataclass(frozen=True)
class Found:
    """The tables as they were read."""

    rows: tuple[Table, ...]
    notes: tuple[str, ...]
    datid: int
    server: Server


def read_tables(session: Session) -> Found:
    """Read the tables of this database."""
    answer = sources.tables(session)
    return Found(answer.rows, answer.notes, session.datid(), session.server())


def is_catalog(row: Table) -> bool:
    """Return whether it is a system catalog."""
    return row.lane == "catalog" if row.lane else row.schemaname == "pg_catalog"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def tables(found: Found, find: str, by: str, catalogs: bool) -> Tables:
    """Return the tables whose name has a text in it, in an order."""
    by = by if by in SORTS else "score"
    named = [
        row
        for row in found.rows
        if find.lower() in compute.relation(row, with_database=False).lower()
        and (not catalogs or is_catalog(row))
    ]
    wanted = pick(named, by)
    at = found.server.now
    return Tables(
        sheet=sheet(
            answers.table_columns(at, with_database=False),
            wanted[:ROWS],
            links={"TABLE": lambda row: href(found.datid, row.relid)},
        ),
        shown=min(len(wanted), ROWS),
        number=len(wanted),
        notes=tuple(filter(None, (*found.notes, _sentence(frozen_soon(found.rows, at))))),
        dbname=found.server.dbname,
        catalogs=catalogs,
        find=find,
        by=by,
    )


@dataclass(frozen=True)
class OneTable:
    """What is known of one table."""

    asked: Asked
    here: bool
    # Its database has the extension, whose functions buttons call.
    may_act: bool
    decisions: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    causes: tuple[Cause, ...]
    worth: str | None
    worth_facts: tuple[tuple[str, str], ...]
    runs: Sheet | None
    hours: Sheet | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Story:
    """A table as it was read."""

    history: TableHistory
    table: Table | None
    causes: tuple[Cause, ...]
    dbname: str
    worth: Worth | None = None
    extension: bool = True


def read_table(session: Session, datid: int, relid: int) -> Story:
    """Read what is known of a table, in its own database for what only that one knows."""
    # None stands for the catalogs that all databases share, which each of them has.
    key = TableKey(datid or None, relid, f"oid {relid}")
    history = Watcher().history(session, key)
    if datid in (0, session.datid()):
        table, causes = sources.table(session, relid)
        worth = sources.worth(session, relid)
        return Story(history, table, causes, session.dbname, worth, session.views().extension)
    names = {row.datid: row.datname for row in core_views.databases(session)}
    if datid not in names:
        raise errors.UsageError("the database of this table does not exist any more")
    with session.beside(names[datid]) as other:
        table, causes = sources.table(other, relid)
        worth = sources.worth(other, relid)
        extension = other.views().extension
    return Story(history, table, causes, names[datid], worth, extension)


def one_table(found: Story, datid: int, relid: int) -> OneTable:
    """Return a table's page."""
    history, table = found.history, found.table
    at = history.now
    name = f"{found.dbname}: oid {relid}"
    rows: tuple[Run | Decision | Table, ...] = (*history.runs, *history.decisions)
    for row in (*rows, *(() if table is None else (table,))):
        if row.relname:
            name = compute.relation(row)
            break
    of_runs = columns.core_run_columns(at) if history.core else story.run_columns(at)
    return OneTable(
        asked=asked(datid, relid, name),
        here=table is not None,
        may_act=found.extension,
        decisions=tuple(_decision(row, at) for row in history.decisions),
        facts=() if table is None else _facts(table, at),
        causes=found.causes,
        worth=None if found.worth is None else worths.sentence(found.worth),
        worth_facts=() if found.worth is None else worths.facts(found.worth, at),
        runs=sheet(of_runs, history.runs, MB_PER_S | {"WAL": ""}, head="ENDED")
        if history.runs
        else None,
        hours=sheet(story.hour_columns(), history.hours, PAGES, head="HOUR")
        if history.hours
        else None,
        notes=history.notes,
    )


def _decision(row: Decision, at: datetime) -> str:
    return plain(story.decision(row, at, 10_000))


def _facts(table: Table, at: datetime) -> tuple[tuple[str, str], ...]:
    """Return a table's figures and thresholds, by the titles that its columns have."""
    found: list[tuple[str, str]] = []
    for column in answers.table_columns(at, with_database=False):
        value = column.cell(table)
        shown = value if isinstance(value, str) else value.plain
        title = titled(column.title)
        if title == "Of" and found:
            # It is the threshold of the column before it.
            label, figure = found[-1]
            found[-1] = (label, f"{figure} of {shown.strip()}")
        elif title != "Table" and shown.strip():
            found.append((title, printable(shown.strip())))
    return tuple(found)


@dataclass(frozen=True)
class Horizon:
    """What keeps dead rows from being removed. None means that it is not known."""

    sheet: Sheet | None
    blockers: tuple[Blocker, ...]


def holders(snapshot: Snapshot) -> Horizon:
    """Return what holds the horizon back, the oldest first."""
    if snapshot.blockers is None:
        return Horizon(None, ())
    shown = snapshot.blockers[:ROWS]
    known = answers.blocker_columns(snapshot.server.now)
    return Horizon(sheet(known, shown, head="KIND"), shown)


@dataclass(frozen=True)
class Budget:
    """What vacuums may use, and what the governor decided."""

    limits: Sheet | None
    steps: Sheet | None
    span: str


def budget(limits: tuple[Limit, ...], stretches: Sequence[compute.Stretch]) -> Budget:
    """Return the limits and the last decisions."""
    if not limits:
        return Budget(None, None, "")
    span = timedelta(0)
    if stretches:
        span = stretches[0].last.at - stretches[-1].first.at
    return Budget(
        limits=sheet(budgets.COLUMNS, limits, head="LIMIT"),
        steps=sheet(
            budgets.STEP_COLUMNS, stretches[:ROWS], MB_PER_S | {"ALLOWED": "MB/s"}, head="FROM"
        )
        if stretches
        else None,
        span=f"{span.total_seconds():.0f} s",
    )


def read_audit(session: Session) -> tuple[Call, ...] | None:
    """Read who has acted. None means that nobody keeps it here."""
    return session.audit(CallFilter(limit=ROWS)) if session.views().audit else None


def audit(calls: tuple[Call, ...], now: datetime) -> Sheet:
    """Return who has acted, the latest first."""
    return sheet(answers.audit_columns(now), calls, links={"ON": _link}, head="WHEN")


@dataclass(frozen=True)
class Bloated:
    """The indexes and tables from which most could be given back, and how the first is mended."""

    sheet: Sheet
    sentences: tuple[str, ...]


def bloat(found: Answer[Bloat]) -> Bloated:
    """Return what is larger than it has to be."""
    rows = found.rows[:ROWS]
    said = [str(line) for line in bloats.lines(rows, found.rows, WIDE)]
    return Bloated(
        sheet(bloats.COLUMNS, rows, head="NAME"), tuple(filter(None, said[len(rows) + 1 :]))
    )


@dataclass(frozen=True)
class AgentShown:
    """What the agent did."""

    sentences: tuple[str, ...]
    sheet: Sheet


def agent(told: Told) -> AgentShown:
    """Return what the agent did and would have done, the latest first."""
    said = (str(line) for line in agents.status(told.summary, told.now, WIDE))
    return AgentShown(tuple(said), sheet(agents.COLUMNS, told.acts, head="NAME"))


@dataclass(frozen=True)
class Tried:
    """A trial as it was read."""

    rows: tuple[TriedTable, ...]
    now: datetime
    mode: str | None


@dataclass(frozen=True)
class Trial:
    """What would have been done in mode observe."""

    headline: str
    sentences: tuple[str, ...]
    # None: there is none.
    sheet: Sheet | None
    untouched: Sheet | None
    shown: int
    number: int
    how: str


def read_trial(session: Session) -> Tried | None:
    """Read the trial. None means that nobody keeps it here."""
    if not session.views().trial:
        return None
    return Tried(session.trial(), session.server().now, session.status().effective_mode)


def trial(found: Tried) -> Trial:
    """Return what a trial came to."""
    if not found.rows:
        return Trial(trials.none(found.mode), (), None, None, 0, 0, "")
    said = trial_words.summary(found.rows, found.now)
    rows = trial_words.told(found.rows)
    left = said.untouched[:ROWS]
    links = {"TABLE": _link, "NOT VACUUMED": _link}
    return Trial(
        headline=said.headline,
        sentences=said.sentences,
        sheet=sheet(trials.COLUMNS, rows[:ROWS], links=links),
        untouched=sheet(trials.UNTOUCHED, left, links=links, head="NOT VACUUMED") if left else None,
        shown=min(len(rows), ROWS),
        number=len(rows),
        how=trial_words.HOW,
    )


def read_budget(session: Session) -> tuple[tuple[Limit, ...], tuple[compute.Stretch, ...]]:
    """Read the limits and the governor's last steps."""
    if not session.views().budget:
        return (), ()
    return session.budget(), compute.stretches(session.governor(STEPS))
