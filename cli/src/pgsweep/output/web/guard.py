"""What every answer has, and who gets none.

A page of another site must not read these pages or press their buttons, also not by a name that
it made lead to this machine (DNS rebinding). So names in the header Host have to be known, and
forms are taken from these pages only. /metrics is for Prometheus, from everywhere.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN = ("/metrics",)
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # A form of these pages has to say where it comes from, and so no-referrer will not do.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Refuses unknown names and forms of other sites, and completes the headers of the rest."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts) | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope["method"], headers)
        app = self._app if refused is None else refused

        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
                answer.setdefault("cache-control", "no-store")
            await send(message)

        await app(scope, receive, completed)

    def _refused(self, method: str, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if not self.knows(host):
            return PlainTextResponse(
                "This name is not known here. Name it with pgsweep serve --host-name NAME.\n", 421
            )
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin", "")
        if origin.partition("://")[2].lower() != host.lower():
            return PlainTextResponse("Forms are taken from these pages only.\n", 403)
        return None

    def knows(self, host: str) -> bool:
        """Return whether the header Host names this server: an address always does."""
        name = without_port(host)
        return name in self._hosts or _address(name) is not None


def is_here(scope: Scope) -> bool:
    """Return whether a request comes from this machine, and was meant for it.

    A proxy on this machine that does not say for whom it asks may look the same. So this lets in
    where there is no token only.
    """
    client = scope.get("client")
    if not _is_loopback(client[0] if client else ""):
        return False
    name = without_port(Headers(scope=scope).get("host", ""))
    return name == "localhost" or _is_loopback(name)


def without_port(host: str) -> str:
    """Return the name or the address in a header Host."""
    end = "]" if host.startswith("[") else ":"
    return host.lower().removeprefix("[").partition(end)[0]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_loopback(text: str) -> bool:
    address = _address(text)
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped is not None and mapped.is_loopback
