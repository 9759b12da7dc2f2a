"""The faults of bench/alerts: how each is provoked and taken away, and what is to say so."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lib
import psycopg
from alert_scene import CLOG_SEGMENT_XIDS, START_PATIENCE_S, Scene

PATIENCE_S = 420
SLOT_AGE_XIDS = 60 * CLOG_SEGMENT_XIDS  # more than the 50 million of PgsweepHorizonOld
OLD_XIDS = 1700 * CLOG_SEGMENT_XIDS  # fewer than 500 million are left from the slot's on


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong, and which alerts are to say so."""

    name: str
    provoke: Callable[[Scene], contextlib.AbstractContextManager[None]]
    # These must fire, and these may, as consequences.
    must: frozenset[str]
    may: frozenset[str]


FAULTS: list[Fault] = []


def fault(*must: str, may: tuple[str, ...] = ()) -> Callable[..., Callable[..., object]]:
    """Register a fault, a context manager whose block is the time for which it lasts."""

    def register(provoke: Callable[[Scene], Iterator[None]]) -> Callable[..., object]:
        made = contextlib.contextmanager(provoke)
        name = provoke.__name__.replace("_", " ")
        FAULTS.append(Fault(name, made, frozenset(must), frozenset(may)))
        return made

    return register


STARVED = ("PgsweepVacuumStarved", "PgsweepTableFarOverThreshold")


@fault("PgsweepHorizonHeld (idle in transaction)", may=STARVED)
def an_idle_transaction_with_a_snapshot(scene: Scene) -> Iterator[None]:
    with scene.session() as session:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT count(*) FROM pgbench_branches")
        yield
        session.execute("ROLLBACK")


@fault("PgsweepHorizonHeld (prepared transaction)", may=STARVED)
def a_forgotten_prepared_transaction(scene: Scene) -> Iterator[None]:
    scene.sql("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'lunch'")
    yield
    scene.sql("ROLLBACK PREPARED 'lunch'")


@fault("PgsweepArchiverFailing")
def archive_command_fails(scene: Scene) -> Iterator[None]:
    scene.set(archive_command="false")
    scene.sql("SELECT pg_switch_wal()")
    yield
    scene.set(archive_command="true")
    scene.sql("SELECT pg_current_xact_id(); SELECT pg_switch_wal()")


@fault("PgsweepVacuumStarved", "PgsweepTableFarOverThreshold")
def a_due_table_is_locked(scene: Scene) -> Iterator[None]:
    scene.sql("CREATE TABLE starved AS SELECT i FROM generate_series(1, 40000) i")
    scene.sql("VACUUM ANALYZE starved")
    with scene.session() as session:
        session.execute("BEGIN")
        session.execute("LOCK TABLE starved IN SHARE UPDATE EXCLUSIVE MODE")
        scene.sql("DELETE FROM starved WHERE i % 10 > 0")
        scene.renew_serve()
        yield
        session.execute("ROLLBACK")
    done = "SELECT n_dead_tup = 0 FROM pg_stat_user_tables WHERE relname = 'starved'"
    lib.wait_until(lambda: scene.sql(done).strip() == "t", "its vacuum", PATIENCE_S)
    scene.renew_serve()
    scene.sql("DROP TABLE starved")


@fault("PgsweepRunsFail")
def vacuums_fail(scene: Scene) -> Iterator[None]:
    scene.sql("CREATE TABLE broken (i int) WITH (autovacuum_enabled = off)")
    scene.sql("INSERT INTO broken SELECT generate_series(1, 100)")
    scene.sql(
        "CREATE FUNCTION half(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " RETURN i / (2 - current_setting('app.broken')::int); END $$"
    )
    scene.sql("SET app.broken = 1; CREATE INDEX ON broken (half(i))")
    with scene.session() as session:
        session.execute("SET app.broken = 2")
        for _ in range(6):
            with contextlib.suppress(psycopg.errors.DivisionByZero):
                session.execute("VACUUM ANALYZE broken")
            time.sleep(1.5)  # one more in each scrape
    yield
    scene.sql("DROP TABLE broken; DROP FUNCTION half")


