"""`pgsweep serve`: metrics and pages over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgsweep.base import errors, extras
from pgsweep.commands.fleet_options import with_server_or_fleet
from pgsweep.fleet.providers import Choice
from pgsweep.output import logs
from pgsweep.source import db

if TYPE_CHECKING:
    from collections.abc import Callable

    from pgsweep.agent.store import Told
    from pgsweep.output.prometheus.exposition import More

# The nodes of a fleet are asked so often, in seconds, whoever looks.
FLEET_EVERY_S = 5.0


@with_server_or_fleet
def serve(
    target: db.Target,
    choice: Choice | None,
    deadline: float,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen.")
    ] = "127.0.0.1:9188",
    tables: Annotated[
        int,
        typer.Option(
            "--tables", min=1, max=1000, help="Tables that are named. The others are one."
        ),
    ] = 20,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0.1, max=60, help="Seconds that a scrape waits at most."),
    ] = 5.0,
    max_age: Annotated[
        float,
        typer.Option("--max-age", min=0, max=60, help="Seconds that a reading serves again."),
    ] = 1.0,
    act: Annotated[
        bool, typer.Option("--act", help="Buttons for those who sign in. Needs --token-file.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Who signs in needs the token in it. It is made if it is not there.",
            show_default=False,
        ),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name",
            metavar="NAME",
            help="A name by which browsers find the pages. May be repeated.",
            show_default=False,
        ),
    ] = None,
    log_level: Annotated[
        str, typer.Option("--log-level", help="debug, info, warning or error.")
    ] = "info",
) -> int:
    """Answer /metrics for Prometheus and show pages in a browser, until SIGTERM or Ctrl-C.

    It works without the extension. The server need not be there. Then pgsweep_up is 0, and
    everybody who asks makes it try again. With --fleet it shows all nodes, each with its own pages.
    """
    extras.require_serve("pgsweep serve")
    if act and token_file is None:
        raise errors.UsageError(
            "--act needs --token-file FILE",
            "The file is made with a new token, if it is not there.",
        )
    if choice is not None and act:
        raise errors.UsageError(
            "--act is for one server",
            "pgsweep fleet hold, snooze, vacuum and set act on all nodes, with an answer of each.",
        )
    logs.begin(log_level)
    http = Http(
        listen=listen,
        tables=tables,
        timeout_s=timeout,
        max_age_s=max_age,
        act=act,
        token_file=token_file,
        host_names=tuple(host_name or ()),
    )
    answer(target, choice, deadline, http)
    return 0


@dataclass(frozen=True)
class Http:
    """How it answers over HTTP. Times are in seconds."""

    listen: str
    tables: int = 20
    timeout_s: float = 5.0
    max_age_s: float = 1.0
    act: bool = False
    token_file: Path | None = None
    host_names: tuple[str, ...] = ()
    # what is exposed beside the metrics of the server or the fleet
    more: More = tuple
    # what `pgsweep agent` has done, for its page
    agent: Callable[[], Told] | None = None


def answer(target: db.Target, choice: Choice | None, deadline: float, http: Http) -> None:
    """Answer until a signal comes."""
    # Starlette and uvicorn are an extra, and the other commands do without them.
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.output.prometheus.reader import Reader
    from pgsweep.output.web import app, server
    from pgsweep.output.web.acts import Acts
    from pgsweep.output.web.collector import Collector
    from pgsweep.output.web.desk import Desk
    from pgsweep.output.web.pages import Pages
    from pgsweep.output.web.signin import SignIn, read_token
    from pgsweep.output.web.signing import Signing

    sign_in = None if http.token_file is None else SignIn(read_token(http.token_file))
    listening = server.bind(server.parse(http.listen))
    if choice is not None:
        lookout = Lookout(choice, deadline, FLEET_EVERY_S)
        fleet = app.fleet_application(lookout, sign_in, http.host_names, http.more)
        server.run(fleet, listening)
        return
    session, again = db.connect_or_later(target)
    collector = Collector(again, Reader(http.tables), http.max_age_s, session)
    pages = Pages(Desk(again), sign_in, http.act, agent=http.agent)
    signing = None if sign_in is None else Signing(pages, sign_in)
    acts = Acts(pages, signing, Desk(again)) if signing is not None and http.act else None
    whole = app.application(
        collector,
        http.tables,
        http.timeout_s,
        pages,
        signing,
        acts,
        http.host_names,
        http.more,
    )
    server.run(whole, listening)
