"""The tables and sentences of reports as Markdown, for pasting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.output.report.live_model import Table, Today

# Markdown or HTML would take these for its own.
ESCAPED = "\\`*_<>|[]#&"


def plain(value: str) -> str:
    """Return text that stays as it is in Markdown, on one line."""
    text = " ".join(value.split())
    return "".join(f"\\{char}" if char in ESCAPED else char for char in text)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table. Its cells are escaped."""
    lines = [titles, ["---"] * len(titles), *([plain(c) for c in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def live(today: Today) -> str:
    """Return the report of a server's last day."""
    lines = [f"# {plain(today.title)}", "", plain(today.lead), "", plain(today.text)]
    if today.problems:
        lines += ["", *(f"- {plain(problem)}" for problem in today.problems)]
    if today.times is not None:
        lines += ["", plain(today.single_runs)]
    for found in (today.times, today.horizon, today.tables, today.decisions, today.databases):
        lines += _live_table(found) if found is not None else []
    return "\n".join(lines)


def _live_table(found: Table) -> list[str]:
    lines = ["", f"## {plain(found.title)}", "", plain(found.text)]
    if found.rows:
        lines += ["", *table([plain(c.title) for c in found.columns], found.rows)]
    return lines
