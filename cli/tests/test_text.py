"""Short text for numbers and times."""

from __future__ import annotations

from datetime import timedelta

import pytest

import samples
from pgsweep.base import text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "-"),
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (12_345_678, "12.3M"),
        (51_234_567_890, "51.2G"),
    ],
)
def test_count(value: float | None, expected: str) -> None:
    assert text.count(value) == expected
    assert len(expected) <= 5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "-"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 kB"),
        (20_480, "20 kB"),
        (3 << 40, "3.0 TB"),
    ],
)
def test_size(value: float | None, expected: str) -> None:
    assert text.size(value) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0:00"), (9, "0:09"), (61, "1:01"), (3661, "1:01:01"), (273_600, "3d 04h"), (-5, "0:00")],
)
def test_duration(seconds: int, expected: str) -> None:
    assert text.duration(timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.25, "250 ms"), (7.25, "7.2 s"), (75, "1:15")],
)
def test_took(seconds: float, expected: str) -> None:
    assert text.took(timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "just now"), (4, "4 s ago"), (180, "3 min ago"), (7200, "2 h ago"), (864_000, "10 d ago")],
)
def test_ago(seconds: int, expected: str) -> None:
    assert text.ago(samples.NOW - timedelta(seconds=seconds), samples.NOW) == expected
    assert text.ago(None, samples.NOW) == "never"


@pytest.mark.parametrize(
    ("pct", "expected"),
    [
        (0, "──────────"),
        (50, "━━━━━─────"),
        (57, "━━━━━╸────"),
        (100, "━━━━━━━━━━"),
        (250, "━━━━━━━━━━"),
        (None, "┄┄┄┄┄┄┄┄┄┄"),
    ],
)
def test_bar(pct: float | None, expected: str) -> None:
    assert "".join(text.bar(pct, 10)) == expected


def test_cut() -> None:
    assert text.cut("abc", 3) == "abc"
    assert text.cut("abcd", 3) == "ab…"
    assert text.cut("abcd", 3, keep_end=True) == "…cd"


def test_phase() -> None:
    assert text.phase("vacuuming indexes", 1) == "vac. index"
    assert text.phase("vacuuming indexes", 2) == "vac. index #2"
    assert text.phase("something new in 20") == "something new in 20"
    assert text.phase(None) == "-"


def test_a_name_cannot_steer_the_terminal() -> None:
    assert text.printable("evil\x1b[2Jname\n") == r"evil\x1b[2Jname\n"
    # A character that reverses the direction of writing is shown escaped.
    assert text.printable("a\u202eb c") == r"a\u202eb c"
