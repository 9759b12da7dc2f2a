"""The application: what answers which path."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.metrics_core import Metric
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pgsweep.output.prometheus import exposition
from pgsweep.output.prometheus.fleet import fleet
from pgsweep.output.web.diary import keep
from pgsweep.output.web.fleet_pages import FleetPages, keep_log
from pgsweep.output.web.guard import Guard
from pgsweep.output.web.node_pages import NodePages
from pgsweep.output.web.signing import Signing

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.output.web.acts import Acts
    from pgsweep.output.web.collector import Collector
    from pgsweep.output.web.pages import Pages
    from pgsweep.output.web.signin import SignIn

# Prometheus says itself for how long it waits. A part of it is for the way.
SCRAPE_HEADER = "x-prometheus-scrape-timeout-seconds"
WAY_S = 0.5
END_PATIENCE_S = 1.0


def application(
    collector: Collector,
    limit: int,
    timeout_s: float,
    pages: Pages,
    signing: Signing | None,
    acts: Acts | None,
    hosts: Iterable[str],
    more: exposition.More = tuple,
) -> Starlette:
    """Return the application.

    `limit` is how many tables the metrics name. `hosts` are the names by which the pages are found.
    `more` is exposed as well.
    """
    desks = [pages.desk] if acts is None else [pages.desk, acts.desk]
    # Memory and processor time of this process. It reads /proc when it is asked.
    process = ProcessCollector(registry=CollectorRegistry())

    async def metrics(request: Request) -> Response:
        outcome = await collector.outcome(patience(request.headers.get(SCRAPE_HEADER), timeout_s))
        found = exposition.families(outcome.reading, collector.health, limit)
        return _exposed(request, [*found, *process.collect(), *more()])

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        diary = asyncio.create_task(keep(pages.diary, pages.desk))
        yield
        diary.cancel()
        ends = [collector.stop(END_PATIENCE_S), *(desk.stop(END_PATIENCE_S) for desk in desks)]
        await asyncio.gather(*ends)

    routes = [Route("/metrics", metrics), *pages.routes()]
    if signing is not None:
        routes += signing.routes()
    if acts is not None:
        routes += acts.routes()
    return Starlette(
        routes=routes, middleware=[Middleware(Guard, hosts=tuple(hosts))], lifespan=life
    )


def fleet_application(
    lookout: Lookout,
    sign_in: SignIn | None,
    hosts: Iterable[str],
    more: exposition.More = tuple,
) -> Starlette:
    """Return the application of a fleet. Nothing is changed there. `more` is exposed as well."""
    pages, nodes = FleetPages(lookout, sign_in), NodePages(lookout, sign_in)
    signing = None if sign_in is None else Signing(pages, sign_in)
    process = ProcessCollector(registry=CollectorRegistry())
    scrapes = itertools.count(1)

    async def metrics(request: Request) -> Response:
        seen = lookout.seen
        found = fleet(seen, next(scrapes), time.monotonic(), time.time(), lookout.stale_after_s)
        return _exposed(request, [*found, *process.collect(), *more()])

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        lookout.start()
        tasks = [asyncio.create_task(each) for each in (keep_log(lookout), nodes.keep())]
        yield
        for task in tasks:
            task.cancel()
        lookout.stop()
        await asyncio.gather(pages.desk.stop(END_PATIENCE_S), nodes.stop())

    routes: list[BaseRoute] = [Route("/metrics", metrics), *pages.routes(), nodes.route()]
    if signing is not None:
        routes += signing.routes()
    return Starlette(
        routes=routes, middleware=[Middleware(Guard, hosts=tuple(hosts))], lifespan=life
    )


def _exposed(request: Request, found: Iterable[Metric]) -> Response:
    """Return metrics in the format that the scraper prefers."""
    content, content_type = exposition.page(found, request.headers.get("accept", ""))
    return Response(content, headers={"content-type": content_type, "cache-control": "no-store"})


def patience(header: str | None, timeout_s: float) -> float:
    """Return for how long a scrape waits for the server, in seconds."""
    try:
        wanted = float(header) - WAY_S if header else timeout_s
    except ValueError:
        return timeout_s
    # Not a number is neither, so it is compared last.
    return max(0.1, min(timeout_s, wanted))
