"""A connection pooler that does not pass on `options`, as PgBouncer does not."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VERSION_3 = 196608
REFUSED = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"


@contextmanager
def pooler(server: Path, refuses: bool) -> Iterator[tuple[int, bytearray]]:
    """Yield the port of a pooler of the server at this socket, and what its clients have sent.

    It refuses sessions with `options`, or drops these.
    """
    sent = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    threading.Thread(target=serve, args=(client,), daemon=True).start()

        def serve(client: socket.socket) -> None:
            with client, suppress(OSError, EOFError):
                parameters = _startup(client)
                if refuses and b"options" in parameters:
                    client.sendall(b"E" + struct.pack("!i", 4 + len(REFUSED)) + REFUSED)
                    return
                parameters.pop(b"options", None)
                pairs = b"".join(b"%s\0%s\0" % pair for pair in parameters.items()) + b"\0"
                with socket.socket(socket.AF_UNIX) as to_server:
                    to_server.connect(str(server))
                    to_server.sendall(struct.pack("!ii", 8 + len(pairs), VERSION_3) + pairs)
                    back = threading.Thread(
                        target=_pass_on, args=(to_server, client, bytearray()), daemon=True
                    )
                    back.start()
                    _pass_on(client, to_server, sent)
                    back.join()

        threading.Thread(target=listen, daemon=True).start()
        yield listener.getsockname()[1], sent
        listener.shutdown(socket.SHUT_RDWR)


def _startup(client: socket.socket) -> dict[bytes, bytes]:
    """Return the parameters of a client's first message. No encryption is to be had here."""
    while True:
        length, code = struct.unpack("!ii", _exactly(client, 8))
        rest = _exactly(client, length - 8)
        if code == VERSION_3:
            words = rest.rstrip(b"\0").split(b"\0")
            return dict(zip(words[::2], words[1::2], strict=False))
        client.sendall(b"N")


def _exactly(client: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = client.recv(count - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def _pass_on(one: socket.socket, other: socket.socket, kept: bytearray) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            kept += data
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
