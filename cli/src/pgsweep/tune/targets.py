"""What is wanted, from the words of the command line. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgsweep.base.errors import UsageError

# Timing cannot tell more. So the verified rate may differ this much from the wanted one.
LEAST_PART, MOST_PART = 0.95, 1.20
# vacuum_cost_limit's own range
LEAST_LIMIT, MOST_LIMIT = 1, 10000


@dataclass(frozen=True)
class Targets:
    """Dead rows per second to keep up with, and what share of the machine may be used at most.

    Shares are in percent. None means that nothing was said.
    """

    reclaim_rate: float
    device: float | None = None
    # in percent of one processor
    cpu: float | None = None


def number(text: str, option: str) -> float:
    """Return a positive number: 5000, 5_000 and 5,000 are the same."""
    plain = text.strip().replace(",", "").replace("_", "")
    try:
        value = float(plain)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(
            f'{option} "{text}" is not a number', f"Write dead rows per second: {option} 5000."
        )
    if value <= 0:
        raise UsageError(
            f"{option} must be greater than zero, not {text}",
            "Say how many rows are updated or deleted per second at most.",
        )
    return value


def share(text: str | None, option: str) -> float | None:
    """Return 20 for 20%.

    The sign is required, because 0.2 and 20 could mean the same.
    """
    if text is None:
        return None
    stripped = text.strip()
    hint = f"Write a percentage with its sign: {option} 20%."
    if not stripped.endswith("%"):
        raise UsageError(f'{option} "{text}" has no % sign', hint)
    try:
        value = float(stripped[:-1])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f'{option} "{text}" is not a percentage', hint)
    if not 0 < value <= 100:
        raise UsageError(f"{option} must be above 0% and at most 100%, not {text}", hint)
    return value


def targets(reclaim_rate: str | None, device: str | None, cpu: str | None) -> Targets:
    """Return what is wanted."""
    if reclaim_rate is None:
        raise UsageError(
            "--reclaim-rate is missing",
            "Say how many rows are updated or deleted per second at most: --reclaim-rate 5000.",
        )
    return Targets(
        number(reclaim_rate, "--reclaim-rate"), share(device, "--device"), share(cpu, "--cpu")
    )


def limits(text: str) -> tuple[int, ...]:
    """Return the cost limits to measure, the greatest first."""
    hint = "Write at least two different cost limits: --limits 200,85,50,35."
    try:
        found = {int(part) for part in text.split(",")}
    except ValueError:
        raise UsageError(f'--limits "{text}" is not a list of whole numbers', hint) from None
    for limit in found:
        if not LEAST_LIMIT <= limit <= MOST_LIMIT:
            raise UsageError(
                f"--limits has {limit}, which is not within {LEAST_LIMIT} and {MOST_LIMIT}", hint
            )
    if len(found) < 2:
        raise UsageError(f'--limits "{text}" is one limit: no line goes through it', hint)
    return tuple(sorted(found, reverse=True))
