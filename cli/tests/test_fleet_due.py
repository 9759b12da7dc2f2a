"""Which tables without the extension are due, by what fleet_dead.sql reads."""

from __future__ import annotations

from typing import Any

import pytest

from pgsweep import queries
from pgsweep.fleet.due import MOST_ROWS, due, settings_of

SHOWN = (
    {"autovacuum_vacuum_threshold": "50"},
    {"autovacuum_vacuum_scale_factor": "0.2"},
    {"autovacuum_vacuum_max_threshold": "1000"},
)


def row(
    oid: int, reltuples: float, reloptions: list[str] | None, dead: int, toast: int = 0
) -> dict[str, Any]:
    """Return a row of fleet_dead.sql."""
    return {
        "oid": oid,
        "reltoastrelid": toast,
        "reltuples": reltuples,
        "reloptions": reloptions,
        "dead_tuples": dead,
    }


@pytest.mark.parametrize(
    ("reltuples", "reloptions", "threshold"),
    [
        (100.0, None, 70),
        (-1.0, None, 50),
        (100.0, [], 70),
        (100_000.0, None, 1000),
        (100.0, ["fillfactor=90", "autovacuum_vacuum_threshold=0"], 20),
        (100.0, ["autovacuum_vacuum_threshold=1e2", "autovacuum_vacuum_scale_factor=0"], 100),
        (100_000.0, ["autovacuum_vacuum_max_threshold=-1"], 20_050),
        (100_000.0, ["autovacuum_vacuum_max_threshold=10"], 10),
        (100.0, ["autovacuum_enabled=true", "autovacuum_vacuum_threshold=0"], 20),
    ],
)
def test_a_table_is_due_above_its_threshold(
    reltuples: float, reloptions: list[str] | None, threshold: int
) -> None:
    rows = [
        row(oid, reltuples, reloptions, dead)
        for oid, dead in enumerate((threshold, threshold + 1, threshold + 2), start=1)
    ]
    assert due(rows, SHOWN) == 2


@pytest.mark.parametrize("value", ["off", "false", "0", "no", "f", "n"])
def test_where_autovacuum_is_disabled_nothing_is_due(value: str) -> None:
    assert due([row(1, 100.0, [f"autovacuum_enabled={value}"], 1000)], SHOWN) == 0


def test_a_toast_table_goes_by_its_main_tables_options() -> None:
    toast = row(2, 100.0, None, 1000)
    assert due([row(1, 0.0, ["fillfactor=90"], 0, toast=2), toast], SHOWN) == 1
    assert due([row(1, 0.0, ["autovacuum_enabled=off"], 0, toast=2), toast], SHOWN) == 0
    own = row(2, 100.0, ["autovacuum_vacuum_threshold=1"], 1000)
    assert due([row(1, 0.0, ["autovacuum_enabled=off"], 0, toast=2), own], SHOWN) == 1


def test_before_18_there_is_no_largest_threshold() -> None:
    assert settings_of(170000) == tuple(name for row in SHOWN[:2] for name in row)
    assert settings_of(180000) == tuple(name for row in SHOWN for name in row)
    large = row(1, 1e6, None, 150_000)
    assert due([large], SHOWN[:2]) == 0
    assert due([large], [*SHOWN[:2], {"autovacuum_vacuum_max_threshold": "-1"}]) == 0
    assert due([large], SHOWN) == 1


def test_one_row_more_than_is_judged_is_asked_for() -> None:
    assert queries.text("fleet_dead", 180000).rstrip().endswith(b"LIMIT %d" % (MOST_ROWS + 1))
