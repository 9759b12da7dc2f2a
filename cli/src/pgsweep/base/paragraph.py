"""Sentences for people, in as many lines as they take. All of it is pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rich.text import Text

from pgsweep.base import text

LEAST_ROOM = 30


def wrapped(value: str, width: int, first: str, rest: str, style: str = "") -> list[Text]:
    """Return a text in as many lines as it takes, after `first`, and after `rest` in the others."""
    clean = text.printable(" ".join(value.split()))
    room = max(LEAST_ROOM, width - len(rest))
    parts = textwrap.wrap(clean, room) or [""]
    lines = [Text.assemble(first, (parts[0], style))]
    return [*lines, *(Text.assemble(rest, (part, style)) for part in parts[1:])]


def notes(texts: Iterable[str], width: int) -> list[Text]:
    """Return what has to be said about an answer, below it."""
    lines: list[Text] = []
    for note in texts:
        lines += wrapped(note, width, "", "", "dim")
    return [Text(), *lines] if lines else []
