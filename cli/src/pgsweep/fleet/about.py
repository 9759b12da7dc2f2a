"""What any server says of itself: who and how old it is, with the extension or without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pgsweep.model import DatabaseAge, Server

if TYPE_CHECKING:
    from pgsweep.source.db import Session

# What is asked where the extension does not say it.
QUERIES = (
    "show_server_version",
    "show_autovacuum",
    "show_autovacuum_freeze_max_age",
    "fleet_server",
)


def row(answers: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the answers to QUERIES as the extension would say it."""
    (shown,), (switch,), (limit,), databases = answers
    return {
        **max(databases, key=lambda one: one["xid_age"]),
        "version": shown["server_version"],
        "autovacuum": switch["autovacuum"] == "on",
        "freeze_max_age": int(limit["autovacuum_freeze_max_age"]),
    }


def server(session: Session, said: Mapping[str, Any]) -> Server:
    """Return the server that was asked, and as whom."""
    own = {field.name: said[field.name] for field in fields(Server) if field.name in said}
    return Server(**own, host=session.host, port=session.port)


def oldest(said: Mapping[str, Any]) -> DatabaseAge:
    """Return the database with the oldest transaction ids."""
    names = ("datid", "datname", "xid_age", "mxid_age")
    return DatabaseAge(**{name: said[name] for name in names}, stats_reset=None)
