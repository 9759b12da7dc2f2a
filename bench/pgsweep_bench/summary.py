"""A result in a few lines for the terminal. `report` shows all of it.

All of it is pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from pgsweep_bench import verdict
from pgsweep_bench.result import Experiment, Metric, Result, Variant
from pgsweep_bench.verdict import Comparison, Summary

LABEL_WIDTH = 42
VALUE_WIDTH = 11
_UNJUDGED = {"info": "", "unknown": "not measured"}
_STYLES = {"better": "green", "worse": "red"}


def lines(result: Result, names: Sequence[str]) -> Iterator[Text]:
    """Yield a block for each of the named experiments: ours, the other, what follows."""
    for experiment in result.experiments:
        if experiment.name in names:
            yield from _block(experiment)


def _block(experiment: Experiment) -> Iterator[Text]:
    yield Text(f"{experiment.name}: {experiment.title}", "bold")
    compared = False
    for ours in verdict.variants(experiment, verdict.OURS):
        version = ours.server_version
        found = verdict.experiment(experiment, server_version=version)
        if found:
            compared = True
            yield Text(_row(f"PostgreSQL {version}", experiment.against, verdict.OURS, ""))
            yield from (_line(comparison) for comparison in found)
            yield Text("")
    if not compared:
        for variant in experiment.variants:
            yield from _alone(variant, experiment)


def _alone(variant: Variant, experiment: Experiment) -> Iterator[Text]:
    """Yield a variant's medians. There is nothing to compare them with."""
    yield Text(f"{variant.label}, PostgreSQL {variant.server_version}")
    for metric in experiment.metrics:
        value = _value(verdict.summary(variant.samples.get(metric.name, ())))
        yield Text(_row(_label(metric), value, "", ""))
    yield Text("")


def _label(metric: Metric) -> str:
    return f"{metric.label}, {metric.unit}" if metric.unit else metric.label


def _line(comparison: Comparison) -> Text:
    metric = comparison.metric
    said = _UNJUDGED.get(comparison.judgement, comparison.judgement)
    if comparison.judgement == "unknown" and comparison.ours:
        said = "only ours"
    return Text(
        _row(_label(metric), _value(comparison.other), _value(comparison.ours), said),
        _STYLES.get(comparison.judgement, ""),
    )


def _row(label: str, other: str, ours: str, said: str) -> str:
    if len(label) > LABEL_WIDTH:
        label = label[: LABEL_WIDTH - 1] + "…"
    return f"  {label:<{LABEL_WIDTH}}{other:>{VALUE_WIDTH}}{ours:>{VALUE_WIDTH}}  {said}".rstrip()


def _value(summary: Summary | None) -> str:
    if summary is None:
        return "-"
    value = summary.median
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
