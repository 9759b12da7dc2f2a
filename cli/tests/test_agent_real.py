"""`pgsweep agent` on servers without the extension, by a role that has only what it needs."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conftest import Pgsweep, needs_extension, until
from pgsweep.agent import crew
from pgsweep.agent.loop import LOGGER, Agent
from pgsweep.agent.rules import Rules
from pgsweep.agent.store import Store
from pgsweep.fleet import providers
from pgsweep.source.db import Target
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config, free_port
from pgsweep_bench.servers.standby import Standby

pytestmark = pytest.mark.server

AGENT, OWNER = "agent", "app"
NAME = 'public.we" ird'
INVALID = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayServer]:
    """A server whose autovacuum is off, and a role that owns nothing."""
    with ThrowawayServer(default_pg_config(), {"autovacuum": "off"}) as found:
        for role in (AGENT, OWNER):
            found.psql("postgres", f"CREATE ROLE {role} LOGIN")
        yield found


@pytest.fixture
def shop(server: ThrowawayServer, pgsweep: Pgsweep) -> Iterator[ThrowawayServer]:
    """The same with a database in which each kind of act is due."""
    server.psql("postgres", f"CREATE DATABASE shop OWNER {OWNER}")
    for statement in (
        "CREATE TABLE q (id int8 PRIMARY KEY, pad text)",
        "INSERT INTO q SELECT i, 'x' FROM generate_series(1, 300000) i",
        "DELETE FROM q WHERE id < 299000",
        "VACUUM (ANALYZE) q",
        'CREATE TABLE "we"" ird" (a int)',
        'INSERT INTO "we"" ird" SELECT generate_series(1, 10000)',
        'VACUUM "we"" ird"',
        'UPDATE "we"" ird" SET a = a + 1',
        "CREATE TABLE p (a int) PARTITION BY RANGE (a)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100000)",
        "INSERT INTO p SELECT generate_series(1, 500)",
    ):
        server.psql(
            "shop", f"SET ROLE {OWNER}; {statement}" if "VACUUM" not in statement else statement
        )
    grants = pgsweep("agent", "--grant", AGENT, *server.flags("shop"))
    assert "GRANT pg_monitor TO agent;" in grants.out
    assert "GRANT app TO agent;" in grants.out
    for line in grants.out.splitlines():
        if line.startswith("GRANT"):
            server.psql("shop", line)
    yield server
    server.psql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop'",
    )
    server.psql("postgres", "DROP DATABASE shop")


@pytest.fixture
def small_disk(server: ThrowawayServer) -> Iterator[Path]:
    """A file system of 16 MB, and a tablespace on it."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root can mount a file system")
    folder = server.folder / "small"
    folder.mkdir()
    owner = (server.folder / "data").stat()
    options = f"size=16m,uid={owner.st_uid},gid={owner.st_gid},mode=0700"
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        capture_output=True,
        check=False,
        text=True,
    )
    if mount.returncode != 0:
        pytest.skip(f"NOT TESTED: {mount.stderr.strip()}")
    try:
        server.psql("postgres", f"CREATE TABLESPACE small LOCATION '{folder}'")
        yield folder
        server.psql("postgres", "DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def words(server: ThrowawayServer, state: Path, *more: str, rewrites: bool = False) -> list[str]:
    """Return a command line. From 19 on a bloated table is rewritten with its indexes."""
    flags = ["-h", str(server.folder), "-p", str(server.port), "-U", AGENT, "-d", "shop"]
    kinds = [] if rewrites else ["--without", "repack"]
    return ["agent", "--once", "--state", str(state), *flags, *kinds, *more]


def acts(pgsweep: Pgsweep, state: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pgsweep(
        "agent", "history", "-n", "1000", "--json", "--state", str(state)
    ).json()
    return found


def has_tidied_up(pgsweep: Pgsweep, state: Path) -> bool:
    """Tell whether a rebuild was lost and what it left was dropped."""
    found = {(row["kind"], row["outcome"]) for row in acts(pgsweep, state)}
    return {("reindex", "lost"), ("drop", "done")} <= found


def begin(
    server: ThrowawayServer, state: Path, *more: str, rewrites: bool = False
) -> subprocess.Popen[str]:
    """Start an agent in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pgsweep", *words(server, state, "--act", *more, rewrites=rewrites)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PGPASSFILE": "/dev/null"},
    )


def rebuilding(server: ThrowawayServer, wait_event: str = "virtualxid") -> bool:
    return bool(
        int(
            server.psql(
                "shop",
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'REINDEX%'"
                f" AND wait_event = '{wait_event}'",
            )
        )
    )


def session(server: ThrowawayServer) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=str(server.folder), port=server.port, user="postgres", dbname="shop", autocommit=True
    )


def page(url: str) -> str:
    """Return what is answered, or nothing while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=10) as found:
            return str(found.read().decode())
    except OSError:
        return ""


def test_it_says_what_it_would_do_and_does_it(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    assert pgsweep(*words(shop, state)).code == 0
    would = {row["name"]: row for row in acts(pgsweep, state)}
    assert {row["outcome"] for row in would.values()} == {"would"}
    assert would["public.q_pkey"]["statement"] == "REINDEX INDEX CONCURRENTLY public.q_pkey"
    assert would[NAME]["kind"] == "vacuum"
    assert would["public.p"]["reason"] == "partitioned, no statistics"
    assert {row["datname"] for row in would.values()} == {"shop"}
    assert not any(name.startswith("information_schema") for name in would)
    # It is said once.
    pgsweep(*words(shop, state))
    assert len(acts(pgsweep, state)) == len(would)

    done = tmp_path / "acting.db"
    size = int(shop.psql("shop", "SELECT pg_relation_size('q_pkey')"))
    assert pgsweep(*words(shop, done, "--act")).code == 0
    rows = {row["name"]: row for row in acts(pgsweep, done) if row["kind"] != "analyze"}
    assert rows["public.q_pkey"]["outcome"] == "done", rows["public.q_pkey"]
    assert rows["public.q_pkey"]["size_after"] < size / 50
    assert int(shop.psql("shop", "SELECT pg_relation_size('q_pkey')")) < size / 50
    assert rows[NAME]["outcome"] == "done", rows[NAME]
    assert (
        int(
            shop.psql(
                "shop", "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'we\" ird'"
            )
        )
        == 0
    )
    assert shop.psql("shop", "SELECT count(*) > 0 FROM pg_stats WHERE tablename = 'p'") == "t\n"
    # Nothing is done twice.
    number = len(acts(pgsweep, done))
    pgsweep(*words(shop, done, "--act"))
    again = acts(pgsweep, done)[: -number or None]
    assert [row for row in again if row["datname"] == "shop" and row["relid"] > 16383] == []
    assert pgsweep("agent", "status", "--state", str(done)).code == 0


def test_looks_leave_no_error_in_the_log(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    before = len(shop.log())
    pgsweep(*words(shop, tmp_path / "agent.db"))
    where = ("-h", str(shop.folder), "-p", str(shop.port), "-d", "shop", "-U")
    for role in (AGENT, OWNER):
        for command in (
            *("status", "progress", "queue", "runs", "tables", "explain", "blockers", "bloat"),
            *("check", "doctor"),
        ):
            pgsweep(command, *where, role)
    pgsweep(*words(shop, tmp_path / "agent.db", "--act"))
    said = shop.log()[before:]
    assert "ERROR" not in said, said


def test_an_agent_that_is_killed_leaves_nothing_behind(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    with session(shop) as user:
        user.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
        one = begin(shop, state)
        until(lambda: rebuilding(shop))
        one.send_signal(signal.SIGKILL)
        one.communicate()
        # From 14 on the server notices that the client has gone. The next agent ends it on 13.
        two = begin(shop, state)
        until(lambda: any(row["outcome"] == "lost" for row in acts(pgsweep, state)))
        user.execute("ROLLBACK")
        assert two.communicate(timeout=120)[1].count('"event": "done"') >= 1
    assert int(shop.psql("shop", INVALID)) == 0
    found = [row for row in acts(pgsweep, state) if row["kind"] in ("reindex", "drop")]
    assert [row["outcome"] for row in found if row["kind"] == "reindex"][-1] == "lost"
    assert [row["outcome"] for row in found if row["kind"] == "drop"] == ["done"]


def test_who_waits_for_it_gets_the_lock(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    with session(shop) as old, session(shop) as user:
        old.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
        one = begin(shop, state)
        until(lambda: rebuilding(shop))
        user.execute("SET lock_timeout = '30s'")
        user.execute("ALTER TABLE q ALTER pad SET STATISTICS 50")
        until(lambda: any(row["outcome"] == "gave way" for row in acts(pgsweep, state)))
        old.execute("ROLLBACK")
        one.communicate(timeout=120)
        (row,) = [row for row in acts(pgsweep, state) if row["kind"] == "reindex"]
        assert row["detail"] == f"process {user.info.backend_pid} waited for it"
    assert int(shop.psql("shop", INVALID)) == 0


def test_a_table_that_somebody_has_locked(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    with session(shop) as user:
        user.execute('BEGIN; LOCK TABLE q, "we"" ird", p')
        assert pgsweep(*words(shop, state, "--act")).code == 0
        rows = {row["name"]: row for row in acts(pgsweep, state)}
        assert rows["public.q_pkey"]["outcome"] == "gave way", rows["public.q_pkey"]
        assert rows["public.q_pkey"]["detail"] == "somebody has a lock on its table"
        assert rows[NAME]["outcome"] == "skipped"
        assert rows["public.p"]["outcome"] == "skipped"
        assert int(shop.psql("shop", INVALID)) == 0


def test_a_signal_ends_it_at_any_time(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    with session(shop) as user:
        user.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
        one = begin(shop, state)
        until(lambda: rebuilding(shop))
        one.terminate()
        until(lambda: any(row["outcome"] == "gave way" for row in acts(pgsweep, state)))
        user.execute("ROLLBACK")
        one.communicate(timeout=120)
    assert one.returncode == 0
    assert int(shop.psql("shop", INVALID)) == 0


def has_repack(server: ThrowawayServer) -> bool:
    return int(server.psql("postgres", "SHOW server_version_num")) >= 190000


def needs_repack(server: ThrowawayServer) -> None:
    if not has_repack(server):
        pytest.skip("REPACK (CONCURRENTLY) is from 19 on")


def test_a_bloated_table_is_rewritten(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    needs_repack(shop)
    for statement in (
        "CREATE TABLE documents (id int PRIMARY KEY, t text)",
        "ALTER TABLE documents ALTER t SET STORAGE EXTERNAL",
        "INSERT INTO documents SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 2000) i",
        "DELETE FROM documents WHERE id % 10 < 7",
    ):
        shop.psql("shop", f"SET ROLE {OWNER}; {statement}")
    shop.psql("shop", "VACUUM (ANALYZE) documents")
    state = tmp_path / "agent.db"
    sizes = "SELECT pg_relation_size('q'), pg_relation_size('q_pkey')"
    before = [int(size) for size in shop.psql("shop", sizes).split("|")]
    assert pgsweep(*words(shop, state, "--act", rewrites=True)).code == 0
    (row,) = [row for row in acts(pgsweep, state) if row["name"].startswith("public.q")]
    assert (row["kind"], row["outcome"]) == ("repack", "done"), row
    assert row["statement"] == "REPACK (CONCURRENTLY) public.q"
    after = [int(size) for size in shop.psql("shop", sizes).split("|")]
    assert all(now < then / 50 for now, then in zip(after, before, strict=True))
    assert row["size_after"] == after[0]
    assert int(shop.psql("shop", "SELECT count(*) FROM q")) == 1001
    # It counts with its TOAST table, of which pg_class knows nothing then.
    found = {row["name"]: row for row in acts(pgsweep, state) if row["kind"] == "repack"}
    documents = int(
        shop.psql(
            "shop",
            "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'documents'",
        )
    )
    assert found["public.documents"]["size_after"] >= documents > 100 * 8192
    # Nothing is done twice.
    pgsweep(*words(shop, state, "--act", rewrites=True))
    assert len([row for row in acts(pgsweep, state) if row["name"].startswith("public.q")]) == 1


def test_a_rewrite_keeps_nobody_waiting(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    needs_repack(shop)
    state = tmp_path / "agent.db"
    with session(shop) as old, session(shop) as user:
        old.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
        one = begin(shop, state, rewrites=True)
        # It has the copy, and takes the table's place.
        wanted = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted"
        until(lambda: shop.psql("shop", wanted) != "0\n" or one.poll() is not None)
        user.execute("SET lock_timeout = '30s'; SELECT count(*) FROM q")
        old.execute("ROLLBACK")
        one.communicate(timeout=120)
    (row,) = [row for row in acts(pgsweep, state) if row["kind"] == "repack"]
    assert row["outcome"] != "done", row
    assert int(shop.psql("shop", "SELECT count(*) FROM pg_replication_slots")) == 0
    assert int(shop.psql("shop", "SELECT count(*) FROM q")) == 1001
    assert int(shop.psql("shop", INVALID)) == 0


def test_only_one_agent_looks_after_a_server(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    with psycopg.connect(
        host=str(shop.folder), port=shop.port, user=AGENT, dbname="postgres", autocommit=True
    ) as other:
        other.execute("SELECT pg_advisory_lock(1952, 71394)")
        result = pgsweep(*words(shop, tmp_path / "agent.db", "--act"))
    assert result.code == 2
    assert "another agent looks after this server" in result.err


def test_what_it_says_can_be_read_by_programs(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    result = pgsweep(*words(shop, tmp_path / "agent.db", "--act", "--without", "reindex"))
    events = [json.loads(line) for line in result.err.splitlines()]
    assert {"begins", "done"} <= {event["event"] for event in events}
    assert all(event["statement"] for event in events if event["event"] == "begins")
    assert not any(event["act"] == "reindex" for event in events if "act" in event)


def test_it_answers_over_http(shop: ThrowawayServer, tmp_path: Path) -> None:
    port = free_port()
    given = [one for one in words(shop, tmp_path / "agent.db") if one != "--once"]
    command = [sys.executable, "-m", "pgsweep", *given, "--listen", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as one:

        def answer(path: str) -> str:
            return page(f"http://127.0.0.1:{port}/{path}")

        told = until(lambda: "pgsweep_agent_last_look" in answer("metrics") and answer("metrics"))
        assert 'act="reindex",outcome="would"' in told
        assert 'pgsweep_agent_bloat_bytes{datname="shop"' in told
        assert "pgsweep_up 1.0" in told
        assert "<html" in answer("")
        shown = until(lambda: "<table" in answer("agent") and answer("agent"))
        assert "public.q_pkey" in shown
        assert "of content" in shown
        until(lambda: "public.q_pkey" in answer("bloat"))
        one.terminate()
        one.communicate(timeout=60)
    assert one.returncode == 0


def test_a_password_that_a_command_prints(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    script = tmp_path / "token"
    script.write_text("#!/bin/sh\necho token\n")
    script.chmod(0o755)
    shop.psql("postgres", f"ALTER ROLE {AGENT} PASSWORD 'token'")
    rules = shop.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all {AGENT} scram-sha-256\n{before}")
    try:
        shop.psql("postgres", "SELECT pg_reload_conf()")
        state = tmp_path / "agent.db"
        until(lambda: "password" in pgsweep(*words(shop, state)).err)
        given = ("--password-command", str(script))
        result = pgsweep(*words(shop, state, "--act", *given))
        assert result.code == 0, result.err
        assert "done" in {row["outcome"] for row in acts(pgsweep, state)}
        port = free_port()
        line = [one for one in words(shop, state, *given) if one != "--once"]
        command = [sys.executable, "-m", "pgsweep", *line, "--listen", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as one:
            until(lambda: "public.q" in page(f"http://127.0.0.1:{port}/bloat"))
            one.terminate()
    finally:
        rules.write_text(before)
        shop.psql("postgres", "SELECT pg_reload_conf()")
    assert one.returncode == 0


def test_names_of_any_encoding(pgsweep: Pgsweep, server: ThrowawayServer, tmp_path: Path) -> None:
    for name, encoding in (("latin", "LATIN1"), ("bytes", "SQL_ASCII")):
        server.psql(
            "postgres",
            f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
            " TEMPLATE template0",
        )
        with psycopg.connect(
            host=str(server.folder), port=server.port, user="postgres", dbname=name, autocommit=True
        ) as one:
            one.execute("SET client_encoding = 'LATIN1'" if name == "latin" else "SELECT 1")
            for statement in ("CREATE TABLE t\xe4 (a int)", "INSERT INTO t\xe4 VALUES (1)"):
                one.execute(statement.encode("latin1"))
            # Nobody has ever analyzed it.
            for _ in range(100):
                one.execute("INSERT INTO t\xe4 VALUES (1)".encode("latin1"))
    flags = ("-h", str(server.folder), "-p", str(server.port), "-U", "postgres", "-d", "postgres")
    state = tmp_path / "agent.db"
    assert pgsweep("agent", "--once", "--act", "--state", str(state), *flags).code == 0
    rows = {row["datname"]: row for row in acts(pgsweep, state) if row["relid"] > 16383}
    assert rows["latin"]["outcome"] == "done"
    assert rows["latin"]["name"] == "public.t\xe4"
    # A name that is no text cannot be written. That is told, and nothing else fails.
    assert rows["bytes"]["outcome"] == "failed"
    for name in ("latin", "bytes"):
        server.psql("postgres", f"DROP DATABASE {name}")


def test_a_fleet(pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(
        f'dbname = "shop"\nuser = "{AGENT}"\n'
        f'[[nodes]]\nname = "here"\nhost = "{shop.folder}"\nport = {shop.port}\n'
        f'[[nodes]]\nname = "gone"\nhost = "{tmp_path}"\nport = 1\n'
    )
    state = ("--state", str(tmp_path / "agent.db"))
    result = pgsweep("agent", "--once", "--act", "--fleet", "--file", str(file), *state)
    assert result.code == 0
    assert '"server": "here"' in result.err
    names = {row["name"] for row in acts(pgsweep, tmp_path / "agent.db")}
    assert {"public.q" if has_repack(shop) else "public.q_pkey", NAME, "public.p"} <= names
    status = pgsweep("agent", "status", "--json", *state)
    assert status.code == 1
    problems = {one["name"]: one["problem"] for one in status.json()["servers"]}
    assert problems["here"] == ""
    assert "No such file" in problems["gone"]


def test_who_has_left_a_fleet_is_left_alone(
    shop: ThrowawayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "ROSTER_S", 0.1)
    head = f'dbname = "shop"\nuser = "{AGENT}"\n'
    node = '[[nodes]]\nname = "{}"\nhost = "{}"\nport = {}\n'
    here = node.format("here", shop.folder, shop.port)
    file = tmp_path / "fleet.toml"
    file.write_text(head + here + node.format("gone", tmp_path, 1))

    def names() -> set[str]:
        return {one.name for one in threading.enumerate() if one.name.startswith("agent of ")}

    stop = threading.Event()
    store = Store(tmp_path / "agent.db")
    one = crew.Crew(store, Rules(), stop)
    choice = providers.Choice(file=str(file))
    thread = threading.Thread(target=one.look_after, args=(Target(), choice, 5.0, False))
    thread.start()
    try:
        until(lambda: names() == {"agent of here", "agent of gone"})
        file.write_text(head + here)
        until(lambda: names() == {"agent of here"})
    finally:
        stop.set()
        thread.join(60)
    assert names() == set()
    store.close()


def test_a_database_that_nobody_may_enter(
    server: ThrowawayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(LOGGER, "log", lambda _level, event, **_more: said.append(event))
    server.psql("postgres", "CREATE DATABASE closed CONNECTION LIMIT 0")
    target = replace(server.target("postgres"), user=AGENT)
    agent = Agent(target, Store(tmp_path / "agent.db"), Rules(), threading.Event())
    assert [agent.attempt(), agent.attempt()] == [True, True]
    agent.close()
    assert said.count("database left out") == 1
    server.psql("postgres", "DROP DATABASE closed")


def test_a_server_that_is_restarted_meanwhile(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    given = [one for one in words(shop, state, "--act", "--every", "1") if one != "--once"]
    user = session(shop)
    user.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
    with subprocess.Popen(
        [sys.executable, "-m", "pgsweep", *given], stderr=subprocess.DEVNULL
    ) as one:
        try:
            until(lambda: rebuilding(shop))
            shop.restart()
            # It has come back, dropped what was left, and goes on with the rest.
            until(lambda: has_tidied_up(pgsweep, state))
        finally:
            one.terminate()
            one.wait(timeout=60)
    user.close()
    assert int(shop.psql("shop", INVALID)) == 0
    assert [row["outcome"] for row in acts(pgsweep, state)].count("running") == 0


def test_a_failover_in_the_middle(pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path) -> None:
    state = tmp_path / "agent.db"
    file = tmp_path / "fleet.toml"
    options = argparse.Namespace(pg_config=default_pg_config(), keep=False)
    with Standby(options, None, shop) as standby:
        node = '[[nodes]]\nname = "{}"\nhost = "{}"\nport = {}\n'
        file.write_text(
            f'dbname = "shop"\nuser = "{AGENT}"\n'
            + node.format("one", shop.folder, shop.port)
            + node.format("two", standby.folder, standby.port)
        )
        given = ["--fleet", "--file", str(file), "--every", "1", "--without", "repack"]
        user = session(shop)
        user.execute("BEGIN; LOCK TABLE q IN ROW EXCLUSIVE MODE")
        with subprocess.Popen(
            [sys.executable, "-m", "pgsweep", "agent", "--act", "--state", str(state), *given],
            stderr=subprocess.DEVNULL,
        ) as one:
            try:
                until(lambda: rebuilding(shop))
                until(lambda: int(standby.psql("shop", INVALID)) == 1)
                shop.stop()
                standby.psql("postgres", "SELECT pg_promote()")

                # The new primary has what was left, and is rid of it.
                until(lambda: has_tidied_up(pgsweep, state))
            finally:
                one.terminate()
                one.wait(timeout=60)
                shop.start_again()
        user.close()
        assert int(standby.psql("shop", INVALID)) == 0
        assert [row["outcome"] for row in acts(pgsweep, state)].count("running") == 0


def test_a_disk_that_is_full(
    pgsweep: Pgsweep, small_disk: Path, shop: ThrowawayServer, tmp_path: Path
) -> None:
    state = tmp_path / "agent.db"
    shop.psql("postgres", f"GRANT CREATE ON TABLESPACE small TO {OWNER}")
    for statement in (
        f"SET ROLE {OWNER}; CREATE TABLE large (id int8)",
        f"SET ROLE {OWNER}; INSERT INTO large SELECT generate_series(1, 400000)",
        f"SET ROLE {OWNER}; CREATE INDEX large_id ON large (id) TABLESPACE small",
        f"SET ROLE {OWNER}; DELETE FROM large WHERE id % 4 <> 0",
        "VACUUM (ANALYZE) large",
    ):
        shop.psql("shop", statement)
    with (small_disk / "others").open("wb") as others:
        room = os.statvfs(small_disk)
        others.write(bytes(room.f_bavail * room.f_bsize - 1024 * 1024))
    assert pgsweep(*words(shop, state, "--act")).code == 0

    def seen() -> list[tuple[str, str, str]]:
        return [
            (row["kind"], row["outcome"], row["detail"])
            for row in acts(pgsweep, state)
            if row["name"].startswith("public.large_id")
        ]

    dropped, failed = seen()
    assert dropped[:2] == ("drop", "done")
    assert failed[:2] == ("reindex", "failed")
    assert "No space left on device" in failed[2]
    assert int(shop.psql("shop", INVALID)) == 0
    # It is not tried again soon, though there is room.
    (small_disk / "others").unlink()
    assert pgsweep(*words(shop, state, "--act")).code == 0
    assert seen() == [dropped, failed]


def test_nothing_begins_in_a_pause(pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path) -> None:
    state = tmp_path / "agent.db"
    pgsweep(*words(shop, state, "--without", "reindex"))
    pgsweep("agent", "pause", "1", "--state", str(state))
    pgsweep(*words(shop, state, "--act"))
    assert {row["outcome"] for row in acts(pgsweep, state)} == {"would"}
    pgsweep("agent", "resume", "--state", str(state))
    pgsweep(*words(shop, state, "--act"))
    assert "done" in {row["outcome"] for row in acts(pgsweep, state)}


def test_hostile_owners_and_settings(
    pgsweep: Pgsweep, shop: ThrowawayServer, tmp_path: Path
) -> None:
    for statement in (
        "CREATE FUNCTION own(i int8) RETURNS int8 IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        f" IF current_user <> '{OWNER}' THEN RAISE 'run as %', current_user; END IF;"
        " RETURN i; END $$",
        "CREATE INDEX q_own ON q (own(id))",
        "INSERT INTO q SELECT i, 'x' FROM generate_series(300001, 600000) i",
        "DELETE FROM q WHERE id > 301000",
        # It would be found first if search_path were the database's.
        "CREATE SCHEMA evil",
        "CREATE FUNCTION evil.pg_is_in_recovery() RETURNS bool LANGUAGE sql AS 'SELECT true'",
    ):
        shop.psql("shop", f"SET ROLE {OWNER}; {statement}")
    shop.psql("shop", "VACUUM (ANALYZE) q")
    for setting in (
        "search_path = evil, pg_catalog",
        "default_transaction_read_only = on",
        "statement_timeout = '1ms'",
        "lock_timeout = '1ms'",
        "default_transaction_isolation = serializable",
        "vacuum_cost_delay = 100",
    ):
        shop.psql("postgres", f"ALTER DATABASE shop SET {setting}")
    state = tmp_path / "agent.db"
    flags = ("-h", str(shop.folder), "-p", str(shop.port), "-U", "postgres", "-d", "shop")
    for _ in range(2):
        assert pgsweep("agent", "--once", "--act", "--state", str(state), *flags).code == 0
    rows = {row["name"]: row["outcome"] for row in acts(pgsweep, state) if row["relid"] > 16383}
    built = {"public.q"} if has_repack(shop) else {"public.q_own", "public.q_pkey"}
    assert {*built, NAME} <= rows.keys()
    assert set(rows.values()) == {"done"}


@needs_extension
def test_where_the_extension_acts_tables_are_its_own_matter(
    pgsweep: Pgsweep, tmp_path: Path
) -> None:
    # It leaves this database alone, so that what is due stays so.
    settings = {
        "shared_preload_libraries": "pg_sweep",
        "sweep.mode": "observe",
        "sweep.exclude_databases": "shop",
        "autovacuum": "off",
    }
    with ThrowawayServer(default_pg_config(), settings) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        server.psql("postgres", "CREATE DATABASE shop")
        server.psql("shop", "CREATE TABLE t AS SELECT generate_series(1, 5000) i")
        server.psql("shop", "UPDATE t SET i = i + 1")

        def found(state: Path) -> set[str]:
            flags = server.flags("shop")
            assert pgsweep("agent", "--once", "--state", str(state), *flags).code == 0
            return {row["name"] for row in acts(pgsweep, state)}

        assert "public.t" in found(tmp_path / "observe.db")
        server.psql("postgres", "ALTER SYSTEM SET sweep.mode = act")
        server.psql("postgres", "SELECT pg_reload_conf()")
        mode = "SELECT setting FROM pg_settings WHERE name = 'sweep.mode'"
        until(lambda: server.psql("shop", mode) == "act\n")
        assert "public.t" not in found(tmp_path / "act.db")
