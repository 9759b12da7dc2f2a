"""Garbage that comes slowly: rows of a large table are updated and deleted here and there.

Half a percent of the rows an hour, for sixty hours that last half an hour: so autovacuum's
vacuum, at a fifth, comes once. The servers run side by side, under the same load. pg_sweep's
clock goes as much faster (sweep.debug_clock_rate). What cannot be made faster is said in the
scenario.
"""

from __future__ import annotations

import time
from typing import Any

from pgsweep.tune.lab import vacuumlog
from pgsweep_bench.lab import Lab, LabSession, Measured, Options, Probe, Turns
from pgsweep_bench.transactions import Done, percentile, read_logs

HOURS = 60
ROWS = 5_000_000
# of the rows, an hour
GARBAGE = 0.005
CLIENTS = 4
READS = 100.0
LOOKS = 120
MB = 1 << 20

FILL = """
CREATE TABLE orders (
    id int, customer int NOT NULL, code text NOT NULL, status int NOT NULL, at timestamptz NOT NULL,
    note text NOT NULL
);
INSERT INTO orders
SELECT i, (i * 7919::bigint) % {customers}, md5(i::text), i % 100,
       '2026-01-01'::timestamptz + i * interval '1 second', repeat(md5((-i)::text), 27)
FROM generate_series(1, {rows}) i;
CREATE UNIQUE INDEX orders_id ON orders (id);
CREATE INDEX orders_customer ON orders (customer, at);
CREATE INDEX orders_code ON orders (code);
CREATE INDEX orders_status ON orders (status, at)
"""
INDEXES = ("orders_id", "orders_customer", "orders_code", "orders_status")
# How often each is called, of a hundred changes.
CHANGES: dict[str, tuple[int, str]] = {
    # of no column that an index has: a HOT update where the page has room
    "note": (
        50,
        "\\set id random(1, {rows})\n"
        "UPDATE orders SET note = md5(:id::text) || substr(note, 33) WHERE id = :id;\n",
    ),
    "status": (
        25,
        "\\set id random(1, {rows})\n"
        "UPDATE orders SET status = (status + 1) % 100 WHERE id = :id;\n",
    ),
    "delete": (25, "\\set id random(1, {rows})\nDELETE FROM orders WHERE id = :id;\n"),
}
READ = """\\set id random(1, {rows})
\\set customer random(1, {customers})
SELECT note FROM orders WHERE id = :id;
SELECT count(*), max(at) FROM orders WHERE customer = :customer;
"""
DEAD = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'orders'"
BUFFERS_WRITTEN = {
    15: "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter",
    17: "SELECT sum(writes) FROM pg_stat_io WHERE object = 'relation'",
    18: "SELECT sum(write_bytes) / 8192 FROM pg_stat_io WHERE object = 'relation'",
}
CLEANS = """SELECT count(*) AS cleans, sum(tuples_removed) AS tuples_removed,
    sum(blks_read) AS blks_read, sum(blks_dirtied) AS blks_dirtied, sum(wal_bytes) AS wal_bytes
FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'orders'"""
BY_KIND = """SELECT reason LIKE '%%shared buffers' AS in_memory, count(*) AS cleans,
    sum(tuples_removed)::float AS tuples_removed, sum(blks_hit)::float AS blks_hit,
    sum(blks_read)::float AS blks_read, sum(blks_dirtied)::float AS blks_dirtied,
    sum(wal_bytes)::float AS wal_bytes, sum(wal_fpi)::float AS wal_fpi
FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'orders' GROUP BY 1"""
REASONS = "SELECT decision, reason FROM sweep.cleanings WHERE relname = 'orders'"


