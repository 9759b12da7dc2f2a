"""The pages: which address shows what. Nothing is changed here; see acts.py for that."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pgsweep import errors, sources
from pgsweep.db import Session
from pgsweep.model import Day, Snapshot
from pgsweep.report import live_model, palette
from pgsweep.serve import draw, html, views
from pgsweep.serve.desk import BusyError, Desk
from pgsweep.serve.diary import Diary
from pgsweep.serve.diary_plots import Notes
from pgsweep.serve.guard import is_here
from pgsweep.serve.signin import SignIn, Visitor
from pgsweep.watcher import Watcher

# How old what is shown may be, and for how long a page waits for the server, in seconds.
NOW_S = 1.0
TABLES_S = 15.0
DAY_S = 60.0
PATIENCE_S = 10.0
# A page that is opened waits less long. It is shown then without its contents, and gets them.
FIRST_S = 0.15

NAV = (
    ("/", "Now"),
    ("/next", "Next"),
    ("/tables", "Tables"),
    ("/catalogs", "Catalogs"),
    ("/day", "Day"),
    ("/horizon", "Horizon"),
    ("/budget", "Budget"),
    ("/audit", "Audit"),
    ("/trial", "Trial"),
)
TYPES = {"style.css": "text/css; charset=utf-8", "live.js": "text/javascript; charset=utf-8"}

Values = dict[str, Any]


@dataclass(frozen=True)
class Who:
    """Who looks: somebody on this machine, or who has signed in, or both."""

    visitor: Visitor | None
    # Whether buttons are shown.
    acts: bool

    @property
    def csrf(self) -> str:
        """Return what a form has to carry."""
        return self.visitor.csrf if self.visitor is not None else ""


@cache
def asset(name: str) -> tuple[bytes, str]:
    """Return a file of the package and its digest, which is a part of its address."""
    content = resources.files("pgsweep.serve").joinpath(f"static/{name}").read_text()
    if name == "style.css":
        content = palette.style() + content
    data = content.encode()
    return data, hashlib.sha256(data).hexdigest()[:16]


def address(name: str) -> str:
    """Return the address of a file of the package."""
    return f"/static/{asset(name)[1]}/{name}"


class Pages:
    """Answers the requests for pages."""

    def __init__(self, desk: Desk, sign_in: SignIn | None, acts: bool) -> None:
        self.desk, self.sign_in, self.acts = desk, sign_in, acts
        self._drawing = asyncio.Lock()
        self._drawn: tuple[Day, Values] | None = None
        self.diary = Diary()
        self._watcher = Watcher()

    def routes(self) -> list[Route]:
        """Return the addresses of all pages."""
        return [
            Route("/", self._page("now.html.j2", self._now, 2)),
            Route("/next", self._page("next.html.j2", self._next, 2)),
            Route("/tables", self._page("tables.html.j2", self._tables, 15)),
            Route("/catalogs", self._page("tables.html.j2", self._tables, 15)),
            Route("/table/{datid}/{relid}", self._page("table.html.j2", self._table, 5)),
            Route("/day", self._page("day.html.j2", self._day, 60)),
            Route("/horizon", self._page("horizon.html.j2", self._horizon, 2)),
            Route("/budget", self._page("budget.html.j2", self._budget, 2)),
            Route("/audit", self._page("audit.html.j2", self._audit, 5)),
            Route("/trial", self._page("trial.html.j2", self._trial, 15)),
            Route("/static/{digest}/{name}", _static),
        ]

    # -- who may look ------------------------------------------------------------

    def who(self, request: Request) -> Who | None:
        """Return who looks. None means that nobody may who looks like this."""
        visitor = None
        if self.sign_in is not None:
            visitor = self.sign_in.visitor(request.cookies.get(self.sign_in.cookie))
        if visitor is None and not is_here(request.scope):
            return None
        return Who(visitor, self.acts and visitor is not None)

    def turned_away(self, request: Request) -> Response:
        """Return the answer for those who may not look."""
        if self.sign_in is None:
            return PlainTextResponse(
                "These pages are for the machine that pgsweep serve runs on. "
                "With --token-file others can sign in.\n",
                403,
            )
        return RedirectResponse(f"/signin?to={request.url.path}", 303)

    def answer(
        self, request: Request, who: Who | None, template: str, values: Values, status: int = 200
    ) -> Response:
        """Return a page."""
        visitor = who.visitor if who is not None else None
        said, failed = (visitor.said, visitor.failed) if visitor is not None else ("", False)
        part = "part" in request.query_params
        if visitor is not None and not part:
            visitor.said = ""
        filled = {
            "path": request.url.path,
            "nav": NAV,
            "part": part,
            "who": who,
            "may_sign_in": self.sign_in is not None and self.acts,
            "said": said,
            "failed": failed,
            "style": address("style.css"),
            "script": address("live.js"),
            "top": None,
            "trouble": None,
            "reading": False,
            "every_s": 0,
            **values,
        }
        return HTMLResponse(html.environment().get_template(template).render(filled), status)

    def _page(
        self, template: str, find: Callable[[Request, float], Awaitable[Values]], every_s: int
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers for a page that is read again every so many seconds."""

        def answer(request: Request, who: Who, values: Values, status: int = 200) -> Response:
            return self.answer(request, who, template, {"every_s": every_s, **values}, status)

        async def page(request: Request) -> Response:
            who = self.who(request)
            if who is None:
                return self.turned_away(request)
            part = "part" in request.query_params
            try:
                values = await find(request, PATIENCE_S if part else FIRST_S)
            except BusyError as exc:
                if part:
                    return answer(request, who, {"trouble": exc}, 503)
                return answer(request, who, {"reading": True})
            except errors.UsageError as exc:
                return answer(request, who, {"trouble": exc}, 404)
            except errors.PgsweepError as exc:
                return answer(request, who, {"trouble": exc}, 503)
            return answer(request, who, values)

        return page

    # -- the pages ---------------------------------------------------------------

    async def snapshot(self, patience_s: float) -> Snapshot:
        """Return what runs and waits."""
        return await self.desk.look("snapshot", self._watcher.snapshot, NOW_S, patience_s)

    async def _now(self, _: Request, patience_s: float) -> Values:
        found = await self.snapshot(patience_s)
        return {"top": views.top(found), "now": views.now(found)}

    async def _next(self, _: Request, patience_s: float) -> Values:
        found = await self.snapshot(patience_s)
        return {"top": views.top(found), "next": views.next_(found)}

    async def _tables(self, request: Request, patience_s: float) -> Values:
        asked = request.query_params
        found = await self.desk.look("tables", views.read_tables, TABLES_S, patience_s)
        shown = views.tables(
            found,
            asked.get("find", "")[:200],
            asked.get("by", "score"),
            catalogs=request.url.path == "/catalogs",
        )
        return {"tables": shown, "orders": tuple(views.ORDERS)}

    async def _table(self, request: Request, patience_s: float) -> Values:
        datid, relid = (oid(request.path_params[name]) for name in ("datid", "relid"))
        found = await self.desk.look(
            ("table", datid, relid),
            lambda session: views.read_table(session, datid, relid),
            NOW_S * 5,
            patience_s,
        )
        return {"table": views.one_table(found, datid, relid)}

    async def _horizon(self, _: Request, patience_s: float) -> Values:
        found = await self.snapshot(patience_s)
        return {"top": views.top(found), "horizon": views.holders(found)}

    async def _budget(self, _: Request, patience_s: float) -> Values:
        found = await self.desk.look("budget", views.read_budget, NOW_S, patience_s)
        return {"budget": views.budget(*found)}

    async def _audit(self, _: Request, patience_s: float) -> Values:
        calls = await self.desk.look("audit", views.read_audit, NOW_S, patience_s)
        now = datetime.now(timezone.utc)
        return {"audit": None if calls is None else views.audit(calls, now)}

    async def _trial(self, _: Request, patience_s: float) -> Values:
        found = await self.desk.look("trial", views.read_trial, NOW_S * 5, patience_s)
        return {"trial": None if found is None else views.trial(found)}

    async def _day(self, _: Request, patience_s: float) -> Values:
        day = await self.desk.look("day", read_day, DAY_S, patience_s)
        try:
            # Drawing goes on where a page has waited long enough.
            drawn = await asyncio.wait_for(asyncio.shield(self._plots(day)), patience_s)
        except asyncio.TimeoutError:
            raise BusyError("the plots are being drawn") from None
        return {"today": live_model.build(day), "diary_since": self.diary.since, **drawn}

    async def _plots(self, day: Day) -> Values:
        """Draw a day once, beside the event loop and whoever reads the server."""
        async with self._drawing:
            if self._drawn is None or self._drawn[0] is not day:
                notes = Notes(self.diary.minutes(), self.diary.checkpoints())
                plots, missing = await asyncio.to_thread(draw.plots, day, notes)
                self._drawn = day, {"plots": plots, "missing": missing}
            return self._drawn[1]


def read_day(session: Session) -> Day:
    """Read the last day."""
    if not session.views().extension:
        raise errors.UsageError(
            f'database "{session.dbname}" has no pg_sweep, and nobody else keeps a day',
            "Run CREATE EXTENSION pg_sweep there.",
        )
    session.require_extension()
    return sources.day(session)


def oid(text: str) -> int:
    """Return an object identifier of an address."""
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) >= 1 << 32:
        raise errors.UsageError("there is no such table")
    return int(text)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in TYPES:
        return PlainTextResponse("not found\n", 404)
    content, digest = asset(name)
    # Its address changes with its content.
    keep = "public, max-age=31536000, immutable"
    if request.path_params["digest"] != digest:
        keep = "no-store"
    return Response(content, headers={"content-type": TYPES[name], "cache-control": keep})
