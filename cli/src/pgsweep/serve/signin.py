"""Who has signed in with the token. Sessions are in memory and end with the process."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pgsweep import errors

COOKIE = "pgsweep"
LASTS_S = 12 * 3600.0
VISITORS = 64
# After so many wrong tokens nobody is let in for a while.
TRIES = 5
PAUSE_S = 30.0
SHORTEST_TOKEN = 16


@dataclass
class Visitor:
    """Somebody who has signed in. Every form carries `csrf`, which other sites cannot know."""

    until: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    # What the last button did, for the next page.
    said: str = ""
    failed: bool = False


def read_token(file: Path) -> str:
    """Return the token in a file, and make both if there is none.

    The file must be its owner's alone.
    """
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _existing(file)
    except OSError as exc:
        raise errors.UsageError(f'cannot make token file "{file}": {exc.strerror}') from exc
    token = secrets.token_urlsafe(32)
    with os.fdopen(handle, "w") as out:
        out.write(token + "\n")
    return token


def _existing(file: Path) -> str:
    try:
        with file.open() as source:
            mode = os.fstat(source.fileno()).st_mode
            token = source.read(4096).strip()
    except OSError as exc:
        raise errors.UsageError(f'cannot read token file "{file}": {exc.strerror}') from exc
    except UnicodeDecodeError as exc:
        raise errors.UsageError(f'token file "{file}" is not text') from exc
    if stat.S_IMODE(mode) & 0o077:
        raise errors.UsageError(
            f'token file "{file}" can be read or written by others', f'Run chmod 600 "{file}".'
        )
    if len(token) < SHORTEST_TOKEN:
        raise errors.UsageError(
            f'the token in file "{file}" is shorter than {SHORTEST_TOKEN} characters',
            "Remove the file. It is made again with a token of 43 characters.",
        )
    return token


class SignIn:
    """Lets in who knows the token."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token.encode()
        self._clock = clock
        self._visitors: dict[str, Visitor] = {}
        self._wrong = 0
        self._closed_until = 0.0

    def closed(self) -> bool:
        """Return whether nobody is let in for a while."""
        return self._clock() < self._closed_until

    def enter(self, token: str) -> str | None:
        """Return the cookie of a new visitor. None means that the token is wrong."""
        if self.closed():
            return None
        if not hmac.compare_digest(token.strip().encode(), self._token):
            self._wrong += 1
            if self._wrong >= TRIES:
                self._wrong, self._closed_until = 0, self._clock() + PAUSE_S
            return None
        self._wrong = 0
        now = self._clock()
        for cookie in [known for known, who in self._visitors.items() if who.until < now]:
            del self._visitors[cookie]
        while len(self._visitors) >= VISITORS:
            del self._visitors[next(iter(self._visitors))]
        cookie = secrets.token_urlsafe(32)
        self._visitors[cookie] = Visitor(now + LASTS_S)
        return cookie

    def visitor(self, cookie: str | None) -> Visitor | None:
        """Return who has this cookie."""
        found = self._visitors.get(cookie or "")
        return found if found is not None and self._clock() < found.until else None

    def leave(self, cookie: str | None) -> None:
        """Forget a visitor."""
        self._visitors.pop(cookie or "", None)
