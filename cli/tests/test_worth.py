"""What garbage costs, in the table, in sentences and on a table's page."""

from __future__ import annotations

from datetime import timedelta

import pytest

import samples
from pgsweep.model import TableHistory, TableKey, Worth
from pgsweep.output.terminal import worths
from pgsweep.output.terminal.columns import run_columns
from pgsweep.output.web import views
from test_web import HOSTILE, page

UNKNOWN = samples.worth(
    index_scans=None,
    blks_per_scan_clean=None,
    reads_per_scan_clean=None,
    blks_per_scan=None,
    reads_per_scan=None,
    lost_blks=None,
    lost_reads=None,
    breaks_even_at=None,
    blks_per_scan_before=None,
    blks_per_scan_after=None,
    saved_blks_per_hour=None,
    saved_reads_per_hour=None,
    not_hot_pct=None,
    advice=None,
    basis="no vacuum of it was seen yet",
)


def test_a_terminal_of_80_columns_has_what_matters() -> None:
    lines = [line.plain for line in worths.lines([samples.worth(), UNKNOWN], 7, samples.NOW, 80)]
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == (
        ["TABLE", "SCANS", "CLEAN", "NOW", "READS", "LOST", "VACUUM", "EVEN", "IN", "ADVICE"]
    )
    assert lines[1].split() == (
        ["orders", "120k", "4.2", "9.8", "9.6k", "9.6k", "now", "vacuum", "earlier…"]
    )
    assert lines[2].split() == ["orders", "-", "-", "-", "-", "9.6k", "-"]
    assert lines[3].startswith("2 of 7 tables shown")


def test_a_wide_terminal_has_all() -> None:
    (line,) = (
        line.plain
        for line in worths.lines([samples.worth()], 1, samples.NOW, 250)
        if line.plain.startswith("orders")
    )
    for figure in ("41.0k", "92%", "324k", "scale factor 0.05", "Cost of the last 3 vacuums"):
        assert figure in line


def test_no_table_is_followed() -> None:
    assert worths.lines([], 0, samples.NOW, 80)[0].plain == worths.NONE


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            samples.worth(),
            "Since the last vacuum index scans lost 9,623 blocks (and 31,377 more that were in "
            "shared buffers), a vacuum costs 9,565.",
        ),
        (
            samples.worth(lost_blks=0, lost_reads=0, vacuum_blks=None),
            "Since the last vacuum index scans lost 0 blocks.",
        ),
        (UNKNOWN, "Not known: no vacuum of it was seen yet."),
    ],
)
def test_sentences(row: Worth, said: str) -> None:
    assert worths.sentence(row) == said


def test_facts_that_are_not_known_are_left_out() -> None:
    assert [label for label, _ in worths.facts(UNKNOWN, samples.NOW)] == ["Basis"]
    known = dict(worths.facts(samples.worth(), samples.NOW))
    assert known["A vacuum is worth it in"] == "now"
    assert known["Before and after the last vacuum"] == "9.6 → 4.2"
    later = samples.worth(breaks_even_at=samples.NOW + timedelta(hours=3))
    assert dict(worths.facts(later, samples.NOW))["A vacuum is worth it in"] == "3:00:00"


def test_a_run_shows_what_it_brought() -> None:
    (column,) = (column for column in run_columns() if column.title == "BLOCKS/SCAN")
    cell = column.cell
    assert cell(samples.run()) == ""
    assert cell(samples.run(blks_per_scan_before=9.6, blks_per_scan_after=4.2)) == "9.6 → 4.2"
    assert cell(samples.run(blks_per_scan_before=9.6)) == "9.6 → -"


def shown(row: Worth | None) -> str:
    history = TableHistory(TableKey(5, 16401, "orders"), samples.NOW)
    found = views.one_table(
        views.Story(history, samples.table(), (), "bench", row), datid=5, relid=16401
    )
    return page("table.html.j2", samples.snapshot(), table=found)


def test_the_page_of_a_table() -> None:
    found = shown(samples.worth())
    assert "What its garbage costs" in found
    assert "index scans lost 9,623 blocks" in found
    assert "vacuum earlier: scale factor 0.05" in found
    assert "What its garbage costs" not in shown(None)


def test_hostile_texts_stay_text() -> None:
    found = shown(samples.worth(advice=HOSTILE, basis=HOSTILE, lost_reads=None))
    assert "&lt;script&gt;alert" in found
    assert "<script>" not in found
