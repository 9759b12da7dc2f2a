"""What came of an act on a node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node


class State(str, Enum):
    """What came of an act on a node."""

    DONE = "done"
    # It was called, and there was nothing to do.
    NOTHING = "nothing"
    SKIPPED = "skipped"
    FAILED = "failed"
    # It was sent, and no answer came in time. It may have been done.
    UNKNOWN = "unknown"


# After these it makes sense to try again.
BAD = (State.FAILED, State.UNKNOWN)


@dataclass(frozen=True)
class Outcome:
    """A node, what came of the act there, and how it is undone."""

    node: Node
    state: State
    said: str
    # the words of our command that undo it there
    undo: tuple[tuple[str, ...], ...] = ()
    documents: tuple[Any, ...] = ()
