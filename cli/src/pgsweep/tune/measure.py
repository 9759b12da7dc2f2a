"""An experiment from its first run to its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pgsweep.tune import model
from pgsweep.tune.advice import advise, corrected, expect, verify
from pgsweep.tune.model import Measured

if TYPE_CHECKING:
    from pgsweep.tune.advice import Advice, Verdict
    from pgsweep.tune.experiment import Experiment
    from pgsweep.tune.lab.progress import Reporter
    from pgsweep.tune.model import Point
    from pgsweep.tune.plan import Plan
    from pgsweep.tune.targets import Targets


def run(
    experiment: Experiment, targets: Targets, plan: Plan, progress: Reporter
) -> tuple[Measured, Advice, Verdict]:
    """Measure all limits, recommend one, and run that once more."""
    progress.begin("filling", plan.fill_seconds)
    experiment.fill(plan)
    progress.end()
    runs = [_one(experiment, limit, plan, progress, "") for limit in plan.order()]
    measured = Measured(
        how="experiment",
        delay_ms=plan.delay_ms,
        points=model.medians(runs),
        runs=tuple(runs),
        cost_per_row=cost_per_row(runs, plan.delay_ms),
    )
    advice = advise(measured, targets)
    verdict = _verify(experiment, advice.limit, targets, plan, progress)
    better = corrected(advice, verdict, targets)
    if better is not None:
        progress.note(
            f"limit {advice.limit} came to {verdict.point.rows_per_s:,.0f} rows/s: trying {better}"
        )
        advice = replace(
            advice, limit=better, expected=expect(measured.points, advice.curve, better)
        )
        verdict = _verify(experiment, better, targets, plan, progress)
    return replace(measured, notes=tuple(experiment.notes)), advice, verdict


def _verify(
    experiment: Experiment, limit: int, targets: Targets, plan: Plan, progress: Reporter
) -> Verdict:
    times = plan.to_verify(limit)
    runs = [_one(experiment, limit, plan, progress, "verifying ") for _ in range(times)]
    return verify(model.median(runs), targets)


def _one(experiment: Experiment, limit: int, plan: Plan, progress: Reporter, what: str) -> Point:
    progress.begin(f"{what}limit {limit}", plan.seconds(limit))
    found = experiment.run(limit, plan)
    progress.end()
    return found


def cost_per_row(runs: Sequence[Point], delay_ms: float) -> float:
    """Return the credits of a dead row over all runs."""
    rows = sum(run.rows for run in runs)
    spent = sum(
        (run.budget_percent or 0) / 100 * run.seconds * run.limit * 1000 / delay_ms for run in runs
    )
    return spent / rows if rows else 0.0
