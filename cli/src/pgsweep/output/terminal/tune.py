"""What `tune` prints for people: the table as in seed 004, a plot, and the answer."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model.compute import plural
from pgsweep.output.terminal import as_json, grid
from pgsweep.output.terminal.grid import Column
from pgsweep.tune import settings
from pgsweep.tune.advice import FAR
from pgsweep.tune.model import Point

if TYPE_CHECKING:
    from pgsweep.tune.advice import Verdict
    from pgsweep.tune.answer import Answer
    from pgsweep.tune.settings import Change
    from pgsweep.tune.targets import Targets

LABEL_WIDTH = 11
PLOT_LINES, PLOT_WIDTH = 10, 72
AXIS_WIDTH = 7
MEASURED, CURVE, WANTED, RECOMMENDED = "●", "·", "─", "◆"


def lines(answer: Answer, width: int) -> list[Text]:
    """Return the whole answer."""
    found = [*table_lines(answer, width), Text()]
    found += [*plot_lines(answer, width), Text()]
    found += fit_lines(answer, width)
    found += verdict_lines(answer, width)
    for note in answer.measured.notes:
        found += _labelled("note", note, width, "dim")
    found.append(Text())
    found += [
        Text(line) for line in settings.as_conf(answer.settings, comments(answer)).split("\n")
    ]
    return found


def table_lines(answer: Answer, width: int) -> list[Text]:
    """Return what was found at each limit, and at the recommended one."""
    layout = grid.fit(_columns(), width)
    found = [grid.header(layout)]
    found += [grid.row(layout, ("", point)) for point in answer.measured.points]
    if answer.verdict is not None:
        found.append(grid.row(layout, ("recommended", answer.verdict.point)))
    else:
        found.append(grid.row(layout, ("recommended", answer.advice.expected)))
    return found


Row = tuple[str, Point]


def _columns() -> tuple[Column[Row], ...]:
    def figure(title: str, width: int, get: Callable[[Point], str], priority: int) -> Column[Row]:
        return Column[Row](title, lambda row: get(row[1]), width, right=True, priority=priority)

    def mb(value: float | None) -> str:
        return text.rate(value)

    return (
        figure("LIMIT", 5, lambda p: str(p.limit), 0),
        figure("ROWS/S", 8, lambda p: f"{p.rows_per_s:,.0f}", 0),
        figure("CPU%", 5, lambda p: _percent(p.cpu_percent), 0),
        figure("READ", 6, lambda p: mb(p.read_mb_per_s), 1),
        figure("DIRTIED", 7, lambda p: mb(p.write_mb_per_s), 1),
        figure("WRITTEN", 7, lambda p: mb(p.device_write_mb_per_s), 2),
        figure("WAL", 6, lambda p: mb(p.wal_mb_per_s), 3),
        figure("DEVICE%", 7, lambda p: _percent(p.device_percent), 0),
        Column[Row]("MiB/s, median", lambda row: Text(row[0], style="bold green"), 13, priority=4),
    )


def _percent(value: float | None) -> str:
    return text.UNKNOWN if value is None else f"{value:.1f}"


def plot_lines(answer: Answer, width: int) -> list[Text]:
    """Return rows/s against the limit, drawn with characters."""
    points, curve = answer.measured.points, answer.advice.curve
    chosen = answer.verdict.point if answer.verdict else answer.advice.expected
    columns = max(20, min(width, PLOT_WIDTH) - AXIS_WIDTH - 1)
    most_x = max(*(p.limit for p in points), chosen.limit) * 1.02
    shown = [p.rows_per_s for p in points] + [chosen.rows_per_s]
    most_y = max(*shown, answer.targets.reclaim_rate) * 1.05
    cells = [[(" ", "")] * columns for _ in range(PLOT_LINES)]

    def put(x: float, y: float, sign: str, style: str) -> None:
        column = min(columns - 1, int(x / most_x * columns))
        line = PLOT_LINES - 1 - min(PLOT_LINES - 1, int(y / most_y * PLOT_LINES))
        if 0 <= y <= most_y:
            cells[line][column] = (sign, style)

    for column in range(columns):
        x = (column + 0.5) / columns * most_x
        put(x, answer.targets.reclaim_rate, WANTED, "dim")
    for column in range(columns):
        x = (column + 0.5) / columns * most_x
        put(x, curve.rate(x), CURVE, "cyan")
    for point in points:
        put(point.limit, point.rows_per_s, MEASURED, "bold")
    put(chosen.limit, chosen.rows_per_s, RECOMMENDED, "bold green")
    found = []
    for number, line in enumerate(cells):
        label = ""
        if number in (0, PLOT_LINES // 2):
            label = text.count(most_y * (PLOT_LINES - number) / PLOT_LINES)
        row = Text(f"{label:>{AXIS_WIDTH - 1}} ┤" if label else " " * AXIS_WIDTH + "│")
        for sign, style in line:
            row.append(sign, style)
        found.append(row)
    end = f"{most_x:.0f}"
    ruler = "└" + "─" * columns
    under = "0" + "cost limit".center(columns - 1 - len(end)) + end
    found += [Text(" " * AXIS_WIDTH + ruler), Text(" " * (AXIS_WIDTH + 1) + under)]
    kind = "reckoned" if answer.measured.how == "history" else "measured"
    signs = ((MEASURED, kind), (CURVE, "curve"), (WANTED, "wanted"), (RECOMMENDED, "recommended"))
    legend = "rows/s; " + "  ".join(f"{sign} {word}" for sign, word in signs)
    return [*found, Text(" " * (AXIS_WIDTH + 1) + legend, style="dim")]


def fit_lines(answer: Answer, width: int) -> list[Text]:
    """Return the line through the points, and a note on what bends it."""
    if answer.measured.how == "history":
        return []
    return _labelled("fit", fit_sentence(answer), width)


def fit_sentence(answer: Answer) -> str:
    """Return the line and the curve in words."""
    line, curve = answer.advice.line, answer.advice.curve
    sign = "+" if line.intercept >= 0 else "−"
    words = (
        f"rows/s = {line.slope:.1f} × limit {sign} {abs(line.intercept):,.0f}, "
        f"R² = {line.r_squared:.4f}"
    )
    if answer.measured.cost_per_row:
        nap = curve.naps / answer.measured.cost_per_row * 1000
        words += f". A dead row costs {answer.measured.cost_per_row:.1f} credits"
        words += f", a nap of {answer.measured.delay_ms:g} ms takes {nap:.2f} ms"
    if curve.most is not None:
        words += f". Without naps it would be {curve.most:,.0f} rows/s"
    return words


def verdict_lines(answer: Answer, width: int) -> list[Text]:
    """Return what is recommended, what cannot be had, and what came of running it."""
    advice = answer.advice
    found = _labelled("recommend", _recommended(answer), width, "bold")
    for conflict in advice.conflicts:
        found += _labelled("conflict", conflict, width, "bold red")
    for remark in (*answer.warnings, *advice.remarks):
        found += _labelled("note", remark, width, "yellow")
    if answer.verdict is None:
        return found + _labelled(
            "verified", "no, nothing was run. --experiment does it", width, "yellow"
        )
    for number, (words, met) in enumerate(_verdicts(answer.verdict, answer.targets)):
        style = {True: "green", False: "bold red", None: "yellow"}[met]
        found += _labelled("verified" if number == 0 else "", words, width, style)
    return found


def _recommended(answer: Answer) -> str:
    advice, expected = answer.advice, answer.advice.expected
    words = f"limit {advice.limit}: about {expected.rows_per_s:,.0f} rows/s"
    if advice.for_shares is None or advice.conflicts:
        return words
    if advice.for_shares > FAR * max(point.limit for point in answer.measured.points):
        return f"{words}. The shares would allow far more"
    return f"{words}. The shares would allow limit {advice.for_shares}"


def _verdicts(verdict: Verdict, targets: Targets) -> list[tuple[str, bool | None]]:
    point = verdict.point
    off = 100 * (point.rows_per_s / targets.reclaim_rate - 1)
    found: list[tuple[str, bool | None]] = [
        (
            f"{_word(verdict.rate_met)}: {point.rows_per_s:,.0f} rows/s, wanted "
            f"{targets.reclaim_rate:,.0f} ({off:+.1f}%, and −5 to +20% is met)",
            verdict.rate_met,
        )
    ]
    for name, value, most, met in (
        ("device", point.device_percent, targets.device, verdict.device_met),
        ("CPU", point.cpu_percent, targets.cpu, verdict.cpu_met),
    ):
        if most is not None:
            figure = "not measured" if value is None else f"{value:.1f}%"
            found.append((f"{_word(met)}: {name} {figure}, at most {most:g}%", met))
    return found


def _word(met: bool | None) -> str:
    return {True: "met", False: "MISSED", None: "unknown"}[met]


def comments(answer: Answer) -> list[str]:
    """Return what is written above the settings."""
    targets = answer.targets
    asked = [f"{targets.reclaim_rate:,.0f} dead rows/s"]
    asked += [f"device {targets.device:g}%"] if targets.device is not None else []
    asked += [f"CPU {targets.cpu:g}%"] if targets.cpu is not None else []
    found = [f"pgsweep tune: for {', '.join(asked)}"]
    if answer.verdict is not None:
        point = answer.verdict.point
        figures = [f"{point.rows_per_s:,.0f} rows/s"]
        if point.device_percent is not None:
            figures.append(f"device {point.device_percent:.0f}%")
        if point.cpu_percent is not None:
            figures.append(f"CPU {point.cpu_percent:.0f}%")
        met = "all met" if answer.kept else "NOT all met"
        found.append(f"measured at limit {point.limit}: {', '.join(figures)}: {met}")
    else:
        met = "" if answer.kept else ", NOT all can be had"
        found.append(f"reckoned from sweep.runs, not verified{met}")
    return found


def change_lines(changes: Sequence[Change], what: str) -> list[Text]:
    """Return what ALTER SYSTEM would do, one setting a line."""
    found = [Text(f"{plural(len(changes), 'setting')} {what}:")] if changes else []
    for change in changes:
        now = f"{change.shown} ({change.source})"
        to = "not set in postgresql.auto.conf" if change.to is None else change.to
        line = Text.assemble((f"  {change.name}: ", "bold"), f"{now} → ", (to, "bold green"))
        if change.instead_of is not None:
            line.append(f", changed since: pgsweep had set {change.instead_of}", "bold red")
        found.append(line)
    return found


def document(answer: Answer) -> str:
    """Return the object that `tune --json` prints."""
    advice, verdict = answer.advice, answer.verdict
    return as_json.dump(
        {
            "how": answer.measured.how,
            "targets": dataclasses.asdict(answer.targets),
            "delay_ms": answer.measured.delay_ms,
            "points": [dataclasses.asdict(point) for point in answer.measured.points],
            "runs": [dataclasses.asdict(run) for run in answer.measured.runs],
            "cost_per_row": answer.measured.cost_per_row,
            "line": dataclasses.asdict(advice.line),
            "curve": dataclasses.asdict(advice.curve),
            "recommendation": {
                "limit": advice.limit,
                "expected": dataclasses.asdict(advice.expected),
                "for_rate": advice.for_rate,
                "for_shares": advice.for_shares,
                "conflicts": list(advice.conflicts),
                "remarks": [*advice.remarks, *answer.warnings],
            },
            "verification": None
            if verdict is None
            else {**dataclasses.asdict(verdict), "all_met": verdict.all_met},
            "form": answer.form,
            "settings": {each.name: each.value for each in answer.settings},
            "notes": list(answer.measured.notes),
        }
    )


def _labelled(label: str, value: str, width: int, style: str = "") -> list[Text]:
    room = max(20, width - LABEL_WIDTH)
    wrapped = textwrap.wrap(text.printable(value), room) or [""]
    return [
        Text.assemble(((label if number == 0 else "").ljust(LABEL_WIDTH), "bold"), (line, style))
        for number, line in enumerate(wrapped)
    ]
