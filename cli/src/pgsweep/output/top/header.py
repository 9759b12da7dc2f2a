"""The lines on top of `top`, from a frozen snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import compute
from pgsweep.model.compute import described

if TYPE_CHECKING:
    from pgsweep.model import CoreStatus, Limit, Server, Snapshot, Status
    from pgsweep.output.top.state import UiState

# A piece of a line: its text, its style, and how soon it is left out. 0 always stays.
Part = tuple[str, str, int]
# Of this importance are sentences. They may be cut if so many characters of them stay.
WORDY = 3
LEAST_OF_WORDY = 20
LINES = 4


def lines(snapshot: Snapshot | None, ui: UiState, width: int) -> tuple[Text, ...]:
    """Return the lines on top: the server, pg_sweep's state there, the horizon, the budget."""
    if snapshot is None:
        first = Text(" pgsweep top", style="bold")
        state = ui.trouble or "connecting ..."
        state_line = Text(f" {state}", style="bold red" if ui.trouble else "dim")
        return first, state_line, Text(), Text()
    return (
        _server_line(snapshot.server, width),
        _state_line(snapshot, ui, width),
        _horizon_line(snapshot, width),
        _budget_line(snapshot, width),
    )


def _server_line(server: Server, width: int) -> Text:
    return segments("pgsweep", about(server), width)


def about(server: Server) -> list[Part]:
    """Return which server it is."""
    role = "standby" if server.in_recovery else "primary"
    return [
        (f"PostgreSQL {server.version.split()[0]}", "bold", 0),
        (role, "bold yellow" if server.in_recovery else "bold green", 0),
        (_place(server), "", 1),
        (f"as {server.role}", "", 3),
        (f"up {text.duration(server.now - server.started_at)}", "", 2),
        (text.clock(server.now), "", 4),
    ]


def _place(server: Server) -> str:
    host = server.host or "local"
    # The folder of a socket says little and can be long.
    host = "socket" if host.startswith("/") else host
    return text.printable(f"{host}:{server.port}/{server.dbname}")


def _state_line(snapshot: Snapshot, ui: UiState, width: int) -> Text:
    if ui.trouble:
        return Text(text.cut(f" {text.printable(ui.trouble)}", width), style="bold red")
    parts = state(snapshot)
    refresh = f"every {ui.interval_s:g} s"
    parts.append(("FROZEN", "black on yellow", 0) if ui.frozen else (refresh, "", 4))
    return segments("", parts, width)


def state(snapshot: Snapshot) -> list[Part]:
    """Return how pg_sweep is doing, or autovacuum where there is no pg_sweep."""
    server = snapshot.server
    parts = _extension(snapshot.status, snapshot) if snapshot.status else _core(snapshot.core)
    oldest = compute.oldest_database(snapshot.databases)
    if oldest is not None and oldest.xid_age is not None:
        pct = compute.xid_pct(oldest.xid_age, server.freeze_max_age)
        style = "bold red" if pct >= compute.XID_WARN_PCT else ""
        parts.append((f"oldest xid {pct:.0f}%", style, 3))
    return parts


def _extension(status: Status, snapshot: Snapshot) -> list[Part]:
    """Return how pg_sweep is doing."""
    due = compute.due(status, snapshot.queue)
    return [
        _mode(status, snapshot.server),
        _launcher(status, snapshot.server),
        (f"workers {text.count(status.workers)}/{text.count(status.max_workers)}", "", 2),
        (f"due {text.count(due)} of {text.count(status.relations)}", _due_style(due), 1),
    ]


def _core(core: CoreStatus | None) -> list[Part]:
    """Return how autovacuum is doing."""
    parts: list[Part] = [("no pg_sweep in this database", "bold cyan", 0)]
    if core is None:
        return parts
    on = ("autovacuum on", "green", 2) if core.daemon_on else ("autovacuum off", "bold red", 0)
    return [
        *parts,
        on,
        (f"workers {core.workers}/{core.max_workers}", "", 2),
        (f"due {text.count(core.due)} of {text.count(core.tables)}", _due_style(core.due), 1),
    ]


def _due_style(due: int) -> str:
    return "bold yellow" if due else ""


def _horizon_line(snapshot: Snapshot, width: int) -> Text:
    return _labelled("horizon", horizon(snapshot), width)


