"""What the commands that act say. All of it is pure."""

from __future__ import annotations

import shlex
from datetime import timedelta

import pytest
from rich.text import Text

import samples
from pgsweep.base.errors import UsageError
from pgsweep.base.names import qualified
from pgsweep.commands.set import values_of
from pgsweep.model import TableName
from pgsweep.output.terminal import acts

LATER = samples.NOW + timedelta(hours=1)
ORDERS = TableName("bench", 7, "public", "orders")
HOSTILE = TableName("bench", 8, "s.x", 'we\'ird "$(x)"\n\x1b[2J;')


def plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def undo(lines: list[Text]) -> list[str]:
    """Return the words of the command that undoes it."""
    (line,) = (line.plain for line in lines if line.plain.startswith(acts.UNDO))
    return shlex.split(line.removeprefix(acts.UNDO))


def test_hold() -> None:
    running = (samples.progress(), samples.progress(pid=2, started_by="manual"))
    lines = acts.held(LATER, samples.NOW, running)
    assert ", for 1:00:00" in lines[0].plain
    assert "1 vacuum of its own goes on" in plain(lines)
    assert undo(lines) == ["pgsweep", "hold", "0"]
    assert "go" not in plain(acts.held(LATER, samples.NOW, ())).split()


def test_unhold() -> None:
    assert undo(acts.unheld(LATER, samples.NOW)) == ["pgsweep", "hold", "3600 s"]
    for before in (None, samples.NOW - timedelta(seconds=1)):
        assert plain(acts.unheld(before, samples.NOW)) == "there was no hold, and there is none"


def test_snooze() -> None:
    first = acts.snoozed(ORDERS, LATER, None, samples.NOW)
    assert undo(first) == ["pgsweep", "snooze", "orders", "0"]
    # What was there before comes back, as near as can be.
    half = samples.NOW + timedelta(minutes=30)
    again = acts.snoozed(ORDERS, LATER, half, samples.NOW)
    assert undo(again) == ["pgsweep", "snooze", "orders", "1800 s"]
    ended = acts.snoozed(ORDERS, None, half, samples.NOW)
    assert ended[0].plain == "bench.orders is not snoozed any more"
    assert undo(ended) == ["pgsweep", "snooze", "orders", "1800 s"]
    nothing = acts.snoozed(ORDERS, None, None, samples.NOW)
    assert plain(nothing) == "bench.orders was not snoozed"


def test_vacuum() -> None:
    row = samples.waiting(position=3, waiting_for="worker slot: all 2 busy")
    lines = plain(acts.requested(ORDERS, 17, (row,), ""))
    assert "request 17: place 3 in the queue, waiting for worker slot: all 2 busy" in lines
    assert "pgsweep runs --table orders" in lines
    assert "a worker has taken it already" in plain(acts.requested(ORDERS, 17, (), ""))
    nothing = plain(acts.requested(ORDERS, 0, (), '"orders" has no auxiliary tables'))
    assert nothing == 'nothing was requested of bench.orders\n"orders" has no auxiliary tables'


def test_cancel() -> None:
    row = samples.progress(relname="orders")
    asked = acts.to_cancel(row, samples.NOW, "2 h").plain
    assert "vacuum of bench.orders, process 100, started by sweep, running for 0:12" in asked
    assert "leave the table alone for 2 h" in asked
    here = acts.cancelled(row, None, "bench")
    assert "again after 5 minutes" in plain(here)
    assert undo(here) == ["pgsweep", "vacuum", "orders"]
    elsewhere = acts.cancelled(row, None, "postgres")
    assert undo(elsewhere) == ["pgsweep", "vacuum", "-d", "bench", "orders"]
    assert "snooze orders 0" in plain(acts.cancelled(row, "1 h", "bench"))
    # The name of a table of another database may not be known.
    assert acts.UNDO not in plain(acts.cancelled(samples.progress(relname=None), None, "x"))


def test_set() -> None:
    lines = acts.changed(
        ORDERS, {"min_interval": "10s"}, {"min_interval": "5s", "cleaner": "off", "enabled": None}
    )
    assert lines[0].plain == "min_interval of bench.orders is 5s now, it was 10s"
    assert lines[2].plain == "enabled of bench.orders is the server's again, it was the server's"
    assert undo(lines)[:4] == ["pgsweep", "set", "orders", "min_interval=10s"]
    assert undo(lines)[4:] == ["--reset", "cleaner", "--reset", "enabled"]


@pytest.mark.parametrize("table", [ORDERS, HOSTILE])
def test_a_name_comes_back_as_it_was(table: TableName) -> None:
    assert qualified(acts.written(table))[1] == table.relname


def test_a_hostile_name_is_harmless() -> None:
    printed = [
        *acts.snoozed(HOSTILE, LATER, None, samples.NOW),
        *acts.requested(HOSTILE, 1, (), "\x1b[2J"),
        *acts.changed(HOSTILE, {}, {"cleaner": "off\x07"}),
        acts.to_cancel(samples.progress(relname=HOSTILE.relname), samples.NOW, "\x1b"),
    ]
    assert all(line.plain.isprintable() for line in printed)
    # A shell takes the name as one word, and runs nothing of it.
    words = undo(acts.snoozed(HOSTILE, LATER, None, samples.NOW))
    assert words[:2] == ["pgsweep", "snooze"]
    assert len(words) == 4


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("orders", (None, "orders")),
        ("sales.Orders", ("sales", "orders")),
        ('Sales."Orders"', ("sales", "Orders")),
        ('"a.b"', (None, "a.b")),
        ('s."we""ird."', ("s", 'we"ird.')),
        ('"s.1".t', ("s.1", "t")),
        # This is no name, so that nothing is found.
        ("a.b.c", ("a.b", "c")),
    ],
)
def test_names_as_they_are_given(given: str, wanted: tuple[str | None, str]) -> None:
    assert qualified(given) == wanted


def test_values() -> None:
    assert values_of(["a=1", "b=x=y"], ["c"]) == {"a": "1", "b": "x=y", "c": None}
    with pytest.raises(UsageError, match="is no setting"):
        values_of(["min_interval"], [])
    with pytest.raises(UsageError, match="is no setting"):
        values_of(["=5"], [])
    with pytest.raises(UsageError, match="both set and reset"):
        values_of(["a=1"], ["a"])
