"""The report of results as Markdown, for pasting."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pgsweep.output.report.markdown import plain, table
from pgsweep_bench.report.model import result_label
from pgsweep_bench.report.words import JUDGEMENTS, SIGNS, capital

if TYPE_CHECKING:
    from pgsweep_bench.report.model import Report, Section, Since
    from pgsweep_bench.report.words import Cell


def results(report: Report) -> str:
    """Return the report of results."""
    lines = ["# Vacuum with and without pg_sweep", ""]
    lines += [plain(" · ".join(result_label(result) for result in report.results)), ""]
    lines += [f"{tally.text}" for tally in report.tallies if tally.judged]
    lines += _head(report)
    for since in report.since:
        lines += _since(since)
    for section in report.sections:
        lines += _section(section)
    lines += ["", "## Where it ran", ""]
    lines += [
        plain(
            f"{result_label(result)}: {result.machine.cpus} × {result.machine.cpu_model}, "
            f"{result.machine.memory_mb:,} MB, {result.machine.kernel}"
        )
        for result in report.results
    ]
    return "\n".join(lines)


def _head(report: Report) -> list[str]:
    """Return what is worse and better, side by side, the greatest difference first."""
    worse, better = (report.differences(judgement) for judgement in ("worse", "better"))
    if not any(tally.judged for tally in report.tallies):
        return ["", "There is nothing to compare in this result."]
    titles = [
        f"{SIGNS[name]} {JUDGEMENTS[name]} in {len(found)}"
        for name, found in (("worse", worse), ("better", better))
    ]
    rows = [
        [one.text if one else "" for one in pair] for pair in itertools.zip_longest(worse, better)
    ]
    lines = ["", *table(titles, rows)]
    return lines + (["", plain(report.same_text)] if report.same_text else [])


def _since(since: Since) -> list[str]:
    lines = ["", "## What changed", "", plain(f"{since.later}, compared to {since.first}.")]
    if not since.same_machine:
        lines.append("They come from different machines.")
    lines += [since.text, ""]
    if since.changes:
        rows = [
            (
                f"{change.experiment}: {change.label} ({change.version}), {change.unit}".rstrip(
                    ", "
                ),
                _measured(change.before),
                _measured(change.after),
                _verdict(change.judgement, change.change)
                + (", changed without pg_sweep as well" if change.other_too else ""),
            )
            for change in since.changes
        ]
        lines += table(("figure", "first", "now", "became"), rows)
    return lines


def _section(section: Section) -> list[str]:
    experiment = section.experiment
    lines = ["", f"## {plain(capital(experiment.title))}", ""]
    lines += [plain(f"{experiment.name}, PostgreSQL {section.version}"), ""]
    lines += [plain(experiment.hypothesis), ""]
    lines += [*(f"- {plain(said)}" for said in section.settings), "", plain(section.outcome)]
    lines += ["", *(f"- {plain(text)}" for text in section.losses)] if section.losses else []
    titles = ["figure", *(plain(v.label) for v in section.variants)]
    if experiment.said:
        titles.append("seed said")
    titles.append(f"against {plain(section.against)}")
    rows = []
    for row in section.rows:
        unit = f", {row.metric.unit}" if row.metric.unit else ""
        cells = [row.metric.label + unit, *(_measured(cell) for cell in row.cells)]
        if experiment.said:
            cells.append(row.said.text if row.said else "")
        rows.append([*cells, _verdict(row.judgement, row.change)])
    lines += ["", *table(titles, rows)]
    return lines + ([""] + [f"- {plain(note)}" for note in section.notes] if section.notes else [])


def _measured(cell: Cell | None) -> str:
    if cell is None:
        return "not measured"
    spread = f"{cell.spread}, " if cell.spread else ""
    return f"{cell.median} ({spread}n = {cell.samples})"


def _verdict(judgement: str, change: str) -> str:
    sign = SIGNS[judgement]
    return ", ".join(filter(None, (f"{sign} {JUDGEMENTS[judgement]}".strip(), change)))
