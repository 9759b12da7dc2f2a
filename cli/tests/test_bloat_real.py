"""`pgsweep bloat` on a server without the extension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from conftest import Pgsweep, until
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config

pytestmark = pytest.mark.server

WATCHER = "watcher"
ROWS = 40_000


@pytest.fixture(scope="module")
def core() -> Iterator[ThrowawayServer]:
    """A server with an index of each kind that has to be told apart."""
    with ThrowawayServer(default_pg_config(), {"allow_system_table_mods": "on"}) as server:
        server.psql("postgres", f"CREATE ROLE {WATCHER} LOGIN IN ROLE pg_monitor")
        for statement in (
            f"CREATE TABLE t AS SELECT i, i % 7 AS few, md5(i::text) AS m,"
            f" i % 3 = 0 AS b FROM generate_series(1, {ROWS}) i",
            "CREATE INDEX t_i ON t (i)",
            "CREATE INDEX t_few ON t (few)",
            "CREATE INDEX t_expression ON t (lower(m))",
            'CREATE INDEX "we"" ird; --" ON t (m) WHERE b',
            "CREATE TABLE broken AS SELECT 1 AS i",
            "CREATE INDEX broken_i ON broken (i)",
            "CREATE INDEX broken_i_ccnew ON broken (i)",
            "UPDATE pg_index SET indisvalid = false WHERE indrelid = 'broken'::regclass",
            "CREATE TABLE periods (p int4range, EXCLUDE USING gist (p WITH &&))",
            "CREATE TABLE untouched (i int8 PRIMARY KEY)",
        ):
            server.psql("postgres", statement)
        server.psql("postgres", "DELETE FROM t WHERE i % 10 <> 0")
        server.psql("postgres", "VACUUM (ANALYZE, INDEX_CLEANUP on) t")
        yield server


def found(pgsweep: Pgsweep, server: ThrowawayServer, user: str = SUPERUSER) -> dict[str, Any]:
    """Return the rows by the names of their indexes and tables."""
    rows = pgsweep("bloat", "--json", "-n", "2000", *server.flags("postgres"), "-U", user).json()
    return {row["relname"]: row for row in rows}


def test_what_is_wasted_comes_back_by_the_statement(
    pgsweep: Pgsweep, core: ThrowawayServer
) -> None:
    names = ("t_i", "t_few", "t_expression", 'we" ird; --')
    before = found(pgsweep, core)
    for name in names:
        row = before[name]
        assert row["wasted"] > row["size"] / 2, row
        core.psql("postgres", row["fix"])
    core.psql("postgres", "ANALYZE t")
    after = found(pgsweep, core)
    for name in names:
        # the smallest has four pages
        assert after[name]["wasted"] <= 8192, after[name]
        assert after[name]["size"] == pytest.approx(before[name]["content"], rel=0.1, abs=8192)


def test_table(pgsweep: Pgsweep, core: ThrowawayServer) -> None:
    row = found(pgsweep, core)["t"]
    assert row["kind"] == "table"
    assert row["size"] == pytest.approx(10 * row["content"], rel=0.1)


def test_a_table_is_counted_with_its_toast_table(pgsweep: Pgsweep, core: ThrowawayServer) -> None:
    for statement in (
        "CREATE TABLE documents (id int PRIMARY KEY, t text)",
        "ALTER TABLE documents ALTER t SET STORAGE EXTERNAL",
        "INSERT INTO documents SELECT i, repeat(md5(i::text), 40 + i % 200)"
        " FROM generate_series(1, 2000) i",
        "DELETE FROM documents WHERE id % 10 < 7",
        "VACUUM (ANALYZE) documents",
    ):
        core.psql("postgres", statement)
    size = "SELECT pg_table_size('documents')"
    row = found(pgsweep, core)["documents"]
    assert row["size"] == pytest.approx(int(core.psql("postgres", size)), rel=0.1)
    core.psql("postgres", row["fix"])
    fresh = int(core.psql("postgres", size))
    assert row["size"] > 3 * fresh
    # Of each value's last chunk nothing is known.
    assert fresh <= row["content"] * 1.05
    assert row["content"] < 1.3 * fresh


def test_invalid_indexes(pgsweep: Pgsweep, core: ThrowawayServer) -> None:
    rows = found(pgsweep, core)
    assert rows["broken_i"]["fix"] == "REINDEX INDEX CONCURRENTLY public.broken_i;"
    assert rows["broken_i_ccnew"]["fix"] == "DROP INDEX CONCURRENTLY public.broken_i_ccnew;"
    assert rows["broken_i"]["wasted"] == rows["broken_i"]["size"] > 0


def test_an_index_that_somebody_builds_is_left_alone(
    pgsweep: Pgsweep, core: ThrowawayServer
) -> None:
    where = f"host={core.folder} port={core.port} user={SUPERUSER} dbname=postgres"
    core.psql("postgres", "CREATE TABLE wanted AS SELECT 1 AS i")
    with psycopg.connect(where) as holder:
        holder.execute("INSERT INTO wanted VALUES (2)")
        flags = core.flags("postgres")
        build = "CREATE INDEX CONCURRENTLY wanted_i ON wanted (i)"
        core.start(["psql", "-X", *flags, "-c", build], log="build.log")
        until(lambda: core.psql("postgres", "SELECT pid FROM pg_stat_progress_create_index"))
        row = until(lambda: found(pgsweep, core).get("wanted_i"))
        assert (row["fix"], row["wasted"]) == ("", None)
        assert "is building it" in row["risk"]
        holder.rollback()
    until(lambda: found(pgsweep, core)["wanted_i"]["fix"])


def test_indexes_that_cannot_be_rebuilt_concurrently(
    pgsweep: Pgsweep, core: ThrowawayServer
) -> None:
    rows = found(pgsweep, core)
    assert rows["periods_p_excl"]["fix"] == "REINDEX INDEX public.periods_p_excl;"
    assert rows["pg_class_oid_index"]["fix"] == "REINDEX INDEX pg_catalog.pg_class_oid_index;"


def test_who_may_not_read_the_table_is_told_so(pgsweep: Pgsweep, core: ThrowawayServer) -> None:
    rows = found(pgsweep, core, WATCHER)
    assert rows["t_expression"]["content"] is None
    assert "may not read the table" in rows["t_expression"]["basis"]
    # that takes no statistics
    assert rows["untouched_pkey"]["wasted"] == 0
    lines = pgsweep("bloat", *core.flags("postgres"), "-U", WATCHER).out
    assert "it is not known: not analyzed, or this role may not read the table." in lines


def test_for_people(pgsweep: Pgsweep, core: ThrowawayServer) -> None:
    lines = pgsweep("bloat", "--indexes", "-n", "5", *core.flags("postgres")).out.splitlines()
    assert lines[0].split() == ["NAME", "TABLE", "KIND", "SIZE", "CONTENT", "WASTED", "%"]
    assert len([line for line in lines if " btree " in line or " gist " in line]) == 5
    assert any(line.startswith("The first: ") for line in lines)
