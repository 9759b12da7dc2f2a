"""A small answer over HTTP or HTTPS, within a time: no redirects, no proxies, no other schemes."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pgsweep import __version__
from pgsweep.base import errors

MOST_BYTES = 4 << 20
MOST_REASON = 80
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Credentials:
    """Who asks. None means that it is not given."""

    user: str | None = None
    password: str | None = None
    # files: whom to trust, and who we are
    cacert: str | None = None
    cert: str | None = None
    key: str | None = None


def split(url: str) -> SplitResult:
    """Return the parts of a URL that can be asked. Raise if it is not one."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in PORTS or not parts.hostname or not port_is_fine:
        raise errors.UsageError(
            f"{errors.quoted(url)} is no address of HTTP",
            "Write http://HOST:PORT or https://HOST:PORT.",
        )
    if parts.username is not None or parts.password is not None:
        # The address itself is not repeated: it has a password in it.
        raise errors.UsageError(
            f"the URL of {parts.hostname} has a user or password in it, which everybody could see",
            "Set PATRONI_RESTAPI_USERNAME and PATRONI_RESTAPI_PASSWORD, or use a file.",
        )
    if not url.isprintable() or " " in url:
        raise errors.UsageError("a URL has spaces or control characters", "Write it without them.")
    return parts


def ask(
    url: str,
    path: str,
    who: Credentials,
    timeout_s: float,
    method: str = "GET",
    body: object = None,
) -> Any:  # noqa: ANN401
    """Return the JSON document that is there."""
    parts = split(url)
    place = f"{parts.hostname}:{parts.port or PORTS[parts.scheme]}"
    connection = _connection(parts, who, timeout_s)
    headers = {"Accept": "application/json", "User-Agent": f"pgsweep/{__version__}"}
    if who.user is not None:
        given = f"{who.user}:{who.password or ''}".encode(errors="surrogateescape")
        headers["Authorization"] = f"Basic {base64.b64encode(given).decode()}"
    sent = None
    if body is not None:
        sent = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, parts.path.rstrip("/") + path, sent, headers)
        answer = connection.getresponse()
        text = answer.read(MOST_BYTES + 1)
    except TimeoutError as exc:
        raise errors.CannotConnectError(f"{place} did not answer within {timeout_s:g} s") from exc
    except ssl.SSLError as exc:
        said = getattr(exc, "verify_message", "") or exc.reason or str(exc)
        raise errors.CannotConnectError(
            f"{place}: TLS failed: {said}", "Check cacert, cert and key."
        ) from exc
    except UnicodeError as exc:
        raise errors.CannotConnectError(
            f"{place} is no address",
            "No part of a host's name is empty or has over 63 characters.",
        ) from exc
    except (OSError, http.client.HTTPException) as exc:
        said = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
        raise errors.CannotConnectError(f"{place}: {said}") from exc
    finally:
        connection.close()
    return _document(place, answer.status, text)


def _connection(
    parts: SplitResult, who: Credentials, timeout_s: float
) -> http.client.HTTPConnection:
    assert parts.hostname is not None
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
    return http.client.HTTPSConnection(
        parts.hostname, parts.port, timeout=timeout_s, context=_context(who)
    )


def _context(who: Credentials) -> ssl.SSLContext:
    for name in (who.cacert, who.cert, who.key):
        if name is not None and not Path(name).is_file():
            raise errors.UsageError(f'there is no file "{name}"', "It is to have a certificate.")
    try:
        context = ssl.create_default_context(cafile=who.cacert)
        if who.cert is not None:
            # Without a password of its own a locked key would ask on the terminal.
            context.load_cert_chain(who.cert, who.key, password=lambda: "")
    except (ssl.SSLError, OSError) as exc:
        raise errors.UsageError(
            f"certificates cannot be used: {exc}", "They have to be PEM files, the key unlocked."
        ) from exc
    return context


def _document(place: str, status: int, text: bytes) -> Any:  # noqa: ANN401
    said = f"{place} answers {status}{_reason(text)}"
    if status in (401, 403):
        raise errors.PermissionDeniedError(
            f"{said}: it wants a user and password, or a certificate",
            "Set PATRONI_RESTAPI_USERNAME and PATRONI_RESTAPI_PASSWORD, or use a file.",
        )
    if not 200 <= status < 300:
        raise errors.QueryError(said)
    if len(text) > MOST_BYTES:
        raise errors.QueryError(f"{place} answers with more than {MOST_BYTES >> 20} MB")
    try:
        # RecursionError: brackets can be nested deeper than Python goes.
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise errors.QueryError(f"{place} does not answer in JSON") from exc


def _reason(text: bytes) -> str:
    """Return what an answer says of itself, if that is a short line of text."""
    said = text.strip().decode("utf-8", "replace")
    well = 0 < len(said) <= MOST_REASON and said.isprintable() and "<" not in said
    return f" ({said})" if well else ""
