"""A seat for each node of a fleet: its session, which can be kept from one look to the next.

A node that has not answered is not asked again before it has. So however long it hangs, it costs
one thread and one session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from pgsweep.base import errors
from pgsweep.fleet.asking import answers
from pgsweep.fleet.providers import target_of
from pgsweep.source import db

if TYPE_CHECKING:
    from pgsweep.fleet.asking import Answer, Deadline
    from pgsweep.fleet.node import Node
    from pgsweep.source.db import Session

T = TypeVar("T")


class Seats:
    """Sessions to many nodes. Asking is for one thread at a time.

    Without `reuse` a session ends as soon as its node has answered, and waits for no other node.
    """

    def __init__(self, reuse: bool = True) -> None:
        self._reuse = reuse
        self._lock = threading.Lock()
        self._free: dict[Node, Session] = {}
        self._busy: dict[Node, Deadline] = {}

    def __enter__(self) -> Seats:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions that nobody hangs in."""
        with self._lock:
            sessions = list(self._free.values())
            self._free.clear()
        for session in sessions:
            session.close()

    def ask(
        self, nodes: Sequence[Node], question: Callable[[Session, Node], T], deadline_s: float
    ) -> tuple[Answer[T], ...]:
        """Return each node's answer, in their order. Each node has so many seconds for it."""
        found = dict(self.answers(nodes, question, deadline_s))
        return tuple(found[index] for index in range(len(nodes)))

    def answers(
        self, nodes: Sequence[Node], question: Callable[[Session, Node], T], deadline_s: float
    ) -> Iterator[tuple[int, Answer[T]]]:
        """Yield each node's answer, with the node's index, as it comes."""

        def run(node: Node, deadline: Deadline) -> T:
            return self._ask(node, question, deadline)

        return answers(nodes, run, deadline_s)

    def deadline_of(self, node: Node) -> Deadline:
        """Return until when an answer is waited for. A question may ask it about its own node."""
        with self._lock:
            return self._busy[node]

    def keep(self, nodes: Sequence[Node]) -> None:
        """End the sessions to all other nodes: these are not asked any more."""
        with self._lock:
            gone = [self._free.pop(node) for node in self._free.keys() - set(nodes)]
        for session in gone:
            session.close()

    def _ask(self, node: Node, question: Callable[[Session, Node], T], deadline: Deadline) -> T:
        with self._lock:
            before = self._busy.get(node)
            if before is not None:
                raise errors.CannotConnectError(f"no answer for {before.spent:.0f} s")
            self._busy[node] = deadline
            session = self._free.pop(node, None)
        kept: Session | None = None
        try:
            if session is not None and session.is_lost():
                session.close()
                session = None
            if session is None:
                session = db.connect(target_of(node), extra=db.KEEPALIVES)
            if not deadline.left:
                # Nobody waits for it any more. What acts must not begin now.
                raise errors.CannotConnectError("connected too late")
            value = question(session, node)
            kept = session if self._reuse else None
            return value
        except errors.PgsweepError as exc:
            if self._reuse and not isinstance(exc, errors.ConnectionLostError):
                kept = session
            raise
        finally:
            with self._lock:
                self._busy.pop(node, None)
                if kept is not None:
                    self._free[node] = kept
            if kept is None and session is not None:
                session.close()
