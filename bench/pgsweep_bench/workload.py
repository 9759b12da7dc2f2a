"""The demo's databases and what goes on in them.

There are three kinds of tables, so that all who can start a vacuum are to be seen. In `demo`
pg_sweep vacuums. `demo_core` is excluded from it, so autovacuum vacuums there. One table has
autovacuum_enabled off, and somebody vacuums it by hand.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from pgsweep.base.output import note

if TYPE_CHECKING:
    from pgsweep_bench.servers.server import ThrowawayServer

DATABASE = "demo"
CORE_DATABASE = "demo_core"
SCALE = 10

SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "sweep.exclude_databases": CORE_DATABASE,
    "sweep.min_interval": "5s",
    "shared_buffers": "256MB",
    "max_connections": "50",
    "max_wal_size": "512MB",
    "checkpoint_timeout": "2min",
    "synchronous_commit": "off",
    "track_io_timing": "on",
    "log_autovacuum_min_duration": "0",
    "log_checkpoints": "off",
    # This is often enough for autovacuum to be seen within half a minute.
    "autovacuum_naptime": "8s",
    # Several vacuums start in a minute, but not of every tiny table.
    "autovacuum_vacuum_threshold": "500",
    "autovacuum_analyze_threshold": "2000",
    "autovacuum_vacuum_scale_factor": "0.01",
    "autovacuum_vacuum_insert_scale_factor": "0.1",
    # They are slow enough to be watched.
    "autovacuum_vacuum_cost_delay": "20ms",
    "autovacuum_vacuum_cost_limit": "100",
}

# pgbench_accounts is many times larger than the other tables. At their pace its vacuum would take
# minutes.
PREPARE = """
ALTER TABLE pgbench_accounts
SET (autovacuum_vacuum_cost_limit = 250, autovacuum_vacuum_cost_delay = 20);
CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    kind integer NOT NULL,
    payload text NOT NULL
);
INSERT INTO events (kind, payload)
SELECT i % 7, repeat(md5(i::text), 3) FROM generate_series(1, 200000) i;
CREATE TABLE sessions (id integer PRIMARY KEY, hits integer NOT NULL, data text NOT NULL)
WITH (autovacuum_enabled = off);
INSERT INTO sessions SELECT i, 0, repeat('s', 200) FROM generate_series(1, 100000) i;
"""

PREPARE_CORE = """
CREATE TABLE invoices (id integer PRIMARY KEY, state integer NOT NULL, note text NOT NULL);
INSERT INTO invoices SELECT i, 0, repeat('n', 200) FROM generate_series(1, 150000) i;
CREATE INDEX ON invoices (state);
"""

# Each transaction of a script is small. One core can easily keep up with the rates.
UPDATE_ACCOUNTS = """\\set aid random(1, 100000 * :scale - 200)
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid BETWEEN :aid AND :aid + 99;
"""
INSERT_EVENTS = """\\set kind random(1, 7)
INSERT INTO events (kind, payload)
SELECT :kind, repeat(md5(i::text), 3) FROM generate_series(1, 400) i;
DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY id LIMIT 400)
    AND id < (SELECT max(id) FROM events) - 1000000;
"""
# The rows are scattered, so that every vacuum has many pages to visit.
UPDATE_SESSIONS = """UPDATE sessions SET hits = hits + 1
WHERE id = ANY (ARRAY(SELECT 1 + (random() * 99998)::int FROM generate_series(1, 25)));
"""
UPDATE_INVOICES = """UPDATE invoices SET state = state + 1
WHERE id = ANY (ARRAY(SELECT 1 + (random() * 149998)::int FROM generate_series(1, 25)));
"""
VACUUM_BY_HAND = """SET vacuum_cost_delay = '20ms';
SET vacuum_cost_limit = 50;
VACUUM sessions \\watch 8
"""


def prepare(server: ThrowawayServer) -> None:
    """Create the databases, the extension and the tables."""
    for name in (DATABASE, CORE_DATABASE):
        server.psql("postgres", f"CREATE DATABASE {name}")
    server.psql(DATABASE, "CREATE EXTENSION pg_sweep")
    note(f"filling pgbench tables (scale {SCALE}) and an insert-heavy table")
    server.run(
        [
            "pgbench",
            "-i",
            "-q",
            "-I",
            "dtGvp",
            "-s",
            str(SCALE),
            *server.flags(DATABASE)[:-2],
            DATABASE,
        ]
    )
    server.psql(DATABASE, PREPARE)
    server.psql(CORE_DATABASE, PREPARE_CORE)
    # pgbench's own VACUUM of the new tables is not meant to be seen.
    server.psql(DATABASE, "SELECT sweep.reset_runs()")


def start(server: ThrowawayServer) -> list[subprocess.Popen[bytes]]:
    """Start the workloads. They run until the server is closed."""
    accounts = server.write("accounts.sql", UPDATE_ACCOUNTS)
    events = server.write("events.sql", INSERT_EVENTS)
    sessions = server.write("sessions.sql", UPDATE_SESSIONS)
    invoices = server.write("invoices.sql", UPDATE_INVOICES)
    by_hand = server.write("by_hand.sql", VACUUM_BY_HAND)
    mixed = ("-b", "tpcb-like@9", "-f", f"{accounts}@1")
    scale = ("-s", str(SCALE))
    return [
        _pgbench(server, DATABASE, "bench", (*mixed, *scale), clients=4, rate=200),
        _pgbench(server, DATABASE, "events", ("-f", events), clients=1, rate=10),
        _pgbench(server, DATABASE, "sessions", ("-f", sessions), clients=1, rate=20),
        _pgbench(server, CORE_DATABASE, "invoices", ("-f", invoices), clients=1, rate=20),
        server.start(
            ["psql", "-X", "-q", *server.flags(DATABASE), "-f", by_hand], log="by_hand.log"
        ),
    ]


def _pgbench(
    server: ThrowawayServer,
    dbname: str,
    name: str,
    scripts: tuple[str, ...],
    clients: int,
    rate: int,
) -> subprocess.Popen[bytes]:
    # -T is the longest that pgbench takes. The demo ends pgbench by closing the server.
    fixed = ("-n", "-T", "2000000", "-c", str(clients), "-R", str(rate))
    command = ["pgbench", *fixed, *scripts, *server.flags(dbname)[:-2], dbname]
    return server.start(command, log=f"{name}.log")
