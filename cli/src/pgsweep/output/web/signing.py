"""The forms to sign in and out, and how any form is read."""

from __future__ import annotations

import asyncio
import hmac
import logging
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pgsweep.output.logs import say
from pgsweep.output.web.signin import LASTS_S

if TYPE_CHECKING:
    from pgsweep.output.web.frame import Frame
    from pgsweep.output.web.signin import SignIn, Visitor

LONGEST_FORM = 8192
# For how long a form may take to come, in seconds.
PATIENCE_S = 10.0

Form = dict[str, str]


class RefusedError(Exception):
    """A form that is not taken."""


class Signing:
    """Lets visitors in and out, and tells whose a form is."""

    def __init__(self, frame: Frame, sign_in: SignIn) -> None:
        self._frame, self._sign_in = frame, sign_in

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/signin", self._show_sign_in, methods=["GET"]),
            Route("/signin", self._sign_in_now, methods=["POST"]),
            Route("/signout", self._sign_out, methods=["POST"]),
        ]

    async def _show_sign_in(self, request: Request) -> Response:
        return self._form(request, local(request.query_params.get("to", "/")))

    def _form(self, request: Request, to: str, trouble: str = "", status: int = 200) -> Response:
        who = self._frame.who(request)
        values = {"to": to, "wrong": trouble}
        return self._frame.answer(request, who, "signin.html.j2", values, status)

    async def _sign_in_now(self, request: Request) -> Response:
        try:
            form = await read_form(request)
        except RefusedError as exc:
            return PlainTextResponse(f"{exc}\n", 400)
        to = local(form.get("to", "/"))
        client = request.client.host if request.client else ""
        if self._sign_in.closed(client):
            return self._form(request, to, "Too many wrong tokens. Wait half a minute.", 429)
        cookie = self._sign_in.enter(form.get("token", ""), client)
        if cookie is None:
            say(logging.WARNING, "wrong token", client=client)
            return self._form(request, to, "That is not the token.", 403)
        say(logging.INFO, "signed in", client=client)
        answer = RedirectResponse(to, 303)
        answer.set_cookie(
            self._sign_in.cookie,
            cookie,
            max_age=int(LASTS_S),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def _sign_out(self, request: Request) -> Response:
        try:
            self.check(request, await read_form(request))
        except RefusedError as exc:
            return PlainTextResponse(f"{exc}\n", 403)
        self._sign_in.leave(request.cookies.get(self._sign_in.cookie))
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(self._sign_in.cookie)
        return answer

    def check(self, request: Request, form: Form) -> Visitor:
        """Return whose form it is. Raise if it is not one of these pages, or of nobody."""
        visitor = self._sign_in.visitor(request.cookies.get(self._sign_in.cookie))
        if visitor is None:
            raise RefusedError("Sign in first.")
        if not hmac.compare_digest(form.get("csrf", "").encode(), visitor.csrf.encode()):
            raise RefusedError("This form is too old, or not ours. Load the page again.")
        return visitor


def local(to: str) -> str:
    """Return an address of these pages. Any other one, which a link may have, is the first page."""
    fine = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if fine and to.isascii() else "/"


async def read_form(request: Request) -> Form:
    """Return the fields of a form, each once."""
    try:
        body = await asyncio.wait_for(_body(request), PATIENCE_S)
    except asyncio.TimeoutError:
        raise RefusedError("The form took too long.") from None
    except ClientDisconnect:
        raise RefusedError("The form is not complete.") from None
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20)
    except (UnicodeDecodeError, ValueError) as exc:
        raise RefusedError("This is no form.") from exc
    return {name: values[0] for name, values in fields.items()}


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_FORM:
            raise RefusedError("The form is too long.")
    return body
