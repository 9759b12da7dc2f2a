"""What `doctor` concludes from the facts; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from pgsweep import compute
from pgsweep.core.blockers import described
from pgsweep.model import Database, DatabaseAge, Facts, Status

LAUNCHER_SLOTS = 2  # and the governor
# A worker that only catalogs may have, beside sweep.max_workers.
CATALOG_SLOTS = 1
DEFAULT_MAX_WORKERS = 2
MIN_INTERVAL_LOW_S = 1


class Level(IntEnum):
    """How bad it is; the values order the levels."""

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
        ]
    elif facts.installed_version is not None and not _known_unloaded(facts):
        checks.append(_views(facts))
    checks += [_slots(facts), *_settings(facts), _reading(facts), _acting(facts)]
    checks += [*_databases(facts), *_age(facts), _horizon(facts)]
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
                f"{status.mode}; {compute.plural(crashes, 'recent crash').replace('hs', 'hes')} "
                "of sweep processes",
                ("Look into the server log; after three crashes pg_sweep switches itself off.",),
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
            if status.mode != "off" and age > compute.STALE_ROUND.total_seconds():
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
    for feature in off:
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


def _slots(facts: Facts) -> Check:
    limit = int(facts.settings.get("max_worker_processes", "8"))
    workers = int(facts.settings.get("sweep.max_workers", DEFAULT_MAX_WORKERS))
    used = facts.worker_slots_used or 0
    status = facts.status
    running = 0
    if status is not None:
        running = (1 if status.launcher_pid else 0) + (status.workers or 0)
    needed = LAUNCHER_SLOTS + workers + (CATALOG_SLOTS if workers else 0)
    others = max(0, used - running)
    missing = others + needed - limit
    text = (
        f"{limit} background worker slots, {others} used by others now, "
        f"pg_sweep needs {needed} (launcher and governor 2 + sweep.max_workers {workers} "
        "+ 1 for catalogs)"
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
    if missing > 0 or lost:
        return Check(Level.WARN, "slots", text, fix)
    if failures:
        starts = compute.plural(failures, "worker")
        return Check(Level.NOTE, "slots", f"{text}; {starts} could not be started so far", fix)
    return Check(Level.OK, "slots", text)


def _settings(facts: Facts) -> Iterator[Check]:
    found = len(facts.settings)
    bad = False
    get = facts.settings.get
    if get("autovacuum", "on") != "on":
        bad = True
        yield Check(
            Level.WARN,
            "settings",
            "autovacuum is off: pg_sweep relies on it against wraparound",
            ("Set in postgresql.conf, and reload:", "  autovacuum = on"),
        )
    if get("track_counts", "on") != "on":
        bad = True
        yield Check(
            Level.FAIL,
            "settings",
            "track_counts is off: nobody can know which table needs a vacuum",
            ("Set in postgresql.conf, and reload:", "  track_counts = on"),
        )
    if get("track_activities", "on") != "on":
        bad = True
        yield Check(
            Level.WARN,
            "settings",
            "track_activities is off: phases and progress of vacuums are not to be seen",
            ("Set in postgresql.conf, and reload:", "  track_activities = on"),
        )
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
    if interval is not None and interval < MIN_INTERVAL_LOW_S:
        bad = True
        yield Check(
            Level.NOTE,
            "settings",
            f"sweep.min_interval is {interval:g} s: a vacuum makes all sessions reload the table",
            ("Set in postgresql.conf, and reload:", "  sweep.min_interval = 60s"),
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
        f"{text}; not {', '.join(denied)}",
        (f'To allow one: GRANT EXECUTE ON FUNCTION {denied[0]} TO "{facts.server.role}"',),
    )


def _databases(facts: Facts) -> Iterator[Check]:
    if not facts.databases:
        return
    ours = sum(1 for database in facts.databases if database.ours)
    others = [database for database in facts.databases if not database.ours]
    text = f"{ours} of {len(facts.databases)} in scope; the extension is needed in one only"
    if others:
        names = ", ".join(
            f"{database.datname} ({database.reason})" if database.reason else database.datname
            for database in others[:4]
        )
        more = f" and {len(others) - 4} more" if len(others) > 4 else ""
        text += f"; not: {names}{more}"
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
        "A vacuum against wraparound does not get through: look for old transactions,",
        "prepared transactions and replication slots that hold it back.",
    )
    yield Check(Level.WARN, "xid age", text, fix)


def _horizon(facts: Facts) -> Check:
    """Name the worst of what keeps dead rows from being removed."""
    if facts.blockers is None:
        grant = f'Run as superuser: GRANT pg_monitor TO "{facts.server.role}"'
        return Check(Level.NOTE, "horizon", "what holds it back could not be read", (grant,))
    if not facts.blockers:
        return Check(Level.OK, "horizon", "nothing holds it back")
    worst = facts.blockers[0]
    now = facts.server.now
    for blocker in facts.blockers:
        # One that is old by the clock counts more than one that is old by transactions only.
        if compute.is_old(blocker, now) and not compute.is_old(worst, now):
            worst = blocker
    age = f"{worst.age or 0:,} transactions old"
    since = compute.held_since(worst)
    if since is not None:
        minutes = max(0.0, (now - since).total_seconds()) / 60
        age += f", for {minutes:.0f} min" if minutes < 120 else f", for {minutes / 60:.0f} h"
    what = described(worst, facts.server.dbname)
    text = f"held by {what}, {age}; withholds {worst.withholds or 'dead rows'}"
    more = len(facts.blockers) - 1
    if more:
        text += f"; {compute.plural(more, 'other')}: see pgsweep blockers"
    if not compute.is_old(worst, now):
        return Check(Level.OK, "horizon", text)
    fix = [f"  {worst.fix}"] if worst.fix else []
    if worst.risk:
        fix.append(f"Risk: {worst.risk}")
    return Check(Level.WARN, "horizon", text, tuple(fix))
