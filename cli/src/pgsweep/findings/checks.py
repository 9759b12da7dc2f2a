"""What `doctor` concludes from the facts. All of it is pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from pgsweep.model import compute
from pgsweep.model.compute import described

if TYPE_CHECKING:
    from pgsweep.model import Database, DatabaseAge, Facts, Status

LAUNCHER_SLOTS = 2  # and the governor
# Only catalogs may have this worker. It comes on top of sweep.max_workers.
CATALOG_SLOTS = 1
DEFAULT_MAX_WORKERS = 2
MIN_INTERVAL_LOW_S = 1
READ_AHEAD_KB = 1024


class Level(IntEnum):
    """How bad it is. The values order the levels."""

    OK = 0
    NOTE = 1
    WARN = 2
    FAIL = 3

    @property
    def label(self) -> str:
        """Return the word printed in front of a check."""
        return {0: "ok", 1: "note", 2: "WARN", 3: "FAIL"}[self.value]


@dataclass(frozen=True)
class Check:
    """One line of `doctor`, with what to do about it."""

    level: Level
    subject: str
    text: str
    fix: tuple[str, ...] = ()


def exit_code(checks: tuple[Check, ...]) -> int:
    """Return 0 (all ok), 1 (something to look at) or 2 (pg_sweep does not work here)."""
    worst = max((check.level for check in checks), default=Level.OK)
    return {Level.FAIL: 2, Level.WARN: 1}.get(worst, 0)


def diagnose(facts: Facts) -> tuple[Check, ...]:
    """Return all checks, in the order in which one would go through them."""
    checks = [_server(facts), _preload(facts), _extension(facts)]
    status = facts.status
    if status is not None:
        checks += [
            _versions(status),
            _mode(facts, status),
            _launcher(facts, status),
            *_features(facts),
            _ledger(status),
            _memory(status),
            *_growing(status),
            *_standbys(status),
        ]
    elif facts.installed_version is not None and not _known_unloaded(facts):
        checks.append(_views(facts))
    checks += [*_device(facts), _slots(facts), *_settings(facts), _reading(facts), _acting(facts)]
    checks += [*_databases(facts), *_age(facts), *_members(facts), _horizon(facts)]
    return tuple(checks)


def _server(facts: Facts) -> Check:
    server = facts.server
    role = "standby (views work, no workers run)" if server.in_recovery else "primary"
    return Check(
        Level.OK, "server", f'PostgreSQL {server.version}, {role}, database "{server.dbname}"'
    )


def _preloaded(facts: Facts) -> bool | None:
    value = facts.settings.get("shared_preload_libraries")
    if value is None:
        return None
    names = [name.strip().strip("\"'").rsplit("/", 1)[-1] for name in value.split(",")]
    return "pg_sweep" in names


def _known_unloaded(facts: Facts) -> bool:
    return _preloaded(facts) is False


def _preload(facts: Facts) -> Check:
    loaded = _preloaded(facts)
    if loaded:
        return Check(Level.OK, "library", "loaded by shared_preload_libraries")
    if loaded is None:
        if facts.status is not None:
            return Check(Level.OK, "library", "loaded")
        return Check(
            Level.NOTE,
            "library",
            f'role "{facts.server.role}" may not see shared_preload_libraries',
            ("Run doctor as a member of pg_monitor.",),
        )
    if facts.available_version is None:
        first = "Install the package of pg_sweep for this server (or make install), then set"
    else:
        first = "Set in postgresql.conf, and restart:"
    present = facts.settings.get("shared_preload_libraries", "").strip()
    value = f"{present}, pg_sweep" if present else "pg_sweep"
    return Check(
        Level.FAIL,
        "library",
        "pg_sweep is not in shared_preload_libraries",
        (first, f"  shared_preload_libraries = '{value}'"),
    )


def _extension(facts: Facts) -> Check:
    database = facts.server.dbname
    if facts.installed_version is not None:
        return Check(
            Level.OK, "extension", f'version {facts.installed_version} in database "{database}"'
        )
    if facts.available_version is None:
        return Check(
            Level.FAIL,
            "extension",
            "pg_sweep is not installed on this server",
            ("Install the package of pg_sweep for this server, or run make install.",),
        )
    return Check(
        Level.FAIL,
        "extension",
        f'not created in database "{database}" (one database is enough for all)',
        ("Run as superuser: CREATE EXTENSION pg_sweep", "or name the database that has it: -d"),
    )


def _views(facts: Facts) -> Check:
    hint = (facts.status_hint,) if facts.status_hint else ()
    return Check(Level.FAIL, "views", facts.status_error or "cannot be read", hint)


def _versions(status: Status) -> Check:
    sql, library = status.sql_version, status.library_version
    if sql == library or sql is None or library is None:
        return Check(Level.OK, "versions", f"library and SQL objects are both {library}")
    if compute.version_tuple(sql) < compute.version_tuple(library):
        return Check(
            Level.FAIL,
            "versions",
            f"SQL objects are {sql}, older than the library, {library}",
            ("Run as superuser: ALTER EXTENSION pg_sweep UPDATE",),
        )
    return Check(
        Level.FAIL,
        "versions",
        f"library is {library}, older than the SQL objects, {sql}",
        ("Restart the server so that it loads the newer library.",),
    )


def _mode(facts: Facts, status: Status) -> Check:
    reason = f": {status.reason}" if status.reason else ""
    effective = f"{status.effective_mode} in effect"
    crashes = status.recent_crashes or 0
    if status.effective_mode == status.mode:
        if crashes:
            return Check(
                Level.WARN,
                "mode",
                f"{status.mode}, {compute.plural(crashes, 'recent crash').replace('hs', 'hes')} "
                "of sweep processes",
                ("Look into the server log. After three crashes pg_sweep switches itself off.",),
            )
        meaning = {
            "act": "it vacuums",
            "observe": "it decides and shows, and vacuums nothing",
            "off": "it does nothing",
        }.get(status.mode or "", "")
        level = Level.OK if status.mode == "act" else Level.NOTE
        fix = () if status.mode == "act" else ("To let it vacuum: sweep.mode = act, and reload.",)
        return Check(level, "mode", f"{status.mode} ({meaning})", fix)
    if facts.server.in_recovery and not crashes:
        return Check(Level.NOTE, "mode", f"{status.mode} is set, {effective}{reason}")
    text = f"{status.mode} is set, but {effective}{reason}"
    if crashes:
        text += f" ({crashes} of the last server starts ended with a crash of a sweep process)"
        fix = ("Find the cause in the server log, then run as superuser: SELECT sweep.rearm()",)
        return Check(Level.FAIL, "mode", text, fix)
    return Check(Level.WARN, "mode", text, ("Look into the server log for the reason.",))


def _launcher(facts: Facts, status: Status) -> Check:
    if status.launcher_pid is not None:
        since = ""
        if status.last_round_at is not None:
            age = (facts.server.now - status.last_round_at).total_seconds()
            since = f", last looked at the tables {max(age, 0):.0f} s ago"
            late = compute.stale_after(status).total_seconds()
            if "off" not in (status.mode, status.effective_mode) and age > late:
                return Check(
                    Level.WARN,
                    "launcher",
                    f"process {status.launcher_pid}{since}",
                    ("Look into the server log for errors of the sweep launcher.",),
                )
        return Check(Level.OK, "launcher", f"process {status.launcher_pid}{since}")
    if facts.server.in_recovery:
        return Check(Level.OK, "launcher", "not running: this is a standby")
    if "off" in (status.mode, status.effective_mode):
        return Check(Level.OK, "launcher", "not running: the mode is off")
    return Check(
        Level.FAIL,
        "launcher",
        "not running",
        (
            "If the server log says that no background worker could be registered or",
            "started, raise max_worker_processes as shown below, and restart.",
        ),
    )


def _features(facts: Facts) -> Iterator[Check]:
    off = [feature for feature in facts.features if not feature.enabled]
    if facts.features and not off:
        yield Check(Level.OK, "features", f"all {len(facts.features)} validated and on")
    if off and facts.server.in_recovery:
        names = ", ".join(feature.feature for feature in off)
        fix = ("Nothing: they are validated when this server is promoted.",)
        yield Check(Level.NOTE, "features", f"not in use on a standby: {names}", fix)
        return
    unchecked = [feature.feature for feature in off if feature.enabled is None]
    if unchecked:
        yield Check(
            Level.NOTE,
            "features",
            f"not checked yet: {', '.join(unchecked)}",
            ("Nothing: the launcher checks them when it starts.",),
        )
    for feature in off:
        if feature.enabled is None:
            continue
        detail = f": {feature.detail}" if feature.detail else ""
        yield Check(
            Level.WARN,
            "features",
            f"{feature.feature} is off{detail}",
            ("Build pg_sweep against exactly this server's headers.",),
        )


def _ledger(status: Status) -> Check:
    runs = compute.plural(status.runs or 0, "run")
    if status.runs_save_error:
        return Check(
            Level.WARN,
            "ledger",
            f"{runs}, not saved: {status.runs_save_error}",
            ("Make room for, or give access to, pg_stat in the data directory.",),
        )
    return Check(Level.OK, "ledger", f"{runs} kept")


def _memory(status: Status) -> Check:
    decisions, databases = status.decisions_dropped or 0, status.databases_dropped or 0
    if decisions or databases:
        return Check(
            Level.WARN,
            "memory",
            f"no room for {compute.plural(decisions, 'decision')} "
            f"and {compute.plural(databases, 'database')}",
            ("Fewer tables are looked at than exist: restrict sweep.databases.",),
        )
    used = f"{status.decisions_used or 0:,} of {status.decisions_size or 0:,} decisions used"
    return Check(Level.OK, "memory", used)


def _growing(status: Status) -> Iterator[Check]:
    """Say whether new pages leave the cache before they are vacuumed."""
    if not status.late_tables:
        return
    yield Check(
        Level.NOTE,
        "growing",
        f"vacuums of {compute.plural(status.late_tables, 'growing table')} come too late: new "
        f"pages have left the cache by then ({compute.plural(status.late_pages or 0, 'page')} "
        "so far)",
        (
            "SELECT relname, late_since FROM sweep.decisions WHERE late_since IS NOT NULL;",
            "pgsweep status --budget says what limits vacuums. "
            "More shared_buffers give them more time.",
        ),
    )


def _standbys(status: Status) -> Iterator[Check]:
    """Say whether vacuums are held back because they would cancel queries of a standby."""
    if status.standby_conflicts is None:
        return
    fix: tuple[str, ...]
    if status.standby_conflicts.startswith("sweep.standby_conflicts"):
        fix = ("Where all standbys send feedback, set sweep.standby_conflicts = auto.",)
    else:
        fix = (
            "For earlier vacuums, on the standby: "
            "ALTER SYSTEM SET hot_standby_feedback = on; SELECT pg_reload_conf();",
            "If none of its queries matters, set sweep.standby_conflicts = off here.",
        )
    yield Check(
        Level.NOTE,
        "standbys",
        f"{status.standby_conflicts}: vacuums begin together with autovacuum's, by its "
        "thresholds, and freeze nothing ahead, so that they cancel no more queries there",
        fix,
    )


def _device(facts: Facts) -> Iterator[Check]:
    """Say whether users of a slow device wait for what is read ahead of a vacuum."""
    if facts.read_ahead is None or facts.read_ahead[0] <= READ_AHEAD_KB:
        return
    kb, device = facts.read_ahead
    yield Check(
        Level.NOTE,
        "device",
        f"the kernel reads {kb / 1024:.0f} MB ahead on {device}, for which users of a slow device "
        "wait however slow a vacuum is",
        (f"echo 256 > /sys/block/{device}/queue/read_ahead_kb", "and a rule of udev keeps it."),
    )


def _slots(facts: Facts) -> Check:
    limit = int(facts.settings.get("max_worker_processes", "8"))
    workers = int(facts.settings.get("sweep.max_workers", DEFAULT_MAX_WORKERS))
    status = facts.status
    needed = LAUNCHER_SLOTS + workers + (CATALOG_SLOTS if workers else 0)
    others = facts.slots_of_others or 0
    missing = others + needed - limit
    used = f"{others} used by others now"
    if facts.slots_of_others is None:
        used = "what others use of them is not to be seen by this role"
    text = (
        f"{limit} background worker slots, {used}, "
        f"pg_sweep needs {needed} (launcher and governor 2 + sweep.max_workers {workers}"
        + (" + 1 for catalogs)" if workers else ")")
    )
    failures = status.worker_start_failures or 0 if status is not None else 0
    fix = (
        "Set in postgresql.conf, and restart:",
        f"  max_worker_processes = {max(limit + max(missing, 0), others + needed) + 2}",
    )
    lost = (
        status is not None
        and status.launcher_pid is None
        and not facts.server.in_recovery
        and "off" not in (status.mode, status.effective_mode)
    )
    if status is not None and status.reason and "background worker" in status.reason:
        return Check(Level.WARN, "slots", f"{text}. {status.reason}", fix)
    if missing > 0 or lost:
        return Check(Level.WARN, "slots", text, fix)
    if failures:
        starts = compute.plural(failures, "worker")
        return Check(Level.NOTE, "slots", f"{text}. {starts} could not be started so far", fix)
    return Check(Level.OK, "slots", text)


# what must be on, and what is wrong where it is not
MUST_BE_ON = (
    ("autovacuum", Level.WARN, "pg_sweep relies on it against wraparound"),
    ("track_counts", Level.FAIL, "nobody can know which table needs a vacuum"),
    ("track_activities", Level.WARN, "phases and progress of vacuums are not to be seen"),
)


def _settings(facts: Facts) -> Iterator[Check]:
    found = len(facts.settings)
    bad = False
    get = facts.settings.get
    for name, level, harm in MUST_BE_ON:
        if get(name, "on") != "on":
            bad = True
            fix = ("Set in postgresql.conf, and reload:", f"  {name} = on")
            yield Check(level, "settings", f"{name} is off: {harm}", fix)
    naptime = _number(get("sweep.naptime"))
    if naptime is not None and naptime > 60:
        bad = True
        yield Check(
            Level.NOTE,
            "settings",
            f"sweep.naptime is {naptime:g} s: core's own daemon is as quick",
            ("Set in postgresql.conf, and reload:", "  sweep.naptime = 1s"),
        )
    interval = _number(get("sweep.min_interval"))
    if interval is not None and 0 <= interval < MIN_INTERVAL_LOW_S:
        bad = True
        yield Check(
            Level.NOTE,
            "settings",
            f"sweep.min_interval is {interval:g} s: a vacuum makes all sessions reload the table",
            ("Set in postgresql.conf, and reload:", "  sweep.min_interval = -1"),
        )
    if (_number(get("log_autovacuum_min_duration")) or 0) < 0:
        yield Check(
            Level.NOTE,
            "settings",
            "log_autovacuum_min_duration is -1: vacuums leave no line in the server log",
            ("Consider in postgresql.conf:", "  log_autovacuum_min_duration = 10s"),
        )
    if found and not bad:
        yield Check(Level.OK, "settings", "autovacuum, track_counts and track_activities are on")


def _number(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _reading(facts: Facts) -> Check:
    role = facts.server.role
    if facts.is_superuser:
        return Check(Level.OK, "reading", f'role "{role}" is superuser and sees everything')
    if facts.in_pg_monitor:
        return Check(Level.OK, "reading", f'role "{role}" is in pg_monitor and sees everything')
    if facts.status is not None:
        return Check(
            Level.WARN,
            "reading",
            f'role "{role}" may read the views, but is not in pg_monitor: others\' sessions, and '
            "so locks and holders of the horizon, are hidden from it",
            (f'Run as superuser: GRANT pg_monitor TO "{role}"',),
        )
    return Check(
        Level.WARN,
        "reading",
        f'role "{role}" is not in pg_monitor and may not read the views',
        (f'Run as superuser: GRANT pg_monitor TO "{role}"',),
    )


def _acting(facts: Facts) -> Check:
    allowed = [name for name, may in facts.may_call.items() if may]
    denied = [name for name, may in facts.may_call.items() if not may]
    if facts.installed_version is None or not facts.may_call:
        return Check(Level.NOTE, "acting", "no functions here without the extension")
    if not denied:
        return Check(Level.OK, "acting", "may call " + ", ".join(allowed))
    text = f"may call {', '.join(allowed)}" if allowed else "may call no function that acts"
    return Check(
        Level.NOTE,
        "acting",
        f"{text}, but not {', '.join(denied)}",
        (f'To allow one: GRANT EXECUTE ON FUNCTION {denied[0]} TO "{facts.server.role}"',),
    )


def names_in(value: str) -> tuple[str, ...]:
    """Return the names of a setting that is a list, as pg_sweep reads it. * is no name."""
    found: list[str] = []
    for quoted, bare in re.findall(r'\s*(?:"((?:[^"]|"")*)"|([^,"]*))\s*(?:,|$)', value):
        name = quoted.replace('""', '"') or bare.strip()
        if name and bare.strip() != "*":
            found.append(name)
    return tuple(found)


def _unknown_names(facts: Facts) -> Iterator[Check]:
    """Warn of names in lists of databases that no database has."""
    known = {database.datname for database in facts.databases}
    known |= {database.datname for database in facts.core_databases}
    for setting in ("sweep.databases", "sweep.exclude_databases"):
        value = facts.settings.get(setting, "")
        absent = [name for name in names_in(value) if name not in known]
        if not absent or not known:
            continue
        named = ", ".join(f'"{name}"' for name in absent)
        which = "no database" if len(absent) == 1 else "no databases"
        yield Check(
            Level.WARN,
            "databases",
            f"{setting} names {named}: there is {which} of that name",
            (
                "Correct the name (upper and lower case differ), and reload. It is now:",
                f"  {setting} = '{value}'",
            ),
        )


def _databases(facts: Facts) -> Iterator[Check]:
    yield from _unknown_names(facts)
    if not facts.databases:
        return
    # The shared catalogs have a row, but they are no database.
    databases = [row for row in facts.databases if row.datid != compute.SHARED]
    ours = sum(1 for database in databases if database.ours)
    others = [database for database in databases if not database.ours]
    text = f"{ours} of {len(databases)} in scope. The extension is needed in one only"
    if others:
        names = ", ".join(
            f"{database.datname} ({database.reason})" if database.reason else database.datname
            for database in others[:4]
        )
        more = f" and {len(others) - 4} more" if len(others) > 4 else ""
        text += f". Out of scope: {names}{more}"
    # On a standby, and while it is off, nobody has looked at them.
    status = facts.status
    at_work = (
        status is not None
        and status.launcher_pid is not None
        and "off" not in (status.mode, status.effective_mode)
    )
    if at_work and not ours and any(database.reason for database in others):
        fix = ("Look at sweep.databases and sweep.exclude_databases.",)
        yield Check(Level.WARN, "databases", text, fix)
        return
    yield Check(Level.OK, "databases", text)


def _age(facts: Facts) -> Iterator[Check]:
    oldest: Database | DatabaseAge | None = compute.oldest_database(facts.databases)
    if oldest is None:
        oldest = max(facts.core_databases, key=lambda row: row.xid_age, default=None)
    if oldest is None or oldest.xid_age is None:
        return
    pct = compute.xid_pct(oldest.xid_age, facts.server.freeze_max_age)
    text = f'oldest is {pct:.0f} % of autovacuum_freeze_max_age, in database "{oldest.datname}"'
    if pct < compute.XID_WARN_PCT:
        yield Check(Level.OK, "xid age", text)
        return
    fix = (
        "A vacuum against wraparound does not get through: look for old transactions, prepared",
        "transactions and replication slots, and there for temporary tables of idle sessions:",
        f"  pgsweep blockers -d {shlex.quote(oldest.datname)}",
    )
    yield Check(Level.WARN, "xid age", text, fix)


def _members(facts: Facts) -> Iterator[Check]:
    if facts.members is None:
        return
    text = f"members of multixacts: {facts.members.pct:.0f} % of the room for them is used"
    if facts.members.pct < compute.MEMBERS_WARN_PCT:
        yield Check(Level.OK, "members", text)
        return
    fix = (
        "Autovacuum freezes tables earlier now. Rows that many sessions lock at once, say by",
        "foreign keys, make members. VACUUM (FREEZE) the tables with the oldest multixacts:",
        "  SELECT relname, mxid_age FROM sweep.tables ORDER BY mxid_age DESC LIMIT 10;",
    )
    yield Check(Level.WARN, "members", text, fix)


def _horizon(facts: Facts) -> Check:
    """Name the worst of what keeps dead rows from being removed."""
    if facts.blockers is None:
        grant = f'Run as superuser: GRANT pg_monitor TO "{facts.server.role}"'
        return Check(Level.NOTE, "horizon", "what holds it back could not be read", (grant,))
    now = facts.server.now
    worst = compute.worst_holder(facts.blockers, now)
    if worst is None:
        return Check(Level.OK, "horizon", "nothing holds it back")
    age = compute.old(worst.age)
    held = compute.held_for(worst, now)
    age += f",{held}" if held else ""
    what = described(worst, facts.server.dbname)
    text = f"held by {what}, {age}. It withholds {worst.withholds or 'dead rows'}"
    more = len(facts.blockers) - 1
    if more:
        text += f". For {compute.plural(more, 'other')} see pgsweep blockers"
    if not compute.is_old(worst, now):
        return Check(Level.OK, "horizon", text)
    fix = [f"  {worst.fix}"] if worst.fix else []
    if worst.risk:
        fix.append(f"Risk: {worst.risk}")
    return Check(Level.WARN, "horizon", text, tuple(fix))
