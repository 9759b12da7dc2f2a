"""`pgsweep fleet` on two servers, beside one that is not there and one that never answers.

One of them also plays the coordinator of Citus: it has the metadata, and the other one the shards.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conftest import Pgsweep, Result, needs_extension, until, write
from fleets import Answers, black_hole, patroni_stub
from pgsweep.commands.fleet import _Look
from pgsweep.fleet import reader
from pgsweep.fleet.providers import Choice
from pgsweep.fleet.seats import Seats
from pgsweep.output.terminal.page import Page
from pgsweep.source.db import Session, Target, connect
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config, free_port

pytestmark = [pytest.mark.server, needs_extension]

# Longer than anything here takes, where nobody is silent on purpose.
PATIENT = ("--deadline", "60")
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "autovacuum_naptime": "1h",
    # for the tables of Citus
    "allow_system_table_mods": "on",
}
# As Citus has them, as far as they are read: what all nodes have, and what only the first one
# has here.
SHARDS = """
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
CREATE TABLE orders (i int);
INSERT INTO pg_dist_partition VALUES ('orders');
INSERT INTO pg_dist_shard VALUES ('orders', 102008), ('orders', 102009);
"""
METADATA = """
CREATE TABLE pg_catalog.pg_dist_node (nodeid int, groupid int, nodename text, nodeport int,
    noderole text, isactive bool, shouldhaveshards bool);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid int);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint, shardstate int, groupid int);
CREATE FUNCTION pg_catalog.shard_name(regclass, bigint) RETURNS text LANGUAGE sql
    AS $$ SELECT $1::text || '_' || $2 $$;
INSERT INTO pg_dist_node VALUES (1, 0, 'localhost', 5432, 'primary', true, false),
    (2, 1, 'worker.internal', 5432, 'primary', true, true);
INSERT INTO pg_dist_local_group VALUES (0);
INSERT INTO pg_dist_placement VALUES (102008, 1, 1), (102009, 1, 1), (102009, 4, 0);
"""


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[ThrowawayServer, ThrowawayServer]]:
    """Two servers, whose first round is done."""
    with (
        ThrowawayServer(default_pg_config(), SETTINGS) as one,
        ThrowawayServer(default_pg_config(), SETTINGS) as two,
    ):
        for server in (one, two):
            server.psql("postgres", "CREATE EXTENSION pg_sweep")
            server.psql("postgres", "CREATE DATABASE bare")
            write(server, "postgres", "CREATE TABLE t AS SELECT generate_series(1, 1000) AS i")
            server.psql("postgres", "CREATE TABLE p (i int) PARTITION BY RANGE (i)")
            for low in (0, 500):
                server.psql(
                    "postgres",
                    f"CREATE TABLE p_{low} PARTITION OF p FOR VALUES FROM ({low}) TO ({low + 500})",
                )
            write(server, "postgres", "INSERT INTO p SELECT generate_series(0, 999)")
        for server in (one, two):
            server.psql("postgres", SHARDS)
        one.psql("postgres", METADATA)
        for shard in (102008, 102009):
            write(two, "postgres", f"CREATE TABLE orders_{shard} AS SELECT 1 AS i")
        # It was moved away, and is yet to be removed.
        write(one, "postgres", "CREATE TABLE orders_102009 AS SELECT 1 AS i")
        for server in (one, two):
            until_told(server, "SELECT rounds > 0 FROM sweep.status", "t")
        yield one, two


def until_told(server: ThrowawayServer, question: str, answer: str) -> None:
    """Wait until a server answers so."""
    until(lambda: server.psql("postgres", question).strip() == answer)


def line(name: str, host: object, port: int) -> str:
    return f'[[nodes]]\nname = "{name}"\nhost = "{host}"\nport = {port}\n'


def entry(name: str, server: ThrowawayServer) -> str:
    return line(name, server.folder, server.port)


Make = Callable[..., tuple[str, ...]]


@pytest.fixture
def fleet(pair: tuple[ThrowawayServer, ThrowawayServer], tmp_path: Path) -> Make:
    """Return the options of a fleet of both servers, and of more nodes."""
    head = f'dbname = "postgres"\nuser = "{SUPERUSER}"\n'

    def make(*more: str) -> tuple[str, ...]:
        file = tmp_path / "fleet.toml"
        file.write_text(head + entry("one", pair[0]) + entry("two", pair[1]) + "".join(more))
        return ("--file", str(file))

    return make


@pytest.fixture
def citus(pair: tuple[ThrowawayServer, ThrowawayServer], tmp_path: Path) -> tuple[str, ...]:
    """Return the options of the fleet that the metadata of Citus tells."""
    one, two = pair
    file = tmp_path / "citus.toml"
    file.write_text(
        f'dbname = "postgres"\nuser = "{SUPERUSER}"\n'
        f'[citus]\nhost = "{one.folder}"\nport = {one.port}\n'
        f'[map]\n"worker.internal" = "{two.folder}:{two.port}"\n'
    )
    return ("--file", str(file))


def names(result: Result, outcome: str) -> list[str]:
    return [row["name"] for row in result.json()["nodes"] if row["outcome"] == outcome]


def run(pgsweep: Pgsweep, command: str, *more: str) -> Result:
    """Run a command that was printed."""
    words = shlex.split(command)
    assert words[0] == "pgsweep"
    return pgsweep(*words[1:], *more)


@contextmanager
def holding(server: ThrowawayServer, name: str) -> Iterator[int]:
    """Hold a server's horizon by a session of this name, and yield its process."""
    where = f"host={server.folder} port={server.port} user={SUPERUSER} dbname=postgres"
    with psycopg.connect(f"{where} application_name='{name}'") as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SELECT count(*) FROM t")
        server.psql("postgres", "SELECT txid_current()")
        yield conn.info.backend_pid


