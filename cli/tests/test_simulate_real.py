"""`pgsweep simulate` against a server that has recorded some hours."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from conftest import Pgsweep, needs_extension
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 60.0
HOURS = 3
# A worker that has not seen yet that the clock was set counts its vacuum to the hour before, which
# is closed already and does not know of it. Then another hour follows.
MOST_HOURS = 4 * HOURS
ENOUGH = f"""
    SELECT recorded_vacuums >= {HOURS} FROM sweep.simulate_tables(since => '1 day')
     WHERE relname = 'orders'"""


def wait_for(server: ThrowawayServer, sql: str) -> None:
    """Ask until the answer is true."""
    until = time.monotonic() + PATIENCE_S
    while server.psql("postgres", sql) != "t\n":
        assert time.monotonic() < until, sql
        time.sleep(0.05)


@pytest.fixture(scope="module")
def recorded() -> Iterator[ThrowawayServer]:
    """A server whose clock has gone through hours, three of which have recorded a vacuum."""
    settings = {
        "shared_preload_libraries": "pg_sweep",
        "autovacuum": "off",
        "autovacuum_vacuum_threshold": "1000",
        "autovacuum_vacuum_scale_factor": "0",
        "sweep.mode": "act",
        "sweep.naptime": "100ms",
    }
    with ThrowawayServer(default_pg_config(), settings) as server:
        for statement in (
            "CREATE EXTENSION pg_sweep",
            "CREATE TABLE orders (id int PRIMARY KEY, status int)",
            "INSERT INTO orders SELECT i, 0 FROM generate_series(1, 5000) i",
            "VACUUM ANALYZE orders",
        ):
            server.psql("postgres", statement)
        for hour in range(1, MOST_HOURS + 1):
            server.psql(
                "postgres",
                "UPDATE orders SET status = status + 1 WHERE id <= 1200; "
                "SELECT pg_stat_force_next_flush()",
            )
            wait_for(
                server,
                f"SELECT count(*) >= {hour} FROM sweep.runs "
                "WHERE relname = 'orders' AND started_by = 'sweep'",
            )
            offset = f"ALTER SYSTEM SET sweep.debug_clock_offset = '{hour}h'"
            server.psql("postgres", offset)
            server.psql("postgres", "SELECT pg_reload_conf()")
            wait_for(
                server,
                f"SELECT count(DISTINCT hour) >= {hour} FROM sweep.activity "
                "WHERE relname = 'orders'",
            )
            if hour >= HOURS and server.psql("postgres", ENOUGH) == "t\n":
                break
        yield server


def test_the_answer_has_its_error_beside_it(pgsweep: Pgsweep, recorded: ThrowawayServer) -> None:
    flags = recorded.flags("postgres")
    change = ("--set", "autovacuum_vacuum_threshold=100")
    result = pgsweep("trial", *change, "--since", "1 day", *flags)
    assert result.err == ""
    said = " ".join(result.out.split())
    assert said.startswith("With autovacuum_vacuum_threshold = 100 there would be ")
    # Catalogs may have been vacuumed as well.
    assert "How good this is cannot be told" in said or "The same model with today's" in said
    found = pgsweep("trial", *change, "--since", "1 day", "--json", *flags).json()
    assert len(found["lines"]) >= HOURS
    vacuums = found["total"]["recorded"]["vacuums"]
    assert vacuums >= HOURS
    assert found["total"]["other"]["vacuums"] > 2 * found["total"]["today"]["vacuums"]
    assert found["back_test"]["recorded_vacuums"] == vacuums


def test_a_table_of_its_own(pgsweep: Pgsweep, recorded: ThrowawayServer) -> None:
    flags = recorded.flags("postgres")
    found = pgsweep("trial", "--table", "ord*", "--json", *flags).json()
    (line,) = found["lines"]
    assert line["label"] == "postgres.orders"
    assert line["recorded"]["vacuums"] >= HOURS
    out = pgsweep("trial", "--by", "table", *flags).out
    assert "postgres.orders" in out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--set", "work_mem=1GB"), 'setting "work_mem" cannot be simulated'),
        (("--set", "sweep.write_limit=x"), 'invalid value for parameter "sweep.write_limit"'),
        (("--since", "1 second"), "too little is recorded for a simulation"),
        (("--since", "soon"), "soon"),
    ],
)
def test_what_is_refused(
    pgsweep: Pgsweep, recorded: ThrowawayServer, given: tuple[str, ...], said: str
) -> None:
    result = pgsweep("trial", *given, *recorded.flags("postgres"))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert said in result.err
