"""Numbers, differences and verdicts in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pgsweep_bench import verdict

if TYPE_CHECKING:
    from pgsweep_bench.result import Metric
    from pgsweep_bench.verdict import Comparison, Summary

SIGNS = {"better": "▲", "worse": "▼", "same": "=", "unknown": "?", "info": ""}
JUDGEMENTS = {
    "better": "better",
    "worse": "worse",
    "same": "same",
    "unknown": "not compared",
    "info": "not judged",
}


@dataclass(frozen=True)
class Cell:
    """Samples of one figure on one server, as text."""

    median: str
    # empty where all samples are the same
    spread: str
    samples: int
    all: tuple[str, ...] = ()

    @classmethod
    def of(cls, summary: Summary, samples: Sequence[float] = ()) -> Cell:
        """Return the text of a summary, without its unit."""
        low, high = number(summary.low), number(summary.high)
        return cls(
            number(summary.median),
            "" if low == high else f"{low}\u2009–\u2009{high}",
            summary.number,
            tuple(number(sample) for sample in samples),
        )


def cell(samples: Sequence[float]) -> Cell | None:
    """Return samples as text, or None when there are none."""
    summary = verdict.summary(samples)
    return None if summary is None else Cell.of(summary, samples)


def number(value: float) -> str:
    """Return a number with as many digits as a reader needs: "41,237", "12.3" or "0.0451"."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000 or (size >= 100 and float(value).is_integer()):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    text = f"{value:.{min(digits, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(value: float, metric: Metric) -> str:
    """Return a figure with its unit."""
    return f"{number(value)} {metric.unit}".rstrip()


def difference(comparison: Comparison) -> str:
    """Return ours relative to the other's in words: "28 % less", "3.1 times as much"."""
    if comparison.ours is None or comparison.other is None:
        return ""
    ratio = comparison.ratio
    if ratio is None:
        return "0 in both" if comparison.ours.median == 0 else "the other has 0"
    if ratio == 0:
        return "none at all"
    if ratio < 0:
        return "of other sign"
    if ratio < 0.01:
        # With as many digits as it takes to say less than 100 %.
        digits = math.ceil(-math.log10(ratio)) - 2
        return f"{100 * (1 - ratio):.{digits}f} % less"
    percent = round(abs(ratio - 1) * 100)
    if percent == 0:
        return "no difference"
    if ratio >= 2:
        return f"{number(ratio)} times as much"
    return f"{percent} % {'more' if ratio > 1 else 'less'}"


def capital(text: str) -> str:
    """Return text as it begins a line: with a capital, unless its first word is a server's name.

    Such names have an underscore: pg_sweep, pg_class.
    """
    return text if "_" in text.split(" ", 1)[0] else text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return text with a capital at its start and a period at its end."""
    text = text.rstrip(" ,")
    return capital(text) + ("" if text.endswith(".") else ".")


def when(timestamp: str) -> str:
    """Return an ISO 8601 time to the minute. Text that is no such time is returned as it is."""
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return timestamp
