"""What acts on many nodes print, for people and for programs. All of it is pure."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from pgsweep.base import text
from pgsweep.fleet.outcome import State
from pgsweep.output.terminal import acts, as_json
from pgsweep.output.terminal.fleet_json import node

if TYPE_CHECKING:
    from pgsweep.fleet.outcome import Outcome

STATE_STYLE = {
    State.DONE: "bold green",
    State.NOTHING: "yellow",
    State.SKIPPED: "dim",
    State.FAILED: "bold red",
    State.UNKNOWN: "bold red",
}


def shell(words: Sequence[str]) -> str:
    """Return a command as a shell takes it."""
    return text.printable(shlex.join(words))


def lines(
    outcomes: Sequence[Outcome],
    undo: Sequence[Sequence[str]],
    retry: Sequence[str],
    run: Sequence[Sequence[str]],
    width: int,
) -> list[Text]:
    """Return each node's answer, and the commands that undo it and that try again."""
    names = min(30, max((cell_len(one.node.name) for one in outcomes), default=4))
    out: list[Text] = []
    for one in outcomes:
        name = text.cut(text.printable(one.node.name), names)
        head = Text.assemble(name, " " * (names - cell_len(name) + 1))
        head.append(f"{one.state.value:<8}", style=STATE_STYLE[one.state])
        clean = text.printable(" ".join(one.said.split()))
        said = textwrap.wrap(clean, max(20, width - head.cell_len)) or [""]
        out.append(Text.assemble(head, said[0]))
        out += [Text(" " * head.cell_len + part) for part in said[1:]]
    # Commands stay whole because they are to be copied.
    for label, commands in (("run", run), ("undo", undo), ("retry", [retry] if retry else [])):
        for words in commands:
            line = shell(words) if label == "run" else acts.command(*words)
            out.append(Text.assemble(f"{label:<8}", (line, "bold green")))
    return out


def document(
    found: Sequence[Outcome],
    undo: Sequence[Sequence[str]],
    retry: Sequence[str],
    run: Sequence[Sequence[str]],
) -> str:
    """Return the object that acts print: each node's answer, and commands to copy."""
    return as_json.dump(
        {
            "nodes": [
                {
                    **node(one.node),
                    "outcome": one.state.value,
                    "said": one.said,
                    "answers": list(one.documents),
                }
                for one in found
            ],
            "undo": [acts.command(*words) for words in undo],
            "retry": acts.command(*retry) if retry else None,
            "run": [shlex.join(words) for words in run],
        }
    )