def horizon(snapshot: Snapshot) -> list[Part]:
    """Return what keeps dead rows from being removed, the worst of it."""
    held, now, dbname = snapshot.blockers, snapshot.server.now, snapshot.server.dbname
    if held is None:
        missing = "sweep.blockers is missing"
        why = "this role is not in pg_monitor" if snapshot.core else missing
        return [(f"unknown: {why}", "yellow", 0)]
    worst = compute.worst_holder(held, now)
    if worst is None:
        return [("nothing holds it back", "green", 0)]
    # A statement that runs is no reason to worry.
    style = "bold red" if compute.is_old(worst, now) else ""
    since = compute.held_since(worst)
    span = f" for {text.duration(now - since)}" if since is not None else ""
    xids = "1 xid" if worst.age == 1 else f"{text.count(worst.age)} xids"
    parts: list[Part] = [
        (f"held{span} by {described(worst, dbname)}", style, 0),
        (xids, "", 1),
    ]
    if len(held) > 1:
        parts.append((f"{len(held) - 1} more", "", 2))
    if worst.withholds:
        parts.append((f"withholds {worst.withholds}", "", 3))
    return parts


def _budget_line(snapshot: Snapshot, width: int) -> Text:
    return _labelled("budget ", budget(snapshot), width)


def budget(snapshot: Snapshot) -> list[Part]:
    """Return what vacuums may use, and which limit binds."""
    if snapshot.core is not None:
        return _cost_limit(snapshot.core)
    if not snapshot.limits:
        return [("the governor has published none", "dim", 0)]
    binding = next((limit for limit in snapshot.limits if limit.binding), None)
    parts: list[Part] = [("no limit binds", "green", 0)]
    if binding is not None:
        parts = [(f"{binding.name}{_used(binding)} binds", "bold yellow", 0)]
    step = snapshot.step
    if step is not None and step.vacuums:
        rates = [text.rate(step.read_mb_per_s), text.rate(step.dirty_mb_per_s)]
        rates.append(text.rate(step.wal_mb_per_s))
        parts.append((f"read {rates[0]} dirty {rates[1]} WAL {rates[2]} MB/s", "", 1))
        if step.allowed_mb_per_s is not None:
            parts.append((f"allowed {text.rate(step.allowed_mb_per_s)}", "", 2))
        parts.append((": ".join(filter(None, (step.decision, step.reason))), "", 3))
    elif step is not None:
        parts.append(("no vacuum keeps it now", "dim", 1))
    return parts


def _used(limit: Limit) -> str:
    """Return " 19.6 of 20 MB/s", as far as it is known."""
    unit = f" {limit.unit}" if limit.unit else ""
    if limit.configured is None:
        return "" if limit.measured is None else f" at {text.figure(limit.measured)}{unit}"
    if limit.measured is None:
        return f" {text.figure(limit.configured)}{unit}"
    return f" {text.figure(limit.measured)} of {text.figure(limit.configured)}{unit}"


def _cost_limit(core: CoreStatus) -> list[Part]:
    """Return what autovacuum's workers may use together."""
    if core.read_mb_per_s is None or core.dirty_mb_per_s is None:
        return [("no cost limit", "", 0)]
    return [
        (f"cost limit {core.cost_limit} per {core.cost_delay:g} ms", "", 0),
        (
            f"at most {text.rate(core.read_mb_per_s)} MB/s read or "
            f"{text.rate(core.dirty_mb_per_s)} MB/s dirtied",
            "",
            1,
        ),
        ("by all workers together", "", 2),
    ]


def _labelled(label: str, parts: Sequence[Part], width: int) -> Text:
    return segments("", [(label, "bold", 0), *parts], width)


def _mode(status: Status, server: Server) -> Part:
    if status.effective_mode == status.mode:
        style = {"act": "bold green", "observe": "bold cyan"}.get(status.mode or "", "bold yellow")
        return f"mode {status.mode}", style, 0
    reason = f" ({status.reason})" if status.reason else ""
    style = "bold cyan" if server.in_recovery else "bold red"
    return f"mode {status.mode} → {status.effective_mode}{reason}", style, 0


def _launcher(status: Status, server: Server) -> Part:
    if status.launcher_pid is not None:
        return f"launcher {status.launcher_pid}", "", 5
    if server.in_recovery or status.mode == "off":
        return "no launcher", "dim", 5
    return "no launcher", "bold red", 1


def segments(title: str, parts: Sequence[Part], width: int) -> Text:
    """Join segments, leaving out the least important ones until they fit."""
    kept = list(parts)

    def build() -> Text:
        line = Text(" ", no_wrap=True)
        if title:
            line.append(title, style="bold reverse")
            line.append("  ")
        for i, (segment, style, _) in enumerate(kept):
            line.append("  " if i else "")
            line.append(text.printable(segment), style=style)
        return line

    line = build()
    while line.cell_len > width and any(priority for _, _, priority in kept):
        worst = max(priority for _, _, priority in kept)
        last = [part for part in kept if part[2] == worst]
        kept = [part for part in kept if part[2] != worst]
        without = build()
        if worst == WORDY and without.cell_len + LEAST_OF_WORDY < width:
            # A text may be cut, a figure may not.
            kept += last
            line = build()
            break
        line = without
    line.truncate(width, overflow="ellipsis")
    return line
