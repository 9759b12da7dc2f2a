"""What a simulation came to, in words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

import samples
from pgsweep.findings import simulation
from pgsweep.findings.simulation import Answer
from pgsweep.output.terminal import simulations

HOUR = samples.simulated_hour()
TABLE = samples.simulated_table()
CHANGE = ("autovacuum_vacuum_scale_factor=0.05",)


def answer(settings: tuple[str, ...] = (), hours: int = 24, **summary: object) -> Answer:
    """Return a simulation in which a change makes everything twice as often, for half the rows."""
    rows = [replace(HOUR, hour=HOUR.hour + timedelta(hours=i)) for i in range(hours)]
    other = [
        replace(row, vacuums=20, blks_read=2000, blks_dirtied=560, dead_tuples=250) for row in rows
    ]
    lines = simulation.by_hour(rows, other if settings else None, rows)
    return Answer(settings, samples.simulation_summary(**summary), lines, "hour")


def test_without_a_change_it_says_what_today_comes_to() -> None:
    assert simulation.headline(answer()) == (
        "Today's settings come to 240 vacuums in 7 d, which read and dirty 240 MB, and to 500 "
        "dead rows on average."
    )


def test_a_change_is_told_beside_today() -> None:
    assert simulation.headline(answer(CHANGE)) == (
        "With autovacuum_vacuum_scale_factor = 0.05 there would be 480 vacuums in 7 d instead "
        "of 240, which read and dirty 480 MB instead of 240 MB (+100 %), and 250 dead rows on "
        "average instead of 500 (-50 %)."
    )
    said = simulation.sentences(answer(CHANGE))
    assert said[1] == (
        "Workers would be busy for 0:48 instead of 0:48, and at most 1 table would wait for one at "
        "a time instead of 1."
    )


def test_nobody_waits() -> None:
    rows = [replace(HOUR, waiting=0)]
    lines = simulation.by_hour(rows, rows, rows)
    found = Answer(CHANGE, samples.simulation_summary(), lines, "hour")
    assert simulation.sentences(found)[1].endswith(", and no table would wait for one.")


def test_the_error_is_beside_every_answer() -> None:
    for settings in ((), CHANGE):
        assert simulation.sentences(answer(settings))[0] == (
            "The same model with today's settings is 25 % high on vacuums and 25 % high on I/O "
            "for that time: 192 were recorded, which read and dirtied 192 MB."
        )
    found = simulation.rounded(answer())
    assert found["vacuums_error_pct"] == 25
    assert found["blocks_error_pct"] == 25


def test_the_error_is_that_of_the_back_test() -> None:
    tested = replace(HOUR, vacuums=6, blks_read=1024, blks_dirtied=0)
    lines = simulation.by_hour([HOUR], None, [tested])
    said = simulation.back_test(Answer((), samples.simulation_summary(), lines, "hour"))
    assert said.startswith("The same model with today's settings is 25 % low on vacuums and exact")


def test_few_vacuums_tell_nothing_of_the_error() -> None:
    one = replace(HOUR, recorded_vacuums=1)
    lines = simulation.by_hour([one], None, [one])
    assert simulation.back_test(Answer((), samples.simulation_summary(), lines, "hour")) == (
        "How good this is cannot be told: 1 vacuum was recorded in that time."
    )


def test_when_transaction_ids_run_out() -> None:
    said = simulation.sentences(answer())[-2]
    assert said.startswith(
        "The oldest transaction id is 50.0M old, and 1.0M are used each hour: it reaches "
        "autovacuum_freeze_max_age (200M) on 2026-09-2"
    )
    assert "the server stops on 2026-12-1" in said
    late = simulation.sentences(answer(xid_age=210_000_000, freeze_max_age_at=samples.NOW))[-2]
    assert "it has reached autovacuum_freeze_max_age (200M)." in late
    never = answer(freeze_max_age_at=None, wraparound_at=None)
    assert simulation.sentences(never)[-2].endswith("stops in more than a hundred years.")
    unknown = answer(xids_per_hour=None, tables_to_freeze=None, pages_to_freeze=None)
    assert simulation.sentences(unknown)[-1].endswith("How many are used is not recorded.")


def test_which_tables_are_frozen() -> None:
    assert simulation.sentences(answer())[-1] == (
        "In the next 7 d, 3 tables (100 MB not frozen yet) of this database reach the age at which "
        "pg_sweep freezes them."
    )
    one = answer(("sweep.mode = off",), tables_to_freeze=1, pages_to_freeze=0)
    assert simulation.sentences(one)[-1] == (
        "In the next 7 d, 1 table of this database reaches the age at which autovacuum freezes it."
    )
    other = replace(one, today=samples.simulation_summary())
    assert simulation.sentences(other)[-1].endswith(
        "freezes it; with today's settings, 3 tables (100 MB not frozen yet)."
    )
    none = answer(tables_to_freeze=0, pages_to_freeze=0)
    assert "of this database" not in simulation.sentences(none)[-1]
    same = replace(one, today=one.summary)
    assert simulation.sentences(same) == simulation.sentences(one)


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"missing_hours": 1}, "1 hour of that time is not recorded, and left out."),
        ({"missing_hours": 5}, "5 hours of that time are not recorded, and left out."),
        ({"changes_left_out_pct": 12.4}, "12 % of all changes were in tables"),
        (
            {"unlearned_tables": 3},
            "Of 3 of 12 tables no vacuum was recorded: what theirs cost is taken",
        ),
        (
            {"unlearned_tables": 12},
            "Of 12 of 12 tables no vacuum was recorded: what theirs cost is the",
        ),
        ({"mode": "observe"}, "sweep.mode is observe, so what is simulated is the server's own"),
    ],
)
def test_what_makes_it_less_sure(changes: dict[str, object], note: str) -> None:
    assert simulation.notes(answer()) == ()
    (said,) = simulation.notes(answer(**changes))  # type: ignore[arg-type]
    assert said.startswith(note)
    assert simulation.notes(answer(("sweep.mode=act",), mode="observe")) == ()


def test_days_are_hours_together() -> None:
    days = simulation.by_day(answer(CHANGE, hours=72).lines)
    assert 3 <= len(days) <= 4
    assert sum(day.today.vacuums for day in days) == 720
    assert {day.today.dead for day in days} == {500}
    assert max(len(day.label) for day in days) == len("2026-09-22")


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        *((name, True) for name in ("orders", "public.orders", "*.ord*", "shop.orders", "ORD*")),
        *(("order", False), ("x.*", False)),
    ],
)
def test_patterns(pattern: str, fits: bool) -> None:
    assert simulation.fits(TABLE, pattern) is fits
    assert len(simulation.by_table([TABLE], None, [TABLE], pattern)) == fits


def test_tables_add_up_and_quiet_ones_are_not_shown() -> None:
    other = replace(TABLE, relid=1, relname="events", dead_tuples=100)
    quiet = replace(TABLE, relid=2, relname="quiet", vacuums=0, recorded_vacuums=0)
    rows = [TABLE, other, quiet]
    found = Answer((), samples.simulation_summary(), simulation.by_table(rows, None, rows), "table")
    assert found.total.today.dead == 1100
    text = "\n".join(line.plain for line in simulations.lines(found, 50, 120))
    assert "shop.orders" in text
    assert "quiet" not in text
    assert "1 of 2 shown" in "\n".join(line.plain for line in simulations.lines(found, 1, 120))


@pytest.mark.parametrize("width", [20, 40, 80, 140, 300])
def test_it_fits_any_width(width: int) -> None:
    for line in simulations.lines(answer(CHANGE), 50, width)[:-8]:
        assert line.cell_len <= max(width, 70)


def test_programs_get_all_of_it() -> None:
    found = json.loads(simulations.document(answer(CHANGE)))
    assert found["total"]["today"]["vacuums"] == 240
    assert found["total"]["other"]["vacuums"] == 480
    assert found["back_test"]["recorded_vacuums"] == 192
    assert len(found["lines"]) == 24


def test_errors_without_anything_to_compare() -> None:
    assert simulation.error(5, 0) is None
    assert simulation.error(5, 10) == -50
