"""The commands against a server whose schema sweep is a stub."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from conftest import Pgsweep
from pgsweep import __version__, model
from pgsweep.source import db
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer

pytestmark = pytest.mark.server

Flags = tuple[str, ...]


def columns(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def test_status(pgsweep: Pgsweep, flags: Flags) -> None:
    result = pgsweep("status", *flags)
    assert result.code == 1
    lines = result.out.splitlines()
    assert len(lines) <= 10
    assert max(len(line) for line in lines) <= 80
    assert lines[1] == "pg_sweep   0.1.0, mode act"
    assert lines[3] == ("running    4 vacuums: 1 autovacuum, 1 manual, 1 sweep, 1 anti-wraparound")
    assert lines[4] == "due        3 of 4,620 relations"
    assert re.match(
        r"horizon    held for \d+ min by a session idle in transaction, process 4712 in da…",
        lines[7],
    )
    assert lines[-1].startswith("problems   6 runs failed in the last hour")


def test_status_is_well(pgsweep: Pgsweep, stub: ThrowawayServer, flags: Flags) -> None:
    stub.psql("stub", "CREATE TABLE kept AS TABLE sweep.runs; DELETE FROM sweep.runs")
    try:
        result = pgsweep("status", *flags)
    finally:
        stub.psql("stub", "INSERT INTO sweep.runs TABLE kept; DROP TABLE kept")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "problems   none"


def test_status_json(pgsweep: Pgsweep, flags: Flags) -> None:
    document = pgsweep("status", "--json", *flags).json()
    assert list(document) == [
        *("server", "status", "running", "last_hour", "databases", "snoozed", "problems"),
        *("due", "overdue", "blockers"),
    ]
    assert list(document["status"]) == columns(model.Status)
    assert document["running"]["sweep"] == 1
    assert document["last_hour"]["failed"] == 6


@pytest.mark.parametrize(
    ("command", "kind", "number"),
    [
        ("progress", model.Progress, 6),
        ("runs", model.Run, 20),
        ("status --databases", model.Database, 4),
        ("tables", model.Table, 3),
        ("explain", model.Cause, 3),
        ("blockers", model.Blocker, 2),
    ],
)
def test_json_keys_are_the_columns(
    pgsweep: Pgsweep, flags: Flags, command: str, kind: type, number: int
) -> None:
    result = pgsweep(*command.split(), "--json", *flags)
    assert result.code == 0
    document = result.json()
    assert len(document) == number
    assert all(list(row) == columns(kind) for row in document)


def test_model_has_the_columns_of_the_extension() -> None:
    script = Path(__file__).parents[2] / "sql" / "pg_sweep.sql"
    if not script.exists():
        pytest.skip("NOT TESTED: the extension's sources are not beside cli/")
    text = script.read_text()
    for view, kind in (
        ("progress", model.Progress),
        ("runs", model.Run),
        ("databases", model.Database),
        ("status", model.Status),
        ("features", model.Feature),
    ):
        match = re.search(
            rf"FUNCTION sweep_internal\.get_{view}\((.*?)\)\nRETURNS", text, re.DOTALL
        )
        assert match is not None
        offered = set(re.findall(r"OUT (\w+)", match.group(1)))
        known = set(columns(kind))
        # A view may add columns to its function's, but none of the function's gets lost.
        assert offered <= known, f"{view}: {offered - known} not in model"


def test_json_values(pgsweep: Pgsweep, flags: Flags) -> None:
    rows = {row["pid"]: row for row in pgsweep("progress", "--json", *flags).json()}
    accounts = rows[48213]
    assert accounts["eta"] == 9.0
    assert accounts["wal_bytes"] == 34567890
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d", accounts["started_at"])
    assert rows[48500]["relname"] is None


def test_progress_is_narrow(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("progress", *flags).out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[0].split()[:3] == ["PID", "WHO", "TABLE"]
    workers = [line for line in lines if "└ worker" in line]
    assert len(workers) == 2
    assert any("cost 212k at 18.3k/s" in line for line in lines)


def test_runs_filters(pgsweep: Pgsweep, flags: Flags) -> None:
    def runs(*arguments: str) -> list[dict[str, object]]:
        document = pgsweep("runs", "--json", *flags, *arguments).json()
        assert isinstance(document, list)
        return document

    assert len(runs("--limit", "3")) == 3
    assert {row["started_by"] for row in runs("--started-by", "sweep")} == {"sweep"}
    assert {row["outcome"] for row in runs("--outcome", "failed")} == {"failed"}
    assert {row["relname"] for row in runs("--table", "public.events")} == {"events"}
    assert {row["relname"] for row in runs("--table", "events")} == {"events"}
    assert runs("--table", "other.events") == []
    assert runs("--database", "shop") == []
    # The latest comes first. There are no more steps than the last ten minutes hold.
    recent = [int(str(row["run_id"])) for row in runs("--since", "5min", "-n", "100")]
    assert recent == sorted(recent)
    assert 1 <= len(recent) <= 8


NAMED = {
    "runs": "INSERT INTO sweep.runs (run_id, datname, relid, schemaname, relname, started_by, "
    "outcome, ended_at) VALUES (-1, {})",
    "decisions": "INSERT INTO sweep.decisions (times, datname, relid, schemaname, relname, "
    "decision, reason, last_at) VALUES (-1, {})",
    "audit": "INSERT INTO sweep.audit (pid, datname, relid, schemaname, relname, command, "
    "usename, called_at) VALUES (-1, {})",
}

COMMAND_OF = {
    "runs": ("runs",),
    "decisions": ("queue", "--decisions"),
    "audit": ("runs", "--audit"),
}


@pytest.mark.parametrize("view", NAMED)
@pytest.mark.parametrize(
    ("schema", "name", "others"),
    [
        ("public", "MyTable", ('"MyTable"', 'PUBLIC."MyTable"')),
        ("Sales", "Or.ders", ('"Sales"."Or.ders"', '"Or.ders"')),
        ("sales", "orders", ("ORDERS", "Sales.Orders", 'sales."orders"')),
    ],
)
def test_the_table_of_a_list_is_named_as_in_sql_or_as_it_is_shown(
    pgsweep: Pgsweep,
    stub: ThrowawayServer,
    flags: Flags,
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    schema: str,
    name: str,
    others: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    values = f"'shop', 7, '{schema}', '{name}', 'sweep', 'done', now() + interval '1 min'"
    stub.psql("stub", NAMED[view].format(values))
    try:
        printed = re.search(rf"\S*{re.escape(name)}", pgsweep(*COMMAND_OF[view], *flags).out)
        assert printed is not None
        assert printed[0].startswith("shop.") or view == "audit"
        for written in (printed[0], printed[0].removeprefix("shop."), *others):
            found = pgsweep(*COMMAND_OF[view], "-t", written, "--json", *flags).json()
            assert [row["relname"] for row in found] == [name], written
        for written in ("mytables", f'"{name.swapcase()}"', f"elsewhere.{name}"):
            assert pgsweep(*COMMAND_OF[view], "-t", written, "--json", *flags).json() == []
    finally:
        stub.psql("stub", f"DELETE FROM sweep.{view} WHERE relid = 7")


def test_runs_for_people(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("runs", "-n", "2", *flags).out.splitlines()
    assert len(lines) == 3
    assert max(len(line) for line in lines) <= 80
    assert pgsweep("runs", "--table", "none", *flags).out == "no runs\n"


def test_databases(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("status", "--databases", *flags).out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert [line.split()[0] for line in lines[1:]] == ["bench", "archive", "shop", "template0"]
    # Every command shows the same number: how many tables wait in the queue.
    assert [line.split()[3] for line in lines[1:]] == ["2", "1", "0", "-"]


def test_tables(pgsweep: Pgsweep, stub: ThrowawayServer, flags: Flags) -> None:
    result = pgsweep("tables", *flags)
    lines = result.out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert [line.split()[0] for line in lines[1:4]] == [
        "pg_catalog.pg_attribute",
        "pgbench_accounts",
        "…der_lines_2026_partition",
    ]
    # The views answered, so there is nothing to apologize for.
    assert lines[4:] == [
        "3 of 3 tables shown, 2 due",
        "within 7 days 2 tables to freeze, 1.9k pages",
    ]
    target = db.Target(host=str(stub.folder), port=str(stub.port), user=SUPERUSER, dbname="stub")
    with db.connect(target) as session:
        assert session.to_freeze() == model.ToFreeze(tables=2, pages=1940)
    rows = pgsweep("tables", "--json", "--due", "--sort", "dead", "-n", "1", *flags).json()
    assert [row["relname"] for row in rows] == ["pgbench_accounts"]
    (row,) = (row for row in pgsweep("tables", "--json", *flags).json() if row["blocked_by"])
    assert row["blocked_by"] == [4711, 4712]
    assert pgsweep("tables", "--sort", "colour", *flags).code == 2


def test_tables_worth(pgsweep: Pgsweep, flags: Flags) -> None:
    result = pgsweep("tables", "--worth", *flags)
    lines = result.out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[1].split()[:6] == ["pgbench_accounts", "120k", "4.2", "9.8", "9.6k", "9.6k"]
    assert lines[2].split()[:4] == ["…ines_2026_partition", "800", "-", "-"]
    rows = pgsweep("tables", "--worth", "--json", "-n", "1", *flags).json()
    assert [list(row) for row in rows] == [columns(model.Worth)]
    for other in (("--due",), ("--sort", "dead")):
        refused = pgsweep("tables", "--worth", *other, *flags)
        assert (refused.code, refused.out) == (2, "")
        assert "--worth cannot be combined" in refused.err
    bare = pgsweep("tables", "--worth", "--database", "bare", *flags)
    assert (bare.code, bare.out) == (2, "")
    assert "is not installed" in bare.err


def test_tables_of_several_databases(pgsweep: Pgsweep, flags: Flags) -> None:
    both = ("--database", "stub", "--database", "bare")
    result = pgsweep("tables", *both, *flags)
    assert result.code == 0
    assert "stub.pgbench_accounts" in result.out
    rows = pgsweep("tables", "--json", "-n", "9999", *both, *flags).json()
    assert {row["datname"] for row in rows} == {"stub", "bare"}
    # One has the extension, the other has not.
    assert 'Database "bare" has no pg_sweep' in result.out
    assert 'Database "stub"' not in result.out
    missing = pgsweep("tables", "--database", "nowhere", *flags)
    assert (missing.code, missing.out) == (2, "")


def test_explain(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("explain", *flags).out.splitlines()
    assert lines[3] == "    fix       SELECT pg_cancel_backend(4711);"
    # The causes of one table stay together.
    assert [line for line in lines if not line.startswith(" ")] == [
        "public.pgbench_accounts: due, and not vacuumed",
        "1.  cause     locked by process 4711",
        "2.  cause     minimum interval",
        "public.t: due",
        "1.  cause     all worker slots are busy",
    ]
    one = pgsweep("explain", "--json", "orders", *flags).json()
    assert [row["relation"] for row in one] == ["public.orders"]
    # The name is taken as it is written in SQL, and as it is.
    assert pgsweep("explain", "public.orders", *flags).code == 0
    assert pgsweep("explain", "ORDERS", *flags).code == 0
    missing = pgsweep("explain", "nothing", *flags)
    assert missing.code == 2
    assert 'there is no table "nothing" in database "stub"' in missing.err


def test_budget(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("status", "--budget", *flags).out.splitlines()
    assert [line.split()[0:2] for line in lines[1:4]] == [
        ["▶", "write"],
        ["replica", "lag"],
        ["device", "-"],
    ]
    # There are eight steps but only two decisions.
    assert lines[5].split()[:3] == ["FROM", "FOR", "DECISION"]
    assert [line.split()[2] for line in lines[6:]] == ["steady", "back"]
    document = pgsweep("status", "--budget", "--json", *flags).json()
    assert [limit["name"] for limit in document["limits"]] == ["write", "replica lag", "device"]
    assert len(document["steps"]) == 8
    assert pgsweep("status", "--budget", "--databases", *flags).code == 2


def test_audit(pgsweep: Pgsweep, flags: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    lines = pgsweep("runs", "--audit", *flags).out.splitlines()
    assert lines[0].split()[:4] == ["WHEN", "USER", "CALLED", "ON"]
    words = lines[1].split()
    assert words[1:8] == ["alice", "as", "oncall", "slow", "PID", "4712", "bench.pgbench_accounts"]
    assert lines[2].split()[1:5] == ["alice", "hold", "the", "server"]
    assert [row["command"] for row in pgsweep("runs", "--audit", "--json", *flags).json()] == [
        "slow",
        "hold",
    ]
    assert len(pgsweep("runs", "--audit", "-n", "1", *flags).out.splitlines()) == 2
    assert (
        len(pgsweep("runs", "--audit", "-t", "public.pgbench_accounts", *flags).out.splitlines())
        == 2
    )
    assert pgsweep("runs", "--audit", "--user", "bob", *flags).out == (
        "no calls since the server was started\n"
    )


def test_trial(
    pgsweep: Pgsweep, flags: Flags, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    out = pgsweep("trial", *flags).out
    # The stub was made a while ago, and a slow machine makes that a minute.
    said = re.sub(r"^In 3 h \d+ min ", "In 3 h ", " ".join(out.split("\n\n")[0].split()))
    assert said.startswith(
        "In 3 h pg_sweep would have made 242 vacuums of 2 tables, where autovacuum made 90, "
        "and would have begun 47 s earlier on average. "
        "It would have read and dirtied 73 to 112 MB for that. "
        "Autovacuum read and dirtied 27 MB: coming earlier would have cost 46 to 85 MB more."
    )
    assert "System catalogs: 240 vacuums, where autovacuum made 90." in said
    lines = out.splitlines()
    heads = next(line for line in lines if line.startswith("TABLE"))
    assert heads.split() == ["TABLE", "VACUUMS", "COST", "AUTOVACUUM", "COST", "EARLIER", "GREW"]
    left = next(
        line for line in lines if line.startswith("bench.pgbench_accounts") and "dead" in line
    )
    assert "30.0k dead rows, and it comes beyond 200k" in left
    assert [row["vacuums"] for row in pgsweep("trial", "--json", *flags).json()] == [240, 2]
    assert "1 of 2 tables shown" in pgsweep("trial", "-n", "1", *flags).out

    file = tmp_path / "trial.html"
    pgsweep("trial", "--html", str(file), *flags)
    page = file.read_text()
    assert re.search(r"In 3 h (\d+ min )?pg_sweep would have made 242 vacuums of 2 tables", page)
    assert "bench.pgbench_accounts" in page
    assert pgsweep("trial", "--html", str(file), "--json", *flags).code == 2


def test_hours_of_a_simulation_are_not_cut() -> None:
    from pgsweep.commands import trial

    # More hours than MOST_HOURS are shown by the day.
    assert trial.SIMULATED_LINES >= trial.MOST_HOURS


def test_simulate(pgsweep: Pgsweep, flags: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    out = pgsweep("trial", "--by", "hour", *flags).out
    said = " ".join(out.split("\n\n")[0].split())
    assert said.startswith(
        "Today's settings come to 40 vacuums in 4 h, which read and dirty 40 MB, "
        "and to 1.0k dead rows on average. "
        "The same model with today's settings is 10 % low on vacuums and 20 % low on I/O for that "
        "time: 40 were recorded, which read and dirtied 50 MB."
    )
    assert "1 hour of that time is not recorded, and left out." in said
    assert "8 % of all changes were in tables that are not recorded one by one." in said
    heads = next(line for line in out.splitlines() if line.startswith("HOUR"))
    assert heads.split() == ["HOUR", "TODAY", "I/O", "DEAD", "RECORDED", "I/O", "DEAD"]

    change = ("--set", "autovacuum_vacuum_scale_factor=0.05")
    out = pgsweep("trial", *change, "--by", "table", *flags).out
    assert "there would be 80 vacuums in 4 h instead of 40" in " ".join(out.split())
    heads = next(line for line in out.splitlines() if line.startswith("TABLE"))
    assert heads.split()[:7] == ["TABLE", "TODAY", "I/O", "DEAD", "WHAT", "IF", "I/O"]
    assert sum(line.startswith("bench.pgbench_") for line in out.splitlines()) == 2
    out = pgsweep("trial", *change, "--table", "*tellers", *flags).out
    assert "bench.pgbench_tellers" in out
    assert "bench.pgbench_accounts" not in out

    found = pgsweep("trial", "--json", *change, *flags).json()
    assert found["settings"] == ["autovacuum_vacuum_scale_factor=0.05"]
    assert found["total"]["other"]["vacuums"] == 80
    assert found["back_test"]["vacuums_error_pct"] == -10
    assert found["by"] == "hour"
    assert len(found["lines"]) == 4

    assert pgsweep("trial", "--set", "nothing", *flags).code == 2
    assert pgsweep("trial", "--table", "nobody", *flags).code == 2
    assert pgsweep("trial", "--table", "x", "--by", "hour", *flags).code == 2


def test_blockers(pgsweep: Pgsweep, flags: Flags) -> None:
    lines = pgsweep("blockers", *flags).out.splitlines()
    assert lines[1].split()[:4] == ["idle", "in", "transaction", "123k"]
    assert "    withholds 30,000 dead rows of bench.pgbench_accounts" in lines
    assert not [line for line in lines if "needs the extension" in line]


def test_doctor_names_the_worst_blocker(
    pgsweep: Pgsweep, stub: ThrowawayServer, flags: Flags
) -> None:
    assert "held by a session idle in transaction, process 4712" in pgsweep("doctor", *flags).out
    stub.psql("stub", "UPDATE sweep.blockers SET since = now() - interval '3 h' WHERE pid = 4712")
    try:
        out = " ".join(pgsweep("doctor", *flags).out.split())
    finally:
        stub.psql(
            "stub", "UPDATE sweep.blockers SET since = now() - interval '10 min' WHERE pid = 4712"
        )
    assert "WARN horizon held by a session idle in transaction, process 4712" in out
    assert "withholds 30,000 dead rows of bench.pgbench_accounts" in out
    assert "SELECT pg_terminate_backend(4712); → Risk: its work is rolled back" in out


def test_check(pgsweep: Pgsweep, flags: Flags) -> None:
    result = pgsweep("check", *flags)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("PGSWEEP OK - oldest xid 0 % ")
    assert "round=" in result.out
    late = pgsweep("check", "--times", "1", "--critical", "overdue=1", *flags)
    assert late.code == 2
    assert late.out.startswith("PGSWEEP CRITICAL - 1 table over 1 times their threshold")
    assert pgsweep("check", "--warning", "holder=5min", *flags).code == 1


@pytest.mark.parametrize(
    "arguments",
    [("--warning", "nonsense"), ("--no-such-option",), ("-d", "nowhere"), ("--times", "x")],
)
def test_check_is_unknown(pgsweep: Pgsweep, flags: Flags, arguments: Flags) -> None:
    result = pgsweep("check", *flags, *arguments)
    assert result.code == 3
    assert result.out.startswith("PGSWEEP UNKNOWN - ")
    assert result.out.count("\n") == 1


def test_check_of_a_library_that_is_not_loaded(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("check", *stub.flags("unloaded"))
    assert result.code == 3
    assert "must be loaded via" in result.out


def test_status_on_hold(pgsweep: Pgsweep, stub: ThrowawayServer, flags: Flags) -> None:
    assert pgsweep("status", "--json", *flags).json()["status"]["held_until"] is None
    stub.psql("stub", "ALTER TABLE sweep.status ADD held_until timestamptz")
    stub.psql("stub", "UPDATE sweep.status SET held_until = now() + interval '1 h'")
    try:
        stub.psql(
            "stub",
            "INSERT INTO sweep.decisions (decision, not_before) VALUES "
            "('snoozed', now() + interval '1 h'), ('snoozed', now() - interval '1 h')",
        )
        lines = pgsweep("status", *flags).out.splitlines()
    finally:
        stub.psql("stub", "DELETE FROM sweep.decisions WHERE decision = 'snoozed'")
        stub.psql("stub", "ALTER TABLE sweep.status DROP held_until")
    assert re.fullmatch(r"pg_sweep   0.1.0, mode act, on hold until [\d:]+ \(in 59:5\d\)", lines[1])
    assert lines[4] == "due        3 of 4,620 relations, 1 snoozed"


def test_status_without_the_extension(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("status", *stub.flags("bare"))
    assert result.code in (0, 1)
    assert 'pg_sweep   not in database "bare"' in result.out
    assert len(result.out.split("\n\n")[0].splitlines()) <= 10
    document = pgsweep("status", "--json", *stub.flags("bare"))
    assert document.json()["status"] is None
    assert "needs the extension" in document.err


def test_doctor(pgsweep: Pgsweep, flags: Flags) -> None:
    result = pgsweep("doctor", *flags)
    # The stub answers, but the library is really not there.
    assert result.code == 2
    assert "FAIL library" in result.out
    assert "ok   versions   library and SQL objects are both 0.1.0" in result.out
    assert "superuser" in result.out


def test_doctor_json(pgsweep: Pgsweep, flags: Flags) -> None:
    document = pgsweep("doctor", "--json", *flags).json()
    assert document["exit_code"] == 2
    assert list(document["checks"][0]) == ["level", "subject", "text", "fix"]


def test_doctor_without_the_extension(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("doctor", *stub.flags("bare"))
    assert result.code == 2
    assert "FAIL extension" in result.out
    assert "shared_preload_libraries = 'pg_sweep'" in result.out
    assert result.err == ""


def test_doctor_when_the_library_is_not_loaded(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("doctor", *stub.flags("unloaded"))
    assert result.code == 2
    assert "FAIL library    pg_sweep is not in shared_preload_libraries" in result.out


def test_doctor_for_a_role_without_rights(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("doctor", *stub.flags("stub"), "-U", "nobody_special")
    assert result.code == 2
    assert 'GRANT pg_monitor TO "nobody_special"' in result.out
    assert "may call no function that acts" in result.out


def test_a_monitoring_role_sees_everything(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    assert len(pgsweep("progress", "--json", *stub.flags("stub"), "-U", "watcher").json()) == 6


@pytest.mark.parametrize("arguments", [("--version",), ("-V",)])
def test_version(pgsweep: Pgsweep, arguments: Flags) -> None:
    result = pgsweep(*arguments)
    assert (result.code, result.out) == (0, f"pgsweep {__version__}\n")


@pytest.mark.parametrize("form", ["uri", "conninfo", "positional", "environment"])
def test_ways_to_connect(
    pgsweep: Pgsweep, stub: ThrowawayServer, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    host, port = str(stub.folder), str(stub.port)
    arguments: dict[str, Flags] = {
        "uri": ("-d", f"postgresql://postgres@/stub?host={host}&port={port}"),
        "conninfo": ("-d", f"host={host} port={port} user=postgres dbname=stub", "-h", "wrong"),
        "positional": ("stub", "-h", host, "-p", port, "-U", "postgres"),
        "environment": (),
    }
    if form == "environment":
        for name, value in (("HOST", host), ("PORT", port), ("USER", "postgres")):
            monkeypatch.setenv(f"PG{name}", value)
        monkeypatch.setenv("PGDATABASE", "stub")
        hostile = "-c search_path=public -c default_transaction_read_only=off"
        monkeypatch.setenv("PGOPTIONS", hostile)
    assert len(pgsweep("progress", "--json", *arguments[form]).json()) == 6


def test_sessions_are_read_only_and_safe(stub: ThrowawayServer) -> None:
    from pgsweep.source import db

    stub.psql("stub", "ALTER ROLE watcher SET search_path = public")
    target = dataclasses.replace(stub.target("stub"), user="watcher")
    with db.connect(target) as session:
        shown = {
            name: session.setting(name)
            for name in (
                "search_path",
                "transaction_read_only",
                "statement_timeout",
                "application_name",
            )
        }
    assert shown == {
        "search_path": "pg_catalog",
        "transaction_read_only": "on",
        "statement_timeout": "10s",
        "application_name": "pgsweep",
    }


def test_cancel(stub: ThrowawayServer) -> None:
    from pgsweep.source import db

    with db.connect(stub.target("stub")) as session:
        assert session.cancel(48213) == (True, "")
        assert session.cancel(48213, force=True) == (True, "it prevented wraparound")
        assert session.cancel(1) == (False, "process 1 is not running a vacuum")
