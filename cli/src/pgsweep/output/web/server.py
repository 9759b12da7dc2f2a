"""Runs an application until SIGTERM or Ctrl-C."""

from __future__ import annotations

import errno
import logging
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette

from pgsweep.base import errors
from pgsweep.output.logs import say
from pgsweep.output.web.protocol import Impatient

# So many requests at a time. The next one gets 503 and takes no memory.
CONCURRENCY = 64
IDLE_S = 75
END_S = 5
# Errors of an address that is not there, as with IPv6 switched off.
ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@dataclass(frozen=True)
class Listen:
    """An address to listen on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse(text: str) -> Listen:
    """Return the address in "127.0.0.1:9188", "[::1]:9188" or ":9188", which is everywhere."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise _wrong(text)
    if ":" in host and bare == host:
        raise _wrong(text)
    return Listen(bare, int(port))


def _wrong(text: str) -> errors.UsageError:
    return errors.UsageError(
        f'"{text}" is no address to listen on',
        "Write HOST:PORT, for example 127.0.0.1:9188 or [::1]:9188.",
    )


def bind(listen: Listen) -> tuple[socket.socket, ...]:
    """Return sockets that listen there, one for each address that the host's name stands for.

    An empty host is all addresses.
    """
    bound: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(
            listen.host or None, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        places = dict.fromkeys((row[0], row[4][0]) for row in found)
        if not listen.host:
            # Where there is IPv6, one socket takes both.
            places = dict.fromkeys(sorted(places, key=lambda one: one[0] != socket.AF_INET6)[:1])
        absent: OSError | None = None
        for family, host in places:
            # The system picks a port for 0, and the others get the same.
            port = bound[0].getsockname()[1] if bound else listen.port
            try:
                one = socket.create_server(
                    (str(host), port),
                    family=family,
                    backlog=CONCURRENCY,
                    dualstack_ipv6=not listen.host
                    and family == socket.AF_INET6
                    and socket.has_dualstack_ipv6(),
                )
            except OSError as exc:
                # The name of this machine may have an address that it does not have now.
                if exc.errno not in ABSENT:
                    raise
                absent = exc
                continue
            bound.append(one)
        if not bound and absent is not None:
            raise absent
    except (OSError, UnicodeError) as exc:
        for one in bound:
            one.close()
        raise errors.ServerError(
            f"could not listen on {listen}: {getattr(exc, 'strerror', None) or exc}",
            "Name another address with --listen, or end what listens there.",
        ) from exc
    return tuple(bound)


def run(app: Starlette, listening: Sequence[socket.socket]) -> None:
    """Answer until a signal comes. What is being answered then is finished first."""
    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        # A proxy on this machine says for whom it asks. On a socket for both its address is mapped.
        forwarded_allow_ips=["127.0.0.0/8", "::1", "::ffff:127.0.0.0/104"],
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=CONCURRENCY,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=END_S,
        lifespan="on",
    )
    for one in listening:
        host, port = one.getsockname()[:2]
        say(logging.INFO, "listening", address=str(Listen(host, port)), paths="/ and /metrics")
    # uvicorn ends at these, and then raises the same signal again. It is answered by then.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=list(listening))
    say(logging.INFO, "ended")
