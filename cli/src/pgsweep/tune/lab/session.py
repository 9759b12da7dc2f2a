"""The laboratory's sessions. Unlike those of pgsweep.source.db, they write."""

from __future__ import annotations

from typing import Any

from pgsweep.source.connection import Connection


class LabSession(Connection):
    """A connection for statements of any kind. %s stands for an argument."""

    def run(self, sql: str, *args: object) -> None:
        """Run a statement for its effect, or several if there are no arguments."""
        self._execute(sql, args)

    def value(self, sql: str, *args: object) -> Any:  # noqa: ANN401
        """Return the only column of the first row, or None if there is no row."""
        row = self._execute(sql, args).fetchone()
        return next(iter(row.values())) if row else None

    def rows(self, sql: str, *args: object) -> list[dict[str, Any]]:
        """Return all rows, by column name."""
        return list(self._execute(sql, args).fetchall())
