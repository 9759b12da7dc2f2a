"""Made-up nodes and readings, and a Patroni that says what it is told to say."""

from __future__ import annotations

import dataclasses
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pgsweep.fleet.node import Node
from pgsweep.fleet.reading import NodeReading, Row
from pgsweep.model import DatabaseAge
from samples import server

RECORDED = Path(__file__).parent / "recorded"


def node(name: str = "a", **given: Any) -> Node:
    """Return a node of a file."""
    base: dict[str, Any] = {
        "group": "",
        "role": "",
        "host": f"{name}.example.com",
        "port": 5432,
        "host_id": name,
    }
    return Node(name=name, **{**base, **given})


def age(xid_age: int = 1_000_000, datname: str = "app") -> DatabaseAge:
    """Return a database's age."""
    return DatabaseAge(datid=1, datname=datname, xid_age=xid_age, mxid_age=0, stats_reset=None)


def reading(**given: Any) -> NodeReading:
    """Return what a primary without the extension says, that is well."""
    base: dict[str, Any] = {"server": server(), "due": 0, "vacuums": 0, "oldest": age()}
    return NodeReading(**{**base, **given})


def row(name: str = "a", seconds: float = 0.1, **given: Any) -> Row:
    """Return a node that answered."""
    return Row(node(name), seconds, reading(**given))


def moved(one: Row, **given: Any) -> Row:
    """Return the same row with another node."""
    return dataclasses.replace(one, node=dataclasses.replace(one.node, **given))


def recorded(name: str) -> Any:
    """Return a recorded answer."""
    return json.loads((RECORDED / name).read_text())


class Answers:
    """What a stub of Patroni answers, and what it was asked."""

    def __init__(self, document: object = None) -> None:
        self.status = 200
        self.body = json.dumps(document).encode()
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []


@contextmanager
def patroni_stub(
    answers: Answers, wrap: Callable[[socket.socket], ssl.SSLSocket] | None = None
) -> Iterator[str]:
    """Yield the address of a server that gives these answers to everything."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length)
            answers.asked.append((self.command, self.path, dict(self.headers), sent))
            self.send_response(answers.status)
            for name, value in answers.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answers.body)))
            self.end_headers()
            self.wfile.write(answers.body)

        do_GET = do_PATCH = _answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of clients that do not like the certificate."""

    with Server(("127.0.0.1", 0), Handler) as stub:
        if wrap is not None:
            stub.socket = wrap(stub.socket)
        thread = threading.Thread(target=stub.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            scheme = "http" if wrap is None else "https"
            yield f"{scheme}://localhost:{stub.server_address[1]}"
        finally:
            stub.shutdown()


@contextmanager
def black_hole() -> Iterator[int]:
    """Yield a port on which somebody listens and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield int(listener.getsockname()[1])
