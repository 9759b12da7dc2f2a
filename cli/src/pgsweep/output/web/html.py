"""From the columns that the terminal shows to tables of a page.

Names of tables, queries and roles are hostile. The templates escape all of them, and control
characters are shown as in the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import jinja2
from markupsafe import Markup
from rich.text import Text

from pgsweep import __version__
from pgsweep.base.text import printable
from pgsweep.output.terminal.grid import titled

if TYPE_CHECKING:
    from pgsweep.output.terminal.grid import Column

T = TypeVar("T")

# What a style of the terminal means.
MEANINGS = (("red", "bad"), ("yellow", "warn"), ("green", "good"), ("cyan", "note"), ("dim", "dim"))


@dataclass(frozen=True)
class Cell:
    """A cell: its text, what it means, and where it leads."""

    text: str
    meaning: str = ""
    href: str | None = None
    # A bar in percent, in place of the text.
    pct: float | None = None


@dataclass(frozen=True)
class Sheet:
    """A table of a page."""

    titles: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    # The column that names the row.
    head: int = 0


def sheet(
    columns: Sequence[Column[T]],
    items: Iterable[T],
    units: Mapping[str, str] | None = None,
    links: Mapping[str, Callable[[T], str | None]] | None = None,
    head: str = "TABLE",
) -> Sheet:
    """Return a table. `units` completes titles, `links` leads from the cells of a column."""
    known, ways = units or {}, links or {}
    titles = [column.title.strip() for column in columns]
    return Sheet(
        titles=tuple(f"{titled(title)} {known.get(title, '')}".strip() for title in titles),
        right=tuple(
            column.right and title != head for column, title in zip(columns, titles, strict=True)
        ),
        rows=tuple(
            tuple(
                _cell(title, column.cell(item), ways[title](item) if title in ways else None)
                for column, title in zip(columns, titles, strict=True)
            )
            for item in items
        ),
        head=titles.index(head) if head in titles else 0,
    )


def _cell(title: str, value: str | Text, href: str | None) -> Cell:
    text = value if isinstance(value, Text) else Text(value)
    means = meaning(text)
    # The terminal tells starters apart by colours. Here a colour says that something is wrong.
    if title == "WHO" and means != "bad":
        means = ""
    return Cell(printable(text.plain).strip(), means, href)


def meaning(text: Text) -> str:
    """Return what the style of a text means, as a class."""
    style = str(text.style or (text.spans[0].style if text.spans else ""))
    return next((name for colour, name in MEANINGS if colour in style), "")


def plain(line: Text) -> str:
    """Return a line of the terminal as a sentence of a page."""
    return printable(" ".join(line.plain.split()))


def _finished(value: object) -> object:
    """Return what a template writes. Nothing of it steers a terminal or a browser."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def environment() -> jinja2.Environment:
    """Return what fills in the templates."""
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.PackageLoader("pgsweep.output.web", "templates"),
                # charts are drawn as in reports
                jinja2.PrefixLoader(
                    {"report": jinja2.PackageLoader("pgsweep.output.report", "templates")}
                ),
            ]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["release"] = __version__
    made.filters["clean"] = lambda value: " ".join(str(value).split())
    return made
