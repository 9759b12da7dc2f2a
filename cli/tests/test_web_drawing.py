"""The page of a day while its plots are being drawn."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from starlette.requests import Request

from pgsweep.model import Day
from pgsweep.output.web import draw, pages
from test_report_live import day


class Known:
    """A desk that has read the day already."""

    def __init__(self, of: Day) -> None:
        self.of = of

    async def look(self, *_: object) -> Day:
        return self.of


def request(query: bytes) -> Request:
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/day",
            "query_string": query,
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1),
        }
    )


def test_what_is_being_drawn_is_neither_a_failure_nor_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = threading.Event()

    def plots(*_: object) -> tuple[draw.Plots, str]:
        assert drawn.wait(60)
        return {}, "nothing was drawn"

    monkeypatch.setattr(draw, "plots", plots)
    desk: Any = Known(day())
    shown = pages.Pages(desk, None, False)
    page = next(route.endpoint for route in shown.routes() if route.path == "/day")

    async def scenario() -> None:
        first = await page(request(b""))
        assert first.status_code == 200
        assert b"data-reading" in first.body
        monkeypatch.setattr(pages, "PATIENCE_S", 0.01)
        part = await page(request(b"part=1"))
        assert part.status_code == 202
        assert b"No data" not in part.body
        drawn.set()
        monkeypatch.setattr(pages, "PATIENCE_S", 60.0)
        part = await page(request(b"part=1"))
        assert part.status_code == 200
        assert b"nothing was drawn" in part.body

    asyncio.run(scenario())
