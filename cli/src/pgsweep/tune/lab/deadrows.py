"""Tables of which a fifth of the rows is dead, as seed 004 has them.

So there is much to reclaim. An index on the column that changes keeps every update from being
HOT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.tune.lab.session import LabSession

TABLES = 6
# The seed's vacuums ran with this delay.
DELAY_MS = 2.0
# This is roughly how many dead rows a second go with each unit of the cost limit, by the seed and
# by our own trials. Only the size of the tables depends on it.
EXPECTED_ROWS_PER_UNIT = 170


def names() -> tuple[str, ...]:
    """Return the tables."""
    return tuple(f"table{number}" for number in range(1, TABLES + 1))


def fill(
    session: LabSession, rows: int, storage: str = "", done: Callable[[], None] = lambda: None
) -> None:
    """Make the tables anew, a fifth of their rows dead.

    `storage` is a clause WITH (...).
    """
    for name in names():
        session.run(f"DROP TABLE IF EXISTS {name}")
        session.run(f"CREATE TABLE {name} (id serial PRIMARY KEY, filler varchar(32)) {storage}")
        values = f"SELECT md5(random()::text) FROM generate_series(1, {rows})"
        session.run(f"INSERT INTO {name} (filler) {values}")
        session.run(f"CREATE INDEX ON {name} (filler)")
        session.run(f"UPDATE {name} SET filler = md5(random()::text) WHERE id <= {rows // 5}")
        done()