def test_two_servers_and_two_that_say_nothing(pgsweep: Pgsweep, fleet: Make) -> None:
    with black_hole() as silent:
        options = fleet(line("silent", "127.0.0.1", silent), line("gone", "127.0.0.1", free_port()))
        # Long enough for a slow machine. Whoever is silent costs all of it.
        result = pgsweep("fleet", *options, "--deadline", "5", "--json")
    document = result.json()
    assert result.code == document["exit_code"] == 1
    by_name = {row["name"]: row for row in document["nodes"]}
    assert [row["answered"] for row in by_name.values()] == [True, True, False, False]
    assert by_name["one"]["mode"] == "act"
    assert by_name["one"]["xid_age"] > 0
    assert by_name["one"]["seconds"] < 5
    assert by_name["silent"]["trouble"] == "no answer in 5.0 s"
    assert "Connection refused" in by_name["gone"]["trouble"]
    assert document["summary"]["answered"] == 2


def test_it_fits_80_columns(pgsweep: Pgsweep, fleet: Make) -> None:
    result = pgsweep("fleet", *fleet(), *PATIENT)
    lines = result.out.splitlines()
    assert result.code == 0, result.out
    assert max(map(len, lines)) <= 80
    assert lines[1].split()[:3] == ["one", "primary", "act"]
    assert "nodes      2 nodes, 2 of 2 asked have answered" in lines
    assert lines[-1] == "problems   none"


@pytest.mark.parametrize(
    ("other", "back"),
    [
        (
            "ALTER FUNCTION sweep_internal.get_server() RENAME TO other",
            "ALTER FUNCTION sweep_internal.other() RENAME TO get_server",
        ),
        (
            "REVOKE USAGE ON SCHEMA sweep_internal FROM pg_monitor",
            "GRANT USAGE ON SCHEMA sweep_internal TO pg_monitor",
        ),
    ],
    ids=["another version", "another privilege"],
)
def test_what_is_under_the_views_may_be_another(
    pgsweep: Pgsweep,
    fleet: Make,
    pair: tuple[ThrowawayServer, ThrowawayServer],
    other: str,
    back: str,
) -> None:
    one = pair[0]
    one.psql("postgres", "CREATE ROLE only_reads LOGIN IN ROLE pg_monitor")
    one.psql("postgres", other)
    try:
        result = pgsweep("fleet", *fleet(), *PATIENT, "-U", "only_reads", "--json")
    finally:
        one.psql("postgres", back)
        one.psql("postgres", "DROP ROLE only_reads")
    row = result.json()["nodes"][0]
    assert row["answered"], row
    assert row["mode"] == "act"
    assert row["vacuums"] is not None


@contextmanager
def vacuuming(server: ThrowawayServer) -> Iterator[None]:
    """Have a vacuum run that takes its time."""
    # Nobody else is to vacuum it.
    server.psql(
        "postgres",
        "CREATE TABLE slow WITH (autovacuum_enabled = off) AS SELECT generate_series(1, 100000)",
    )
    # What is dirty already would cost nothing.
    server.psql("postgres", "CHECKPOINT")
    where = f"host={server.folder} port={server.port} user={SUPERUSER} dbname=postgres"
    options = "-c vacuum_cost_delay=20 -c vacuum_cost_limit=20"
    with psycopg.connect(f"{where} options='{options}'", autocommit=True) as conn:
        conn.pgconn.send_query(b"VACUUM (FREEZE) slow")
        conn.pgconn.flush()
        try:
            yield
        finally:
            conn.cancel()
            until(lambda: conn.pgconn.get_result() is None)
            server.psql("postgres", "DROP TABLE slow")


