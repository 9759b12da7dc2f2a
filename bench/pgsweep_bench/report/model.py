"""What a report says about results: sections, rows and sentences, before they become a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgsweep.model.compute import plural
from pgsweep_bench import verdict
from pgsweep_bench.report.words import (
    Cell,
    capital,
    cell,
    difference,
    number,
    sentence,
    when,
    with_unit,
)

if TYPE_CHECKING:
    from pgsweep_bench.result import Experiment, Metric, Result, Variant
    from pgsweep_bench.verdict import Comparison

# pg_sweep's settings begin with this. Without the mode pg_sweep would do nothing.
OWN_SETTINGS, MODE = "sweep.", "sweep.mode"
# Every throwaway server has these settings.
BASE = "fsync = off, max_worker_processes = 16, every vacuum logged"
ORDER = {"worse": 0, "better": 1, "same": 2, "unknown": 3, "info": 4}


@dataclass(frozen=True)
class SaidInRow:
    """The seed's figures of one metric, and what was different there."""

    values: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return all of it on one line."""
        return "; ".join((*self.values, *self.remarks))


@dataclass(frozen=True)
class Row:
    """One figure on all servers."""

    metric: Metric
    judgement: str
    # It is empty for a figure that is not judged.
    change: str
    # There is one for each column of the section. It is None where there are no samples.
    cells: tuple[Cell | None, ...]
    said: SaidInRow | None
    comparison: Comparison | None


@dataclass(frozen=True)
class Section:
    """One experiment on one version of the server."""

    anchor: str
    experiment: Experiment
    # It is set where the experiment ran on several.
    version: str
    variants: tuple[Variant, ...]
    # the label of the server that ours is held against
    against: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    def judged(self, *judgements: str) -> tuple[Row, ...]:
        """Return the rows with one of these verdicts."""
        return tuple(row for row in self.rows if row.judgement in judgements)

    @property
    def settings(self) -> tuple[str, ...]:
        """Return sentences that say what was set, and whether pg_sweep's own are the defaults."""
        return tuple(_settings(self.variants))

    @property
    def ours(self) -> str:
        """Return what was set for our server only, beside the library and its mode."""
        ours, other, *_ = self.variants
        return _ours(ours, other)

    @property
    def losses(self) -> tuple[str, ...]:
        """Return a sentence for each figure that is worse with pg_sweep."""
        return tuple(loss_sentence(row, self.against) for row in self.judged("worse"))

    @property
    def outcome(self) -> str:
        """Return in a sentence how the experiment went."""
        judged = self.judged("better", "same", "worse")
        if not judged:
            return "Nothing could be compared here: one of the two servers has no figures."
        worse = self.judged("worse")
        if worse:
            are = "is" if len(worse) == 1 else "are"
            return f"{len(worse)} of {len(judged)} figures {are} worse with pg_sweep:"
        better = len(self.judged("better"))
        if not better:
            return "No figure differs: neither better nor worse with pg_sweep."
        are = "is" if better == 1 else "are"
        return f"{better} of {len(judged)} figures {are} better with pg_sweep, none is worse."


@dataclass(frozen=True)
class Tally:
    """How many figures of one kind came out how."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def judged(self) -> int:
        """Return how many have a verdict."""
        return self.counts["better"] + self.counts["same"] + self.counts["worse"]

    @property
    def text(self) -> str:
        """Return the sum in a sentence, losses first."""
        what = "counter-based figure" if self.kind == "counter" else "timing"
        return (
            f"Of {plural(self.judged, what)}: worse in {self.counts['worse']}, "
            f"same in {self.counts['same']}, better in {self.counts['better']}."
        )


@dataclass(frozen=True)
class Change:
    """One figure of ours in a later result, against the first result's."""

    experiment: str
    version: str
    label: str
    unit: str
    before: Cell
    after: Cell
    judgement: str
    change: str
    # The server without pg_sweep changed in this figure too. So it is not our doing alone.
    other_too: bool


@dataclass(frozen=True)
class Since:
    """What a later result changed."""

    first: str
    later: str
    changes: tuple[Change, ...]
    compared: int
    same_machine: bool

    @property
    def text(self) -> str:
        """Return the sum in a sentence."""
        counts = Counter(change.judgement for change in self.changes)
        same = self.compared - counts["worse"] - counts["better"]
        return (
            f"Of {self.compared} figures with pg_sweep: {counts['worse']} became worse, "
            f"{same} stayed the same, {counts['better']} became better."
        )


@dataclass(frozen=True)
class Difference:
    """One figure that differs, as the head of the report shows it."""

    section: Section
    row: Row
    # "312 MB with pg_sweep, 240 MB for stock"
    values: str
    # how many times the one is the other
    times: float

    @property
    def where(self) -> str:
        """Return the experiment, and what was set for our server only.

        A section that has a difference begins with our server and the other one.
        """
        kind = ", a timing" if self.row.metric.kind == "time" else ""
        return f"{self.section.experiment.name}{kind}: {self.section.ours}"

    @property
    def text(self) -> str:
        """Return all of it on one line."""
        return f"{capital(self.row.metric.label)}: {self.row.change}. {self.values} ({self.where})"


