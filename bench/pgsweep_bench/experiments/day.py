"""A day in 24 short hours: mixed load on all servers at the same time, all at its default.

More is done by day than by night: shifts of clients come and go, each at a fixed rate, so
that their sessions last. At night old events are deleted and many accounts updated, in one
statement each. In the afternoon a report keeps its snapshot open for an hour.

The servers run side by side, which keeps this machine's other work from being found on one
of them only. What users wait is read from pgbench's log of each transaction, from the time
at which it should have begun.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pgsweep.tune.lab import vacuumlog
from pgsweep.tune.lab.vacuumlog import VacuumLine
from pgsweep_bench.lab import Lab, LabSession, Measured, Options, Probe, Sampler, Series, Turns
from pgsweep_bench.servers.pgbench import Pgbench
from pgsweep_bench.transactions import Done, percentile, read_logs

HOURS = 24
# Autovacuum comes once a naptime, which may be one hour here: looked at less often than
# that, a server would always be seen just before, or just after it.
LOOKS_PER_HOUR = 6
CLIENTS = 4
ACCOUNTS = 1_500_000
EVENTS = 300_000
COUNTERS = 50
QUEUE = 200
MB = 1 << 20
PERCENTILES = (50, 95, 99)

# How often each is called, of a hundred transactions, and what it does.
KINDS: dict[str, tuple[int, str]] = {
    "transfer": (
        35,
        """\\set id random(1, {accounts})
\\set delta random(-1000, 1000)
BEGIN;
UPDATE accounts SET balance = balance + :delta WHERE id = :id;
INSERT INTO events (account, amount, remark) VALUES (:id, :delta, repeat('x', 60));
COMMIT;
""",
    ),
    "read": (
        30,
        """\\set id random(1, {accounts})
SELECT balance FROM accounts WHERE id = :id;
SELECT count(*), sum(amount) FROM events WHERE account = :id;
SELECT sum(hits) FROM counters;
""",
    ),
    "count": (
        20,
        """\\set id random(1, {counters})
UPDATE counters SET hits = hits + 1 WHERE id = :id;
""",
    ),
    "queue": (
        12,
        """INSERT INTO queue (job) VALUES (repeat('j', 100));
DELETE FROM queue WHERE id = (SELECT id FROM queue ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
""",
    ),
    "session": (
        3,
        """BEGIN;
CREATE TEMPORARY TABLE basket (id int PRIMARY KEY, item text, price numeric, number int)
ON COMMIT DROP;
INSERT INTO basket SELECT i, 'item ' || i, i, 1 FROM generate_series(1, 20) i;
SELECT sum(price * number) FROM basket;
COMMIT;
""",
    ),
}
# One transaction in 33 makes a temporary table, and takes longest: in a percentile of all there
# would be nothing but these.
APART = "session"
TABLES = ("accounts", "events", "queue", "counters")
# those that a temporary table leaves rows in
CATALOGS = ("pg_attribute", "pg_class", "pg_type", "pg_depend", "pg_index", "pg_constraint")
# of the catalogs, those whose sizes are told one by one
LARGE_CATALOGS = ("pg_attribute", "pg_class", "pg_depend")

FILL = """
CREATE TABLE accounts (
    id int PRIMARY KEY, status int NOT NULL, balance bigint NOT NULL, filler char(84)
);
INSERT INTO accounts SELECT i, i % 100, 0, '' FROM generate_series(1, {accounts}) i;
CREATE INDEX ON accounts (status);
CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account int NOT NULL, amount int NOT NULL, at timestamptz NOT NULL DEFAULT now(), remark text
);
INSERT INTO events (account, amount, remark)
SELECT 1 + (i * 7919::bigint) % {accounts}, i % 1000, repeat('x', 60)
FROM generate_series(1, {events}) i;
CREATE INDEX ON events (account);
CREATE TABLE counters (id int PRIMARY KEY, hits bigint NOT NULL);
INSERT INTO counters SELECT i, 0 FROM generate_series(1, {counters}) i;
CREATE TABLE queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job text NOT NULL);
INSERT INTO queue (job) SELECT repeat('j', 100) FROM generate_series(1, {queue})
"""


@dataclass(frozen=True)
class Shift:
    """Clients that are there from one hour to another."""

    name: str
    begin: float
    end: float
    # transactions per second
    rate: float


@dataclass(frozen=True)
class Job:
    """What is done once in the day."""

    name: str
    label: str
    begin: float
    script: str


SHIFTS = (
    Shift("base", 0, HOURS, 100),
    Shift("office", 7, 19, 160),
    Shift("morning", 9, 12, 140),
    Shift("afternoon", 14, 17, 140),
)
JOBS = (
    Job("delete", "bulk DELETE", 2, "DELETE FROM events WHERE id <= {events} / 3;\n"),
    Job(
        "update",
        "bulk UPDATE",
        5,
        # With what the users update until noon it is the fifth for which a vacuum is due.
        "UPDATE accounts SET status = status + 1 WHERE id <= {accounts} * 18::bigint / 100;\n",
    ),
    Job(
        "report",
        "report's snapshot",
        14,
        """BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*), sum(amount) FROM events;
