"""What charts are given: lines with gaps, names that could end a script, tables of the same."""

from __future__ import annotations

import json
from datetime import timedelta

from pgsweep.output.report import charts, live_plots, live_sums
from pgsweep.output.web import diary_plots
from pgsweep.output.web.diary import Minute
from samples import NOW
from test_report_live import day, run

MINUTE = timedelta(minutes=1)


def test_a_line_has_gaps_and_its_last_value_holds_for_its_minute() -> None:
    minutes = tuple(Minute(NOW - n * MINUTE, float(n), None, None) for n in (9, 8, 3))
    chart = diary_plots.budget(day(), diary_plots.Notes(minutes, (NOW - 5 * MINUTE,)))
    used, allowed = chart.series
    assert used.values == (9.0, 8.0, None, 3.0, 3.0)
    assert set(allowed.values) == {None}
    assert [(NOW - at) / MINUTE for at in chart.times] == [9, 8, 7, 3, 2]
    document = json.loads(str(chart.json))
    assert document["times"] == [charts.seconds(at) for at in chart.times]
    assert document["marks"] == [charts.seconds(NOW - 5 * MINUTE)]
    assert [row[1] for row in chart.table.rows] == ["9.00", "8.00", "3.00", "3.00"]


def test_a_name_ends_no_script() -> None:
    name = "</script><b>&"
    found = day(runs=(run(60, 30, relname=name),))
    chart = live_plots.timeline(found, live_sums.by_table(found))
    assert not set("<>&") & set(chart.json)
    assert name in json.loads(str(chart.json))["rows"][0][0]
    assert name in chart.table.rows[0][0]


def test_stacked_areas_are_those_of_the_day() -> None:
    found = day(runs=(run(60, 30, blks_read=1280),))
    chart = live_plots.throughput(found)
    assert [one.label for one in chart.series] == ["read", "dirtied", "WAL"]
    assert list(chart.times) == sorted(chart.times)
    assert max(value or 0 for value in chart.series[0].values) > 0
    assert 0 < len(chart.table.rows) <= charts.MOST_ROWS


def test_shares_are_parts_of_the_largest() -> None:
    rows = [("a", "4", [("sweep", 3, "3"), ("manual", 1, "1")]), ("b", "1", [("sweep", 1, "1")])]
    found = charts.shares("cost", "Cost", rows, ())
    assert [part[1:3] for part in found.rows[0][2]] == [(0.0, 75.0), (75.0, 25.0)]
    assert found.rows[1][2][0][2] == 25.0
