"""What the buttons do. Only who has signed in has buttons, and each form carries his secret."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pgsweep.base import errors
from pgsweep.base.text import printable
from pgsweep.model import compute
from pgsweep.output.logs import say
from pgsweep.output.web.desk import BusyError
from pgsweep.output.web.pages import NOW_S, PATIENCE_S
from pgsweep.output.web.signing import RefusedError, local, read_form

if TYPE_CHECKING:
    from pgsweep.model import Progress
    from pgsweep.output.web.desk import Desk
    from pgsweep.output.web.pages import Pages
    from pgsweep.output.web.signing import Form, Signing
    from pgsweep.source.db import Session

# For how long a table can be left alone.
SNOOZES = ("30 min", "2 h", "8 h", "1 day")
STEERS = ("slow", "hurry", "release", "cancel")


class Acts:
    """Answers forms."""

    def __init__(self, pages: Pages, signing: Signing, desk: Desk) -> None:
        # It has a session of its own, so that a button does not wait for pages.
        self._pages, self._signing, self.desk = pages, signing, desk

    def routes(self) -> list[Route]:
        """Return the addresses."""
        steers = [
            Route(f"/act/{name}", self._act(name, self._steer(name)), methods=["POST"])
            for name in STEERS
        ]
        return [
            Route("/cancel/{pid:int}", self._ask_to_cancel, methods=["GET"]),
            *steers,
            Route("/act/vacuum", self._act("vacuum", _vacuum), methods=["POST"]),
            Route("/act/snooze", self._act("snooze", _snooze), methods=["POST"]),
        ]

    # -- acting ------------------------------------------------------------------

    def _act(
        self, name: str, do: Callable[[Form], Callable[[Session], str]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def act(request: Request) -> Response:
            try:
                form = await read_form(request)
                visitor = self._signing.check(request, form)
            except RefusedError as exc:
                return PlainTextResponse(f"{exc}\n", 403)
            try:
                said, outcome = await self.desk.act(do(form), PATIENCE_S), "done"
            except BusyError as exc:
                said, outcome = exc.one_line(), "unknown"
            except errors.PgsweepError as exc:
                said, outcome = exc.one_line(), "failed"
            visitor.said, visitor.failed = printable(said), outcome != "done"
            # The next page is to show what has become of it.
            self._pages.desk.forget()
            client = request.client.host if request.client else ""
            say(logging.INFO, "acted", act=name, client=client, outcome=outcome, said=visitor.said)
            return RedirectResponse(local(form.get("to", "/")), 303)

        return act

    def _steer(self, name: str) -> Callable[[Form], Callable[[Session], str]]:
        def of(form: Form) -> Callable[[Session], str]:
            pid, began = number(form, "pid"), form.get("began", "")

            def do(session: Session) -> str:
                row = running(session, pid, began)
                done, said = {
                    "slow": session.slow,
                    "hurry": session.hurry,
                    "release": session.release,
                    "cancel": session.cancel,
                }[name](pid)
                if not done:
                    raise errors.QueryError(said or f"process {pid} is not running a vacuum")
                return f"{DONE[name]}: {printable(compute.relation(row))}, process {pid}"

            return do

        return of

    async def _ask_to_cancel(self, request: Request) -> Response:
        who = self._pages.who(request)
        if who is None or not who.acts:
            return self._pages.turned_away(request)
        pid = request.path_params["pid"]
        try:
            found = await self._pages.desk.look(
                "progress", lambda session: session.progress(), NOW_S, PATIENCE_S
            )
            row = next((row for row in found if row.pid == pid), None)
            if row is None or row.started_at is None:
                raise errors.UsageError(f"process {pid} is not running a vacuum")
        except errors.PgsweepError as exc:
            return self._pages.answer(request, who, "cancel.html.j2", {"trouble": exc}, 404)
        values = {"pid": pid, "name": printable(compute.relation(row)), "row": row}
        return self._pages.answer(request, who, "cancel.html.j2", values)


DONE = {
    "slow": "slowed down as long as pgsweep serve is connected",
    "hurry": "limits lifted as long as pgsweep serve is connected",
    "release": "neither slowed down nor hurried any more",
    "cancel": "cancelled",
}


def running(session: Session, pid: int, began: str) -> Progress:
    """Return the vacuum that the button was about. The process may have begun another one."""
    row = next((row for row in session.progress() if row.pid == pid), None)
    if row is None or row.started_at is None:
        raise errors.UsageError(f"process {pid} is not running a vacuum any more")
    if row.started_at.isoformat() != began:
        raise errors.UsageError(f"process {pid} has begun another vacuum meanwhile")
    return row


def _vacuum(form: Form) -> Callable[[Session], str]:
    datid, relid = number(form, "datid"), number(form, "relid")

    def do(session: Session) -> str:
        def there(session: Session) -> str:
            if not session.vacuum(relid, aux=False):
                raise errors.QueryError("; ".join(session.notices) or "there is nothing to vacuum")
            return "it is vacuumed next, before all that is due"

        return in_database(session, datid, there)

    return do


def _snooze(form: Form) -> Callable[[Session], str]:
    datid, relid, span = number(form, "datid"), number(form, "relid"), form.get("for", "")

    def do(session: Session) -> str:
        def there(session: Session) -> str:
            until = session.snooze(relid, span)
            if until is None:
                return "it is not left alone any more"
            return f"it is left alone until {until.astimezone():%Y-%m-%d %H:%M:%S}"

        if span != "0" and span not in SNOOZES:
            raise errors.UsageError("that is no interval of the list")
        return in_database(session, datid, there)

    return do


def in_database(session: Session, datid: int, do: Callable[[Session], str]) -> str:
    """Do something in a table's own database."""
    if datid in (0, session.datid()):
        return do(session)
    names = {row.datid: row.datname for row in session.databases(None)}
    if datid not in names:
        raise errors.UsageError("that database does not exist any more")
    with session.beside(names[datid]) as other:
        return do(other)


def number(form: Form, name: str) -> int:
    """Return a number of a form."""
    value = form.get(name, "")
    fits = value.isascii() and value.isdigit() and len(value) <= 10
    if not fits or int(value) >= 1 << 32:
        raise errors.UsageError(f'the form has no number "{name}"')
    return int(value)
