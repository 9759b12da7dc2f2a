"""What `check` concludes, as Nagios wants it said: one line, with figures behind a bar.

All of it is pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.base.text import printable
from pgsweep.model import compute
from pgsweep.model.compute import described

if TYPE_CHECKING:
    from pgsweep.model import Blocker, DatabaseAge, Members, Server, Status, Table

XID_SPACE = 2**31
_UNITS_S = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
OFF = "off"


class State(IntEnum):
    """The states, by their exit codes."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


@dataclass(frozen=True)
class Limit:
    """A figure that can be watched, and from where on it is bad by default."""

    name: str
    unit: str
    warning: float | None
    critical: float | None
    meaning: str


LIMITS = (
    Limit("xid", "%", 150, 300, "oldest database's age, of autovacuum_freeze_max_age"),
    Limit("mxid", "%", 150, 300, "the same of multixacts"),
    Limit("members", "%", 50, 75, "members of multixacts, of the 2^32 at which all ends"),
    Limit("wraparound", "%", 60, 75, "oldest database's age, of the 2^31 at which all ends"),
    Limit("holder", "s", 3600, 21600, "how long the horizon's oldest holder has been there"),
    Limit("holder_xids", "", 10_000_000, 50_000_000, "its age in transactions"),
    Limit("overdue", "", 1, 20, "tables over so many times their threshold"),
    Limit("failing", "", 1, 20, "tables whose last vacuum ended in an error"),
    Limit("round", "s", 60, 300, "since the scout looked at the tables"),
    Limit("crashes", "", 1, 3, "server starts of the last five that ended in a sweep crash"),
)
BY_NAME = {limit.name: limit for limit in LIMITS}


