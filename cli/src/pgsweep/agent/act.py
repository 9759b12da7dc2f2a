"""One thing to be done to a table or an index, by a statement that a DBA would type."""

from __future__ import annotations

from dataclasses import dataclass

VACUUM, FREEZE, ANALYZE = "vacuum", "freeze", "analyze"
REINDEX, REPACK, DROP = "reindex", "repack", "drop"
KINDS = (VACUUM, FREEZE, ANALYZE, REINDEX, REPACK, DROP)
# What writes a relation anew. It waits for a quiet moment, and is not repeated for a week.
REBUILDS = (REINDEX, REPACK)

# How an act ended, or why it did not begin.
WOULD, RUNNING, DONE = "would", "running", "done"
SKIPPED, GAVE_WAY, FAILED, LOST = "skipped", "gave way", "failed", "lost"


@dataclass(frozen=True)
class Act:
    """What would be done, why, and what that is expected to cost and to save, in bytes."""

    kind: str
    datname: str
    # the table or index that it is done to, and the table of an index
    relid: int
    table_relid: int
    name: str
    statement: str
    reason: str
    # Acts with a greater one come first. Below 10 it can wait for the window.
    urgency: float
    # settings of the session that it needs
    settings: tuple[tuple[str, str], ...] = ()
    size: int | None = None
    content: int | None = None
    cost: int | None = None
    saves: int | None = None

    @property
    def waits_for_window(self) -> bool:
        """Whether it can be done at a quiet hour."""
        return self.urgency < 10


@dataclass(frozen=True)
class Outcome:
    """How an act ended, and what it read and dirtied in pages as far as the server tells."""

    outcome: str
    detail: str = ""
    read: int | None = None
    dirtied: int | None = None
    # bytes, of what was built anew
    size: int | None = None
