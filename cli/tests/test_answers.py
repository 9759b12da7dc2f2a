"""What tables, explain and blockers print."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rich.cells import cell_len
from rich.text import Text

import samples
from pgsweep.base import paragraph
from pgsweep.output.terminal import answers, reports


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def test_tables() -> None:
    rows = (samples.table(), samples.table(relname="b", do_vacuum=False, insert_threshold=None))
    lines = plain(answers.table_lines(rows, rows, samples.NOW, 80))
    assert " ".join(lines[0].split()) == "TABLE DECISION SCORE DEAD OF INSERTED OF XID %"
    assert " ".join(lines[1].split()) == ("pgbench_accounts due 1.17 23.5k 20.1k 1.0k 21.0k 0%")
    assert " off " in lines[2]
    assert lines[-1] == "2 of 2 tables shown, 1 due"
    wide = plain(answers.table_lines(rows, rows, samples.NOW, 200, with_database=True))
    assert wide[1].startswith("bench.pgbench_accounts")
    assert "3 min ago" in wide[1]
    assert wide[1].endswith("dead tuples 23,456 above threshold 20,050")
    assert "FREEZE IN" not in wide[0]
    soon = samples.table(freeze_time=samples.NOW + timedelta(hours=5))
    old = samples.table(freeze_time=samples.NOW - timedelta(hours=5))
    never = samples.table(freeze_time=samples.NOW + timedelta(days=365_250))
    dated = plain(answers.table_lines((soon, old, never), (soon,), samples.NOW, 200))
    assert "FREEZE IN" in dated[0]
    assert dated[-1] == "within 7 days 1 table to freeze, 1.6k pages"
    assert "5:00:00" in dated[1]
    assert " 0:00" in dated[2]
    assert "9999d 00h" in dated[3]
    assert plain(answers.table_lines((), (), samples.NOW, 80)) == ["0 of 0 tables shown, 0 due"]


def test_what_is_not_known() -> None:
    unknown = samples.table(score=None, xid_age=None, pages=None, frozen_pages=None, decision=None)
    lines = plain(answers.table_lines((unknown,), (unknown,), samples.NOW, 160))
    assert lines[1].split()[:4] == ["pgbench_accounts", "user", "-", "-"]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_nothing_but_a_statement_is_too_long(width: int) -> None:
    long = "t" * 63
    table = samples.table(relname=long, schemaname="中文" * 10, reason="r" * 300)
    cause = samples.cause(relation=f"{long}.{long}", cause="c " * 90, evidence="e " * 200)
    blocker = samples.blocker(name=long, query="q" * 300, withholds="w " * 100, state="s" * 60)
    lines = [
        *answers.table_lines((table,), (table,), samples.NOW, width, with_database=True),
        *answers.cause_lines((cause,), width),
        *answers.blocker_lines((blocker,), samples.NOW, width),
        *paragraph.notes(["n " * 100], width),
    ]
    for line in lines:
        statement = line.plain.startswith("    fix ")
        assert statement or cell_len(line.plain) <= width, line.plain


def test_causes() -> None:
    lines = plain(answers.cause_lines((samples.cause(),), 80))
    assert lines == [
        "public.orders: due, and not vacuumed",
        "1.  cause     locked by process 4711",
        "    evidence  AccessExclusiveLock for 5 min",
        "    fix       SELECT pg_cancel_backend(4711);",
        "    risk      its statement fails",
    ]
    # The causes of one table stand together.
    two = (samples.cause(rank=9), samples.cause(rank=10, cause="workers are busy"))
    lines = plain(answers.cause_lines(two, 80))
    assert lines.count("public.orders: due, and not vacuumed") == 1
    assert lines[5] == "10. cause     workers are busy"
    # If there is nothing to say about a part, it is left out.
    lines = plain(answers.cause_lines((samples.cause(fix="", risk=None),), 80))
    assert not [line for line in lines if "fix" in line or "risk" in line]


def test_blockers() -> None:
    rows = (samples.blocker(), samples.blocker(pid=None, since=None, query=None, name="slot"))
    lines = plain(answers.blocker_lines(rows, samples.NOW, 80))
    assert " ".join(lines[0].split()) == "KIND AGE FOR PID NAME DATABASE USER"
    assert " ".join(lines[1].split()) == "idle in transaction 123k 10:00 4712 psql bench alice"
    assert lines[2] == "    query     SELECT 1"
    assert lines[4] == "    fix       SELECT pg_terminate_backend(4712);"
    assert " - " in lines[6]
    (nothing,) = plain(answers.blocker_lines((), samples.NOW, 80))
    assert nothing == "nothing holds the horizon back"


def test_a_hostile_name_is_harmless() -> None:
    evil = "a\x1b[31m\nb"
    lines = [
        *answers.table_lines((samples.table(relname=evil, reason=evil),), (), samples.NOW, 200),
        *answers.cause_lines((samples.cause(relation=evil, fix=evil, evidence=evil),), 80),
        *answers.blocker_lines((samples.blocker(name=evil, query=evil),), samples.NOW, 80),
    ]
    assert all(line.plain.isprintable() for line in lines)


def test_status_says_that_it_is_on_hold() -> None:
    status = samples.status(held_until=samples.NOW + timedelta(minutes=5))
    lines = plain(reports.status_lines(samples.report(status=status), 80))
    assert lines[1].startswith("pg_sweep   0.1.0, mode act, on hold until ")
    assert lines[1].endswith("(in 5:00)")
    over = samples.status(held_until=samples.NOW - timedelta(minutes=5))
    assert plain(reports.status_lines(samples.report(status=over), 80))[1] == (
        "pg_sweep   0.1.0, mode act"
    )
