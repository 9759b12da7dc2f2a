"""A fleet of two servers that is watched by `top` and by `serve`, while one goes and comes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import needs_extension, until, write
from fleets import black_hole
from pgsweep.base import errors
from pgsweep.commands.top import _node_session
from pgsweep.fleet.lookout import Lookout
from pgsweep.fleet.providers import Choice
from pgsweep.output.top.app import TopApp
from pgsweep.output.top.fleet_app import FleetApp
from pgsweep.output.top.fleet_state import FleetUi
from pgsweep.output.web.fleet_views import key
from pgsweep.source import db
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config
from serving import Serving, value

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 60.0
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "observe",
    "autovacuum_naptime": "1h",
}
HOSTILE = '"><img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[ThrowawayServer, ThrowawayServer]]:
    with (
        ThrowawayServer(default_pg_config(), SETTINGS) as one,
        ThrowawayServer(default_pg_config(), SETTINGS) as two,
    ):
        for server in (one, two):
            server.psql("postgres", "CREATE EXTENSION pg_sweep")
            write(server, "postgres", "CREATE TABLE orders AS SELECT generate_series(1, 5000) AS i")
        write(two, "postgres", "DELETE FROM orders WHERE i % 2 = 0")
        yield one, two


@pytest.fixture
def file(pair: tuple[ThrowawayServer, ThrowawayServer], tmp_path: Path) -> Iterator[Path]:
    """A fleet of both, and of one that never answers."""
    path = tmp_path / "fleet.toml"
    with black_hole() as port:
        nodes = [
            ("one", str(pair[0].folder), pair[0].port),
            ("two", str(pair[1].folder), pair[1].port),
        ]
        nodes.append((HOSTILE, "127.0.0.1", port))
        path.write_text(
            f'dbname = "postgres"\nuser = "{SUPERUSER}"\n'
            + "".join(
                f'[[nodes]]\nname = {json.dumps(name)}\nhost = "{host}"\nport = {at}\n'
                for name, host, at in nodes
            )
        )
        yield path


def test_top_and_a_node_of_it(file: Path) -> None:
    lookout = Lookout(Choice(file=str(file)), 1.0, 0.5)
    lookout.start()
    app = FleetApp(lookout, FleetUi(interval_s=0.5))

    async def of_fleet() -> None:
        async with app.run_test(size=(80, 24)) as pilot:

            async def seen(happened: Callable[[], bool]) -> None:
                deadline = time.monotonic() + PATIENCE_S
                while not happened():
                    assert time.monotonic() < deadline, app.lines
                    await pilot.pause(0.02)

            def text() -> str:
                return "\n".join(str(line) for line in app.lines)

            await seen(lambda: "observe" in text() and "no answer" in text())
            assert len(app.lines) + 7 == 24
            await pilot.press("h")
            await pilot.pause()
            assert app.query_one("#help").region.bottom <= 24
            await pilot.press("x", "/", "t", "w", "o", "enter")
            assert [row.node.name for row in app.shown] == ["two"]
            await pilot.press("enter")

    asyncio.run(of_fleet())
    node = app.return_value
    assert node is not None
    assert node.name == "two"
    lookout.stop()

    top = TopApp(None, connect=lambda: _node_session(node))

    async def of_node() -> None:
        async with top.run_test(size=(80, 24)) as pilot:
            deadline = time.monotonic() + PATIENCE_S
            while top.snapshot is None:
                assert time.monotonic() < deadline, top.ui.trouble
                await pilot.pause(0.02)
            await pilot.press("escape")

    asyncio.run(of_node())
    assert not top.is_running


def test_a_node_that_is_not_there_is_tried_again() -> None:
    def nobody() -> db.Session:
        raise errors.CannotConnectError("connection to server failed: nobody is there")

    top = TopApp(None, connect=nobody)

    async def scenario() -> None:
        async with top.run_test(size=(80, 24)) as pilot:
            deadline = time.monotonic() + PATIENCE_S
            while "nobody is there" not in top.ui.trouble:
                assert time.monotonic() < deadline
                await pilot.pause(0.02)
            await pilot.press("q")

    asyncio.run(scenario())


def test_serve(pair: tuple[ThrowawayServer, ThrowawayServer], file: Path) -> None:
    options = ("--fleet", "--file", str(file), "--deadline", "1")
    with Serving(*options) as serving:

        def page(path: str = "/", status: int = 200) -> str:
            found, content = serving.get(path)
            assert found == status, content
            return content.decode()

        until(lambda: value(serving.scrape(), "pgsweep_up", node="two") == 1)
        until(lambda: value(serving.scrape(), "pgsweep_up", node=HOSTILE) == 0)
        metrics = serving.scrape()
        assert value(metrics, "pgsweep_fleet_nodes") == 3
        assert value(metrics, "pgsweep_mode", node="one", mode="observe") == 1
        assert value(metrics, "pgsweep_node_answer_seconds", node=HOSTILE) is None

        def is_quick() -> bool:
            begun = time.monotonic()
            page()
            return time.monotonic() - begun < 1.0

        # Nobody waits for the silent one. A slow machine may need several tries.
        until(is_quick)
        text = page()
        assert "no answer" in text
        assert "<img" not in text
        until(lambda: ">orders<" in page())
        assert "two" in page("/?find=two&by=due")
        assert "no answer" not in page("/?find=two").split('id="nodes"')[1].split("</table>")[0]
        # The node's own pages, with a way back.
        base = f"/node/{key('two')}"
        until(lambda: "No vacuum is running" in page(f"{base}/"))
        until(lambda: "orders" in page(f"{base}/tables"))
        own = page(f"{base}/next")
        assert f'href="{base}/tables"' in own
        assert '<a href="/">Fleet</a>' in own
        until(lambda: f'<a href="{base}/table/' in page(f"{base}/tables"))
        page("/node/0123456789abcdef/", 404)
        page("/act/vacuum", 404)
        # One goes, and comes back.
        pair[1].stop()
        until(lambda: value(serving.scrape(), "pgsweep_up", node="two") == 0)
        assert value(serving.scrape(), "pgsweep_node_tables_due", node="two") is None
        assert "it answered last" in page("/?find=two")
        serving.event("cannot read", node="two")
        pair[1].start_again()
        until(lambda: value(serving.scrape(), "pgsweep_up", node="two") == 1)
        serving.event("reads again", node="two")
        assert serving.end() == 0


def test_where_there_is_a_token_everybody_signs_in(file: Path, tmp_path: Path) -> None:
    options = ("--fleet", "--file", str(file), "--token-file", str(tmp_path / "token"))
    with Serving(*options) as serving:
        assert serving.get("/")[0] == 303
        assert serving.get(f"/node/{key('two')}/")[0] in (303, 404)
        assert serving.get("/signin")[0] == 200
        cookie = serving.sign_in((tmp_path / "token").read_text())
        until(lambda: serving.get("/", Cookie=cookie)[1].count(b"observe"))
        assert serving.get(f"/node/{key('two')}/")[0] == 303
        assert serving.get(f"/node/{key('two')}/", Cookie=cookie)[0] == 200
