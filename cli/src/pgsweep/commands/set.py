"""`pgsweep set`: settings that a table has of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors
from pgsweep.commands.options import Json, complete_tables, with_target
from pgsweep.output.terminal import acts, as_json
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@partial(with_target, positional=False)
def set_(
    target: db.Target,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="[SCHEMA.]NAME. Without it you get all tables that have settings.",
            show_default=False,
            autocompletion=complete_tables,
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE...", help="What to set.", show_default=False),
    ] = None,
    reset: Annotated[
        list[str] | None,
        typer.Option("--reset", metavar="NAME", help="Remove a setting. May be given often."),
    ] = None,
    json: Json = False,
) -> int:
    """Give a table settings of its own, remove them, or show them (sweep.set).

    All that is given is set, or nothing. It takes effect within a second or two.
    """
    values = values_of(given or [], reset or [])
    if values and table is None:
        raise errors.UsageError("no table given", "Write pgsweep set TABLE NAME=VALUE.")
    return show(target, partial(change, table=table, values=values), json)


def change(session: db.Session, table: str | None, values: Mapping[str, str | None]) -> Page:
    """Give a table settings of its own. Without any, return those that there are."""
    session.require_extension()
    found = session.find_relation(table) if table is not None else None
    before = session.table_settings(found.relid if found else None)
    if found is None or not values:
        return Page(
            lines=partial(acts.setting_lines, before, session.server().now),
            document=partial(as_json.rows, before),
        )
    session.set(found.relid, values)
    # for what it holds, if Citus distributes the table
    said = tuple(dict.fromkeys(session.notices))
    after = session.table_settings(found.relid)
    were = {row.name: row.value for row in before}
    return Page(
        lines=lambda _: acts.changed(found, were, values),
        document=lambda: as_json.dump(
            {
                **dataclasses.asdict(found),
                "before": were,
                "settings": {row.name: row.value for row in after},
            }
        ),
        undo=acts.set_back(found, were, values),
        notes=said,
    )


def values_of(given: list[str], reset: list[str]) -> dict[str, str | None]:
    """Return what is to be set by name. None removes it."""
    found: dict[str, str | None] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise errors.UsageError(
                f'"{word}" is no setting', "Write NAME=VALUE, for example min_interval=5s."
            )
        found[name.strip()] = value.strip()
    for name in reset:
        if name in found:
            raise errors.UsageError(
                f'"{name}" is both set and reset', "Write either NAME=VALUE or --reset NAME."
            )
        found[name] = None
    return found
