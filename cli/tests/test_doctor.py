"""What `doctor` concludes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import samples
from pgsweep.findings.checks import Check, Level, diagnose, exit_code
from pgsweep.findings.core.overview import overview
from pgsweep.model import Facts, Feature, Members, compute
from pgsweep.output.terminal import reports


def found(facts: Facts, subject: str) -> Check:
    (check,) = [check for check in diagnose(facts) if check.subject == subject]
    return check


def with_setting(**settings: str) -> Facts:
    renamed = {name.replace("__", "."): value for name, value in settings.items()}
    return samples.facts(settings={**samples.facts().settings, **renamed})


def test_all_well() -> None:
    checks = diagnose(samples.facts())
    assert exit_code(checks) == 0
    assert {check.level for check in checks} <= {Level.OK, Level.NOTE}


def test_every_finding_says_what_to_do() -> None:
    bad = samples.facts(
        settings={"autovacuum": "off", "track_counts": "off", "shared_preload_libraries": ""},
        available_version=None,
        installed_version=None,
        in_pg_monitor=False,
        status=None,
        features=(),
        databases=(),
    )
    for check in diagnose(bad):
        assert check.level is Level.OK or check.fix or check.subject == "acting", check


def test_library_not_loaded() -> None:
    facts = samples.facts(
        settings={"shared_preload_libraries": "auto_explain", "max_worker_processes": "8"},
        status=None,
        status_error='pg_sweep must be loaded via "shared_preload_libraries"',
    )
    check = found(facts, "library")
    assert check.level is Level.FAIL
    assert "  shared_preload_libraries = 'auto_explain, pg_sweep'" in check.fix
    assert exit_code(diagnose(facts)) == 2
    # One mention is enough.
    assert not [check for check in diagnose(facts) if check.subject == "views"]


@pytest.mark.parametrize("value", ["pg_sweep", '"pg_sweep"', "a,pg_sweep", "$libdir/pg_sweep"])
def test_library_loaded(value: str) -> None:
    assert found(with_setting(shared_preload_libraries=value), "library").level is Level.OK


def test_preload_invisible_to_this_role() -> None:
    facts = samples.facts(settings={}, status=None, status_error="permission denied")
    assert found(facts, "library").level is Level.NOTE
    assert found(facts, "views").level is Level.FAIL


def test_extension_missing_in_this_database() -> None:
    facts = samples.facts(installed_version=None, status=None, features=(), databases=())
    check = found(facts, "extension")
    assert check.level is Level.FAIL
    assert "CREATE EXTENSION pg_sweep" in check.fix[0]


def test_extension_not_installed_at_all() -> None:
    facts = samples.facts(
        available_version=None, installed_version=None, status=None, features=(), databases=()
    )
    assert "not installed on this server" in found(facts, "extension").text


@pytest.mark.parametrize(
    ("sql", "library", "fix"),
    [("0.1.0", "0.2.0", "ALTER EXTENSION pg_sweep UPDATE"), ("0.10.0", "0.9.0", "Restart")],
)
def test_versions_differ(sql: str, library: str, fix: str) -> None:
    facts = samples.facts(status=samples.status(sql_version=sql, library_version=library))
    check = found(facts, "versions")
    assert check.level is Level.FAIL
    assert fix in check.fix[0]


def test_circuit_breaker() -> None:
    status = samples.status(
        effective_mode="off", reason="circuit breaker", recent_crashes=3, launcher_pid=None
    )
    facts = samples.facts(status=status)
    check = found(facts, "mode")
    assert check.level is Level.FAIL
    assert "SELECT sweep.rearm()" in check.fix[0]
    assert found(facts, "launcher").level is Level.OK


def test_observe_is_no_fault() -> None:
    facts = samples.facts(status=samples.status(mode="observe", effective_mode="observe"))
    assert found(facts, "mode").level is Level.NOTE
    assert exit_code(diagnose(facts)) == 0


def test_launcher_not_running() -> None:
    facts = samples.facts(status=samples.status(launcher_pid=None), slots_of_others=7)
    assert found(facts, "launcher").level is Level.FAIL
    slots = found(facts, "slots")
    assert slots.level is Level.WARN
    assert slots.fix[1] == "  max_worker_processes = 14"
    assert "8 background worker slots, 7 used by others now" in slots.text
    hidden = found(samples.facts(slots_of_others=None), "slots")
    assert "not to be seen by this role" in hidden.text


def test_others_want_the_slots() -> None:
    status = samples.status(reason="2 of 8 background workers are left")
    slots = found(samples.facts(status=status), "slots")
    assert slots.level is Level.WARN
    assert slots.text.endswith("2 of 8 background workers are left")


def test_a_device_that_reads_far_ahead() -> None:
    device = found(samples.facts(read_ahead=(8192.0, "sda")), "device")
    assert device.level is Level.NOTE
    assert "8 MB ahead on sda" in device.text
    assert device.fix[0] == "echo 256 > /sys/block/sda/queue/read_ahead_kb"
    for harmless in (None, (1024.0, "sda")):
        checks = diagnose(samples.facts(read_ahead=harmless))
        assert "device" not in [check.subject for check in checks]


def test_launcher_is_stuck() -> None:
    late = samples.NOW - timedelta(minutes=5)
    status = samples.status(last_round_at=late)
    assert found(samples.facts(status=status), "launcher").level is Level.WARN
    # It looks as often as it was told to, so this is no delay.
    seldom = samples.status(last_round_at=late, naptime=200_000.0)
    assert found(samples.facts(status=seldom), "launcher").level is Level.OK
    assert compute.problems(samples.report(status=seldom)) == ()


def test_a_standby_without_feedback_is_a_note() -> None:
    assert not [check for check in diagnose(samples.facts()) if check.subject == "standbys"]
    facts = samples.facts(status=samples.status(standby_conflicts="a standby sends no feedback"))
    check = found(facts, "standbys")
    assert check.level is Level.NOTE
    assert check.text.startswith("a standby sends no feedback: vacuums begin together with")
    assert "hot_standby_feedback = on" in check.fix[0]
    assert exit_code(diagnose(facts)) == 0
    told = samples.status(standby_conflicts="sweep.standby_conflicts is on")
    assert found(samples.facts(status=told), "standbys").fix == (
        "Where all standbys send feedback, set sweep.standby_conflicts = auto.",
    )


def test_a_growing_table_is_late() -> None:
    for status in (samples.status(late_tables=0, late_pages=7), samples.status()):
        assert not [c for c in diagnose(samples.facts(status=status)) if c.subject == "growing"]
    facts = samples.facts(status=samples.status(late_tables=2, late_pages=81_000))
    check = found(facts, "growing")
    assert check.level is Level.NOTE
    assert check.text == (
        "vacuums of 2 growing tables come too late: new pages have left the cache by then "
        "(81,000 pages so far)"
    )
    assert exit_code(diagnose(facts)) == 0


def test_slots_do_not_suffice() -> None:
    facts = with_setting(max_worker_processes="4", sweep__max_workers="4")
    check = found(facts, "slots")
    assert check.level is Level.WARN
    assert check.fix[1] == "  max_worker_processes = 9"


def test_a_feature_is_off() -> None:
    facts = samples.facts(features=(Feature("lock walk", enabled=False, detail="layout differs"),))
    check = found(facts, "features")
    assert check.level is Level.WARN
    assert check.text == "lock walk is off: layout differs"


def test_a_feature_is_not_checked_before_the_launcher_runs() -> None:
    """No background worker slot is free, which is not the fault of any headers."""
    features = tuple(
        Feature(name, enabled=None, detail="private structures") for name in ("scout", "worker")
    )
    facts = samples.facts(
        status=samples.status(launcher_pid=None), slots_of_others=8, features=features
    )
    check = found(facts, "features")
    assert check.level is Level.NOTE
    assert check.text == "not checked yet: scout, worker"
    said = " ".join(line for each in diagnose(facts) for line in (each.text, *each.fix))
    assert "headers" not in said
    assert "max_worker_processes" in said
    one_bad = (Feature("meter", enabled=False, detail=None), *features)
    checks = diagnose(samples.facts(features=one_bad))
    assert [each.level for each in checks if each.subject == "features"] == [
        Level.NOTE,
        Level.WARN,
    ]


@pytest.mark.parametrize(
    ("changed", "subject"),
    [
        ({"runs_save_error": "No space left on device"}, "ledger"),
        ({"decisions_dropped": 5}, "memory"),
        ({"databases_dropped": 1}, "memory"),
        ({"recent_crashes": 1}, "mode"),
    ],
)
def test_warnings_of_the_status(changed: dict[str, Any], subject: str) -> None:
    facts = samples.facts(status=samples.status(**changed))
    assert found(facts, subject).level is Level.WARN
    assert exit_code(diagnose(facts)) == 1


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"autovacuum": "off"}, Level.WARN),
        ({"track_activities": "off"}, Level.WARN),
        ({"track_counts": "off"}, Level.FAIL),
        ({"sweep__min_interval": "0"}, Level.NOTE),
        ({"sweep__naptime": "1", "sweep__min_interval": "60"}, Level.OK),
        ({"sweep__naptime": "120"}, Level.NOTE),
    ],
)
def test_settings(settings: dict[str, str], level: Level) -> None:
    assert found(with_setting(**settings), "settings").level is level


def test_permissions() -> None:
    facts = samples.facts(
        in_pg_monitor=False,
        status=None,
        may_call={"sweep.cancel(integer, interval, boolean)": False},
    )
    assert "may not read the views" in found(facts, "reading").text
    assert (
        found(facts, "acting").text
        == "may call no function that acts, but not sweep.cancel(integer, interval, boolean)"
    )


def test_databases_out_of_scope_are_fine() -> None:
    databases = (samples.database(), samples.database(datname="x", ours=False, reason="excluded"))
    check = found(samples.facts(databases=databases), "databases")
    assert check.level is Level.OK
    assert "1 of 2 in scope" in check.text
    assert "Out of scope: x (excluded)" in check.text


@pytest.mark.parametrize(
    ("value", "absent"),
    [
        ("*", ""),
        ("", ""),
        ("bench, shop", ""),
        ("nosuchdb", '"nosuchdb"'),
        ('bench,"a ""b"", c" , *', '"a "b", c"'),
        ("Bench", '"Bench"'),
    ],
)
def test_names_of_no_database(value: str, absent: str) -> None:
    for setting in ("sweep__databases", "sweep__exclude_databases"):
        first, *rest = [
            check
            for check in diagnose(with_setting(**{setting: value}))
            if check.subject == "databases"
        ]
        assert first.level is (Level.WARN if absent else Level.OK)
        assert len(rest) == bool(absent)
        if absent:
            assert f"{setting.replace('__', '.')} names {absent}: there is no" in first.text


def test_no_database_in_scope() -> None:
    databases = (samples.database(ours=False, reason="not in sweep.databases"),)
    assert found(samples.facts(databases=databases), "databases").level is Level.WARN
    # Nobody has looked yet.
    status = samples.status(launcher_pid=None)
    assert found(samples.facts(databases=databases, status=status), "databases").level is Level.OK


def test_a_role_that_may_read_and_sees_little() -> None:
    check = found(samples.facts(in_pg_monitor=False), "reading")
    assert "may read the views, but is not in pg_monitor" in check.text


def test_horizon() -> None:
    assert found(samples.facts(), "horizon").text == "nothing holds it back"
    young = samples.blocker(age=200_000)
    check = found(samples.facts(blockers=(young,)), "horizon")
    assert check.level is Level.OK
    assert "held by a session idle in transaction, process 4712, 200,000" in check.text
    # A holder that has been there for long counts more than one that is older in transactions.
    lunch = samples.blocker(pid=7, age=5, since=samples.NOW - timedelta(hours=3))
    check = found(samples.facts(blockers=(young, lunch)), "horizon")
    assert check.level is Level.WARN
    assert "process 7, 5 transactions old, for 3 h" in check.text
    assert check.text.endswith(". For 1 other see pgsweep blockers")
    assert check.fix == (
        "  SELECT pg_terminate_backend(4712);",
        "Risk: the session's uncommitted work is rolled back",
    )
    check = found(samples.facts(blockers=None), "horizon")
    assert check.level is Level.NOTE
    assert "GRANT pg_monitor" in check.fix[0]


def test_age_without_the_extension() -> None:
    old = samples.database_age(datname="old", xid_age=310_000_000)
    facts = samples.facts(databases=(), core_databases=(samples.database_age(), old))
    check = found(facts, "xid age")
    assert check.level is Level.WARN
    assert '155 % of autovacuum_freeze_max_age, in database "old"' in check.text


def test_members_of_multixacts() -> None:
    assert found(samples.facts(members=Members(2**30, None)), "members").level is Level.OK
    facts = samples.facts(members=Members(3 * 2**30, 2**32 - 1))
    check = found(facts, "members")
    assert check.level is Level.WARN
    assert "75 % of the room for them is used" in check.text
    said = "75 % of the room for members of multixacts is used"
    assert compute.problems(samples.report(members=facts.members)) == (said,)
    assert said in overview(samples.core_facts(samples.relation(), members=facts.members)).problems


def test_doctor_is_narrow() -> None:
    checks = diagnose(samples.facts(status=samples.status(sql_version="0.0.9")))
    lines = [line.plain for line in reports.doctor_lines(checks, 80)]
    assert max(len(line) for line in lines) <= 80
    assert any(line.startswith("FAIL versions") for line in lines)
    assert any("→ Run as superuser: ALTER EXTENSION pg_sweep UPDATE" in line for line in lines)


def test_status_is_ten_lines_at_most() -> None:
    status = samples.status(
        effective_mode="off", reason="circuit breaker", runs_save_error="disk full"
    )
    report = samples.report(status=status, server=samples.server(autovacuum=False))
    lines = [line.plain for line in reports.status_lines(report, 80)]
    assert len(lines) == 10
    assert max(len(line) for line in lines) <= 80
    assert lines[-1].strip().startswith("autovacuum is off: ")
    assert lines[-1].endswith("…")
