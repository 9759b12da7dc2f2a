"""A thousand nodes: a session for each, and none more."""

from __future__ import annotations

from typing import Any

import pytest

from fleets import node
from pgsweep.base import errors
from pgsweep.fleet.node import Node
from pgsweep.fleet.seats import Seats
from pgsweep.source import db

NODES = 1000


class Sessions:
    """Sessions that are none, counted."""

    def __init__(self) -> None:
        self.opened: list[Sessions] = []
        self.closed: list[Sessions] = []
        self.lost = False

    def connect(self, *_: Any, **__: Any) -> Sessions:
        """Open one, in any thread."""
        self.opened.append(self)
        return self

    def is_lost(self) -> bool:
        """Tell whether the servers have ended them."""
        return self.lost

    def close(self) -> None:
        """Close one."""
        self.closed.append(self)


def test_a_thousand_nodes_take_a_session_each(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions()
    monkeypatch.setattr(db, "connect", sessions.connect)
    nodes = [node(f"n{i}") for i in range(NODES)]
    with Seats() as seats:
        for _ in range(2):
            answers = seats.ask(nodes, lambda _, asked: asked.name, 60)
            assert [answer.value for answer in answers] == [one.name for one in nodes]
            assert not any(answer.silent for answer in answers)
        # The second look has opened none.
        assert len(sessions.opened) == NODES
        assert not sessions.closed
    assert len(sessions.closed) == NODES


def test_a_session_that_the_server_has_ended_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions()
    monkeypatch.setattr(db, "connect", sessions.connect)
    nodes = [node("n")]
    with Seats() as seats:
        assert seats.ask(nodes, lambda _, asked: asked.name, 60)[0].value == "n"
        sessions.lost = True
        assert seats.ask(nodes, lambda _, asked: asked.name, 60)[0].value == "n"
    assert len(sessions.opened) == len(sessions.closed) == 2


def test_without_reuse_a_session_ends_with_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions()
    monkeypatch.setattr(db, "connect", sessions.connect)
    nodes = [node(f"n{i}") for i in range(3)]

    def question(_: db.Session, asked: Node) -> str:
        if asked == nodes[0]:
            raise errors.QueryError("no")
        return asked.name

    with Seats(reuse=False) as seats:
        for looks in (1, 2):
            answers = seats.ask(nodes, question, 60)
            assert [answer.value for answer in answers] == [None, "n1", "n2"]
            assert len(sessions.opened) == len(sessions.closed) == 3 * looks
