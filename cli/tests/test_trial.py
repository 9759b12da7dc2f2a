"""What a trial came to, in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

import samples
from pgsweep.findings import trial
from pgsweep.output.report import trial_page
from pgsweep.output.terminal import trials

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=timezone.utc)
HOSTILE = "<script>alert(1)</script>\x1b[31m"
ROW = samples.tried_table(since=NOW - timedelta(days=2, hours=3))


def test_what_could_have_been_saved() -> None:
    found = trial.summary([ROW], NOW)
    assert found.headline == (
        "In 2 d 3 h pg_sweep would have made 10 vacuums of 1 table, where autovacuum made 2, "
        "and would have begun 3 h 20 min earlier on average."
    )
    assert found.sentences[0] == (
        "It would have read and dirtied 1.0 to 2.0 MB for that. "
        "Autovacuum read and dirtied 10 MB: 8.0 to 9.0 MB could have been saved."
    )
    assert found.untouched == ()


def test_a_range_that_leaves_a_doubt_promises_nothing() -> None:
    found = trial.summary([replace(ROW, autovacuum_blks_read=200)], NOW)
    assert found.sentences[0].endswith("Autovacuum read and dirtied 1.6 MB.")


def test_the_mean_counts_each_vacuum_once() -> None:
    other = replace(ROW, relname="events", followed=6, earlier=timedelta(minutes=4))
    line = trial.summary([ROW, other], NOW).headline
    # (2 x 200 min + 6 x 4 min) / 8
    assert "53 min earlier on average" in line


def test_nothing_would_have_been_done() -> None:
    idle = replace(ROW, vacuums=0, followed=0, earlier=None)
    assert trial.summary([idle], NOW).headline == (
        "In 2 d 3 h pg_sweep would not have vacuumed anything. Autovacuum made 2 vacuums."
    )


def test_a_trial_that_has_ended_lasted_until_then() -> None:
    ended = replace(ROW, until=ROW.since + timedelta(minutes=30))
    assert trial.summary([ended], NOW).headline.startswith("In 30 min pg_sweep")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "900 dead rows, and it comes beyond 20.0k"),
        ({"dead_tuples": 30_000}, "30.0k dead rows, and it comes beyond 20.0k: soon"),
        ({"autovacuum_threshold": None}, "autovacuum is off"),
        (
            {"insert_vacuums": 1, "ins_since_vacuum": 800},
            "800 new rows, and it comes beyond 1.0k",
        ),
        (
            {"insert_vacuums": 1, "ins_since_vacuum": 800, "autovacuum_insert_threshold": None},
            "800 new rows, for which it does not come",
        ),
        ({"relid": None}, ""),
    ],
)
def test_why_autovacuum_has_not_come(changes: dict[str, int | None], why: str) -> None:
    row = replace(ROW, autovacuums=0, followed=0, earlier=None, **changes)  # type: ignore[arg-type]
    assert trial.why_untouched(row) == why
    assert trial.summary([row], NOW).untouched == (row,)


def test_a_table_that_was_vacuumed_by_hand_was_not_left_alone() -> None:
    assert not trial.untouched(replace(ROW, autovacuums=0, manual_vacuums=1))


def test_tables_vacuumed_by_hand_alone_are_not_told() -> None:
    by_hand = replace(ROW, vacuums=0, autovacuums=0, manual_vacuums=3)
    assert trial.told([ROW, by_hand]) == (ROW,)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    rows = [replace(ROW, relname="x" * 63, autovacuums=0), replace(ROW, relid=None, relname=None)]
    for line in trials.lines(rows, NOW, 20, width):
        assert line.cell_len <= width


@pytest.mark.parametrize("mode", ["observe", "act"])
def test_a_page_without_a_trial(mode: str) -> None:
    assert trials.none(mode) in trial_page.html([], samples.server(), mode)


def test_hostile_names_stay_text_in_a_file() -> None:
    row = replace(ROW, relname=HOSTILE, datname=HOSTILE, autovacuums=0)
    page = trial_page.html([row], samples.server(), "observe")
    assert "&lt;script&gt;alert" in page
    assert "<script>" not in page
    assert "\x1b" not in page