@fault("PgsweepBudgetBinds", may=STARVED)
def a_budget_is_too_small(scene: Scene) -> Iterator[None]:
    scene.sql("SELECT sweep.hold('1 h')")
    tables = ("huge", "large", "wide", "tall")
    for name in tables:
        scene.sql(
            f"CREATE TABLE {name} AS SELECT i, repeat('x', 700) AS filler"
            " FROM generate_series(1, 60000) AS i"
        )
        # A last run tells how long the next one takes.
        scene.sql(f"VACUUM {name}")
        scene.sql(f"DELETE FROM {name} WHERE i % 3 = 0")
    scene.sql("CHECKPOINT")
    scene.set(sweep__write_limit="0.2", sweep__floor="0.1")
    scene.sql("SELECT sweep.hold('0')")
    yield
    scene.set(sweep__write_limit=None, sweep__floor=None)
    scene.sql(f"DROP TABLE {', '.join(tables)}")


@fault("PgsweepLedgerNotSaved")
def the_file_of_runs_cannot_be_written(scene: Scene) -> Iterator[None]:
    file = scene.primary.folder / "data" / "pg_stat" / "pg_sweep.runs"
    with contextlib.suppress(FileNotFoundError):
        file.unlink()
    file.mkdir()
    scene.sql("VACUUM pgbench_branches")
    yield
    file.rmdir()


@fault("PgsweepSensorBroken")
def the_kernel_tells_nothing_of_disks(scene: Scene) -> Iterator[None]:
    """Something else is mounted over /proc/diskstats. Only root can do that."""
    scene.set(sweep__io_latency_limit="10s")
    lib.wait_until(
        lambda: disk_sensor(scene) == "ok", "the disk's sensor to work", START_PATIENCE_S
    )
    with tempfile.NamedTemporaryFile() as empty:
        Path(empty.name).chmod(0o644)
        subprocess.run(["mount", "--bind", empty.name, "/proc/diskstats"], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "/proc/diskstats"], check=True)
    scene.set(sweep__io_latency_limit=None)


def disk_sensor(scene: Scene) -> str:
    with scene.session() as session:
        return str(
            lib.value(session, "SELECT state FROM sweep.sensors() WHERE name = 'disk_latency'")
        )


@fault("PgsweepAutovacuumOff")
def autovacuum_is_switched_off(scene: Scene) -> Iterator[None]:
    scene.set(autovacuum="off")
    yield
    scene.set(autovacuum=None)


@fault("PgsweepPartUnreadable")
def a_privilege_is_missing(scene: Scene) -> Iterator[None]:
    scene.sql("REVOKE SELECT ON sweep.governor FROM pg_monitor")
    yield
    scene.sql("GRANT SELECT ON sweep.governor TO pg_monitor")


@fault("PgsweepServeDown")
def serve_has_ended(scene: Scene) -> Iterator[None]:
    scene.serve.end()
    yield
    scene.serve.start()


@fault("PgsweepStandbyLosesQueries")
def a_standby_cancels_queries(scene: Scene) -> Iterator[None]:
    scene.sql("CREATE TABLE conflicts (i int) WITH (autovacuum_enabled = off)")
    ending = threading.Event()

    def lose() -> None:
        while not ending.is_set():
            with contextlib.suppress(psycopg.Error), lib.connect(scene.standby) as reader:
                reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                reader.execute("SELECT count(*) FROM conflicts")
                scene.sql("INSERT INTO conflicts SELECT generate_series(1, 500)")
                scene.sql("DELETE FROM conflicts")
                scene.sql("VACUUM conflicts")
                reader.execute("SELECT pg_sleep(3)")

    loser = threading.Thread(target=lose, daemon=True)
    loser.start()
    try:
        yield
    finally:
        ending.set()
        loser.join()
    scene.sql("DROP TABLE conflicts")