@dataclass(frozen=True)
class Report:
    """All that a report of results shows."""

    results: tuple[Result, ...]
    sections: tuple[Section, ...]
    tallies: tuple[Tally, ...]
    since: tuple[Since, ...]

    def differences(self, judgement: str) -> tuple[Difference, ...]:
        """Return the figures that are better, or worse, the greatest difference first."""
        found = [
            _difference(section, row)
            for section in self.sections
            for row in section.judged(judgement)
        ]
        return tuple(sorted(found, key=lambda one: -one.times))

    @property
    def same(self) -> tuple[tuple[Section, int], ...]:
        """Return how many figures of each section are the same, where there are any."""
        counts = ((section, len(section.judged("same"))) for section in self.sections)
        return tuple((section, count) for section, count in counts if count)

    @property
    def same_text(self) -> str:
        """Return how many figures are the same, and in which experiments."""
        total = sum(count for _, count in self.same)
        each = ", ".join(f"{section.experiment.name} {count}" for section, count in self.same)
        return f"The same in {plural(total, 'figure')}: {each}." if total else ""


def build(results: Sequence[Result]) -> Report:
    """Return the report of one or several results.

    It shows each experiment as it came out last.
    """
    latest: dict[str, Experiment] = {}
    for result in results:
        for experiment in result.experiments:
            latest[experiment.name] = experiment
    sections = tuple(s for experiment in latest.values() for s in _sections(experiment))
    return Report(
        results=tuple(results),
        sections=sections,
        tallies=tuple(_tally(kind, sections) for kind in ("counter", "time")),
        # Results of different experiments have nothing in common to be compared.
        since=tuple(
            since
            for number in range(1, len(results))
            if (since := _since(results, number)).compared
        ),
    )


def result_label(result: Result) -> str:
    """Return how a result is called in a report."""
    return f"pg_sweep {result.release}, {when(result.started_at)}"


def _sections(experiment: Experiment) -> Iterator[Section]:
    versions = sorted({(v.major, v.server_version) for v in experiment.variants})
    for _, version in versions:
        found = tuple(v for v in experiment.variants if v.server_version == version)
        yield _section(experiment, version, found, len(versions) > 1)


def _section(
    experiment: Experiment, version: str, found: Sequence[Variant], several: bool
) -> Section:
    ours = next((v for v in found if v.name == verdict.OURS), None)
    other = next((v for v in found if v.name == experiment.against), None)
    ordered = [v for v in (ours, other) if v]
    ordered += [v for v in found if v not in ordered]
    comparisons: dict[str, Comparison] = {}
    if ours and other:
        comparisons = {c.metric.name: c for c in verdict.pair(ours, other, experiment.metrics)}
    rows = [
        _row(experiment, metric, ordered, comparisons.get(metric.name))
        for metric in experiment.metrics
    ]
    return Section(
        anchor=f"{experiment.name}-{version}".replace(".", "-") if several else experiment.name,
        experiment=experiment,
        version=version,
        variants=tuple(ordered),
        against=other.label if other else experiment.against,
        rows=tuple(sorted(rows, key=lambda row: ORDER[row.judgement])),
        notes=tuple(f"{v.label}: {note}" for v in ordered for note in v.notes),
    )


def _row(
    experiment: Experiment,
    metric: Metric,
    found: Sequence[Variant],
    comparison: Comparison | None,
) -> Row:
    default = "info" if metric.better == "info" else "unknown"
    judgement = comparison.judgement if comparison else default
    return Row(
        metric=metric,
        judgement=judgement,
        change=difference(comparison) if comparison and judgement != "info" else "",
        cells=tuple(cell(v.samples.get(metric.name, ())) for v in found),
        said=_said(experiment, metric),
        comparison=comparison,
    )


def _said(experiment: Experiment, metric: Metric) -> SaidInRow | None:
    labels = {variant.name: variant.label for variant in experiment.variants}
    found = [said for said in experiment.said if said.metric == metric.name]
    if not found:
        return None
    # What is said of both servers is said once.
    remarks = dict.fromkeys(said.remark for said in found if said.remark)
    return SaidInRow(
        values=tuple(f"{labels.get(s.variant, s.variant)} {number(s.value)}" for s in found),
        remarks=tuple(remarks),
    )


