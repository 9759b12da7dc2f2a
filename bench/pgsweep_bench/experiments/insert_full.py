"""Seed 000 at a third of its own size, with its settings. See insert.

The seed's clients come at 27,000 transactions per second, which two cores do not do.
"""

from __future__ import annotations

from pgsweep_bench.experiments.insert import Load, measure_load
from pgsweep_bench.lab import Lab, Measured, Options

# This is a third of 1 GB. In the scenario's time it grows by a third of 4 million transactions.
FULL = Load(rows=2_500_000, transactions_per_s=8000)


def measure(lab: Lab, options: Options) -> Measured:
    """Load, insert, freeze."""
    return measure_load(lab, options, FULL)