@contextmanager
def vacuuming_nothing_itself(server: ThrowawayServer) -> Iterator[None]:
    """Have pg_sweep vacuum nothing, so that vacuums can be counted."""
    server.psql("postgres", "ALTER SYSTEM SET sweep.mode = observe")
    server.psql("postgres", "SELECT pg_reload_conf()")
    until_told(server, "SELECT mode FROM sweep.status", "observe")
    working = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'sweep worker'"
    until_told(server, working, "0")
    try:
        yield
    finally:
        server.psql("postgres", "ALTER SYSTEM SET sweep.mode = act")
        server.psql("postgres", "SELECT pg_reload_conf()")
        until_told(server, "SELECT mode FROM sweep.status", "act")


@contextmanager
def renamed(server: ThrowawayServer, name: str) -> Iterator[None]:
    """Give a function of the extension another name."""
    server.psql("postgres", f"ALTER FUNCTION sweep_internal.{name}() RENAME TO other")
    try:
        yield
    finally:
        server.psql("postgres", f"ALTER FUNCTION sweep_internal.other() RENAME TO {name}")


def test_one_row_says_what_the_views_say(pair: tuple[ThrowawayServer, ThrowawayServer]) -> None:
    one = pair[0]
    one.psql("postgres", "CREATE DATABASE elder")
    one.psql("postgres", "UPDATE pg_database SET datfrozenxid = '3' WHERE datname = 'elder'")
    target = Target(host=str(one.folder), port=str(one.port), user=SUPERUSER, dbname="postgres")
    with vacuuming_nothing_itself(one), connect(target) as session, vacuuming(one):
        until(lambda: (reader.read(session).dirty_mb_per_s or 0) > 0)
        told = reader.read(session)
        with renamed(one, "get_server"):
            viewed = reader.read(session)
    one.psql("postgres", "DROP DATABASE elder")
    assert told.oldest is not None
    assert told.oldest.datname == "elder"
    assert told.vacuums == viewed.vacuums == 1
    assert viewed.dirty_mb_per_s
    assert told.server.version == one.psql("postgres", "SHOW server_version").strip()
    assert replace(told.server, now=viewed.server.now) == viewed.server
    # To give the function another name takes a transaction.
    assert viewed.oldest is not None
    assert told.oldest.xid_age < viewed.oldest.xid_age < told.oldest.xid_age + 50
    assert replace(told.oldest, xid_age=viewed.oldest.xid_age) == viewed.oldest
    assert told.status is not None
    assert viewed.status is not None
    assert told.status.mode == viewed.status.mode


