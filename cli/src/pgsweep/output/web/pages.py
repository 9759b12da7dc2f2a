"""The pages: which address shows what. Nothing is changed here; see acts.py for that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgsweep.base import errors
from pgsweep.findings import sources
from pgsweep.findings.core.tables import SORTS
from pgsweep.findings.watcher import Watcher
from pgsweep.model import compute
from pgsweep.output.report import charts, live_model, live_page, live_plots
from pgsweep.output.web import diary_plots, growth_plots, views
from pgsweep.output.web.desk import BusyError
from pgsweep.output.web.diary import Diary
from pgsweep.output.web.diary_plots import Notes
from pgsweep.output.web.frame import Frame, static

if TYPE_CHECKING:
    from pgsweep.agent.store import Told
    from pgsweep.model import Day, Snapshot
    from pgsweep.output.web.desk import Desk
    from pgsweep.output.web.frame import Values, Who
    from pgsweep.output.web.signin import SignIn
    from pgsweep.source.db import Session

# How old what is shown may be, and for how long a page waits for the server, in seconds.
NOW_S = 1.0
TABLES_S = 15.0
DAY_S = 60.0
PATIENCE_S = 10.0
# A page that is opened waits less long. It is shown then without its contents, and gets them.
FIRST_S = 0.15
ONE_DAY = timedelta(days=1)
# No archive is older.
FIRST_YEAR = 2020

NAV = (
    ("/", "Now"),
    ("/next", "Next"),
    ("/tables", "Tables"),
    ("/catalogs", "Catalogs"),
    ("/bloat", "Bloat"),
    ("/day", "Day"),
    ("/horizon", "Horizon"),
    ("/budget", "Budget"),
    ("/audit", "Audit"),
    ("/trial", "Trial"),
)
# Of `pgsweep agent` alone.
AGENT = ("/agent", "Agent")
# The page of a fleet, to which those of its nodes lead back.
FLEET = ("/", "Fleet")


class Pages(Frame):
    """Answers the requests for pages of one server."""

    def __init__(
        self,
        desk: Desk,
        sign_in: SignIn | None,
        acts: bool,
        base: str = "",
        node: str = "",
        agent: Callable[[], Told] | None = None,
    ) -> None:
        """Of a node of a fleet the addresses begin with `base`. `agent` tells what it has done."""
        own = (*NAV, AGENT) if agent is not None else NAV
        nav = tuple((f"{base}{href}", name) for href, name in own)
        super().__init__(sign_in, acts, ((FLEET, *nav) if node else nav), base, node)
        self.desk = desk
        self.diary = Diary()
        self._watcher = Watcher()
        self._agent = agent

    def routes(self) -> list[Route]:
        """Return the addresses of all pages."""
        agent = (
            []
            if self._agent is None
            else [Route("/agent", self._page("agent.html.j2", self._acts, 60))]
        )
        return [
            *agent,
            Route("/bloat", self._page("bloat.html.j2", self._bloat, 60)),
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
            Route("/static/{digest}/{name}", static),
        ]

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
            catalogs=self.path(request) == "/catalogs",
        )
        return {"tables": shown, "orders": tuple(SORTS)}

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

    async def _bloat(self, _: Request, patience_s: float) -> Values:
        found = await self.desk.look("bloat", sources.bloat, DAY_S, patience_s)
        return {"bloat": views.bloat(found), "notes": found.notes}

    async def _acts(self, _: Request, _patience_s: float) -> Values:
        assert self._agent is not None
        told = self._agent()
        return {
            "agent": views.agent(told),
            "plots": growth_plots.charts(told.grown),
            "drawn": charts.drawn(),
        }

    async def _day(self, request: Request, patience_s: float) -> Values:
        wanted = past_date(request.query_params.get("of"))
        day = await self.desk.look(
            ("day", wanted), lambda session: read_day(session, wanted), DAY_S, patience_s
        )
        today = live_model.build(day)
        return {
            "today": today,
            "plots": {**live_page.plots(day, today), **self._noted(day)},
            "drawn": charts.drawn(),
            "diary_since": self.diary.since,
            **neighbours(wanted),
        }

    def _noted(self, day: Day) -> Values:
        """Return the charts of what was noted while the day that is shown went by."""
        shown = live_plots.shown(day)
        notes = Notes(
            tuple(each for each in self.diary.minutes() if shown.begin <= each.at <= shown.end),
            tuple(at for at in self.diary.checkpoints() if shown.begin <= at <= shown.end),
        )
        if not notes.minutes:
            return {}
        found: Values = {"budget": diary_plots.budget(day, notes)}
        if any(minute.waiting is not None for minute in notes.minutes):
            found["waiting"] = diary_plots.waiting(day, notes)
        return found


def past_date(text: str | None) -> date | None:
    """Return the day of an address. None means the last 24 hours."""
    if text is None:
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise errors.UsageError("there is no such day") from None
    if found.year < FIRST_YEAR:
        raise errors.UsageError("nobody kept that day")
    if found >= today():
        raise errors.UsageError("that day is not over yet", "The last 24 hours are under Day.")
    return found


def today() -> date:
    """Return the day that it is here."""
    return datetime.now(timezone.utc).astimezone().date()


def first_hour(day: date) -> datetime:
    """Return when the first of the server's hours begins that begin on a day here.

    In some zones none of them begins at midnight.
    """
    midnight = datetime(day.year, day.month, day.day).astimezone()
    begun = compute.full_hour(midnight)
    return begun if begun == midnight else begun + timedelta(hours=1)


def neighbours(day: date | None) -> Values:
    """Return the days before and after the one that is shown. None as the one after is today."""
    if day is None:
        return {"of": None, "before": today() - ONE_DAY}
    after = day + ONE_DAY
    return {
        "of": day,
        "before": day - ONE_DAY,
        "after": after if after < today() else None,
    }


def read_day(session: Session, wanted: date | None) -> Day:
    """Read the last day, or an earlier one."""
    if not session.views().extension:
        raise errors.UsageError(
            f'database "{session.dbname}" has no pg_sweep, and nobody else keeps a day',
            "Run CREATE EXTENSION pg_sweep there.",
        )
    session.require_extension()
    if wanted is None:
        return sources.day(session)
    return sources.span(session, first_hour(wanted), first_hour(wanted + ONE_DAY))


def oid(text: str) -> int:
    """Return an object identifier of an address."""
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) >= 1 << 32:
        raise errors.UsageError("there is no such table")
    return int(text)