\\sleep {hour_ms} ms
SELECT count(*), sum(hits) FROM counters;
COMMIT;
""",
    ),
)

LOOK = """
SELECT c.relname AS name, c.relnamespace = 'pg_catalog'::regnamespace AS catalog,
       pg_total_relation_size(c.oid) AS bytes,
       pg_stat_get_dead_tuples(c.oid) AS told, {dead} AS dead
FROM pg_class c WHERE c.oid = ANY (%s::regclass[])
"""
ALL_BYTES = (
    "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
    " WHERE relkind IN ('r', 'm') AND relpersistence <> 't'"
)
# An extension of both is in the packages of the server's own.
CONTRIB = ("pgstattuple", "pg_visibility")


class Looker:
    """Looks at all tables with one query, for several probes of one sampler."""

    def __init__(self, contrib: bool) -> None:
        dead = "(SELECT dead_tuple_count FROM pgstattuple_approx(c.oid))"
        self._sql = LOOK.format(dead=dead if contrib else "pg_stat_get_dead_tuples(c.oid)")
        self._names = [*TABLES, *(f"pg_catalog.{name}" for name in CATALOGS)]
        self._rows: dict[str, dict[str, Any]] = {}
        # What looking itself takes of the machine: users wait for that as well.
        self.spent_s = 0.0

    def look(self, session: LabSession) -> float:
        """Look again, and return the users' dead rows."""
        began = time.monotonic()
        self._rows = {row["name"]: row for row in session.rows(self._sql, self._names)}
        self.spent_s += time.monotonic() - began
        return self._sum("dead", catalog=False)

    def probes(self) -> tuple[Probe, ...]:
        """Return what is followed. The first probe looks, the others tell what was seen."""
        return (
            Probe("dead", "dead rows of users' tables", "rows", self.look),
            Probe("size", "size of everything", "MB", _all_mb),
            Probe("told", "dead rows by the statistics", "rows", partial(self._told, "told")),
            *(
                Probe(f"dead_{name}", f"{name}: dead rows", "rows", partial(self._of, name))
                for name in TABLES
            ),
            Probe("dead_catalogs", "catalogs: dead rows", "rows", self._catalogs),
            *(
                Probe(f"size_{name}", f"{name}: size", "MB", partial(self._mb, name))
                for name in (*TABLES, *LARGE_CATALOGS)
            ),
        )

    def _sum(self, what: str, *, catalog: bool) -> float:
        return float(sum(row[what] for row in self._rows.values() if row["catalog"] == catalog))

    def _told(self, what: str, _session: LabSession) -> float:
        return self._sum(what, catalog=False)

    def _catalogs(self, _session: LabSession) -> float:
        return self._sum("dead", catalog=True)

    def _of(self, name: str, _session: LabSession) -> float:
        return float(self._rows[name]["dead"])

    def _mb(self, name: str, _session: LabSession) -> float:
        return float(self._rows[name]["bytes"]) / MB


def _all_mb(session: LabSession) -> float:
    return float(session.value(ALL_BYTES)) / MB


