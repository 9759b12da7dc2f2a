"""A table that fits its width: columns leave by priority, one takes what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.text import Text

from pgsweep.base.text import cut, printable

T = TypeVar("T")

GAP = 1
# Words of a title that stay as they are.
KEPT = frozenset({"PID", "ETA", "WAL", "XID", "MB", "MB/s"})


@dataclass(frozen=True)
class Column(Generic[T]):
    """How one column looks.

    A column of `priority` 0 always stays, and higher ones leave first. `flex` columns share the
    room that is left, up to `most` characters. `keep_end` cuts their text at the left.
    """

    title: str
    cell: Callable[[T], str | Text]
    width: int
    right: bool = False
    priority: int = 0
    flex: bool = False
    most: int = 0
    keep_end: bool = False


def fit(columns: Sequence[Column[T]], width: int) -> list[tuple[Column[T], int]]:
    """Return the columns that fit into `width` characters, each with its width."""
    kept = list(columns)
    while _needed(kept) > width:
        worst = max(column.priority for column in kept)
        if worst == 0:
            break
        # Of columns with equal priority the rightmost leaves.
        index = max(i for i, column in enumerate(kept) if column.priority == worst)
        del kept[index]
    widths = [column.width for column in kept]
    spare = width - _needed(kept)
    while spare > 0:
        growing = [
            i
            for i, column in enumerate(kept)
            if column.flex and (not column.most or widths[i] < column.most)
        ]
        if not growing:
            break
        for i in growing:
            if spare > 0:
                widths[i] += 1
                spare -= 1
    return list(zip(kept, widths, strict=True))


def _needed(columns: Sequence[Column[T]]) -> int:
    return sum(column.width for column in columns) + GAP * max(0, len(columns) - 1)


def header(layout: Sequence[tuple[Column[T], int]], style: str = "bold") -> Text:
    """Return the titles."""
    line = Text(no_wrap=True)
    for i, (column, width) in enumerate(layout):
        line.append(" " * GAP if i else "")
        line.append_text(_pad(Text(column.title, style=style), width, column.right))
    return line


def row(layout: Sequence[tuple[Column[T], int]], item: T) -> Text:
    """Return one row."""
    line = Text(no_wrap=True)
    for i, (column, width) in enumerate(layout):
        line.append(" " * GAP if i else "")
        value = column.cell(item)
        text = value if isinstance(value, Text) else Text(value)
        clean = printable(text.plain)
        if clean != text.plain:
            text = Text(clean, style=text.style)
        line.append_text(_pad(text, width, column.right, column.keep_end))
    return line


def _pad(text: Text, width: int, right: bool, keep_end: bool = False) -> Text:
    if text.cell_len > width:
        style = text.style or (text.spans[0].style if text.spans else "")
        text = Text(cut(text.plain, width, keep_end), style=style)
    padding = " " * (width - text.cell_len)
    return Text.assemble(padding, text) if right else Text.assemble(text, padding)


def titled(title: str) -> str:
    """Return a title of the terminal as a page has it: LIMITED BY is Limited by."""
    words = [word if word in KEPT else word.lower() for word in title.split()]
    line = " ".join(words)
    return line[:1].upper() + line[1:]
