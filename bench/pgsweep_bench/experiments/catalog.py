"""Seed 001: tables created in transactions that are aborted, beside users who read.

A round creates a table with 300 partitions and aborts. Rounds follow each other in a loop, with a
pause of 1.5 s between them, so that no two fall into one second of naptime. First the load runs
in one piece, for the sizes of the catalogs over time. Then it runs in short slices, the variants
by turns. They tell how many of the users' queries and new connections get done, which read the
catalogs most. In the variant "off" no garbage is made. That is what the users would have on an
ideal server.
"""

from __future__ import annotations

import time
from dataclasses import asdict

from pgsweep.base.errors import ServerError
from pgsweep.tune.lab import vacuumlog
from pgsweep_bench.lab import Lab, Measured, Options, Probe, Turns, VacuumLine
from pgsweep_bench.servers.pgbench import Pgbench

PARTITIONS = 300
PAUSE_MS = 1500
READS_PER_S = 200
ACCOUNTS_SCALE = 5
SECONDS_PER_SLICE = 12
LONG_SHARE = 0.6
MB = 1 << 20

ROUND = """BEGIN;
CREATE TABLE bloat_tbl (i int, j int, k int, l int, m int, n int, o int, p int)
PARTITION BY RANGE (j);
DO $$
BEGIN
    FOR n IN 1..{partitions} LOOP
        EXECUTE format('CREATE TABLE bloat_tbl_%s PARTITION OF bloat_tbl '
                       'FOR VALUES FROM (%s) TO (%s)', n, n, n + 1);
    END LOOP;
END $$;
ROLLBACK;
\\sleep {pause_ms} ms
"""
CATALOGS = ("attribute", "class")
PROBES = tuple(
    Probe(
        f"{name}_pages",
        f"pg_{name}",
        "pages",
        f"SELECT pg_relation_size('pg_catalog.pg_{name}') / 8192",
    )
    for name in CATALOGS
)


def measure(lab: Lab, options: Options) -> Turns:
    """The long piece, then slices."""
    measured = Measured()
    lab.stage("filling pgbench's tables")
    lab.pgbench_init(options.scaled(ACCOUNTS_SCALE))
    lab.run("VACUUM (ANALYZE) pgbench_accounts")
    script = ROUND.format(partitions=options.scaled(PARTITIONS, least=20), pause_ms=PAUSE_MS)
    yield

    _long(lab, options, script, measured)
    yield

    slices = max(2, round(options.seconds / SECONDS_PER_SLICE))
    slice_s = options.seconds * (1 - LONG_SHARE) / slices / 2
    for _ in range(slices):
        lab.stage("users' queries")
        measured.add("tps", _slice(lab, script, slice_s, connect=False))
        lab.stage("users' connections")
        measured.add("connections", _slice(lab, script, slice_s, connect=True))
        # What still runs would disturb the others' turns.
        lab.settle(seconds=10)
        yield
    return measured


def _garbage(lab: Lab, script: str) -> Pgbench | None:
    if lab.variant.name == "off":
        return None
    return lab.pgbench("garbage", script)


def _long(lab: Lab, options: Options, script: str, measured: Measured) -> None:
    lab.stage("making garbage" if lab.variant.name != "off" else "reading")
    seconds = options.seconds * LONG_SHARE
    dead = "pg_catalog.pg_stat_get_dead_tuples('pg_catalog.pg_attribute'::regclass)"
    tries = f"SELECT {dead} + pg_stat_get_tuples_inserted('pg_catalog.pg_attribute'::regclass)"
    inserted_before = float(lab.value(tries) or 0)
    began = time.time()
    with lab.sampling(*PROBES, every_s=0.5) as sampler:
        reader = lab.pgbench(
            "reader", builtin="select-only", rate=READS_PER_S, seconds=seconds, clients=2
        )
        garbage = _garbage(lab, script)
        clients = reader.wait()
        if garbage is not None:
            if not garbage.running:
                raise ServerError("making garbage ended early", lab.host.read("garbage.log"))
            garbage.stop()
    ended = time.time()
    for name in CATALOGS:
        pages = sampler.values(f"{name}_pages")
        measured.add(f"{name}_peak", max(pages))
        measured.add(f"{name}_final", pages[-1])
    measured.series += sampler.series()
    measured.raw["reader"] = asdict(clients)
    measured.raw["attribute_tuples"] = float(lab.value(tries) or 0) - inserted_before
    _vacuums(lab, began, ended, measured)


def _vacuums(lab: Lab, began: float, ended: float, measured: Measured) -> None:
    try:
        lines = lab.vacuums(since=began)
    except ServerError as exc:
        measured.notes.append(f"Vacuums are not shown: {exc.message}.")
        return
    lines = [line for line in lines if line.schemaname == "pg_catalog" and line.at <= ended]
    sums = vacuumlog.total(lines)
    measured.add("vacuums", sums["vacuums"])
    measured.add("vacuum_io", sums["blks_read"] + sums["blks_dirtied"])
    measured.add("vacuum_wal", sums["wal_bytes"] / MB)
    of_attribute = [line for line in lines if line.relname == "pg_attribute"]
    if of_attribute:
        measured.add("first_vacuum", min(line.at for line in of_attribute) - began)
        took = sum(line.elapsed_s for line in of_attribute) / len(of_attribute)
        measured.add("attribute_took", 1000 * took)
    elif lab.variant.name != "off":
        measured.notes.append(f"No vacuum of pg_attribute ended in {ended - began:.0f} s.")
    _who(lines, measured)
    measured.raw["vacuums"] = [asdict(line) for line in lines]


def _who(lines: list[VacuumLine], measured: Measured) -> None:
    ours = sum(line.started_by == "sweep" for line in lines)
    if ours:
        measured.notes.append(
            f"{ours} of the {len(lines)} vacuums were pg_sweep's, the others autovacuum's."
        )


def _slice(lab: Lab, script: str, seconds: float, connect: bool) -> float:
    """Return the users' transactions per second while garbage is made."""
    garbage = _garbage(lab, script)
    users = lab.pgbench(
        "users", builtin="select-only", seconds=seconds, extra=("-C",) if connect else ()
    )
    tps = users.wait().tps
    if garbage is not None:
        garbage.stop()
    return tps