def measure(lab: Lab, options: Options) -> Turns:
    """Fill the table, then change it. One turn fills, the next one begins to change."""
    rows = options.scaled(ROWS, least=70_000)
    sizes = {"rows": rows, "customers": rows // 10}
    lab.stage(f"filling {rows:,} rows")
    _clock(lab, HOURS * 3600 / options.seconds)
    lab.run(FILL.format(**sizes))
    lab.run("VACUUM (FREEZE, ANALYZE) orders")
    lab.run("CHECKPOINT")
    lab.settle()
    lab.run("SELECT pg_catalog.pg_stat_reset_shared('wal')")
    yield

    began = time.time()
    before = _totals(lab)
    rate = GARBAGE * rows * HOURS / options.seconds
    lab.stage(f"{rate:.0f} rows a second are changed")
    with lab.sampling(*_probes(), every_s=options.seconds / LOOKS) as sampler:
        running = [
            lab.pgbench(
                "change",
                [script.format(**sizes) for _, script in CHANGES.values()],
                weights=[weight for weight, _ in CHANGES.values()],
                clients=CLIENTS,
                rate=rate,
                seconds=options.seconds,
                protocol="prepared",
                extra=("--log", "--log-prefix=change"),
            ),
            lab.pgbench(
                "read",
                READ.format(**sizes),
                clients=CLIENTS,
                rate=READS,
                seconds=options.seconds,
                protocol="prepared",
                extra=("--log", "--log-prefix=read"),
            ),
        ]
        # the other server is changed at the same time
        yield
        lab.sleep(began + options.seconds - time.time())
        for pgbench in running:
            pgbench.wait()
    ended = time.time()
    lab.settle()
    measured = Measured(series=list(sampler.series()))
    _garbage(lab, sampler.values("dead"), measured)
    _cost(lab, began, before, measured)
    changes = read_logs(lab.server.folder, "change", list(CHANGES))
    reads = read_logs(lab.server.folder, "read", ["read"])
    _users(changes, reads, measured)
    measured.raw["seconds"] = ended - began
    measured.raw["rows"] = rows
    return measured


def _clock(lab: Lab, rate: float) -> None:
    """Let pg_sweep's clock go faster, and wait until the server is there again."""
    if lab.library:
        lab.run(f"ALTER SYSTEM SET sweep.debug_clock_rate = {round(rate)}")
        lab.restart()


def _probes() -> tuple[Probe, ...]:
    def wal(session: LabSession) -> float:
        return float(session.value("SELECT wal_bytes FROM pg_catalog.pg_stat_wal")) / MB

    return (
        Probe("dead", "dead rows by the statistics", "rows", DEAD),
        Probe("size", "table and indexes", "MB", f"SELECT pg_total_relation_size('orders') / {MB}"),
        Probe(
            "indexes",
            "indexes",
            "MB",
            f"SELECT pg_indexes_size('orders') / {MB}",
        ),
        Probe("wal", "WAL of the server", "MB", wal),
        Probe(
            "read",
            "pages read by the server",
            "pages",
            "SELECT blks_read FROM pg_stat_database WHERE datname = current_database()",
        ),
    )


def _totals(lab: Lab) -> dict[str, float]:
    """Return what the server has read, written and logged so far, in pages and bytes."""
    lab.run("CHECKPOINT")
    major = max(known for known in BUFFERS_WRITTEN if known <= max(lab.major, 15))
    reads = "SELECT blks_read FROM pg_stat_database WHERE datname = current_database()"
    return {
        "read": float(lab.value(reads)),
        "written": float(lab.value(BUFFERS_WRITTEN[major])),
        "wal": lab.wal()["wal_bytes"],
    }


def _garbage(lab: Lab, dead: list[float], measured: Measured) -> None:
    measured.add("dead_mean", sum(dead) / len(dead))
    measured.add("dead_peak", max(dead))
    measured.add("size", float(lab.value("SELECT pg_table_size('orders')")) / MB)
    for name in INDEXES:
        size = float(lab.value("SELECT pg_relation_size(%s::regclass)", name)) / MB
        measured.add(f"size_{name}", size)


def _cost(lab: Lab, began: float, before: dict[str, float], measured: Measured) -> None:
    lines = lab.vacuums("orders", since=began)
    vacuums = vacuumlog.total(lines)
    cleans: dict[str, Any] = dict.fromkeys(
        ("cleans", "tuples_removed", "blks_read", "blks_dirtied", "wal_bytes"), 0
    )
    if lab.library:
        cleans = {name: float(value or 0) for name, value in lab.rows(CLEANS)[0].items()}
        measured.raw["cleanings"] = lab.rows(REASONS)
        measured.raw["cleans_by_kind"] = lab.rows(BY_KIND)
    measured.add("vacuums", vacuums["vacuums"])
    measured.add("cleans", cleans["cleans"])
    measured.add("removed", vacuums["tuples_removed"] + cleans["tuples_removed"])
    for name in ("blks_read", "blks_dirtied"):
        measured.add(f"clean_{name}", vacuums[name] + cleans[name])
    measured.add("clean_wal", (vacuums["wal_bytes"] + cleans["wal_bytes"]) / MB)
    after = _totals(lab)
    measured.add("all_read", after["read"] - before["read"])
    measured.add("all_written", after["written"] - before["written"])
    measured.add("all_wal", (after["wal"] - before["wal"]) / MB)
    measured.raw["vacuums"] = vacuums
    measured.raw["cleans"] = cleans
    # this reads the whole table, so it comes last
    if lab.value("SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'"):
        lab.run("CREATE EXTENSION pgstattuple")
        counted = lab.value("SELECT dead_tuple_count FROM pgstattuple('orders')")
        measured.add("dead_counted", float(counted))


def _users(changes: list[Done], reads: list[Done], measured: Measured) -> None:
    measured.add("changes", len(changes))
    for name, done in (("change", changes), ("read", reads)):
        latencies = [one.ms for one in done]
        if latencies:
            measured.add(f"p50_{name}", percentile(latencies, 50))
            measured.add(f"p99_{name}", percentile(latencies, 99))
