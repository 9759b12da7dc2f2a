"""`top` as an application, driven by keys, against a server with the stub."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from pgsweep.output.top import screen
from pgsweep.output.top.app import PanelWidget, TopApp
from pgsweep.output.top.header import lines as top_lines
from pgsweep.output.top.state import Panel
from pgsweep.source import db
from pgsweep_bench.servers.server import ThrowawayServer

pytestmark = pytest.mark.server

PATIENCE_S = 15.0
Scenario = Callable[[TopApp, "Pilot[None]"], Awaitable[None]]


def play(
    stub: ThrowawayServer,
    scenario: Scenario,
    size: tuple[int, int] = (80, 24),
    act: bool = False,
    dbname: str = "stub",
) -> TopApp:
    """Run `top` in a terminal of that size while the scenario plays."""
    app = TopApp(db.connect(stub.target(dbname)), act=act)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.snapshot is not None)
            await scenario(app, pilot)

    asyncio.run(run())
    return app


async def until(pilot: Pilot[None], happened: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        await pilot.pause(0.02)


def footer(app: TopApp) -> str:
    return screen.footer(app.snapshot, app.ui, app.size.width).plain


def header(app: TopApp) -> str:
    return "\n".join(line.plain for line in top_lines(app.snapshot, app.ui, app.size.width))


def panel(app: TopApp, which: Panel) -> PanelWidget:
    return app.query_one(f"#panel{which.value}", PanelWidget)


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 18)])
def test_screen(stub: ThrowawayServer, size: tuple[int, int]) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.pause()
        shown = "\n".join(line.plain for line in panel(app, Panel.PROGRESS).lines)
        assert size[1] < 40 or "antiwrap" in shown
        assert "sessions" in shown
        assert panel(app, Panel.PROGRESS).border_title == " 1 running vacuums (4) "
        assert "autovac" in "\n".join(line.plain for line in panel(app, Panel.RUNS).lines)
        assert "archive" in "\n".join(line.plain for line in panel(app, Panel.DATABASES).lines)
        if size[1] >= 24:
            waiting = panel(app, Panel.QUEUE)
            assert waiting.border_title == " 4 next vacuums (3) "
            assert "pg_attribute" in "\n".join(line.plain for line in waiting.lines)
        else:
            assert not panel(app, Panel.QUEUE).display
        # Nothing hangs over the edge.
        for widget in app.query(Static).exclude("#help"):
            region = widget.region
            assert region.right <= size[0]
            assert region.bottom <= max(size[1], 20)
        picture = app.export_screenshot()
        assert "pgbench" in picture

    play(stub, scenario, size)


def test_freeze(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("space")
        assert "FROZEN" in header(app)
        frozen = app.snapshot
        await pilot.press("minus")
        await pilot.pause(1.2)
        assert app.snapshot is frozen
        await pilot.press("space")
        await until(pilot, lambda: app.snapshot is not frozen)

    play(stub, scenario)


def test_refresh_interval(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("plus", "plus")
        assert "every 3 s" in header(app)

    play(stub, scenario, size=(140, 40))


def test_help_and_panels(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        def help_box() -> Widget:
            return app.query_one("#help")

        await pilot.press("h")
        await pilot.pause()
        assert help_box().display
        assert help_box().region.bottom <= 24
        assert help_box().region.right <= 80
        await pilot.press("x")
        assert not help_box().display
        await pilot.press("tab", "down", "down")
        assert panel(app, Panel.RUNS).has_class("focused")
        await pilot.click("#panel3")
        assert panel(app, Panel.DATABASES).has_class("focused")

    play(stub, scenario)


def test_next_vacuums_on_a_small_terminal(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("4", "down")
        await pilot.pause()
        assert panel(app, Panel.QUEUE).display
        assert not panel(app, Panel.DATABASES).display
        assert "pgbench_accounts" in panel(app, Panel.QUEUE).lines[-1].plain

    play(stub, scenario, size=(60, 18))


def test_without_a_queue_there_is_no_panel(stub: ThrowawayServer) -> None:
    stub.psql("stub", "ALTER TABLE sweep.queue RENAME TO queue_away")

    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("4")
        assert not panel(app, Panel.QUEUE).display
        assert panel(app, Panel.PROGRESS).has_class("focused")

    try:
        play(stub, scenario, size=(140, 40))
    finally:
        stub.psql("stub", "ALTER TABLE sweep.queue_away RENAME TO queue")


def test_without_a_budget_the_line_says_so(stub: ThrowawayServer) -> None:
    stub.psql("stub", "ALTER TABLE sweep.budget RENAME TO budget_away")

    async def scenario(app: TopApp, _pilot: Pilot[None]) -> None:
        assert "has published none" in header(app)

    try:
        play(stub, scenario)
    finally:
        stub.psql("stub", "ALTER TABLE sweep.budget_away RENAME TO budget")


def test_cancel_is_refused_without_act(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("C")
        assert "start pgsweep top --act" in footer(app)

    play(stub, scenario)


def test_cancel(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down", "down", "down", "C")
        assert "cancel vacuum of bench.pgbench_accounts (process 48213)? y/n" in footer(app)
        await pilot.press("n")
        assert "nothing was done" in footer(app)
        await pilot.press("C", "y")
        await until(pilot, lambda: "cancel sent to process 48213" in footer(app))
        await pilot.press("up", "C", "y")
        await until(pilot, lambda: "process 48400 is not running a vacuum" in footer(app))

    play(stub, scenario, act=True)


def test_steering(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down", "down", "down", "less_than_sign")
        assert "slow vacuum of bench.pgbench_accounts (process 48213) to half" in footer(app)
        await pilot.press("y")
        await until(pilot, lambda: "process 48213 is slowed until" in footer(app))
        await pilot.press("greater_than_sign", "y")
        await until(pilot, lambda: "process 48213 hurries until" in footer(app))
        await pilot.press("equals_sign", "y")
        await until(pilot, lambda: "process 48213 is released" in footer(app))
        await pilot.press("up", "less_than_sign", "y")
        await until(pilot, lambda: "process 48400 is not running a vacuum" in footer(app))

    play(stub, scenario, act=True)


def test_quit(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("q")
        # the pilot's own pause needs a screen
        deadline = time.monotonic() + PATIENCE_S
        while app.is_running:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)

    play(stub, scenario)


def test_a_lost_connection_is_shown_and_made_again(stub: ThrowawayServer) -> None:
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pgsweep'"
    )

    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        stub.psql("postgres", "ALTER DATABASE stub ALLOW_CONNECTIONS false")
        try:
            stub.psql("postgres", kill)
            await until(pilot, lambda: "retrying" in header(app))
            # What was read before is still to be seen.
            assert app.snapshot is not None
        finally:
            stub.psql("postgres", "ALTER DATABASE stub ALLOW_CONNECTIONS true")
        lost = app.snapshot
        await until(pilot, lambda: app.snapshot is not lost)
        assert "retrying" not in header(app)

    play(stub, scenario)


def test_the_horizon_and_the_budget(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.pause()
        lines = header(app).splitlines()
        assert len(lines) == 4
        assert "by a session idle in transaction, process 4712" in lines[2]
        assert lines[3].startswith(" budget   write 19.6 of 20 MB/s binds")

    play(stub, scenario)


def test_filter_and_sort(stub: ThrowawayServer) -> None:
    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", "s", "e", "s", "s")
        assert " /sess█" in footer(app)
        await pilot.press("enter")
        await pilot.pause()
        shown = panel(app, Panel.PROGRESS)
        assert "with sess" in str(shown.border_title)
        # The title of the columns stands above the rows, and the details below.
        assert not any("pgbench" in line.plain for line in shown.lines)
        await pilot.press("escape", "2", "s")
        await pilot.pause()
        assert "by time taken" in str(panel(app, Panel.RUNS).border_title)

    play(stub, scenario)


def test_the_history_of_a_table(stub: ThrowawayServer) -> None:
    stub.psql(
        "stub",
        "CREATE TABLE sweep.history AS SELECT now() AS hour, datid, datname, relid, schemaname, "
        "relname, command, started_by, 1::int8 AS runs, 0::int8 AS failed, 0::int8 AS cancelled, "
        "0::int8 AS skipped, blks_read, blks_dirtied, wal_bytes, cost, tuples_removed, "
        "1.5::float8 AS run_time, dead_not_removable, ended_at AS last_ended_at FROM sweep.runs",
    )
    stub.psql(
        "stub",
        "CREATE FUNCTION sweep.history_since(timestamptz) RETURNS SETOF sweep.history "
        "LANGUAGE sql AS 'SELECT * FROM sweep.history'",
    )

    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("2", "enter")
        assert app.ui.story is not None
        await until(pilot, lambda: app.history is not None)
        await pilot.pause()

        def story() -> Static:
            return app.query_one("#story", Static)

        assert story().display
        assert not panel(app, Panel.PROGRESS).display
        assert "history of" in str(story().border_title)
        assert story().region.bottom <= 23
        assert app.history is not None
        assert {run.relid for run in app.history.runs} == {app.ui.story.relid}
        assert {row.relid for row in app.history.hours} == {app.ui.story.relid}
        await pilot.press("end")
        await pilot.press("home")
        assert app.ui.scroll == 0
        await pilot.press("escape")
        await pilot.pause()
        assert not story().display
        assert panel(app, Panel.PROGRESS).display

    try:
        play(stub, scenario)
    finally:
        stub.psql("stub", "DROP TABLE sweep.history CASCADE")


def test_a_table_whose_history_cannot_be_read(stub: ThrowawayServer) -> None:
    """Check that the rest goes on, and that the reason is shown."""

    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("2", "enter")
        await until(pilot, lambda: app.history is not None)
        assert app.history is not None
        assert "sweep.history" in app.history.notes[0]
        before = app.snapshot
        await until(pilot, lambda: app.snapshot is not before)
        assert "retrying" not in header(app)

    play(stub, scenario)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_without_the_extension(stub: ThrowawayServer, size: tuple[int, int]) -> None:
    stub.psql("bare", "CREATE TABLE was_vacuumed (i int)")
    stub.psql("bare", "VACUUM was_vacuumed")
    deadline = time.monotonic() + PATIENCE_S
    while "t" not in stub.psql(
        "bare",
        "SELECT pg_stat_get_last_vacuum_time('was_vacuumed'::regclass) IS NOT NULL",
    ):
        assert time.monotonic() < deadline

    async def scenario(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.pause()
        assert "no pg_sweep in this database" in header(app)
        assert "cost limit 200 per 2 ms" in header(app)
        assert "last runs in this database" in str(panel(app, Panel.RUNS).border_title)
        assert "was_vacuumed" in "\n".join(line.plain for line in panel(app, Panel.RUNS).lines)
        assert "bare" in panel(app, Panel.DATABASES).lines[1].plain
        await pilot.press("slash", *"was_", "enter", "2", "enter")
        await until(pilot, lambda: app.history is not None)
        assert app.history is not None
        assert app.history.core
        assert [run.relname for run in app.history.runs] == ["was_vacuumed"]
        await pilot.press("escape", "C")
        assert "does not have" in footer(app)

    try:
        play(stub, scenario, size, dbname="bare")
    finally:
        stub.psql("bare", "DROP TABLE was_vacuumed")
