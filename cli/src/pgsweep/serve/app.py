"""The application: what answers which path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry, ProcessCollector
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgsweep.metrics import exposition
from pgsweep.serve.acts import Acts
from pgsweep.serve.collector import Collector
from pgsweep.serve.diary import keep
from pgsweep.serve.guard import Guard
from pgsweep.serve.pages import Pages

# Prometheus says itself for how long it waits. A part of it is for the way.
SCRAPE_HEADER = "x-prometheus-scrape-timeout-seconds"
WAY_S = 0.5
END_PATIENCE_S = 1.0


def application(
    collector: Collector,
    limit: int,
    timeout_s: float,
    pages: Pages,
    acts: Acts | None,
    hosts: Iterable[str],
) -> Starlette:
    """Return the application.

    `limit` is how many tables the metrics name. `hosts` are the names by which the pages are found.
    """
    desks = [pages.desk] if acts is None else [pages.desk, acts.desk]
    # Memory and processor time of this process. It reads /proc when it is asked.
    process = ProcessCollector(registry=CollectorRegistry())

    async def metrics(request: Request) -> Response:
        outcome = await collector.outcome(patience(request.headers.get(SCRAPE_HEADER), timeout_s))
        found = [*exposition.families(outcome.reading, collector.health, limit), *process.collect()]
        content, content_type = exposition.page(found, request.headers.get("accept", ""))
        headers = {"content-type": content_type, "cache-control": "no-store"}
        return Response(content, headers=headers)

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        collector.start()
        for desk in desks:
            desk.start()
        diary = asyncio.create_task(keep(pages.diary, pages.desk))
        yield
        diary.cancel()
        ends = [collector.stop(END_PATIENCE_S), *(desk.stop(END_PATIENCE_S) for desk in desks)]
        await asyncio.gather(*ends)

    routes = [Route("/metrics", metrics), *pages.routes()]
    if acts is not None:
        routes += acts.routes()
    return Starlette(
        routes=routes, middleware=[Middleware(Guard, hosts=tuple(hosts))], lifespan=life
    )


def patience(header: str | None, timeout_s: float) -> float:
    """Return for how long a scrape waits for the server, in seconds."""
    try:
        wanted = float(header) - WAY_S if header else timeout_s
    except ValueError:
        return timeout_s
    # Not a number is neither, so it is compared last.
    return max(0.1, min(timeout_s, wanted))