@dataclass(frozen=True)
class Watched:
    """What was read for `check`."""

    server: Server
    multixact_freeze_max_age: int
    daemon_on: bool
    counts_on: bool
    databases: tuple[DatabaseAge, ...] = ()
    tables: tuple[Table, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    # None means that it cannot be told.
    members: Members | None = None
    # None means that there is no extension.
    status: Status | None = None


@dataclass(frozen=True)
class Rules:
    """From where on a figure is bad. None means never."""

    warning: dict[str, float | None]
    critical: dict[str, float | None]
    # A table is overdue beyond this many times its threshold, if it has at least this many such
    # rows.
    times: float = compute.OVERDUE_TIMES
    least_rows: int = compute.OVERDUE_ROWS


@dataclass(frozen=True)
class Figure:
    """A measured value, what it means in words, and what is bad about it."""

    name: str
    value: float
    text: str
    # It is mentioned only when it is bad.
    quiet: bool = False


@dataclass(frozen=True)
class Outcome:
    """The line, and its parts for --json."""

    state: State
    text: str
    figures: tuple[Figure, ...]
    rules: Rules | None = None


def rules(warning: Iterable[str], critical: Iterable[str], times: float, least_rows: int) -> Rules:
    """Return the defaults with what the options change: NAME=VALUE, NAME=off."""
    return Rules(
        {**{limit.name: limit.warning for limit in LIMITS}, **_given(warning)},
        {**{limit.name: limit.critical for limit in LIMITS}, **_given(critical)},
        times,
        least_rows,
    )


def _given(options: Iterable[str]) -> dict[str, float | None]:
    given: dict[str, float | None] = {}
    for option in options:
        for part in option.split(","):
            name, equals, value = part.strip().partition("=")
            name = name.strip().replace("-", "_")
            if not equals or name not in BY_NAME:
                known = ", ".join(BY_NAME)
                raise errors.UsageError(
                    f'"{part.strip()}" is no threshold', f"Write NAME=VALUE. The names are {known}."
                )
            given[name] = None if value.strip() == OFF else _number(name, value.strip())
    return given


def _number(name: str, value: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%|[a-z]*)", value)
    unit = BY_NAME[name].unit
    if match is None:
        raise errors.UsageError(f'"{value}" is no value for {name}', "Write a number, or off.")
    number, given = float(match.group(1)), match.group(2)
    if given == "" or given == unit:
        return number
    if unit == "s" and given in _UNITS_S:
        return number * _UNITS_S[given]
    units = "s, min, h or d" if unit == "s" else (unit or "none")
    raise errors.UsageError(f'"{given}" is no unit of {name}', f"Its unit is {units}.")


def check(watched: Watched, given: Rules) -> Outcome:
    """Return the state and what to say."""
    figures = tuple(_figures(watched, given))
    found: list[tuple[State, str]] = []
    for figure in figures:
        state = _state(figure, given)
        if state is not State.OK:
            found.append((state, figure.text))
    found.extend(_switches(watched))
    if not found:
        calm = [figure.text for figure in figures if not figure.quiet]
        return Outcome(State.OK, ", ".join(calm) or "nothing is watched", figures, given)
    # The worst comes first. Among equals, the figures keep the order of their weight.
    found.sort(key=lambda item: -item[0])
    return Outcome(found[0][0], compute.sentences(*(text for _, text in found)), figures, given)


def _state(figure: Figure, given: Rules) -> State:
    critical, warning = given.critical[figure.name], given.warning[figure.name]
    if critical is not None and figure.value >= critical:
        return State.CRITICAL
    if warning is not None and figure.value >= warning:
        return State.WARNING
    return State.OK


def _figures(watched: Watched, given: Rules) -> Iterator[Figure]:
    yield from _ages(watched)
    yield from _holder(watched)
    yield _overdue(watched, given)
    status = watched.status
    if status is None:
        return
    yield _failing(watched)
    at_work = status.mode != "off" and not watched.server.in_recovery
    last = status.last_round_at or status.launcher_started_at
    if at_work and last is not None:
        seconds = max(0.0, (watched.server.now - last).total_seconds())
        # A round that comes late only because sweep.naptime is long is no delay.
        on_time = seconds <= compute.stale_after(status).total_seconds()
        late = 0.0 if on_time and seconds > compute.STALE_ROUND.total_seconds() else seconds
        yield Figure("round", late, f"scout looked {_span(seconds)} ago")
    crashes = status.recent_crashes or 0
    yield Figure(
        "crashes",
        crashes,
        f"{crashes} recent crash{'' if crashes == 1 else 'es'} of sweep processes",
        quiet=True,
    )


def _ages(watched: Watched) -> Iterator[Figure]:
    if not watched.databases:
        return
    oldest = max(watched.databases, key=lambda row: row.xid_age)
    pct = compute.xid_pct(oldest.xid_age, watched.server.freeze_max_age)
    where = f"in {oldest.datname}"
    yield Figure("xid", pct, f"oldest xid {pct:.0f} % of autovacuum_freeze_max_age {where}")
    multi = max(watched.databases, key=lambda row: row.mxid_age)
    multi_pct = compute.xid_pct(multi.mxid_age, watched.multixact_freeze_max_age)
    text = f"oldest multixact {multi_pct:.0f} % of its freeze limit in {multi.datname}"
    yield Figure("mxid", multi_pct, text, quiet=True)
    if watched.members is not None:
        pct = watched.members.pct
        yield Figure("members", pct, f"members of multixacts {pct:.0f} % used", quiet=True)
    most = max(oldest.xid_age, multi.mxid_age)
    share = 100.0 * most / XID_SPACE
    yield Figure("wraparound", share, f"{share:.0f} % of the way to wraparound", quiet=True)


def _holder(watched: Watched) -> Iterator[Figure]:
    now = watched.server.now
    longest = min(watched.blockers, key=lambda row: compute.held_since(row) or now, default=None)
    since = compute.held_since(longest) if longest is not None else None
    if longest is None or since is None:
        yield Figure("holder", 0.0, "no horizon held")
    else:
        seconds = max(0.0, (now - since).total_seconds())
        who = described(longest, watched.server.dbname)
        yield Figure("holder", seconds, f"horizon held for {_span(seconds)} by {who}")
    oldest = max(watched.blockers, key=lambda row: row.age or 0, default=None)
    age = oldest.age or 0 if oldest is not None else 0
    who = described(oldest, watched.server.dbname) if oldest is not None else "nobody"
    yield Figure("holder_xids", age, f"horizon {compute.old(age)}, held by {who}", quiet=True)


def _overdue(watched: Watched, given: Rules) -> Figure:
    # A table that waits for sweep.min_interval, or was told to wait, is not late.
    late = [
        table
        for table in watched.tables
        if _times(table, given) > given.times and not compute.left_alone(table, watched.server.now)
    ]
    worst = max(late, key=lambda table: _times(table, given), default=None)
    text = f"{compute.plural(len(late), 'table')} over {given.times:g} times their threshold"
    if worst is not None:
        text += f", worst {compute.relation(worst)} ({_times(worst, given):.1f})"
    return Figure("overdue", len(late), text)


def _failing(watched: Watched) -> Figure:
    names = [compute.relation(table) for table in watched.tables if table.decision == "failed"]
    text = f"the vacuums of {compute.plural(len(names), 'table')} fail"
    if names:
        text += f", {names[0]} first: pgsweep explain has the error"
    return Figure("failing", len(names), text, quiet=True)


def _times(table: Table, given: Rules) -> float:
    return compute.times_over(table, given.least_rows)


def _switches(watched: Watched) -> Iterator[tuple[State, str]]:
    """Return what is bad without any number."""
    status, server = watched.status, watched.server
    if not watched.counts_on:
        yield State.CRITICAL, "track_counts is off: nobody can know which table needs a vacuum"
    if not watched.daemon_on:
        helped = status is not None and status.effective_mode == "act"
        state = State.WARNING if helped else State.CRITICAL
        yield state, "autovacuum is off"
    if status is None or server.in_recovery:
        return
    if status.runs_save_error:
        yield State.WARNING, f"runs cannot be saved: {status.runs_save_error}"
    if status.decisions_dropped or status.databases_dropped:
        yield State.WARNING, "pg_sweep's shared memory was too small for all tables"
    if status.effective_mode != status.mode:
        why = f" ({status.reason})" if status.reason else ""
        state = State.CRITICAL if status.recent_crashes else State.WARNING
        yield state, f"mode is {status.effective_mode} although {status.mode} is set{why}"
    elif status.mode != "off" and status.launcher_pid is None:
        yield State.CRITICAL, "launcher is not running"
    elif status.reason:
        yield State.WARNING, status.reason


def _span(seconds: float) -> str:
    for limit, unit, divisor in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / divisor:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def line(outcome: Outcome) -> str:
    """Return the one line. Characters that could end the text or the line are replaced."""
    said = f"PGSWEEP {outcome.state.name} - {printable(outcome.text).replace('|', '/')}"
    figures = perfdata(outcome)
    return f"{said} | {figures}" if figures else said


def perfdata(outcome: Outcome) -> str:
    """Return the figures in the form label=value[unit];warning;critical."""
    given = outcome.rules
    if given is None:
        return ""

    def shown(figure: Figure) -> str:
        limits = (given.warning[figure.name], given.critical[figure.name])
        ends = ";".join("" if limit is None else f"{limit:.10g}" for limit in limits)
        value = f"{round(figure.value, 2):.10g}"
        return f"{figure.name}={value}{BY_NAME[figure.name].unit};{ends}"

    return " ".join(shown(figure) for figure in outcome.figures)


def unknown(message: str) -> Outcome:
    """Return the outcome when nothing could be read."""
    return Outcome(State.UNKNOWN, message, ())
