"""Many servers on machines of their own, as the command sees them: bench/fleet uses it.

    fleet_nodes.py RECORDED CERTIFICATE KEY LATENCY_MS

It speaks PostgreSQL's protocol, with TLS and SCRAM-SHA-256, and costs little processor time itself.
After the handshake it sends what a real server has sent, which record() has kept. It prints the
port on which it listens on loopback. It ends with its standard input.

The sources are "Frontend/Backend Protocol" in PostgreSQL's documentation, and RFC 5802 and 7677.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import pickle
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

PASSWORD = "a password"
ITERATIONS = 4096
SSL_REQUEST = 80877103
AUTHENTICATION_SASL, SASL_CONTINUE, SASL_FINAL = 10, 11, 12


class GoneError(Exception):
    """The client has closed the connection."""


def read(conn: socket.socket, size: int) -> bytes:
    """Return so many bytes."""
    found = b""
    while len(found) < size:
        part = conn.recv(size - len(found))
        if not part:
            raise GoneError
        found += part
    return found


def message(conn: socket.socket) -> tuple[bytes, bytes]:
    """Return the type of the next message, and what is in it."""
    head = read(conn, 5)
    return head[:1], read(conn, struct.unpack("!I", head[1:])[0] - 4)


def startup(conn: socket.socket) -> int:
    """Return the code of a message without a type: a version of the protocol, or a request."""
    (size,) = struct.unpack("!I", read(conn, 4))
    return int(struct.unpack("!I", read(conn, size - 4)[:4])[0])


def authentication(kind: int, body: bytes) -> bytes:
    """Return a message of authentication."""
    return b"R" + struct.pack("!II", 8 + len(body), kind) + body


def asked(conn: socket.socket) -> bool:
    """Read until there is something to be answered. Tell whether there is."""
    # a simple query, the end of an extended one, or the end of all
    while (kind := message(conn)[0]) not in (b"Q", b"S", b"X"):
        pass
    return kind != b"X"


# -- a real server's answers ------------------------------------------------------------


def record(server: Path, ask: Callable[[int], None]) -> list[bytes]:
    """Call `ask` with a port. Return what the server at that socket says there in each turn.

    The first turn is all until the server is ready for a query. Each query begins another one.
    """
    turns = [b""]

    def listen() -> None:
        client, _ = listening.accept()
        with client, socket.socket(socket.AF_UNIX) as real:
            real.connect(str(server))
            threading.Thread(target=forward, args=(client, real), daemon=True).start()
            with contextlib.suppress(GoneError, OSError):
                while True:
                    kind, body = message(real)
                    said = kind + struct.pack("!I", len(body) + 4) + body
                    turns[-1] += said
                    if kind == b"Z":
                        turns.append(b"")
                    client.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        ask(listening.getsockname()[1])
        thread.join()
    return [turn for turn in turns if turn]


def forward(client: socket.socket, real: socket.socket) -> None:
    """Give the server what the client says, to its end."""
    with contextlib.suppress(OSError):
        while said := client.recv(65536):
            real.sendall(said)
        real.shutdown(socket.SHUT_WR)


# -- and those who give them ------------------------------------------------------------


class Scram:
    """A server's side of SCRAM-SHA-256, for one password."""

    def __init__(self) -> None:
        self.salt = os.urandom(16)
        salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), self.salt, ITERATIONS)
        self.stored_key = hashlib.sha256(self._hmac(salted, b"Client Key")).digest()
        self.server_key = self._hmac(salted, b"Server Key")

    def welcome(self, conn: socket.socket, send: Callable[[bytes], None]) -> bool:
        """Ask for the password. Tell whether the client knows it."""
        send(authentication(AUTHENTICATION_SASL, b"SCRAM-SHA-256\0\0"))
        _, said = message(conn)
        bare = said[said.index(b"\0") + 5 :].split(b",", 2)[2]
        nonce = bare.split(b"r=")[1] + base64.b64encode(os.urandom(18))
        first = b"r=%s,s=%s,i=%d" % (nonce, base64.b64encode(self.salt), ITERATIONS)
        send(authentication(SASL_CONTINUE, first))
        _, said = message(conn)
        without_proof, proof = said.rsplit(b",p=", 1)
        text = b",".join((bare, first, without_proof))
        signature = self._hmac(self.stored_key, text)
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if hashlib.sha256(key).digest() != self.stored_key:
            return False
        verifier = base64.b64encode(self._hmac(self.server_key, text))
        send(authentication(SASL_FINAL, b"v=" + verifier))
        return True

    @staticmethod
    def _hmac(key: bytes, text: bytes) -> bytes:
        return hmac.digest(key, text, "sha256")


class Nodes:
    """All of them, behind one port."""

    def __init__(self, turns: list[bytes], tls: ssl.SSLContext, latency_s: float) -> None:
        self.turns = turns
        self.tls = tls
        self.latency_s = latency_s
        self.scram = Scram()

    def listen(self, listening: socket.socket) -> None:
        """Serve each client in a thread."""
        while True:
            client, _ = listening.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        """Serve one client, to its end."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A client that goes in the middle of it is no failure of ours.
        with contextlib.closing(client), contextlib.suppress(GoneError, OSError):
            if startup(client) != SSL_REQUEST:
                return
            self.send(client, b"S")
            with self.tls.wrap_socket(client, server_side=True) as conn:
                startup(conn)
                if self.scram.welcome(conn, partial(self.send, conn)):
                    self.answer(conn)

    def send(self, conn: socket.socket, said: bytes) -> None:
        """Send it as late as from afar."""
        time.sleep(self.latency_s)
        conn.sendall(said)

    def answer(self, conn: socket.socket) -> None:
        """Say what was recorded: what comes after the password, and then to each query."""
        # What follows the password comes with the end of the handshake.
        conn.sendall(self.turns[0])
        for turn in self.turns[1:]:
            if not asked(conn):
                return
            self.send(conn, turn)
        asked(conn)


def run() -> None:
    recorded, certificate, key, latency_ms = sys.argv[1:]
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    nodes = Nodes(pickle.loads(Path(recorded).read_bytes()), tls, float(latency_ms) / 1000)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        threading.Thread(target=nodes.listen, args=(listening,), daemon=True).start()
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    run()
