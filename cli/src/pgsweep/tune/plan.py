"""What an experiment runs, in which order, and about how long that takes. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pgsweep.tune.lab import deadrows

# At scale 200 the tables are as large as the seed's.
ROWS_PER_TABLE = 50_000
LEAST_ROWS_PER_TABLE = 1000
# These are for the progress bar only.
FILL_ROWS_PER_S, COPY_S = 100_000, 1.0
# Longer runs than this need no repeats.
LONG_RUN_S = 60.0


@dataclass(frozen=True)
class Plan:
    """How an experiment is done."""

    limits: tuple[int, ...]
    delay_ms: float
    scale: float = 1.0
    repeats: int = 3

    @property
    def pieces(self) -> int:
        """How many steps it has: filling, each run, and those that verify."""
        return 1 + len(self.limits) * self.repeats + self.repeats

    @property
    def rows_per_table(self) -> int:
        """How many rows a table has. A fifth of them is dead."""
        return max(LEAST_ROWS_PER_TABLE, round(ROWS_PER_TABLE * self.scale))

    @property
    def fill_seconds(self) -> float:
        """About how long filling takes."""
        return 1 + deadrows.TABLES * self.rows_per_table / FILL_ROWS_PER_S

    def to_verify(self, limit: int) -> int:
        """Return how often the recommended limit is run. It is run once when that takes long."""
        return self.repeats if self.seconds(limit) <= LONG_RUN_S else 1

    def seconds(self, limit: int) -> float:
        """About how long a run takes at a limit."""
        dead = deadrows.TABLES * self.rows_per_table / 5
        rate = deadrows.EXPECTED_ROWS_PER_UNIT * limit * deadrows.DELAY_MS / self.delay_ms
        return COPY_S + dead / rate

    def order(self) -> list[int]:
        """Return the limits in the order they are measured.

        Rounds are interleaved, each in the opposite direction. Then what gets slower or faster
        with time touches all limits alike.
        """
        return [
            limit
            for number in range(self.repeats)
            for limit in (self.limits if number % 2 == 0 else reversed(self.limits))
        ]
