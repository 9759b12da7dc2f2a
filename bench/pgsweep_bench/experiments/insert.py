"""Seed 000: an insert-only table, loaded frozen, then grown at a fixed rate.

The table fills shared_buffers before the load begins. Four clients insert ten rows per
transaction. What the automatic vacuums of the table cost meanwhile is read from the server's log.
At the end all of it is frozen by hand, after a checkpoint, so that what was put off is paid
within the experiment.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

from pgsweep.tune.lab import vacuumlog
from pgsweep_bench.lab import Lab, Measured, Options, Probe, Series

TABLE = "history"
CLIENTS = 4
MB = 1 << 20


@dataclass(frozen=True)
class Load:
    """How large the table is at scale 1, and how fast it grows."""

    rows: int
    # All clients together reach this. Each transaction has ten rows.
    transactions_per_s: int


# 57 rows fit on a page. So this is 64 MB, as large as shared_buffers. It grows by 2.8 MB/s.
SMALL = Load(rows=470_000, transactions_per_s=2000)

CREATE = """BEGIN;
CREATE TABLE history (
    id bigint, client_id int NOT NULL, mtime timestamptz DEFAULT now(), data text
);
COPY history FROM '{file}' WITH (FREEZE);
CREATE INDEX ON history (id);
COMMIT"""
INSERT = (
    "INSERT INTO history (id, client_id, data) VALUES\n"
    + ",\n".join(f"(:client_id, :client_id, repeat('{letter}', 90))" for letter in "abcdefghij")
    + ";\n"
)

PROBES = (
    Probe(
        "waiting",
        "rows inserted since the last vacuum",
        "rows",
        "SELECT n_ins_since_vacuum FROM pg_stat_user_tables WHERE relname = 'history'",
    ),
    Probe(
        "visible",
        "pages that a vacuum need not read",
        "%",
        "SELECT 100.0 * relallvisible / greatest(pg_relation_size(oid) / 8192, 1)"
        " FROM pg_class WHERE relname = 'history'",
    ),
)


def measure(lab: Lab, options: Options) -> Measured:
    """Load, insert, freeze."""
    return measure_load(lab, options, SMALL)


def measure_load(lab: Lab, options: Options, load: Load) -> Measured:
    """Load, insert, freeze a table of that size."""
    lab.stage("loading the table")
    _load(lab, options.scaled(load.rows, least=20_000))
    lab.run("CHECKPOINT")
    measured = Measured()
    wal_before = lab.wal()
    lab.stage("inserting")
    began = time.time()
    with lab.sampling(*PROBES) as sampler:
        running = lab.pgbench(
            "insert",
            INSERT,
            clients=CLIENTS,
            rate=load.transactions_per_s,
            seconds=options.seconds,
            protocol="prepared",
        )
        clients = running.wait()
    lab.settle()
    wal_after = lab.wal()
    lab.stage("freezing what is left")
    lab.run("CHECKPOINT")
    lab.run("SET vacuum_cost_delay = 0")
    frozen = lab.vacuum(TABLE, "FREEZE")
    # with one that has come since then, and left the last one nothing to do
    vacuums = lab.vacuums(TABLE, since=began)

    sums = vacuumlog.total(vacuums)
    measured.add("vacuums", sums["vacuums"])
    measured.add("vacuum_read", sums["blks_read"])
    measured.add("vacuum_dirtied", sums["blks_dirtied"])
    measured.add("vacuum_fpi", sums["wal_fpi"])
    measured.add("vacuum_wal", sums["wal_bytes"] / MB)
    measured.add("run_fpi", wal_after["wal_fpi"] - wal_before["wal_fpi"])
    measured.add("run_wal", (wal_after["wal_bytes"] - wal_before["wal_bytes"]) / MB)
    measured.add("latency", clients.latency_ms)
    measured.add("lag", clients.lag_ms)
    if frozen is not None:
        io = frozen.blks_read + frozen.blks_dirtied
        measured.add("freeze_io", io)
        measured.add("freeze_fpi", frozen.wal_fpi)
        measured.add("freeze_wal", frozen.wal_bytes / MB)
        measured.add("total_io", io + sums["blks_read"] + sums["blks_dirtied"])
        measured.add("total_fpi", frozen.wal_fpi + sums["wal_fpi"])
        measured.add("total_wal", (frozen.wal_bytes + sums["wal_bytes"]) / MB)
    measured.series += [*sampler.series(), _spent(vacuums, began)]
    _remark(measured, vacuums, clients.transactions, load.transactions_per_s * options.seconds)
    measured.raw = {
        "vacuums": [asdict(line) for line in vacuums],
        "freeze": asdict(frozen) if frozen else None,
        "pgbench": asdict(clients),
    }
    return measured


def _load(lab: Lab, rows: int) -> None:
    file = str(lab.server.folder / "history.data")
    lab.run(
        f"COPY (SELECT i % {CLIENTS}, i % {CLIENTS}, now(), repeat(chr(97 + i % 10), 90)"
        f" FROM generate_series(1, {rows}) i) TO '{file}'"
    )
    lab.run(CREATE.format(file=file))


def _spent(vacuums: list[vacuumlog.VacuumLine], began: float) -> Series:
    """Return what the vacuums had read and dirtied, as a staircase."""
    points, pages = [(0.0, 0.0)], 0.0
    for line in sorted(vacuums, key=lambda line: line.at):
        pages += line.blks_read + line.blks_dirtied
        points.append((round(line.at - began, 3), pages))
    return Series("spent", "pages read or dirtied by its vacuums so far", "pages", tuple(points))


def _remark(
    measured: Measured,
    vacuums: list[vacuumlog.VacuumLine],
    transactions: int,
    wanted: float,
) -> None:
    ours = sum(line.started_by == "sweep" for line in vacuums)
    if ours:
        measured.notes.append(
            f"{ours} of the {len(vacuums)} vacuums were pg_sweep's, the others autovacuum's."
        )
    if transactions < 0.95 * wanted:
        measured.notes.append(
            f"This machine did {100 * transactions / wanted:.0f} % of the transactions that the"
            " rate asks for: counters of servers that did different work are not compared fairly."
        )