def _settings(variants: Sequence[Variant]) -> Iterator[str]:
    """Return what all servers have, then what is special to each.

    Everything else is a default.
    """
    if not variants:
        return
    common = _common(variants)
    if len(variants) == 1 and {"autovacuum", "shared_preload_libraries"} <= {*common}:
        # Only these settings were asked of a server that was there already.
        yield f"An existing server, with {_assignments(common)} among other settings of its own."
        return
    told = ", ".join(filter(None, (_assignments(common), BASE)))
    yield f"All servers: {told}. All else is PostgreSQL's default."
    for variant in variants:
        rest = {name: value for name, value in variant.settings.items() if name not in common}
        rest.pop("shared_preload_libraries", None)
        own = {name: value for name, value in rest.items() if name.startswith(OWN_SETTINGS)}
        others = _assignments({name: rest[name] for name in rest if name not in own})
        said = [others] if others else []
        mode = own.pop(MODE, None)
        if mode is not None:
            if own:
                said.append(
                    f"{MODE} = {mode}, and not pg_sweep's default settings: {_assignments(own)}"
                )
            else:
                said.append(f"{MODE} = {mode}, all else at pg_sweep's defaults")
        elif own:
            said.append(_assignments(own))
        if said:
            yield f"{capital(variant.label)}: {'; '.join(said)}."


def _common(variants: Sequence[Variant]) -> dict[str, str]:
    return {
        name: value
        for name, value in variants[0].settings.items()
        if all(variant.settings.get(name) == value for variant in variants)
    }


def _ours(ours: Variant, other: Variant) -> str:
    """Return the settings of our server that the other does not have."""
    apart = ("shared_preload_libraries", MODE)
    own = {
        name: value
        for name, value in ours.settings.items()
        if name not in apart and other.settings.get(name) != value
    }
    return _assignments(own) or "pg_sweep's defaults"


def _assignments(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(settings.items()))


def loss_sentence(row: Row, against: str) -> str:
    """Return in words what is worse and by how much."""
    return sentence(f"{row.metric.label}: {_values(row, against)}: {row.change}")


def _values(row: Row, against: str) -> str:
    assert row.comparison is not None
    ours, other = row.comparison.ours, row.comparison.other
    assert ours is not None
    assert other is not None
    return (
        f"{with_unit(ours.median, row.metric)} with pg_sweep, "
        f"{with_unit(other.median, row.metric)} for {against}"
    )


def _difference(section: Section, row: Row) -> Difference:
    assert row.comparison is not None
    return Difference(section, row, _values(row, section.against), row.comparison.times)


def _tally(kind: str, sections: Iterable[Section]) -> Tally:
    rows = (row for section in sections for row in section.rows if row.metric.kind == kind)
    return Tally(kind, Counter(row.judgement for row in rows))


def _since(results: Sequence[Result], position: int) -> Since:
    """Compare a later result's experiments with the first result that has each of them."""
    later = results[position]
    changes: list[Change] = []
    compared = 0
    bases: list[Result] = []
    for experiment in later.experiments:
        found = _first_with(results[:position], experiment.name)
        if found is None:
            continue
        base, old = found
        bases.append(base)
        for ours in verdict.variants(experiment, verdict.OURS):
            before = _same_major(old, verdict.OURS, ours.major)
            if before is None:
                continue
            others = _others_that_changed(experiment, old, ours.major)
            for comparison in verdict.pair(ours, before, experiment.metrics):
                compared += comparison.judgement in ("better", "worse", "same")
                if comparison.judgement in ("better", "worse"):
                    changes.append(_change(experiment, ours, comparison, others))
    base = bases[0] if bases else results[0]
    return Since(
        first=result_label(base),
        later=result_label(later),
        changes=tuple(sorted(changes, key=lambda change: ORDER[change.judgement])),
        compared=compared,
        same_machine=all(base.machine == later.machine for base in bases),
    )


def _first_with(results: Iterable[Result], name: str) -> tuple[Result, Experiment] | None:
    for result in results:
        for experiment in result.experiments:
            if experiment.name == name:
                return result, experiment
    return None


def _same_major(experiment: Experiment, name: str, major: int) -> Variant | None:
    return next((v for v in verdict.variants(experiment, name) if v.major == major), None)


def _others_that_changed(new: Experiment, old: Experiment, major: int) -> set[str]:
    """Return the names of the figures that changed on the server without pg_sweep."""
    after, before = (_same_major(each, new.against, major) for each in (new, old))
    if after is None or before is None:
        return set()
    pairs = verdict.pair(after, before, new.metrics)
    return {c.metric.name for c in pairs if c.judgement in ("better", "worse")}


def _change(
    experiment: Experiment, ours: Variant, comparison: Comparison, others: set[str]
) -> Change:
    assert comparison.ours is not None
    assert comparison.other is not None
    metric = comparison.metric
    return Change(
        experiment=experiment.title,
        version=ours.server_version,
        label=metric.label,
        unit=metric.unit,
        before=Cell.of(comparison.other),
        after=Cell.of(comparison.ours),
        judgement=comparison.judgement,
        change=difference(comparison),
        other_too=metric.name in others,
    )