def measure(lab: Lab, options: Options) -> Turns:
    """Fill the tables, then run the day. Each turn begins what is next in it."""
    hour_s = options.seconds / HOURS
    sizes = {
        "accounts": options.scaled(ACCOUNTS, least=1000),
        "events": options.scaled(EVENTS, least=1000),
        "counters": COUNTERS,
        "queue": QUEUE,
        "hour_ms": round(1000 * hour_s),
    }
    lab.stage("filling tables")
    contrib = _fill(lab, sizes)
    yield

    looker = Looker(contrib)
    wal_before = lab.wal()["wal_bytes"]
    began = time.time()
    running: dict[str, Pgbench] = {}
    with ExitStack() as stack:
        sampler = stack.enter_context(
            lab.sampling(*looker.probes(), every_s=hour_s / LOOKS_PER_HOUR)
        )
        for begin, task in tasks():
            lab.sleep(began + begin * hour_s - time.time())
            lab.stage(f"hour {begin:g}, {task.name}")
            running[task.name] = _start(lab, task, sizes, hour_s)
            yield
        lab.sleep(began + options.seconds - time.time())
        for pgbench in running.values():
            pgbench.wait()
    ended = time.time()
    measured = Measured()
    _sampled(sampler, measured)
    measured.raw["looking_s"] = round(looker.spent_s, 3)
    _users(lab.server.folder, began, hour_s, measured)
    _vacuums(lab, began, ended, measured)
    _at_the_end(lab, contrib, measured)
    measured.add("wal", (lab.wal()["wal_bytes"] - wal_before) / MB)
    _remark(measured, contrib, hour_s)
    return measured


def _fill(lab: Lab, sizes: Mapping[str, int]) -> bool:
    """Make the tables, and return whether dead rows can be counted."""
    available = "SELECT count(*) FROM pg_available_extensions WHERE name = ANY (%s)"
    contrib = bool(lab.value(available, list(CONTRIB)) == len(CONTRIB))
    if contrib:
        for name in CONTRIB:
            lab.run(f"CREATE EXTENSION {name}")
    lab.run(FILL.format(**sizes))
    lab.run("VACUUM (ANALYZE)")
    lab.run("CHECKPOINT")
    return contrib


def tasks() -> list[tuple[float, Shift | Job]]:
    """Return what begins when, the first first."""
    return sorted(((task.begin, task) for task in (*SHIFTS, *JOBS)), key=lambda each: each[0])


def _start(lab: Lab, task: Shift | Job, sizes: Mapping[str, int], hour_s: float) -> Pgbench:
    log = ("--log", f"--log-prefix={task.name}")
    if isinstance(task, Job):
        return lab.pgbench(task.name, task.script.format(**sizes), transactions=1, extra=log)
    return lab.pgbench(
        task.name,
        [script.format(**sizes) for _, script in KINDS.values()],
        weights=[weight for weight, _ in KINDS.values()],
        clients=CLIENTS,
        rate=task.rate,
        seconds=(task.end - task.begin) * hour_s,
        extra=log,
    )


# ---- what came out


def _sampled(sampler: Sampler, measured: Measured) -> None:
    def mean(name: str) -> float:
        values = sampler.values(name)
        return sum(values) / len(values)

    measured.add("dead_mean", mean("dead"))
    measured.add("dead_peak", max(sampler.values("dead")))
    measured.add("told_mean", mean("told"))
    for name in (*TABLES, "catalogs"):
        measured.add(f"dead_{name}", mean(f"dead_{name}"))
    measured.add("size", sampler.values("size")[-1])
    measured.add("size_peak", max(sampler.values("size")))
    for name in (*TABLES, *LARGE_CATALOGS):
        measured.add(f"size_{name}", sampler.values(f"size_{name}")[-1])
    measured.series += sampler.series()


