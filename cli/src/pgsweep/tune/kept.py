"""What --apply replaced, kept until --undo.

Each user has a file for each server.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pgsweep.base.errors import UsageError
from pgsweep.tune.settings import Kept


def folder() -> Path:
    """Return where a user's programs keep their state (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_STATE_HOME", "")
    # The specification says that a relative path there is to be ignored.
    base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    return base / "pgsweep"


def path(system_identifier: str) -> Path:
    """Return the file of one server. A server keeps its identifier when it moves."""
    return folder() / f"tune-{system_identifier}.json"


def load(system_identifier: str) -> dict[str, Kept]:
    """Return what was replaced, or nothing if there is no file."""
    file = path(system_identifier)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return {name: Kept(**entry) for name, entry in document["settings"].items()}
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise UsageError(
            f'could not read "{file}": {exc.strerror}', "It says what --undo is to restore."
        ) from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise UsageError(
            f'"{file}" is not what pgsweep tune --apply wrote',
            "Move it away. What was there before can then only be restored by hand.",
        ) from exc


def save(system_identifier: str, kept: Mapping[str, Kept]) -> Path:
    """Write the whole file or nothing, for this user's eyes only."""
    file = path(system_identifier)
    document = {
        "system_identifier": system_identifier,
        "settings": {name: {"before": k.before, "set": k.set} for name, k in kept.items()},
    }
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The file gets mode 0600.
        number, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as stream:
                json.dump(document, stream, indent=2)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise UsageError(
            f'could not keep what was set before in "{file.parent}": {exc.strerror}',
            "Nothing was changed. Set XDG_STATE_HOME to a folder that can be written.",
        ) from exc
    return file


def forget(system_identifier: str) -> None:
    """Remove the file when everything is as it was."""
    with suppress(FileNotFoundError):
        path(system_identifier).unlink()
