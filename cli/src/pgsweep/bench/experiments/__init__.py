"""The workloads of the scenarios, one module for each; the names are the same.

A module has one function, called for one server (variant) and one repeat:

    def measure(lab: Lab, options: Options) -> Measured

In a scenario with `interleaved = true` it is a generator: all variants' servers run,
each `yield` passes the turn to the next variant, and only the one whose turn it is may
put load on its server. It ends with `return measured`:

    def measure(lab: Lab, options: Options) -> Turns

One that needs more than the command itself has a function check() as well, which raises
when that is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from pgsweep.bench.lab import Lab, Measured, Options, Turns

Measure = Callable[[Lab, Options], "Measured | Turns"]


def load(name: str) -> Measure:
    """Return the function that measures the scenario of this name; raise if it cannot run."""
    module = importlib.import_module(f"{__name__}.{name}")
    check = getattr(module, "check", None)
    if check is not None:
        check()
    return cast("Measure", module.measure)
