"""A session that is kept for long, by one thread.

One rule for all that do so: what only reads is tried again on a new connection when the old one is
lost. What acts is done once, and who asked for it is told that the connection was lost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pgsweep.base import errors

if TYPE_CHECKING:
    from pgsweep.source.db import Session

T = TypeVar("T")

# Whether the extension came or went is looked up as often as that, in seconds.
LOOK_AGAIN_S = 10.0


class KeptSession:
    """A session that is opened when it is needed, and anew when it is lost.

    An error other than a lost connection does not end it: slow and hurry last as long as it does.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        session: Session | None = None,
        look_again_s: float = LOOK_AGAIN_S,
    ) -> None:
        self._open = open_session
        self._session = session
        self._look_again_s = look_again_s
        self._views_at = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Return whether there is one. Whether it is lost is not known before it is asked."""
        return self._session is not None

    def read(self, read: Callable[[Session], T]) -> T:
        """Return what was read, if need be on a new connection."""
        if self._session is not None:
            try:
                return self.do(read)
            except errors.ConnectionLostError:
                # The server was restarted meanwhile, perhaps.
                pass
        return self.do(read)

    def do(self, do: Callable[[Session], T]) -> T:
        """Return what `do` returned, which is called once."""
        try:
            return do(self._ready())
        except errors.UsageError:
            raise
        except errors.ConnectionLostError:
            self.close()
            raise
        except errors.DatabaseError:
            # What the session remembers may not be there any more.
            self._views_at = -math.inf
            raise

    def close(self) -> None:
        """End the session, if there is one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _ready(self) -> Session:
        """Return the session, which knows which views there are."""
        if self._session is not None and self._session.is_lost():
            self.close()
        now = time.monotonic()
        if self._session is None:
            self._session = self._open()
            self._views_at = now
        elif now - self._views_at > self._look_again_s:
            self._session.views(again=True)
            self._views_at = now
        return self._session
