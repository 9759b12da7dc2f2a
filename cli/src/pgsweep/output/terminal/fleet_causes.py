"""What `fleet --explain` prints for people. All of it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import compute
from pgsweep.output.terminal.fleet import LABEL, labelled

if TYPE_CHECKING:
    from pgsweep.fleet.causes import CauseGroup

MOST_FIXES = 6


def lines(
    groups: Sequence[CauseGroup], table: str, spread: tuple[int, int], width: int
) -> list[Text]:
    """Return why a table is not vacuumed, equal causes once, with each fix's node.

    `spread` is over how many parts on how many nodes it is.
    """
    parts, nodes = spread
    where = f"{compute.plural(parts, 'part')} on {compute.plural(nodes, 'node')}"
    out = [Text(text.printable(f"{table}: {where}"), style="bold")]
    if not groups:
        return [*out, Text("nothing keeps it from being vacuumed")]
    for number, group in enumerate(groups, start=1):
        of = group.evidence_of
        share = f"{len(group.parts)} of {parts} parts, on {_some(group.nodes)}"
        out += labelled(f"{number}.", f"{group.verdict} ({share})", width, "bold")
        out += labelled("  cause", group.cause, width)
        out += labelled("  evidence", f"{of.part} on {of.node}: {group.evidence}", width)
        for fix in group.fixes[:MOST_FIXES]:
            # A statement stays whole because it is to be copied.
            clean = text.printable(" ".join(fix.fix.split()))
            on = text.printable(f"on {fix.node}: ")
            out.append(Text.assemble("  fix".ljust(LABEL), on, (clean, "bold green")))
        if len(group.fixes) > MOST_FIXES:
            more = f"and {len(group.fixes) - MOST_FIXES} more, which --json has"
            out += labelled("", more, width)
        out += labelled("  risk", group.risk, width) if group.risk else []
    return out


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
