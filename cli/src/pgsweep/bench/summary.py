"""A result in a few lines for the terminal; `pgsweep report` shows all of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from pgsweep.bench import verdict
from pgsweep.bench.result import Experiment, Result
from pgsweep.bench.verdict import Comparison, Summary

LABEL_WIDTH = 38
VALUE_WIDTH = 14
_STYLES = {"better": "green", "worse": "red"}


def lines(result: Result, names: Sequence[str]) -> Iterator[Text]:
    """Yield a block for each of the named experiments: ours, the other, what follows."""
    for experiment in result.experiments:
        if experiment.name in names:
            yield from _block(experiment)


def _block(experiment: Experiment) -> Iterator[Text]:
    yield Text(f"{experiment.name}: {experiment.title}", "bold")
    ours = verdict.variants(experiment, verdict.OURS)
    for version in [variant.server_version for variant in ours]:
        found = verdict.experiment(experiment, server_version=version)
        if found:
            yield Text(_row(f"PostgreSQL {version}", experiment.against, verdict.OURS, ""))
            yield from (_line(comparison) for comparison in found)
            yield Text("")
            continue
        yield Text(f"PostgreSQL {version}: nothing to compare with")
    if not ours:
        for variant in experiment.variants:
            yield Text(f"{variant.label}, PostgreSQL {variant.server_version}")
            for metric in experiment.metrics:
                value = verdict.summary(variant.samples.get(metric.name, ()))
                yield Text(_row(f"{metric.label}, {metric.unit}", _value(value), "", ""))


def _line(comparison: Comparison) -> Text:
    metric = comparison.metric
    said = "" if comparison.judgement == "info" else comparison.judgement
    label = f"{metric.label}, {metric.unit}" if metric.unit else metric.label
    return Text(
        _row(label, _value(comparison.other), _value(comparison.ours), said),
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
