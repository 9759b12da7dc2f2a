"""Every failure the command reports itself, as one tree.

Messages follow PostgreSQL's style: they start in lower case and have no period. The hint is a
sentence. The error boundary in cli.py prints any of these as one line and exits with 2. Anything
else is a bug and keeps its traceback.
"""

from __future__ import annotations


class PgsweepError(Exception):
    """Something could not be done. This carries what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def one_line(self) -> str:
        """Return message and hint as a single line, however the server wrapped them."""
        text = " ".join(self.message.split())
        if self.hint:
            text = f"{text}; hint: {' '.join(self.hint.split())}"
        return text


def quoted(written: str) -> str:
    """Return what somebody wrote, in quotes, unless there may be a password in it."""
    return f'"{written}"' if "@" not in written else "what was given"


class UsageError(PgsweepError):
    """The command was called in a way that cannot work."""


class DatabaseError(PgsweepError):
    """The server refused, or cannot be asked. `said` is what it said itself."""

    said: str = ""


class CannotConnectError(DatabaseError):
    """No connection: no server, wrong password, unknown database, too many clients."""


class PasswordRequiredError(CannotConnectError):
    """The server wants a password and none was given."""


class ConnectionLostError(DatabaseError):
    """The connection broke after it had been made."""


class LibraryNotLoadedError(DatabaseError):
    """The extension exists, but the server was started without the library."""


class ExtensionMissingError(DatabaseError):
    """This database has no pg_sweep."""


class VersionMismatchError(DatabaseError):
    """Library, SQL objects and command do not fit each other."""


class PermissionDeniedError(DatabaseError):
    """The role may not read or call this."""


class QueryError(DatabaseError):
    """Any other error of the server."""


class ServerError(PgsweepError):
    """The throwaway server could not be made or run."""
