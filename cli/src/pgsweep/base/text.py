"""Numbers, times and bars as short text."""

from __future__ import annotations

from datetime import datetime, timedelta

from rich.cells import cell_len, set_cell_size

UNKNOWN = "-"

WHO = {
    "sweep": "sweep",
    "autovacuum": "autovac",
    "autovacuum_wraparound": "antiwrap",
    "manual": "manual",
}
WHAT = {"VACUUM": "vac", "ANALYZE": "ana", "VACUUM FULL": "full", "CLEAN": "cln"}
WHO_STYLE = {
    "sweep": "bold green",
    "autovacuum": "cyan",
    "autovacuum_wraparound": "bold red",
    "manual": "yellow",
}
OUTCOME_STYLE = {
    "done": "green",
    "cancelled": "yellow",
    "failed": "bold red",
    "skipped": "dim",
}
PHASE = {
    "vacuuming indexes": "vac. index",
    "vacuuming heap": "vac. heap",
    "cleaning up indexes": "index cleanup",
    "performing final cleanup": "final cleanup",
    "acquiring sample rows": "sampling",
    "acquiring inherited sample rows": "sampling inh.",
    "computing statistics": "computing",
    "computing extended statistics": "computing ext.",
    "finalizing analyze": "finalizing",
    "seq scanning heap": "scanning heap",
    "index scanning heap": "scanning index",
    "writing new heap": "writing heap",
    "swapping relation files": "swapping files",
    "rebuilding index": "rebuilding ix",
}


def count(value: float | None) -> str:
    """Return a number in at most five characters: 999, 12.3k, 4.5M."""
    if value is None:
        return UNKNOWN
    if abs(value) < 1000:
        return f"{value:.0f}"
    for unit in ("k", "M", "G", "T"):
        value /= 1000
        if abs(value) < 99.95:
            return f"{value:.1f}{unit}"
        if abs(value) < 999.5:
            return f"{value:.0f}{unit}"
    return f"{value:.0f}P"


def size(value: float | None) -> str:
    """Return bytes as 12 MB."""
    if value is None:
        return UNKNOWN
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TB"


def rate(value: float | None) -> str:
    """Return MB/s in at most four characters."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def figure(value: float | None) -> str:
    """Return any figure with three digits that count, or more before the point."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(value: float | None) -> str:
    """Return 57%."""
    return UNKNOWN if value is None else f"{min(value, 999):.0f}%"


def duration(value: timedelta | None) -> str:
    """Return a time span in at most seven characters: 0:12, 1:02:03, 3d 04h."""
    if value is None:
        return UNKNOWN
    seconds = max(0, int(value.total_seconds()))
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        return f"{days}d {hours:02}h"
    if hours:
        return f"{hours}:{minutes:02}:{secs:02}"
    return f"{minutes}:{secs:02}"


def took(value: timedelta | None) -> str:
    """Return how long something took. Below ten seconds it has milliseconds' precision."""
    if value is None:
        return UNKNOWN
    seconds = value.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else duration(value)


def ago(value: datetime | None, now: datetime) -> str:
    """Return how long ago something was: 4 s ago, 3 min ago."""
    if value is None:
        return "never"
    seconds = (now - value).total_seconds()
    if seconds < 1:
        return "just now"
    for limit, unit, divisor in ((90, "s", 1), (5400, "min", 60), (129600, "h", 3600)):
        if seconds < limit:
            return f"{seconds / divisor:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} d ago"


def milliseconds(value: float | None) -> str:
    """Return milliseconds with a precision that fits their size."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f} ms" if value < 100 else f"{value / 1000:.1f} s"


def clock(value: datetime | None) -> str:
    """Return the local time of day."""
    return UNKNOWN if value is None else value.astimezone().strftime("%H:%M:%S")


def short(value: datetime) -> str:
    """Return the local date and time to the minute."""
    return f"{value.astimezone():%Y-%m-%d %H:%M}"


def moment(value: datetime | None, now: datetime) -> str:
    """Return the local time of day, with the date if that is another one than now's."""
    if value is None:
        return UNKNOWN
    local = value.astimezone()
    if local.date() == now.astimezone().date():
        return clock(value)
    return local.strftime("%Y-%m-%d %H:%M:%S")


def who(started_by: str | None) -> str:
    """Return who started a vacuum in at most eight characters."""
    return WHO.get(started_by or "", started_by or UNKNOWN)


def what(command: str | None) -> str:
    """Return what a run does in at most four characters."""
    return WHAT.get(command or "", (command or UNKNOWN).lower()[:4])


def phase(value: str | None, index_pass: int | None = None) -> str:
    """Return core's name of a phase, shortened.

    From the second index pass on it has the pass's number.
    """
    if not value:
        return UNKNOWN
    short = PHASE.get(value, value)
    return f"{short} #{index_pass}" if index_pass and index_pass > 1 else short


def bar(pct: float | None, width: int) -> tuple[str, str]:
    """Return a progress bar as (done, left), together `width` characters."""
    if width <= 0:
        return "", ""
    if pct is None:
        return "", "┄" * width
    halves = round(max(0.0, min(100.0, pct)) / 100 * width * 2)
    full, half = divmod(halves, 2)
    done = "━" * full + ("╸" if half else "")
    return done, "─" * (width - len(done))


def cut(value: str, width: int, keep_end: bool = False) -> str:
    """Return text that fits into so many cells of a terminal.

    The end of a table's name says most, so it can be kept instead of the start.
    """
    if cell_len(value) <= width:
        return value
    if width <= 1:
        return set_cell_size(value, max(width, 0))
    if not keep_end:
        return set_cell_size(value, width - 1).rstrip(" ") + "…"
    while cell_len(value) > width - 1:
        value = value[1:]
    return "…" + value


def printable(value: str) -> str:
    r"""Return text with control characters as \x1b.

    A table's name must not steer a terminal.
    """
    if value.isprintable():
        return value
    escaped = (char if char.isprintable() else _escaped(char) for char in value)
    return "".join(escaped)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
