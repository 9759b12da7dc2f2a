"""The screens of `top`, printed."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from rich.text import Text

import samples
from pgsweep.model import Decision, HourOfTable, Snapshot, TableHistory, TableKey
from pgsweep.output.terminal import story
from pgsweep.output.top import header, orders, screen
from pgsweep.output.top.state import Panel, Question, UiState, Verb

WIDTHS = (60, 76, 80, 106, 136, 200)


def plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def test_header() -> None:
    first, second, *_ = header.lines(samples.snapshot(), UiState(), 120)
    assert "PostgreSQL 15.20  primary  db1.example.com:5432/bench" in first.plain
    assert "as postgres  up 3d 04h" in first.plain
    assert "mode act  launcher 4711  workers 1/2  due 4 of 812  oldest xid 6%" in second.plain
    assert "every 1 s" in second.plain


def test_due_is_one_number() -> None:
    queue = tuple(samples.waiting(relid=number) for number in range(60))
    snapshot = samples.snapshot(queue=queue, status=samples.status(due=70))
    _, second, *_ = header.lines(snapshot, UiState(), 120)
    assert "due 60 of 812" in second.plain
    assert screen.panel_title(Panel.QUEUE, snapshot, UiState()) == "4 next vacuums (60)"
    asked = samples.snapshot(queue=(*queue, samples.waiting(relid=77, score=None)))
    assert (
        screen.panel_title(Panel.QUEUE, asked, UiState()) == "4 next vacuums (60 and 1 asked for)"
    )


def test_header_before_the_first_snapshot() -> None:
    _, second, *_ = header.lines(None, UiState(), 80)
    assert "connecting" in second.plain


def test_header_names_a_standby_and_the_reason_of_the_mode() -> None:
    snapshot = samples.snapshot(
        server=samples.server(in_recovery=True),
        status=samples.status(effective_mode="observe", reason="standby"),
    )
    first, second, *_ = header.lines(snapshot, UiState(), 120)
    assert "standby" in first.plain
    assert "mode act → observe (standby)" in second.plain


def test_header_says_that_the_connection_is_lost() -> None:
    ui = UiState(trouble="server closed the connection unexpectedly; retrying")
    _, second, *_ = header.lines(samples.snapshot(), ui, 80)
    assert "server closed the connection unexpectedly; retrying" in second.plain


def test_header_says_that_it_is_frozen() -> None:
    _, second, *_ = header.lines(samples.snapshot(), UiState(frozen=True), 80)
    assert "FROZEN" in second.plain


def test_running_vacuums() -> None:
    screen_text = plain(screen.progress_panel(samples.snapshot(), UiState(), 136, 12))
    lines = screen_text.splitlines()
    assert len(lines) == 12
    assert " ".join(lines[0].split()) == (
        "PID WHO WHAT TABLE PHASE PROGRESS DONE ETA READ DIRTY WAL COST COST/s ELAPSED LIMITED BY"
    )
    assert " ".join(lines[1].split()) == (
        "100 sweep vac bench.pgbench_accounts scanning heap ━━━━━╸──── 57% 0:09 "
        "12.3 8.3 4.0 212k 18.3k 0:12 cost limit 200"
    )
    assert "200 manual" in lines[2]
    assert "300 └ worker" in lines[3]
    assert "antiwrap vac  bench oid 16401" in lines[4]
    assert lines[-2].startswith("bench.pgbench_accounts · ETA by last run · limited by cost limit")
    assert lines[-1].startswith("cost 212k at 18.3k/s · read 12.3 dirty 8.3 WAL 4.0 MB/s")


def test_running_vacuums_on_80_columns() -> None:
    lines = plain(screen.progress_panel(samples.snapshot(), UiState(), 76, 8)).splitlines()
    assert " ".join(lines[0].split()) == "PID WHO TABLE PHASE PROGRESS DONE ETA"
    assert "cost 212k at 18.3k/s · read 12.3 dirty 8.3 WAL 4.0 MB/s" in lines[-1]


def test_the_phase_stands_in_for_the_whole() -> None:
    snapshot = samples.snapshot(progress=(samples.progress(done_pct=None, phase_pct=40, eta=None),))
    lines = plain(screen.progress_panel(snapshot, UiState(), 136, 8)).splitlines()
    assert "scanning heap ━━━━──────  40%" in lines[1]
    assert "scanning heap 40%" in lines[-2]


def test_waiting_sessions_stand_out() -> None:
    snapshot = samples.snapshot(progress=(samples.progress(waiters=3),))
    out = plain(screen.progress_panel(snapshot, UiState(), 136, 8))
    assert "blocks 3!" in out
    assert "3 sessions waiting for it" in out


def test_nothing_runs() -> None:
    empty = Snapshot(server=samples.server(), status=samples.status())
    ui = UiState()
    assert plain(screen.progress_panel(empty, ui, 76, 8)) == "no vacuum is running"
    assert plain(screen.runs_panel(empty, ui, 76, 8)) == "no vacuum has finished yet"
    assert plain(screen.databases_panel(empty, ui, 76, 8)) == "no database is visible"


def test_recent_runs() -> None:
    lines = plain(screen.runs_panel(samples.snapshot(), UiState(), 136, 6)).splitlines()
    assert lines[0].startswith("ENDED    WHO      WHAT TABLE")
    assert "autovac  vac  bench.pgbench_accounts" in lines[1]
    assert "done        7.2 s   20.1k    77" in lines[1]
    assert len(lines) == 6


def test_the_selected_run_is_explained() -> None:
    ui = UiState(focus=Panel.RUNS)
    lines = plain(screen.runs_panel(samples.snapshot(), ui, 140, 8)).splitlines()
    assert lines[-1].endswith("dead tuples 20,100 above threshold 20,050")


def test_databases() -> None:
    lines = plain(screen.databases_panel(samples.snapshot(), UiState(), 136, 6)).splitlines()
    assert lines[0].split()[:4] == ["DATABASE", "OURS", "RELATIONS", "DUE"]
    assert lines[1].split()[:7] == ["bench", "yes", "412", "2", "123k", "12.3M", "6%"]
    assert "4 s ago" in lines[1]


def with_queue() -> Snapshot:
    rows = (
        samples.waiting(),
        samples.waiting(position=2, relid=9, relname=None, schemaname=None, requested_by="alice"),
    )
    return replace(samples.snapshot(), queue=rows)


def test_next_vacuums() -> None:
    lines = plain(screen.queue_panel(with_queue(), UiState(), 170, 6)).splitlines()
    assert " ".join(lines[0].split()) == "# TABLE LANE SCORE WAITED TAKES MB WAITING FOR WHY"
    assert " ".join(lines[1].split()) == (
        "1 bench.pgbench_accounts user 1.17 0:05 0:42 12 worker slot: all 2 busy "
        "dead tuples 23,456 above threshold 20,050"
    )
    assert "bench oid 9" in lines[2]
    narrow = plain(screen.queue_panel(with_queue(), UiState(), 76, 6)).splitlines()
    assert " ".join(narrow[0].split()) == "# TABLE SCORE WAITED WAITING FOR WHY"
    assert screen.panel_title(Panel.QUEUE, with_queue(), UiState()) == "4 next vacuums (2)"


def test_why_the_selected_table_waits() -> None:
    ui = UiState(focus=Panel.QUEUE)
    lines = plain(screen.queue_panel(with_queue(), ui, 136, 6)).splitlines()
    assert lines[-1] == (
        "bench.pgbench_accounts · dead tuples 23,456 above threshold 20,050 · "
        "waiting for worker slot: all 2 busy"
    )
    empty = replace(samples.snapshot(), queue=())
    assert plain(screen.queue_panel(empty, ui, 76, 6)) == "no table is waiting"


def test_footer_knows_how_many_panels_there_are() -> None:
    assert "1-4 panel" in screen.footer(with_queue(), UiState(), 100).plain
    assert "1-3 panel" in screen.footer(samples.snapshot(), UiState(), 100).plain


def test_selection_scrolls_into_view() -> None:
    snapshot = samples.snapshot()
    ui = UiState(focus=Panel.RUNS, selected={Panel.RUNS: snapshot.runs[-1].run_id})
    lines = screen.runs_panel(snapshot, ui, 100, 8)
    assert str(lines[-2].style) == screen.SELECTED


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [1, 3, 6, 20])
def test_no_line_is_too_long(width: int, height: int) -> None:
    long = "t" * 63
    hostile = samples.progress(relname=long, schemaname="ſchéma中文" * 8, datname="d" * 63)
    snapshot = samples.snapshot(
        progress=(hostile, replace(hostile, pid=2_000_000, phase="a phase that is new in 20")),
        runs=(samples.run(relname=long, reason="r" * 300),),
        databases=(samples.database(datname="d" * 63, reason="r" * 300),),
        queue=(samples.waiting(relname=long, reason="r" * 300, waiting_for="w" * 300),),
    )
    for focus in Panel:
        ui = UiState(focus=focus, message="m" * 300)
        panels = [
            screen.progress_panel(snapshot, ui, width, height),
            screen.runs_panel(snapshot, ui, width, height),
            screen.databases_panel(snapshot, ui, width, height),
            screen.queue_panel(snapshot, ui, width, height),
        ]
        for lines in panels:
            assert len(lines) <= max(height, 1)
            assert all(cell_len(line.plain) <= width for line in lines), plain(lines)
        for line in (*header.lines(snapshot, ui, width), screen.footer(snapshot, ui, width)):
            assert cell_len(line.plain) <= width


def test_a_hostile_name_is_harmless() -> None:
    snapshot = samples.snapshot(
        progress=(samples.progress(relname="a\x1b[31m\nb"),),
        runs=(samples.run(relname="a\x1b[31m\nb", reason="\x07"),),
    )
    ui = UiState(focus=Panel.RUNS)
    out = screen.progress_panel(snapshot, ui, 136, 8) + screen.runs_panel(snapshot, ui, 136, 8)
    assert all(line.plain.isprintable() for line in out)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (Question(Verb.CANCEL, samples.progress()), " cancel {}? y/n"),
        (Question(Verb.RELEASE, samples.progress()), " release {}? y/n"),
        (Question(Verb.HURRY, samples.progress()), " let {} hurry, with no limit? y/n"),
        (Question(Verb.SLOW, samples.progress()), " slow {} to half of what it does? y/n"),
    ],
)
def test_footer_asks(question: Question, asked: str) -> None:
    ui = UiState(act=True, question=question)
    out = screen.footer(samples.snapshot(), ui, 110).plain
    assert out == asked.format("vacuum of bench.pgbench_accounts (process 100)")


@pytest.mark.parametrize("room", [9, 13, 17, 19, 30, 37, 60])
@pytest.mark.parametrize("focus", list(Panel))
def test_panels_fill_the_room(room: int, focus: Panel) -> None:
    heights = screen.heights(focus, room, databases=5, vacuums=3)
    assert sum(heights.values()) == max(room, 13)
    assert min(heights.values()) >= 4


@pytest.mark.parametrize("room", [13, 15, 17, 19, 25, 30, 45, 60])
@pytest.mark.parametrize("focus", list(Panel))
@pytest.mark.parametrize("waiting", [0, 1, 50])
def test_four_panels_fill_the_room(room: int, focus: Panel, waiting: int) -> None:
    heights = screen.heights(focus, room, databases=5, vacuums=3, waiting=waiting)
    assert sum(heights.values()) == room
    assert focus in heights
    assert min(heights.values()) >= 2
    assert len(heights) == 4 or room <= 22


def test_on_24_lines_there_are_four_panels_until_one_needs_the_room() -> None:
    def shown(focus: Panel) -> dict[Panel, int]:
        room = 24 - header.LINES - 1
        return screen.heights(focus, room, databases=5, vacuums=3, waiting=9)

    assert set(shown(Panel.PROGRESS)) == set(Panel)
    assert Panel.DATABASES not in shown(Panel.QUEUE)
    assert shown(Panel.QUEUE)[Panel.QUEUE] >= 6
    assert Panel.QUEUE not in shown(Panel.DATABASES)
    assert shown(Panel.DATABASES)[Panel.DATABASES] >= 6


def test_help_fits_a_small_terminal() -> None:
    lines = screen.HELP.splitlines()
    assert len(lines) <= 20
    assert max(len(line) for line in lines) <= 68


def top(width: int, **given: Any) -> list[str]:
    return [line.plain for line in header.lines(samples.snapshot(**given), UiState(), width)]


def test_the_horizon_has_a_line() -> None:
    assert top(80)[2] == " horizon  unknown: sweep.blockers is missing"
    assert top(80, blockers=())[2] == " horizon  nothing holds it back"
    held = top(200, blockers=(samples.blocker(), samples.blocker(pid=1)))[2]
    assert held == (
        " horizon  held for 10:00 by a session idle in transaction, process 4712  123k xids  1 more"
        '  withholds dead rows of all tables of database "bench"'
    )
    narrow = top(80, blockers=(samples.blocker(),))[2]
    assert narrow == " horizon  held for 10:00 by a session idle in transaction, process 4712"
    old = samples.blocker(since=samples.NOW - timedelta(hours=2))
    styles = header.lines(samples.snapshot(blockers=(old,)), UiState(), 120)[2].spans
    assert "bold red" in [span.style for span in styles]


def test_the_budget_has_a_line() -> None:
    assert "has published none" in top(80)[3]
    binding = top(140, limits=(samples.limit(),), step=samples.step())[3]
    assert binding == (
        " budget   write_limit 19.6 of 20 MB/s binds  read 12.3 dirty 19.6 WAL 4.0 MB/s  "
        "allowed 20.0  back off: 2.1 users wait for I/O"
    )
    free = top(80, limits=(samples.limit(binding=False),), step=samples.step(vacuums=0))[3]
    assert free == " budget   no limit binds  no vacuum keeps it now"
    odd = samples.limit(name="adaptive", configured=None, measured=None, unit=None)
    assert top(80, limits=(odd,))[3] == " budget   adaptive binds"


def test_the_lines_without_the_extension() -> None:
    core = {"status": None, "core": samples.core_status(), "blockers": ()}
    lines = top(120, **core)
    assert "no pg_sweep in this database  autovacuum on  workers 1/3  due 2 of 80" in lines[1]
    assert lines[3] == (
        " budget   cost limit 200 per 2 ms  at most 391 MB/s read or 39.1 MB/s dirtied"
        "  by all workers together"
    )
    free = {**core, "core": samples.core_status(read_mb_per_s=None, daemon_on=False)}
    assert top(80, **free)[3] == " budget   no cost limit"
    hidden = top(80, **{**core, "blockers": None})[2]
    assert hidden == " horizon  unknown: this role is not in pg_monitor"
    assert "autovacuum off" in top(80, **free)[1]


def test_the_panels_without_the_extension() -> None:
    snapshot = samples.snapshot(status=None, core=samples.core_status(), queue=())
    ui = UiState(act=True, focus=Panel.RUNS)
    runs = plain(screen.runs_panel(snapshot, ui, 76, 6)).splitlines()
    assert runs[0].split() == ["ENDED", "WHO", "WHAT", "TABLE", "TIMES"]
    databases = screen.databases_panel(snapshot, ui, 120, 6)[0].plain.split()
    assert "OURS" not in databases
    assert "cancel" not in screen.footer(snapshot, ui, 200).plain
    assert screen.panel_title(Panel.QUEUE, snapshot, ui).startswith("4 due in this database")


def test_what_is_filtered_and_sorted_is_said() -> None:
    snapshot = samples.snapshot()
    ui = UiState(filter="sess", order={Panel.PROGRESS: 3})
    title = screen.panel_title(Panel.PROGRESS, snapshot, ui, orders.shown(snapshot, ui))
    assert title == "1 running vacuums (2 of 3 with sess) by cost"
    typing = screen.footer(snapshot, UiState(typing=True, filter="a\x1b"), 80).plain
    assert typing.startswith(r" /a\x1b█   Enter keeps the filter")
    nothing = orders.shown(snapshot, UiState(filter="nope"))
    assert nothing is not None
    shown = plain(screen.runs_panel(nothing, UiState(filter="nope"), 76, 6))
    assert shown == "no row has nope in its name"


def history(**given: Any) -> TableHistory:
    key = TableKey(5, 16401, "bench.a\x1b[2J")
    return TableHistory(**{"key": key, "now": samples.NOW, **given})


def test_the_history_of_a_table() -> None:
    hour = dict.fromkeys(field.name for field in fields(HourOfTable))
    sums = {"hour": samples.NOW, "started_by": "sweep", "command": "VACUUM", "runs": 12}
    decision = dict.fromkeys(field.name for field in fields(Decision))
    decided = {
        "decision": "vacuumed",
        "reason": "vacuumed a short while ago",
        "last_at": samples.NOW,
        "not_before": samples.NOW + timedelta(seconds=9),
    }
    told = history(
        runs=(samples.run(relname="t\x07"),),
        hours=(HourOfTable(**{**hour, **sums}),),  # type: ignore[arg-type]
        decisions=(Decision(**{**decision, **decided}),),  # type: ignore[arg-type]
    )
    for width in WIDTHS:
        lines = story.lines(told, width)
        assert all(cell_len(line.plain) <= width for line in lines)
        assert all(line.plain.isprintable() for line in lines)
    lines = story.lines(told, 120)
    assert lines[0].plain == "vacuumed just now · vacuumed a short while ago · again in 0:09"
    assert lines[1].plain.split()[:4] == ["ENDED", "WHO", "WHAT", "OUTCOME"]
    assert lines[4].plain.split()[:4] == ["HOUR", "WHO", "WHAT", "RUNS"]
    assert "\x1b" not in story.title(told.key)
    assert plain(story.lines(None, 80)) == "reading ..."
    assert plain(story.lines(history(), 80)) == "no vacuum or analyze of it is known"
    core = story.lines(history(runs=(samples.run(),), core=True, notes=("That is all.",)), 80)
    assert core[0].plain.split() == ["ENDED", "WHO", "WHAT", "TABLE", "TIMES"]
    assert core[-1].plain == "That is all."
