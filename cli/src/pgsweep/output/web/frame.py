"""What all pages have in common: who may look, the frame around them, and the package's files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from pgsweep.output.report import charts, palette
from pgsweep.output.web import html
from pgsweep.output.web.guard import is_here

if TYPE_CHECKING:
    from pgsweep.output.web.signin import SignIn, Visitor

SCRIPT = "text/javascript; charset=utf-8"
TYPES = {
    "style.css": "text/css; charset=utf-8",
    "live.js": SCRIPT,
    "uplot.js": SCRIPT,
    "charts.js": SCRIPT,
}
# The library that draws charts, and what calls it, which are of the report as well.
CHARTS = {"uplot.js": charts.LIBRARY[0], "charts.js": "static/charts.js"}

Values = dict[str, Any]
Nav = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Who:
    """Who looks: somebody on this machine or, where there is a token, who has signed in."""

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
    if name in CHARTS:
        content = charts.file(CHARTS[name])
    else:
        content = resources.files("pgsweep.output.web").joinpath(f"static/{name}").read_text()
    if name == "style.css":
        content = palette.style() + content + charts.style()
    data = content.encode()
    return data, hashlib.sha256(data).hexdigest()[:16]


def address(name: str) -> str:
    """Return the address of a file of the package."""
    return f"/static/{asset(name)[1]}/{name}"


class Frame:
    """The frame around pages. Their addresses begin with `base`, and `node` is whose they are."""

    def __init__(
        self, sign_in: SignIn | None, acts: bool, nav: Nav, base: str = "", node: str = ""
    ) -> None:
        self.sign_in, self.acts, self.nav, self.base, self.node = sign_in, acts, nav, base, node

    def who(self, request: Request) -> Who | None:
        """Return who looks. None means that nobody may who looks like this.

        Where there is a token, nobody is let in for his address. A proxy on this machine may ask
        from here for everybody.
        """
        if self.sign_in is None:
            return Who(None, acts=False) if is_here(request.scope) else None
        visitor = self.sign_in.visitor(request.cookies.get(self.sign_in.cookie))
        return Who(visitor, self.acts) if visitor is not None else None

    def turned_away(self, request: Request) -> Response:
        """Return the answer for those who may not look."""
        if self.sign_in is None:
            return PlainTextResponse(
                "These pages are for the machine that pgsweep serve runs on. "
                "With --token-file others can sign in.\n",
                403,
            )
        return RedirectResponse(f"/signin?to={request.url.path}", 303)

    def path(self, request: Request) -> str:
        """Return the address of a request, within these pages."""
        return request.url.path.removeprefix(self.base)

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
            "path": self.path(request),
            "here": request.url.path,
            "base": self.base,
            "node": self.node,
            "nav": self.nav,
            "part": part,
            "who": who,
            "said": said,
            "failed": failed,
            "style": address("style.css"),
            "script": address("live.js"),
            "charts": [address(name) for name in CHARTS] if charts.drawn() else [],
            "top": None,
            "trouble": None,
            "reading": False,
            "every_s": 0,
            **values,
        }
        return HTMLResponse(html.environment().get_template(template).render(filled), status)


async def static(request: Request) -> Response:
    """Answer with a file of the package."""
    name = request.path_params["name"]
    if name not in TYPES:
        return PlainTextResponse("not found\n", 404)
    content, digest = asset(name)
    # Its address changes with its content.
    keep = "public, max-age=31536000, immutable"
    if request.path_params["digest"] != digest:
        keep = "no-store"
    return Response(content, headers={"content-type": TYPES[name], "cache-control": keep})
