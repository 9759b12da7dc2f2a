"""The workloads of the scenarios, one module for each, with the same names.

A module has one function. It is called for one server (variant) and one repeat:

    def measure(lab: Lab, options: Options) -> Measured

In a scenario with `interleaved = true` it is a generator. All variants' servers run, and each
`yield` passes the turn to the next variant. Only the variant whose turn it is may put load on its
server. The generator ends with `return measured`:

    def measure(lab: Lab, options: Options) -> Turns

With `together = true` it is a generator as well, but the load goes on while the others have
their turns. A turn waits for the time at which something begins, and begins it. That time is
the same for all.

A module that needs more than the command itself has a function check() as well. It raises when
what it needs is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from pgsweep_bench.lab import Lab, Measured, Options, Turns

Measure = Callable[[Lab, Options], "Measured | Turns"]


def load(name: str) -> Measure:
    """Return the function that measures the scenario of this name.

    Raise if it cannot run.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    check = getattr(module, "check", None)
    if check is not None:
        check()
    return cast("Measure", module.measure)
