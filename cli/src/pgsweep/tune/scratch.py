"""The scratch databases of an experiment. They are made, copied and dropped, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pgsweep.base.errors import QueryError, UsageError
from pgsweep.tune.lab.session import LabSession

if TYPE_CHECKING:
    from pgsweep.base.interrupts import Interrupts

# the application_name of our sessions
NAME = "pgsweep tune"
FILLED, COPY = "pgsweep_tune", "pgsweep_tune_run"
# Autovacuum workers look into new databases. They leave soon, or when asked to.
PATIENCE_S = 20.0
# The counts of VACUUM (VERBOSE), and CREATE DATABASE … STRATEGY, need this version.
LEAST_VERSION = 150000


@dataclass
class Scratch:
    """Two databases of ours: the one that is filled, and a copy of it.

    Entering connects to the server and looks that neither is there. It makes none yet.
    """

    parameters: Callable[[str | None], dict[str, Any]]
    interrupts: Interrupts
    # Why a database could not be dropped. That is no reason to lose what was measured.
    left: list[QueryError] = field(default_factory=list)
    _controller: LabSession | None = None
    _made: bool = False

    def __enter__(self) -> Scratch:
        self._controller = self.connect()
        for name in (FILLED, COPY):
            if self._exists(name):
                self._controller.close()
                raise UsageError(
                    f'database "{name}" exists on that server',
                    f"If nobody needs it and no pgsweep tune is running, DROP DATABASE {name}.",
                )
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the databases."""
        self.interrupts.ignore()
        if self._made:
            for name in (COPY, FILLED):
                self._drop_or_tell(name)
        self.session.close()

    # -- sessions ------------------------------------------------------------

    @property
    def session(self) -> LabSession:
        """The session that is in neither of the two."""
        assert self._controller is not None
        return self._controller

    def connect(self, dbname: str | None = None) -> LabSession:
        """Return a session that no default of the server ends in the middle of the experiment."""
        session = LabSession(self.parameters(dbname))
        if session.version_num < LEAST_VERSION:
            session.close()
            raise UsageError(
                "the experiment needs PostgreSQL 15 or newer",
                "Older servers do not tell a client what its VACUUM did.",
            )
        for name in ("statement_timeout", "lock_timeout", "idle_session_timeout"):
            session.run(f"SET {name} = 0")
        # Only our own database is sure to have nothing in it that somebody else put there.
        session.run(f"SET search_path = {'public' if dbname else 'pg_catalog'}")
        return session

    def _again(self) -> None:
        """Connect anew, and end the old session, which may be in the middle of CREATE DATABASE.

        Left alone it would go on, and finish after we have looked for what to drop.
        """
        pid = self.session.pid
        self.session.close()
        self._controller = self.connect()
        deadline = time.monotonic() + PATIENCE_S
        end = (
            "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity "
            "WHERE pid = %s AND application_name = %s"
        )
        while self.session.rows(end, pid, NAME) and time.monotonic() < deadline:
            time.sleep(0.05)

    # -- making --------------------------------------------------------------

    def make(self) -> LabSession:
        """Make the database that is to be filled, and return a session in it."""
        # This is set first because an interrupt leaves open whether the database was created.
        self._made = True
        self._create(FILLED, "TEMPLATE template0")
        return self.connect(FILLED)

    @contextmanager
    def copied(self) -> Iterator[str]:
        """Yield the oid of a fresh copy, in which nobody has been yet."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._create(COPY, f"TEMPLATE {FILLED} STRATEGY FILE_COPY")
                break
            except QueryError as exc:
                # A worker that is not ours is looking into it.
                if "accessed by other users" not in exc.message or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)
        query = "SELECT oid::text FROM pg_catalog.pg_database WHERE datname = %s"
        yield str(self.session.value(query, COPY))
        # After a failure or an interrupt, leaving the whole drops it.
        self._drop(COPY)

    def _create(self, name: str, how: str) -> None:
        self.session.run(f"CREATE DATABASE {name} {how}")
        self.session.run(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")

    # -- dropping ------------------------------------------------------------

    def _exists(self, name: str) -> bool:
        query = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = %s"
        return bool(self.session.value(query, name))

    def _drop_or_tell(self, name: str) -> None:
        try:
            if name == COPY:
                self._again()
            self._drop(name)
        except QueryError as exc:
            self.left.append(
                QueryError(
                    f'database "{name}" could not be dropped: {exc.message}',
                    f"Run DROP DATABASE IF EXISTS {name} when nobody is connected to it.",
                )
            )

    def _drop(self, name: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self._exists(name):
            # FORCE ends our own interrupted vacuum. It may not end autovacuum's worker. DROP
            # without FORCE asks that worker to leave.
            if self._tried(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)") is None:
                return
            failure = self._tried(f"DROP DATABASE IF EXISTS {name}")
            if failure is not None and time.monotonic() > deadline:
                raise failure
            time.sleep(0.2)

    def _tried(self, statement: str) -> QueryError | None:
        try:
            self.session.run(statement)
        except QueryError as exc:
            return exc
        return None
