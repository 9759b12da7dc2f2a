"""Sessions of the experiments: they write, unlike those of pgsweep.db."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pgsweep.errors import QueryError

CONNECT_TIMEOUT_S = 10


class Session:
    """A connection in which every statement commits itself."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.notices: list[str] = []
        try:
            self._conn = psycopg.connect(
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=CONNECT_TIMEOUT_S,
                **parameters,
            )
        except psycopg.Error as exc:
            raise QueryError(f"cannot connect: {exc}") from exc
        self._conn.add_notice_handler(self._noticed)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session; a second call does nothing."""
        with suppress(psycopg.Error):
            self._conn.close()

    @property
    def pid(self) -> int:
        """The server process."""
        return self._conn.info.backend_pid

    @property
    def version_num(self) -> int:
        """server_version_num."""
        return self._conn.info.server_version

    def run(self, sql: str, *args: object) -> None:
        """Run a statement for its effect."""
        self._execute(sql, args)

    def value(self, sql: str, *args: object) -> Any:  # noqa: ANN401
        """Return the only column of the first row; None if there is no row."""
        row = self._execute(sql, args).fetchone()
        return next(iter(row.values())) if row else None

    def rows(self, sql: str, *args: object) -> list[dict[str, Any]]:
        """Return all rows, by column name."""
        return list(self._execute(sql, args).fetchall())

    def _execute(self, sql: str, args: tuple[object, ...]) -> psycopg.Cursor[dict[str, Any]]:
        try:
            cursor = self._conn.cursor(row_factory=dict_row)
            # Without arguments a % is a %.
            return cursor.execute(sql, args or None)
        except psycopg.Error as exc:
            raise QueryError(exc.diag.message_primary or str(exc).strip()) from exc

    def _noticed(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        parts = (diagnostic.message_primary, diagnostic.message_detail)
        self.notices.append("\n".join(part for part in parts if part))
