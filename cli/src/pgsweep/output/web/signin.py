"""Who has signed in with the token. Sessions are in memory and end with the process."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pgsweep.base import errors

LASTS_S = 12 * 3600.0
VISITORS = 64
# After so many wrong tokens nobody is let in from that address for a while.
TRIES = 5
# So many addresses are remembered.
CLIENTS = 1000
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
    # A group that systemd gives its own credentials to is the service's.
    others = 0o037 if _is_credential(file) else 0o077
    if stat.S_IMODE(mode) & others:
        raise errors.UsageError(
            f'token file "{file}" can be read or written by others', f'Run chmod 600 "{file}".'
        )
    if len(token) < SHORTEST_TOKEN:
        raise errors.UsageError(
            f'the token in file "{file}" is shorter than {SHORTEST_TOKEN} characters',
            "Remove the file. It is made again with a token of 43 characters.",
        )
    return token


def _is_credential(file: Path) -> bool:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return bool(folder) and file.parent == Path(str(folder))


@dataclass
class Tries:
    """The wrong tokens of one address."""

    wrong: int = 0
    closed_until: float = 0.0


class SignIn:
    """Lets in who knows the token."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token.encode()
        # Cookies know no ports. So each token has a name of its own.
        self.cookie = "pgsweep-" + hashlib.sha256(self._token).hexdigest()[:8]
        self._clock = clock
        self._visitors: dict[str, Visitor] = {}
        self._tries: dict[str, Tries] = {}

    def closed(self, client: str) -> bool:
        """Return whether nobody from this address is let in for a while."""
        found = self._tries.get(client)
        return found is not None and self._clock() < found.closed_until

    def enter(self, token: str, client: str) -> str | None:
        """Return the cookie of a new visitor. None means that the token is wrong."""
        if self.closed(client):
            return None
        now = self._clock()
        if not hmac.compare_digest(token.strip().encode(), self._token):
            tries = self._tries.pop(client, Tries())
            tries.wrong += 1
            if tries.wrong >= TRIES:
                tries = Tries(closed_until=now + PAUSE_S)
            self._tries[client] = tries
            while len(self._tries) > CLIENTS:
                del self._tries[next(iter(self._tries))]
            return None
        self._tries.pop(client, None)
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
