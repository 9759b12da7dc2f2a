"""--apply and --undo: ALTER SYSTEM, where that is the way to change a server."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.tune import kept, settings

if TYPE_CHECKING:
    from pgsweep.model import Current
    from pgsweep.source.db import Session
    from pgsweep.tune.settings import Change, Setting

# A session notices a reload when it is idle next.
RELOAD_S = 5.0
NO_ALTER_SYSTEM = "Use --format to print the settings, and put them where they are managed."
BY_PATRONI = "Use --format patroni, and put the lines into patronictl edit-config."


def require_possible(session: Session, names: Iterable[str], by_patroni: str = BY_PATRONI) -> str:
    """Return the server's identifier. Raise when its settings may not be changed by us."""
    wanted = tuple(names)
    facts = session.tune_facts()
    if facts.patroni:
        raise errors.UsageError(
            f"this server is managed by Patroni ({', '.join(facts.patroni)}), "
            "which would not know of ALTER SYSTEM",
            by_patroni,
        )
    if facts.allow_alter_system == "off":
        raise errors.UsageError("allow_alter_system is off on this server", NO_ALTER_SYSTEM)
    allowed = session.may_alter(wanted)
    denied = [name for name in wanted if name not in allowed]
    if denied:
        raise errors.PermissionDeniedError(
            f"this role may not ALTER SYSTEM SET {', '.join(denied)}",
            f'Run GRANT ALTER SYSTEM ON PARAMETER {", ".join(denied)} TO "{facts.role}" as '
            "superuser (15 and newer), or use --format.",
        )
    if not facts.may_reload or not facts.may_read_files:
        lacks = [
            word
            for word, may in (
                ("EXECUTE on pg_reload_conf()", facts.may_reload),
                ("SELECT on pg_file_settings (pg_read_all_settings)", facts.may_read_files),
            )
            if not may
        ]
        raise errors.PermissionDeniedError(
            f"this role lacks {' and '.join(lacks)}", "Ask a superuser, or use --format."
        )
    if facts.system_identifier is None:
        raise errors.PermissionDeniedError(
            "this role may not read the server's identifier (pg_control_system())",
            "It is what --undo knows the server by. Ask a superuser, or use --format.",
        )
    return facts.system_identifier


def planned(session: Session, wanted: Sequence[Setting]) -> tuple[Change, ...]:
    """Return what differs from what is wanted.

    Raise where ALTER SYSTEM would have no effect.
    """
    found = settings.changes(wanted, session.current([each.name for each in wanted]))
    require_effect(found)
    return found


def require_effect(found: Iterable[Change | Current]) -> None:
    """Raise where ALTER SYSTEM would have no effect."""
    for each in found:
        if each.source == "command line":
            raise errors.UsageError(
                f"{each.name} was given to the server on its command line, which overrides files",
                "Change it where the server is started.",
            )


def apply(session: Session, identifier: str, found: Sequence[Change]) -> str:
    """Make the changes, all of them or none, and return where what was there is kept."""
    before = kept.load(identifier)
    # This is written first, because what is not remembered could not be undone.
    file = kept.save(identifier, settings.kept_after(before, found))
    try:
        _alter(session, found)
    except BaseException:
        if before:
            kept.save(identifier, before)
        else:
            kept.forget(identifier)
        raise
    session.reload()
    _wait(session, found)
    return str(file)


def to_undo(session: Session, identifier: str) -> tuple[tuple[str, ...], tuple[Change, ...]]:
    """Return the settings that were applied, and what brings back what there was before."""
    was = kept.load(identifier)
    if not was:
        raise errors.UsageError(
            "there is nothing to undo: this user has not applied anything to this server",
            f'It would be in "{kept.path(identifier)}".',
        )
    return tuple(was), settings.undo(was, session.current(list(was)))


def undo(session: Session, identifier: str, found: Sequence[Change]) -> None:
    """Bring back what there was."""
    _alter(session, found)
    session.reload()
    kept.forget(identifier)


def alter(
    session: Session, values: Mapping[str, str | None], before: Mapping[str, str | None]
) -> None:
    """Write settings into postgresql.auto.conf, all of them or none. None removes one.

    What stands there afterwards is what was asked for, to the letter. So a value that the server
    takes for something else, as it does with the elements of a list, is not left there.
    """
    done: list[str] = []
    try:
        for name, value in values.items():
            done.append(name)
            session.alter_system(name, value)
        there = session.current(list(values))
        for name, value in values.items():
            if there[name].auto != value:
                raise errors.QueryError(
                    f'the server has written {name} as "{there[name].auto}", not as "{value}"',
                    "Nothing was changed. Set it in the server's configuration file.",
                )
    except BaseException:
        # An interrupted change may have been made or not. So all are put back.
        _put_back(session, {name: before[name] for name in done})
        raise


def _put_back(session: Session, before: Mapping[str, str | None]) -> None:
    """Write what stood in postgresql.auto.conf before. The session may be lost."""
    try:
        with session.again() as other:
            for name, value in before.items():
                other.alter_system(name, value)
            # Somebody else may have had the server read the file in the meantime.
            other.reload()
    except errors.DatabaseError as exc:
        were = ", ".join(
            f"{name} was {value}" if value is not None else f"{name} was not set"
            for name, value in before.items()
        )
        raise errors.QueryError(
            f"what was changed could not be put back: {exc.message}",
            f"Put it back into postgresql.auto.conf by ALTER SYSTEM: {were}.",
        ) from exc


def _alter(session: Session, found: Sequence[Change]) -> None:
    alter(
        session,
        {change.name: change.to for change in found},
        {change.name: change.auto for change in found},
    )


def _wait(session: Session, found: Sequence[Change]) -> None:
    """Wait until the server goes by the new values, or say that it does not."""
    deadline = time.monotonic() + RELOAD_S
    while True:
        now = session.current([each.name for each in found])
        late = [
            each.name
            for each in found
            if now[each.name].shown == each.shown or not now[each.name].applied
        ]
        if not late:
            return
        if time.monotonic() > deadline:
            raise errors.QueryError(
                f"{', '.join(late)} was written, but the server does not go by it",
                "See the server's log and pg_file_settings. --undo restores what there was.",
            )
        time.sleep(0.05)