def test_a_node_at_work_is_asked_three_times(
    pair: tuple[ThrowawayServer, ThrowawayServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def noting(name: str) -> None:
        original = getattr(Session, name)

        def noted(of: Session, *words: Any) -> Any:
            asked.append(words)
            return original(of, *words)

        monkeypatch.setattr(Session, name, noted)

    noting("several")
    noting("dicts")
    one = pair[0]
    target = Target(host=str(one.folder), port=str(one.port), user=SUPERUSER, dbname="postgres")
    with connect(target) as session, vacuuming(one), holding(one, "report") as pid:
        until(lambda: (reader.read(session).vacuums or 0) >= 1)
        asked.clear()
        found = reader.read(session)
    assert found.blocker is not None
    assert found.blocker.pid == pid
    assert asked == [("extensions",), ("fleet_status", "fleet_node"), ("budget", "blockers")]


@contextmanager
def rewriting(server: ThrowawayServer, command: str, table: str) -> Iterator[None]:
    """Have a command that rewrites a table wait while it builds the index anew."""
    server.psql(
        "bare",
        f"""CREATE TABLE {table} AS SELECT 1 AS i;
        CREATE FUNCTION waits(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql
            AS 'BEGIN PERFORM pg_catalog.pg_advisory_xact_lock_shared(7); RETURN i; END';
        CREATE INDEX {table}_plain ON {table} (i);
        CREATE INDEX {table}_i ON {table} (waits(i))""",
    )
    where = f"host={server.folder} port={server.port} user={SUPERUSER} dbname=bare"
    with (
        psycopg.connect(where, autocommit=True) as holder,
        psycopg.connect(where, autocommit=True) as worker,
    ):
        holder.execute("SELECT pg_advisory_lock(7)")
        worker.pgconn.send_query(command.encode())
        worker.pgconn.flush()
        try:
            yield
        finally:
            holder.execute("SELECT pg_advisory_unlock(7)")
            until(lambda: worker.pgconn.get_result() is None)
            server.psql("bare", f"DROP TABLE {table}; DROP FUNCTION waits(int)")


def test_core_counts_what_vacuums(pair: tuple[ThrowawayServer, ThrowawayServer]) -> None:
    one = pair[0]
    target = Target(host=str(one.folder), port=str(one.port), user=SUPERUSER, dbname="bare")

    def building() -> bool:
        rows = one.psql("bare", "SELECT phase FROM pg_stat_progress_cluster")
        return rows.strip() == "rebuilding index"

    with vacuuming_nothing_itself(one), connect(target) as session:
        assert reader.read(session).vacuums == 0
        with vacuuming(one):
            until(lambda: reader.read(session).vacuums == 1)
            with rewriting(one, "VACUUM FULL whole", "whole"):
                until(building)
                assert reader.read(session).vacuums == 2
            with rewriting(one, "CLUSTER sorted USING sorted_plain", "sorted"):
                until(building)
                assert reader.read(session).vacuums == 1
        assert reader.read(session).vacuums == 0


def test_nodes_without_the_extension(pgsweep: Pgsweep, fleet: Make) -> None:
    result = pgsweep("fleet", *fleet(), *PATIENT, "-d", "bare", "--json")
    assert result.code == 0, result.out
    for row in result.json()["nodes"]:
        assert row["mode"] == "core"
        assert row["due"] == 0
        assert row["vacuums"] is not None
        assert row["missing"] == []
    assert "there is no pg_sweep" in result.err


def test_a_control_file_that_may_not_be_read_leaves_the_rest(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    one = pair[0]
    one.psql("postgres", "CREATE ROLE only_reads LOGIN IN ROLE pg_monitor")
    one.psql("bare", "REVOKE EXECUTE ON FUNCTION pg_control_checkpoint() FROM PUBLIC")
    try:
        words = (*fleet(), *PATIENT, "-d", "bare", "-U", "only_reads", "--json")
        row = pgsweep("fleet", *words).json()["nodes"][0]
    finally:
        one.psql("bare", "GRANT EXECUTE ON FUNCTION pg_control_checkpoint() TO PUBLIC")
        one.psql("postgres", "DROP ROLE only_reads")
    assert row["answered"], row
    assert row["due"] == 0
    assert row["vacuums"] is not None
    assert row["xids_per_s"] is None
    assert row["missing"] == []


def test_who_holds_the_oldest_horizon(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    with holding(pair[1], "report") as pid:
        document = pgsweep("fleet", *fleet(), *PATIENT, "--json").json()
        assert document["summary"]["horizon"] == "two"
        two = document["nodes"][1]
        assert two["blocker"]["pid"] == pid
        core = pgsweep("fleet", *fleet(), *PATIENT, "-d", "bare", "--json").json()
        assert core["nodes"][1]["blocker"]["pid"] == pid


def test_hold_where_some_fail(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    options = fleet(line("gone", "127.0.0.1", free_port()))
    held = pgsweep("fleet", "hold", "2 h", *options, *PATIENT, "--json")
    try:
        assert held.code == 1
        assert names(held, "done") == ["one", "two"]
        assert names(held, "failed") == ["gone"]
        for server in pair:
            assert server.psql("postgres", "SELECT held_until > now() FROM sweep.status") == "t\n"
        again = run(pgsweep, held.json()["retry"], "--json")
        # Only the one that failed is tried, and nothing could be done.
        assert again.code == 2
        assert names(again, "failed") == ["gone"]
        assert names(again, "done") == []
        (undo,) = held.json()["undo"]
        over = run(pgsweep, undo, *PATIENT, "--json")
        assert over.code == 0
        assert names(over, "done") == ["one", "two"]
    finally:
        for server in pair:
            server.psql("postgres", "SELECT sweep.hold('0')")
    shown = pgsweep("fleet", "hold", "0", *options, *PATIENT).out.splitlines()
    assert shown[0] == "one  done    there was no hold, and there is none"
    assert shown[2].startswith("gone failed  connection to server")
    assert shown[-1] == f"retry   pgsweep fleet hold 0 {shlex.join(options)} --retry gone"


def test_a_table_on_all_nodes(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    one, two = pair
    one.psql("postgres", "SELECT sweep.set('t', 'min_interval', '5s')")
    changed = pgsweep("fleet", "set", "t", "min_interval=7s", *fleet(), *PATIENT, "--json")
    assert changed.code == 0, changed.err
    # The nodes had different values. So they are undone by different commands.
    undo = changed.json()["undo"]
    assert len(undo) == 2
    for command in undo:
        assert run(pgsweep, command, *PATIENT).code == 0
    values = "SELECT string_agg(value, ',') FROM sweep.table_settings"
    assert [server.psql("postgres", values).strip() for server in pair] == ["5s", ""]
    one.psql("postgres", "SELECT sweep.set('t', 'min_interval', NULL)")
    snoozed = pgsweep("fleet", "snooze", "t", "1 h", *fleet(), *PATIENT, "--json")
    assert snoozed.code == 0, snoozed.err
    (undo,) = snoozed.json()["undo"]
    assert "is not snoozed any more" in run(pgsweep, undo, *PATIENT).out
    wanted = pgsweep("fleet", "vacuum", "t", *fleet(), *PATIENT, "--json")
    assert wanted.code == 0, wanted.err
    assert all(row["answers"][0]["request_id"] > 0 for row in wanted.json()["nodes"])
    two.psql("postgres", "CREATE TABLE only_here (i int)")
    half = pgsweep("fleet", "vacuum", "only_here", *fleet(), *PATIENT, "--json")
    assert half.code == 1
    assert names(half, "failed") == ["one"]


def test_explain_on_all_nodes(pgsweep: Pgsweep, fleet: Make) -> None:
    groups = pgsweep("fleet", "--explain", "p", *fleet(), *PATIENT, "--json").json()
    parts = {tuple(part) for group in groups for part in group["parts"]}
    assert parts == {(on, name) for on in ("one", "two") for name in ("p_0", "p_500")}
    core = pgsweep("fleet", "--explain", "pg_class", *fleet(), *PATIENT, "-d", "bare")
    assert core.code == 0, core.err
    assert core.out.startswith("pg_class: 2 parts on 2 nodes\n")
    missing = pgsweep("fleet", "--explain", "no_such_table", *fleet(), *PATIENT)
    assert missing.code == 2
    assert 'no node has a table "no_such_table"' in missing.err


def test_tables_on_all_nodes(pgsweep: Pgsweep, fleet: Make) -> None:
    rows = pgsweep("fleet", "--tables", *fleet(), *PATIENT, "--json").json()
    by_name = {row["table"]: row for row in rows}
    assert (by_name["p"]["parts"], by_name["p"]["nodes"]) == (4, 2)
    assert (by_name["t"]["parts"], by_name["t"]["nodes"]) == (2, 2)
    assert not any(name.startswith("pg_") for name in by_name)
    assert pgsweep("fleet", "--tables", *fleet(), *PATIENT, "-d", "bare").code == 0


def test_citus(
    pgsweep: Pgsweep, citus: tuple[str, ...], pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    one, two = pair
    where = f"host={one.folder} port={one.port} user={SUPERUSER} dbname=postgres"
    with psycopg.connect(f"{where} application_name=billing") as origin:
        gpid = 10_000_000_000 + origin.info.backend_pid
        with holding(two, f"citus_internal gpid={gpid}"):
            document = pgsweep("fleet", *citus, *PATIENT, "--json").json()
    coordinator, worker = document["nodes"]
    assert [row["name"] for row in document["nodes"]] == ["coordinator", "worker.internal:5432"]
    assert coordinator["answered"]
    assert worker["origin"]["node"] == "coordinator"
    assert worker["origin"]["application_name"] == "billing"
    assert worker["origin"]["usename"] == SUPERUSER
    rows = pgsweep("fleet", "--tables", *citus, *PATIENT, "--json").json()
    orders = next(row for row in rows if row["table"] == "orders")
    # The shell on the coordinator does not count, nor does a placement that is to be deleted.
    assert (orders["parts"], orders["nodes"]) == (2, 1)
    assert not any(row["table"] == "orders_102009" for row in rows)
    groups = pgsweep("fleet", "--explain", "orders", *citus, *PATIENT, "--json").json()
    assert {part[1] for group in groups for part in group["parts"]} == {
        *("orders_102008", "orders_102009"),
    }


def test_an_agent_looks_after_a_fleet(
    pgsweep: Pgsweep,
    citus: tuple[str, ...],
    pair: tuple[ThrowawayServer, ThrowawayServer],
    tmp_path: Path,
) -> None:
    one, two = pair

    def looked_after(name: str, *fleet: str) -> dict[str, str]:
        """Return the problems of the nodes that an agent has looked at."""
        state = ("--state", str(tmp_path / f"{name}.db"))
        told = pgsweep("agent", "--once", "--act", "--fleet", *fleet, *state)
        assert told.code == 0, told.err
        found = pgsweep("agent", "status", "--json", *state).json()["servers"]
        return {row["name"]: row["problem"] for row in found}

    assert looked_after("citus", *citus) == {"coordinator": "", "worker.internal:5432": ""}
    members = [
        {"name": "m1", "role": "replica", "state": "streaming", "host": "m1", "port": 1, "lag": 5},
        {"name": "m2", "role": "leader", "state": "running", "host": "m2", "port": 2},
    ]
    where = ("--map", f"m1:1={one.folder}:{one.port}", "--map", f"m2:2={two.folder}:{two.port}")
    with patroni_stub(Answers({"members": members, "scope": "batman"})) as url:
        options = ("--patroni", url, "-d", "postgres", "-U", SUPERUSER, *where)
        assert looked_after("patroni", *options) == {"m2": ""}


def test_acts_on_shards(pgsweep: Pgsweep, citus: tuple[str, ...]) -> None:
    snoozed = pgsweep("fleet", "snooze", "orders", "1 h", *citus, *PATIENT, "--json")
    assert snoozed.code == 0, snoozed.out
    assert names(snoozed, "done") == ["worker.internal:5432"]
    assert names(snoozed, "skipped") == ["coordinator"]
    (undo,) = snoozed.json()["undo"]
    assert shlex.split(undo)[:5] == ["pgsweep", "fleet", "snooze", "orders", "0"]
    assert run(pgsweep, undo, *PATIENT).code == 0
    # A shard by its own name is a table of one node.
    alone = ("--node", "worker.internal:5432")
    wanted = pgsweep("fleet", "vacuum", "orders_102008", *citus, *alone, *PATIENT)
    assert wanted.code == 0, wanted.out


def test_settings_of_a_citus_table(
    pgsweep: Pgsweep, citus: tuple[str, ...], pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    one, two = pair
    told = "SELECT string_agg(relid || ' ' || name || ' ' || value, ',') FROM sweep.table_settings"
    given = ("set", "orders", "vacuum_threshold=7")
    changed = pgsweep("fleet", *given, *citus, *PATIENT, "--json")
    assert changed.code == 0, changed.out
    # It is kept under the table itself, which has no rows, and holds for its shards.
    for server in pair:
        assert server.psql("postgres", told).strip() == "orders vacuum_threshold 7"
    threshold = "SELECT vacuum_threshold < 10 FROM sweep.tables WHERE relname = 'orders_102009'"
    assert two.psql("postgres", threshold).strip() == "t"
    # A node that was added has none of it.
    two.psql("postgres", "SELECT sweep.set('orders', 'vacuum_threshold', NULL)")
    synced = pgsweep("fleet", "set", "--from-coordinator", *citus, *PATIENT, "--json")
    assert synced.code == 0, synced.out
    assert names(synced, "done") == ["worker.internal:5432"]
    assert names(synced, "skipped") == ["coordinator"]
    assert two.psql("postgres", told).strip() == "orders vacuum_threshold 7"
    again = pgsweep("fleet", "set", "--from-coordinator", *citus, *PATIENT)
    assert again.code == 0
    assert "it has all that is set on the coordinator" in again.out
    (undo,) = synced.json()["undo"]
    assert run(pgsweep, undo, *PATIENT).code == 0
    assert two.psql("postgres", told).strip() == ""
    (undo,) = changed.json()["undo"]
    assert run(pgsweep, undo, *PATIENT).code == 0
    assert one.psql("postgres", told).strip() == ""
    alone = pgsweep(
        "fleet", "set", "--from-coordinator", *citus, *PATIENT, "--node", "worker.internal:5432"
    )
    assert alone.code == 0, alone.out
    # On one node it is said that others do not have it.
    where = ("-h", str(one.folder), "-p", str(one.port), "-d", "postgres", "-U", SUPERUSER)
    here = pgsweep("set", "orders", "enabled=on", *where)
    assert "this holds for its shards on this node" in " ".join(here.out.split())
    assert pgsweep("set", "orders", "--reset", "enabled", *where).code == 0


def test_settings_of_servers(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    options = fleet()
    refused = pgsweep("fleet", "set", "sweep.write_limit=30", *options, *PATIENT)
    assert refused.code == 2
    assert "Add --yes" in refused.err
    done = pgsweep("fleet", "set", "sweep.write_limit=30", *options, *PATIENT, "--yes", "--json")
    assert done.code == 0, done.out
    for server in pair:
        until_told(server, "SELECT setting FROM pg_settings WHERE name = 'sweep.write_limit'", "30")
    (undo,) = done.json()["undo"]
    assert shlex.split(undo)[3:5] == ["--reset", "sweep.write_limit"]
    assert run(pgsweep, undo, "--yes", *PATIENT).code == 0
    wrong = pgsweep("fleet", "set", "sweep.write_limit=x", *options, *PATIENT, "--yes")
    assert wrong.code == 2
    assert "invalid value for parameter" in wrong.out
    assert "unknown" not in wrong.out


def test_what_may_keep_a_server_from_starting_is_not_set(
    pgsweep: Pgsweep, fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    def written() -> list[str]:
        return [(one.folder / "data" / "postgresql.auto.conf").read_text() for one in pair]

    before = written()
    answers = Answers({"members": [], "scope": "batman"})
    with patroni_stub(answers) as url:
        for words in (
            ("shared_preload_libraries=pg_stat_statements,pg_sweep",),
            ("sweep.write_limit=30", "Session_Preload_Libraries=no_such_library"),
            ("search_path=a, b",),
            ("--reset", "shared_preload_libraries"),
            ("shared_buffers=1TB",),
            ("autovacuum_max_workers=200000",),
            ("sweep.max_decisions=10000000",),
            ("sweep.max_runs=1e6",),
        ):
            for where in (fleet(), ("--patroni", url), ("--patroni", url, "--patch-config")):
                refused = pgsweep("fleet", "set", *words, *where, *PATIENT, "--yes")
                assert (refused.code, refused.out) == (2, "")
                name = words[-1].partition("=")[0].lower()
                assert f"pgsweep fleet does not set {name}: " in refused.err
    assert written() == before
    # Nobody was asked.
    assert answers.asked == []


def test_a_standby_cluster_has_no_tables_of_its_own(pgsweep: Pgsweep) -> None:
    members = [
        {"name": "m1", "role": "standby_leader", "state": "streaming", "host": "m1", "port": 1},
        {"name": "m2", "role": "replica", "state": "streaming", "host": "m2", "port": 2, "lag": 5},
    ]
    with patroni_stub(Answers({"members": members, "scope": "far"})) as url:
        for words in (("--tables",), ("--explain", "orders")):
            told = pgsweep("fleet", *words, "--patroni", url, "-d", "postgres", "-U", SUPERUSER)
            assert told.code == 2
            assert "tables are asked of primaries, and none is known here" in told.err
        held = pgsweep("fleet", "hold", "1 min", "--patroni", url, "-d", "postgres", "--json")
        assert names(held, "skipped") == ["m1", "m2"]


def test_settings_under_patroni(
    pgsweep: Pgsweep, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    one, two = pair
    members = [
        {"name": "m1", "role": "leader", "state": "running", "host": "m1", "port": 1},
        {"name": "m2", "role": "replica", "state": "streaming", "host": "m2", "port": 2, "lag": 5},
    ]
    answers = Answers(
        {"members": members, "scope": "batman", "postgresql": {"parameters": {}}, "loop_wait": 60}
    )

    def written(line: str) -> None:
        """Do what Patroni of each member does."""
        for server in pair:
            with (server.folder / "data" / "postgresql.conf").open("a") as file:
                file.write(f"{line}\n")
            server.psql("postgres", "SELECT pg_reload_conf()")

    with patroni_stub(answers) as url:
        options = (
            *("--patroni", url, "-d", "postgres", "-U", SUPERUSER),
            *("--map", f"m1:1={one.folder}:{one.port}", "--map", f"m2:2={two.folder}:{two.port}"),
        )

        def patched(word: str) -> Any:
            given = ("set", word, "--patch-config", "--yes")
            return pgsweep("fleet", *given, *options, *PATIENT, "--json")

        told = pgsweep("fleet", "set", "sweep.mode=off", *options, *PATIENT, "--json")
        # Nothing was done, and nobody was asked.
        assert told.code == 1
        assert names(told, "skipped") == ["m1", "m2"]
        assert told.json()["run"] == ["patronictl edit-config batman -p 'sweep.mode=\"off\"'"]
        assert {method for method, *_ in answers.asked} == {"GET"}
        unknown = patched("sweep.no_such=5")
        assert unknown.code == 2
        assert "has no setting" in unknown.out
        assert "PATCH" not in {method for method, *_ in answers.asked}
        # The server says whether it goes by what Patroni has written.
        written("sweep.write_limit = '5'")
        done = patched("sweep.write_limit=5")
        assert done.code == 0, done.out
        assert names(done, "done") == ["m1", "m2"]
        assert "sweep.write_limit is 5" in done.out
        assert [method for method, *_ in answers.asked][-1] == "PATCH"
        (undo,) = done.json()["undo"]
        assert undo.startswith("pgsweep fleet set --reset sweep.write_limit --patch-config")
        assert "--node" not in undo
        written("sweep.write_limit = 'x'")
        refused = patched("sweep.write_limit=x")
        assert names(refused, "failed") == ["m1", "m2"]
        assert "the server refuses sweep.write_limit = " in refused.out
        assert len(refused.json()["undo"]) == 1
        written("sweep.write_limit = '0'")
        # These servers have it from ALTER SYSTEM.
        written("sweep.mode = 'off'")
        overruled = patched("sweep.mode=off")
        assert names(overruled, "failed") == ["m1", "m2"]
        assert "sweep.mode is act by ALTER SYSTEM there" in overruled.out
        written("sweep.max_runs = '3000'")
        waits = patched("sweep.max_runs=3000")
        assert names(waits, "done") == ["m1", "m2"]
        assert "takes effect after a restart" in waits.out
        written("sweep.max_runs = '2000'\nsweep.mode = 'act'")
        # What is kept in tables is replicated. So it goes to the leader alone.
        held = pgsweep("fleet", "hold", "1 min", *options, *PATIENT, "--json")
        assert names(held, "done") == ["m1"]
        assert names(held, "skipped") == ["m2"]
        assert run(pgsweep, held.json()["undo"][0], *PATIENT).code == 0
        shown = pgsweep("fleet", *options, *PATIENT, "--json").json()
    # Both servers are primaries here, so the second one contradicts Patroni.
    assert "takes writes, although patroni says" in shown["nodes"][1]["problems"][0]
    assert shown["nodes"][1]["lag_bytes"] == 5
    assert one.psql("postgres", "SHOW sweep.mode").strip() == "act"


def test_watching_goes_on_over_a_restart(
    fleet: Make, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    two = pair[1]
    with Seats() as seats:
        look = _Look(seats, Choice(file=fleet()[1]), 60.0, None)

        def answered(page: Page) -> list[bool]:
            found: list[Any] = _nodes(page)
            return [row["answered"] for row in found]

        assert answered(look()) == [True, True]
        two.stop()
        # The session is lost, and then nobody is there to make it again.
        assert answered(look()) == [True, False]
        assert answered(look()) == [True, False]
        two.start_again()
        assert until(lambda: answered(look()) == [True, True])


def _nodes(page: Page) -> list[Any]:
    found: list[Any] = json.loads(page.document())["nodes"]
    return found


def test_options_before_a_command_below_are_refused(pgsweep: Pgsweep, fleet: Make) -> None:
    result = pgsweep("fleet", *fleet(), "hold")
    assert result.code == 2
    assert "pgsweep fleet hold --file FILE" in result.err


def test_a_fleet_that_is_not_there(pgsweep: Pgsweep, tmp_path: Path) -> None:
    none = pgsweep("fleet")
    assert (none.code, none.out) == (2, "")
    assert "no fleet is named" in none.err
    gone = pgsweep("fleet", "--citus", f"127.0.0.1:{free_port()}", "-d", "x")
    assert gone.code == 2
    assert "Connection refused" in gone.err
    file = tmp_path / "fleet.toml"
    file.write_text(line("gone", "127.0.0.1", free_port()))
    silent = pgsweep("fleet", "--file", str(file), "-d", "x", "--json")
    assert silent.code == 2
    assert silent.json()["summary"]["answered"] == 0


def test_a_server_without_citus_or_cloudberry(
    pgsweep: Pgsweep, pair: tuple[ThrowawayServer, ThrowawayServer]
) -> None:
    place = f"{pair[1].folder}:{pair[1].port}"
    for option, said in (("--citus", "has no Citus"), ("--cloudberry", "is no coordinator")):
        result = pgsweep("fleet", option, place, "-d", "postgres", "-U", SUPERUSER, *PATIENT)
        assert result.code == 2
        assert said in result.err