def _users(folder: Path, began: float, hour_s: float, measured: Measured) -> None:
    done = [one for shift in SHIFTS for one in read_logs(folder, shift.name, list(KINDS))]
    measured.add("transactions", len(done))
    measured.raw["hours"] = hours(done, began, hour_s)
    most = [one.ms for one in done if one.kind != APART]
    if most:
        measured.add("p50_most", percentile(most, 50))
    for kind in ("most", *KINDS):
        latencies = [one.ms for one in done if kind in _kinds_of(one)]
        if latencies:
            measured.add(f"p99_{kind}", percentile(latencies, 99))
        label = f"users, {'without temporary tables' if kind == 'most' else kind}:"
        points = tuple(
            (round((each["hour"] + 0.5) * hour_s, 3), each[kind]["p99"])
            for each in measured.raw["hours"]
            if kind in each
        )
        measured.series.append(Series(f"p99_{kind}", f"{label} 99th percentile", "ms", points))
    measured.raw["jobs"] = [
        {
            "label": job.label,
            "begin": (one.at - one.ms / 1000 - began) / hour_s,
            "end": (one.at - began) / hour_s,
        }
        for job in JOBS
        for one in read_logs(folder, job.name, [job.name])
    ]


def _kinds_of(one: Done) -> tuple[str, ...]:
    return (one.kind,) if one.kind == APART else ("most", one.kind)


def hours(done: Iterable[Done], began: float, hour_s: float) -> list[dict[str, Any]]:
    """Return how many of each kind ended in each hour, and what these waited in ms."""
    latencies: list[dict[str, list[float]]] = [{} for _ in range(HOURS)]
    for one in done:
        # What ends a little late is the last hour's.
        hour = min(max(int((one.at - began) / hour_s), 0), HOURS - 1)
        for kind in _kinds_of(one):
            latencies[hour].setdefault(kind, []).append(one.ms)
    return [
        {"hour": hour}
        | {
            kind: {"transactions": len(values)}
            | {f"p{percent}": percentile(values, percent) for percent in PERCENTILES}
            for kind, values in kinds.items()
        }
        for hour, kinds in enumerate(latencies)
    ]


def _vacuums(lab: Lab, began: float, ended: float, measured: Measured) -> None:
    lines = [line for line in lab.vacuums(since=began) if line.at <= ended]
    sums = vacuumlog.total(lines)
    measured.add("vacuums", sums["vacuums"])
    measured.add("vacuum_io", sums["blks_read"] + sums["blks_dirtied"])
    measured.add("vacuum_wal", sums["wal_bytes"] / MB)
    # The catalogs' vacuums are too many to be told one by one.
    measured.raw["vacuums"] = [asdict(line) for line in lines if line.relname in TABLES]
    measured.raw["vacuums_of"] = sums_of(lines)
    ours = sum(line.started_by == "sweep" for line in lines)
    if ours:
        measured.notes.append(
            f"{ours} of the {len(lines)} vacuums were pg_sweep's, the others autovacuum's."
        )


def sums_of(lines: Iterable[VacuumLine]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the vacuums' counters by table and by who began them."""
    found: dict[str, dict[str, list[VacuumLine]]] = {}
    for line in lines:
        found.setdefault(line.relname, {}).setdefault(line.started_by, []).append(line)
    return {
        relname: {who: vacuumlog.total(some) for who, some in by.items()}
        for relname, by in sorted(found.items())
    }


def _at_the_end(lab: Lab, contrib: bool, measured: Measured) -> None:
    age = "SELECT age(relfrozenxid) FROM pg_class WHERE oid = 'events'::regclass"
    measured.add("events_age", float(lab.value(age)))
    pages = max(1, lab.pages("events"))
    visible = float(lab.value("SELECT relallvisible FROM pg_class WHERE relname = 'events'"))
    if contrib:
        row = lab.rows("SELECT * FROM pg_visibility_map_summary('events')")[0]
        visible = float(row["all_visible"])
        measured.add("events_frozen", 100 * float(row["all_frozen"]) / pages)
    measured.add("events_visible", 100 * visible / pages)


def _remark(measured: Measured, contrib: bool, hour_s: float) -> None:
    measured.notes.append(
        "Dead rows are counted by pgstattuple, which does not see those of which only the line "
        "pointer is left; the statistics count these, too."
        if contrib
        else "Dead rows are those of the statistics, because pgstattuple is not installed."
    )
    wanted = sum(shift.rate * (shift.end - shift.begin) for shift in SHIFTS) * hour_s
    found = measured.samples["transactions"][0]
    if found < 0.95 * wanted:
        measured.notes.append(
            f"This machine did {100 * found / wanted:.0f} % of the transactions that the rates "
            "ask for: users waited for their turn."
        )
