"""What `fleet --json` prints: keys that stay, whatever the models are called. All of it is pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgsweep.fleet.summary import node_problems
from pgsweep.output.terminal import as_json

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.reading import Row
    from pgsweep.fleet.summary import Skew, Summary

_NODE = (
    *("name", "group", "role", "host", "port", "host_id", "provider", "state"),
    *("lag_bytes", "timeline"),
)


def node(found: Node) -> dict[str, object]:
    """Return what the provider knows of a node."""
    return {name: getattr(found, name) for name in _NODE}


def row(found: Row) -> dict[str, object]:
    """Return a node with what it said. What is not known is null."""
    reading = found.reading
    said: dict[str, object] = {
        **node(found.node),
        "role": found.role,
        "answered": reading is not None,
        "trouble": found.trouble or None,
        "seconds": found.seconds,
    }
    if reading is None:
        return said
    return {
        **said,
        "version": reading.server.version,
        "in_recovery": reading.server.in_recovery,
        "mode": reading.mode,
        "due": reading.due,
        "vacuums": reading.vacuums,
        "read_mb_per_s": reading.read_mb_per_s,
        "dirty_mb_per_s": reading.dirty_mb_per_s,
        "wal_mb_per_s": reading.wal_mb_per_s,
        "xid_age": reading.xid_age,
        "xid_age_datname": reading.oldest.datname if reading.oldest else None,
        "xids_per_s": reading.xids_per_s,
        "days_left": reading.days_left,
        "blocker": dataclasses.asdict(reading.blocker) if reading.blocker else None,
        "origin": dataclasses.asdict(reading.origin) if reading.origin else None,
        "conflicts": reading.conflicts,
        "binding": reading.binding,
        "missing": list(reading.missing),
        "problems": list(node_problems(found)),
    }


def skew(found: Skew | None) -> dict[str, object] | None:
    """Return a skew with the quotient."""
    return None if found is None else {**dataclasses.asdict(found), "times": found.times}


def document(rows: Sequence[Row], found: Summary, notes: Sequence[str]) -> str:
    """Return the object that `fleet --json` prints."""

    def name(one: Row | None) -> str | None:
        return None if one is None else one.node.name

    return as_json.dump(
        {
            "exit_code": found.code,
            "nodes": [row(one) for one in rows],
            "summary": {
                "nodes": found.nodes,
                "machines": found.machines,
                "asked": found.asked,
                "answered": found.answered,
                "slowest": name(found.slowest),
                "due": skew(found.due),
                "mb_per_s": skew(found.mb_per_s),
                "horizon": name(found.held),
                "wraparound": name(found.wraparound),
                "problems": [{"node": node, "problem": what} for node, what in found.problems],
            },
            "notes": list(notes),
        }
    )