@fault("PgsweepLauncherStopped", may=STARVED)
def the_launcher_hangs(scene: Scene) -> Iterator[None]:
    pid = int(scene.sql("SELECT launcher_pid FROM sweep.status"))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@fault("PgsweepNotAsSet", may=("PgsweepServerUnreachable",))
def the_launcher_crashes_again_and_again(scene: Scene) -> Iterator[None]:
    scene.load.stop()
    for crashes in range(1, 4):
        scene.wait_for_server()
        os.kill(int(scene.sql("SELECT launcher_pid FROM sweep.status")), signal.SIGSEGV)

        def counted(crashes: int = crashes) -> bool:
            with contextlib.suppress(lib.PgsweepError):
                asked = f"SELECT recent_crashes = {crashes} FROM sweep.status"
                return scene.sql(asked).strip() == "t"
            return False

        lib.wait_until(counted, "the server after a crash", START_PATIENCE_S)
    scene.load.start()
    yield
    scene.sql("SELECT sweep.rearm()")
    scene.wait_for_server()


@fault("PgsweepServerUnreachable")
def the_server_is_down(scene: Scene) -> Iterator[None]:
    scene.stop_server()
    yield
    scene.start_server()


@fault("PgsweepShortOfMemory", may=("PgsweepServerUnreachable",))
def there_are_more_tables_than_room(scene: Scene) -> Iterator[None]:
    scene.restart_with(sweep__max_decisions="1024")
    scene.sql("CREATE SCHEMA many")
    # That these are not to be vacuumed must be remembered, or a worker looks again and again.
    scene.sql(
        "DO $$ BEGIN FOR i IN 1..1500 LOOP"
        " EXECUTE format('CREATE TABLE many.t%s WITH (autovacuum_enabled = off) AS"
        " SELECT generate_series(1, 100) AS i', i);"
        " EXECUTE format('DELETE FROM many.t%s', i);"
        " IF i % 100 = 0 THEN COMMIT; END IF; END LOOP; END $$"
    )
    yield
    for first in range(0, 1500, 250):
        scene.sql(
            f"DO $$ BEGIN FOR i IN {first + 1}..{first + 250} LOOP"
            " EXECUTE format('DROP TABLE many.t%s', i); END LOOP; END $$"
        )
    scene.sql("DROP SCHEMA many")
    scene.restart_with(sweep__max_decisions=None)


# From here on numbers of transactions are skipped, see jump_to().


@fault(
    "PgsweepHorizonOld (logical slot)",
    may=("PgsweepHorizonHeld (logical slot)", "PgsweepServerUnreachable", *STARVED),
)
def an_abandoned_slot(scene: Scene) -> Iterator[None]:
    scene.sql("SELECT pg_create_logical_replication_slot('abandoned', 'pgoutput')")
    scene.jump_to(SLOT_AGE_XIDS)
    scene.wait_for_server()
    scene.load.start()
    yield
    scene.sql("SELECT pg_drop_replication_slot('abandoned')")


@fault(
    "PgsweepFreezeOverdue",
    "PgsweepWraparoundNear",
    "PgsweepWraparoundSoon",
    may=("PgsweepServerUnreachable", *STARVED),
)
def wraparound_is_near(scene: Scene) -> Iterator[None]:
    scene.sql("CREATE TABLE never_frozen AS SELECT 1 AS i")
    scene.jump_to(OLD_XIDS)
    ending = threading.Event()

    # 5,000 a second, as a busy server does
    def burn() -> None:
        with lib.connect(scene.primary) as session:
            while not ending.is_set():
                session.execute(
                    "DO $$ BEGIN FOR i IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT;"
                    " END LOOP; END $$"
                )
                ending.wait(0.8)

    burner = threading.Thread(target=burn, daemon=True)
    with scene.session() as session:
        session.execute("BEGIN")
        session.execute("LOCK TABLE never_frozen IN SHARE UPDATE EXCLUSIVE MODE")
        scene.wait_for_server()
        scene.load.start()
        burner.start()
        try:
            yield
        finally:
            ending.set()
            burner.join()
        session.execute("ROLLBACK")
