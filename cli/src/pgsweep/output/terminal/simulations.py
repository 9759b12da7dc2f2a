"""What `pgsweep trial --set` prints for people, and for programs."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.findings import simulation
from pgsweep.output.terminal import as_json, grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.findings.simulation import Answer, Line, Sums

MOST_WIDTH = 110


def _columns(
    answer: Answer,
    title: str,
    of: Callable[[Line], Sums | None],
    priority: int = 0,
) -> tuple[Column[Line], ...]:
    """Return three columns of the same settings. The first one's title says which."""
    size = answer.summary.block_size

    def cell(show: Callable[[Sums], str]) -> Callable[[Line], str]:
        def shown(line: Line) -> str:
            sums = of(line)
            return "" if sums is None else show(sums)

        return shown

    return (
        Column(title, cell(lambda sums: f"{sums.vacuums:,}"), 9, True, priority),
        Column("I/O", cell(lambda sums: text.size(sums.blocks * size)), 7, True, priority),
        Column("DEAD", cell(lambda sums: text.count(sums.dead)), 6, True, priority + 1),
    )


def columns(answer: Answer) -> tuple[Column[Line], ...]:
    """Return the columns: what it is, today's settings, the others, what was recorded."""
    first: Column[Line] = (
        Column("TABLE", lambda line: line.label, 20, flex=True, most=40, keep_end=True)
        if answer.by == "table"
        else Column(answer.by.upper(), lambda line: line.label, 16)
    )
    other = _columns(answer, "WHAT IF", lambda line: line.other)
    return (
        first,
        *_columns(answer, "TODAY", lambda line: line.today),
        *(other if answer.settings else ()),
        *_columns(answer, "RECORDED", lambda line: line.recorded, 2),
    )


def lines(answer: Answer, limit: int, width: int) -> list[Text]:
    """Return a simulation: its sentences, a table, and how it is made."""
    shown = [Text(line, style="bold") for line in _wrapped(simulation.headline(answer), width)]
    for sentence in simulation.sentences(answer):
        shown += [Text(line) for line in _wrapped(sentence, width)]
    for note in simulation.notes(answer):
        shown += [Text(line, style="yellow") for line in _wrapped(note, width)]
    shown += [Text(), *_table(answer, limit, width), Text()]
    return [*shown, *(Text(line, style="dim") for line in _wrapped(simulation.HOW, width))]


def _table(answer: Answer, limit: int, width: int) -> list[Text]:
    layout = grid.fit(columns(answer), width)
    rows = simulation.without_quiet(answer.lines) if answer.by == "table" else answer.lines
    # Of times the last ones are of interest, and of tables the dearest.
    kept = rows[:limit] if answer.by == "table" else rows[-limit:]
    shown = [grid.header(layout), *(grid.row(layout, row) for row in kept)]
    if len(rows) > limit:
        shown.append(Text(f"{limit} of {len(rows):,} shown", style="dim"))
    return shown


def _wrapped(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(sentence, max(min(width, MOST_WIDTH), 20))


def document(answer: Answer) -> str:
    """Return the object that `simulate --json` prints."""
    return as_json.dump(
        {
            "settings": list(answer.settings),
            "headline": simulation.headline(answer),
            "back_test": simulation.rounded(answer),
            "notes": list(simulation.notes(answer)),
            "summary": dataclasses.asdict(answer.summary),
            "by": answer.by,
            "total": dataclasses.asdict(answer.total),
            "lines": [dataclasses.asdict(line) for line in answer.lines],
        }
    )
