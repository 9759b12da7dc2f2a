"""What VACUUM and pgbench say, as figures."""

from __future__ import annotations

import pytest

from pgsweep.base.errors import ServerError
from pgsweep.tune.lab import vacuumlog
from pgsweep_bench.servers import pgbench

LOG_15 = """automatic vacuum of table "pgsweep_bench.public.history": index scans: 1
pages: 2 removed, 753901 remain, 151589 scanned (20.11% of total)
tuples: 11 removed, 22 remain, 33 are dead but not yet removable
I/O timings: read: 77.962 ms, write: 92.879 ms
avg read rate: 95.840 MB/s, avg write rate: 96.852 MB/s
buffer usage: 268318 hits, 35133 misses, 35504 dirtied
WAL usage: 218320 records, 98672 full page images, 71314906 bytes
system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 1.25 s"""


def test_vacuum_in_the_log() -> None:
    found = vacuumlog.parse(LOG_15, at=7.0)
    assert found == vacuumlog.VacuumLine(
        datname="pgsweep_bench",
        schemaname="public",
        relname="history",
        analyze=False,
        aggressive=False,
        started_by="autovacuum",
        at=7.0,
        pages_removed=2,
        pages_remain=753901,
        pages_scanned=151589,
        tuples_removed=11,
        tuples_remain=22,
        dead_not_removable=33,
        index_scans=1,
        blks_hit=268318,
        blks_read=35133,
        blks_dirtied=35504,
        wal_records=218320,
        wal_fpi=98672,
        wal_bytes=71314906,
        elapsed_s=1.25,
    )
    assert found.cost(1, 10, 20) == 268318 + 351330 + 710080


@pytest.mark.parametrize(
    ("head", "started_by", "analyze", "aggressive"),
    [
        ("automatic vacuum of table", "autovacuum", False, False),
        ("automatic aggressive vacuum of table", "autovacuum", False, True),
        ("automatic vacuum to prevent wraparound of table", "autovacuum", False, False),
        ("automatic aggressive vacuum to prevent wraparound of table", "autovacuum", False, True),
        ("automatic analyze of table", "autovacuum", True, False),
        ("finished vacuuming", "manual", False, False),
    ],
)
def test_heads(head: str, started_by: str, analyze: bool, aggressive: bool) -> None:
    found = vacuumlog.parse(
        f'{head} "d.s.r": index scans: 0\nbuffer usage: 1 hits, 2 reads, 3 dirtied'
    )
    assert found is not None
    assert (found.datname, found.schemaname, found.relname) == ("d", "s", "r")
    assert (found.started_by, found.analyze, found.aggressive) == (started_by, analyze, aggressive)
    assert (found.blks_hit, found.blks_read, found.blks_dirtied) == (1, 2, 3)


def test_pg_sweeps_line_says_why() -> None:
    found = vacuumlog.parse(f"{LOG_15}\nsweep: dead tuples 5 > 3")
    assert found is not None
    assert (found.started_by, found.reason) == ("sweep", "dead tuples 5 > 3")
    assert vacuumlog.total([found, found])["wal_fpi"] == 2 * 98672
    assert vacuumlog.parse("checkpoint starting: time") is None


PGBENCH = """pgbench (15.20)
number of transactions actually processed: 1234
number of failed transactions: 2 (0.100%)
latency average = 0.806 ms
latency stddev = 0.500 ms
rate limit schedule lag: avg 0.083 (max 3.450) ms
initial connection time = 3.9 ms
tps = 99.5 (without initial connection time)
"""


def test_pgbench_report() -> None:
    found = pgbench.parse(PGBENCH)
    assert found == pgbench.PgbenchResult(99.5, 0.806, 0.5, 0.083, 3.45, 1234, 2)
    with pytest.raises(ServerError, match="pgbench measured nothing: it broke"):
        pgbench.parse("one\nit broke\n")
