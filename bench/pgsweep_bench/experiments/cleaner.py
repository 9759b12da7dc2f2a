"""Seed 003: does an index on an updated column grow less when it is cleaned early?

There are pgbench's tables. A tenth of the accounts is deleted everywhere and vacuumed, and an
index on abalance keeps every update of an account from being HOT. Then TPC-B runs at a fixed
rate, so that all variants do the same work: first with accounts drawn evenly, then by a Gaussian.
The seed ran as many transactions as it could. Its sizes are of ten times as many rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgsweep.tune.lab import vacuumlog
from pgsweep_bench.lab import Lab, Measured, Options, Probe

SCALE = 1
ACCOUNTS_PER_SCALE = 100_000
TELLERS_PER_SCALE = 10
CLIENTS = 4
RATE = 800.0
# Two thirds of the draws are in the middle tenth of the accounts.
GAUSSIAN_PARAMETER = 10.0

RELATIONS = {
    "accounts": "pgbench_accounts",
    "accounts_pkey": "pgbench_accounts_pkey",
    "accounts_ext": "pgbench_accounts_ext",
    "tellers": "pgbench_tellers",
    "branches": "pgbench_branches",
}
PREPARE = (
    "DELETE FROM pgbench_accounts WHERE random() < 0.1",
    "VACUUM",
    "CREATE INDEX pgbench_accounts_ext ON pgbench_accounts USING btree (abalance)",
    "CHECKPOINT",
)
# This is pgbench's own TPC-B, but for how the account is drawn.
TRANSACTION = """\\set aid {draw}
\\set bid random(1, {branches})
\\set tid random(1, {tellers})
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
CLEANER_OFF = (
    "pg_sweep's cleaner of single rows is off by default: this shows its vacuums only, "
    "which are expected to be as good as core's, no better."
)
SHORT = (
    "The load is much shorter than the seed's hour: autovacuum_naptime and sweep.min_interval are "
    "5 s instead of a minute, so that vacuums are as frequent in proportion."
)


@dataclass(frozen=True)
class Access:
    """How accounts are drawn."""

    name: str
    label: str

    def draw(self, accounts: int) -> str:
        """Return pgbench's expression for the number of an account."""
        if self.name == "gaussian":
            return f"random_gaussian(1, {accounts}, {GAUSSIAN_PARAMETER:g})"
        return f"random(1, {accounts})"


UNIFORM = Access("uniform", "uniform access")
GAUSSIAN = Access("gaussian", "Gaussian access")


def script(access: Access, scale: int) -> str:
    """Return pgbench's script for tables of this pgbench scale."""
    return TRANSACTION.format(
        draw=access.draw(scale * ACCOUNTS_PER_SCALE),
        branches=scale,
        tellers=scale * TELLERS_PER_SCALE,
    )


def measure(lab: Lab, options: Options) -> Measured:
    """Measure both kinds of access on one server."""
    measured = Measured(notes=[SHORT])
    if lab.library:
        measured.notes.insert(0, CLEANER_OFF)
    for access in (UNIFORM, GAUSSIAN):
        _measure_access(lab, options, access, measured)
    return measured


def _measure_access(lab: Lab, options: Options, access: Access, measured: Measured) -> None:
    scale = options.scaled(SCALE)
    seconds = options.seconds / 2
    lab.stage(f"{access.label}: filling pgbench's tables")
    lab.pgbench_init(scale)
    for statement in PREPARE:
        lab.run(statement)
    before = _sizes(lab)
    # A vacuum that began while the tables were filled does not belong to the load.
    lab.settle()
    began = float(lab.value("SELECT extract(epoch FROM clock_timestamp())"))

    lab.stage(f"{access.label}: {RATE:g} transactions/s")
    with lab.sampling(*_probes(access)) as sampler:
        result = lab.pgbench(
            access.name,
            script(access, scale),
            clients=CLIENTS,
            rate=RATE,
            seconds=seconds,
            protocol="prepared",
        ).wait()
    after = _sizes(lab)
    lines = lab.vacuums(since=began)

    for relation, size in after.items():
        measured.add(f"{relation}_mb_{access.name}", size)
    measured.add(f"tps_{access.name}", result.tps)
    measured.add(f"latency_ms_{access.name}", result.latency_ms)
    counters = vacuumlog.total(lines)
    measured.add(f"vacuums_{access.name}", counters["vacuums"])
    measured.add(f"vacuum_reads_{access.name}", counters["blks_read"])
    measured.add(f"vacuum_dirtied_{access.name}", counters["blks_dirtied"])
    measured.add(f"vacuum_hits_{access.name}", counters["blks_hit"])
    measured.series += sampler.series()
    measured.raw[access.name] = {
        "pgbench_scale": scale,
        "seconds": seconds,
        "transactions": result.transactions,
        "lag_ms": result.lag_ms,
        "mb_before": before,
        "mb_after": after,
        "vacuums_by_table": _by_table(lines),
    }


def _sizes(lab: Lab) -> dict[str, float]:
    """Return the size of each relation with all its forks, in MiB."""
    sql = "SELECT pg_catalog.pg_table_size(%s::regclass) / 1048576.0"
    return {name: float(lab.value(sql, relation)) for name, relation in RELATIONS.items()}


def _probes(access: Access) -> list[Probe]:
    return [
        Probe(
            f"{name}_mb_{access.name}",
            f"{RELATIONS[name]}, {access.label}",
            "MiB",
            f"SELECT pg_catalog.pg_table_size('{RELATIONS[name]}') / 1048576.0",
        )
        for name in ("accounts_ext", "accounts_pkey", "accounts")
    ]


def _by_table(lines: list[vacuumlog.VacuumLine]) -> dict[str, dict[str, float]]:
    names = sorted({line.relname for line in lines})
    return {name: vacuumlog.total(line for line in lines if line.relname == name) for name in names}
