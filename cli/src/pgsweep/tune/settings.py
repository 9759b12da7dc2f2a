"""The settings that are recommended, and how each tool wants them written. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model import Current
    from pgsweep.tune.model import Point
    from pgsweep.tune.targets import Targets

LIMIT, DELAY = "autovacuum_vacuum_cost_limit", "autovacuum_vacuum_cost_delay"
WRITE, READ, RATE = "sweep.write_limit", "sweep.read_limit", "sweep.reclaim_rate"
DEVICE, CPU = "sweep.device_utilization", "sweep.cpu_limit"
BUDGET = (WRITE, READ, RATE, DEVICE, CPU)
FLOOR = "sweep.floor"


@dataclass(frozen=True)
class Setting:
    """A setting and its value, without quotes."""

    name: str
    value: str


def plain(limit: int, delay_ms: float) -> tuple[Setting, ...]:
    """Return the settings of a server without pg_sweep."""
    return Setting(LIMIT, str(limit)), Setting(DELAY, f"{delay_ms:g}ms")


def knows_budget(known: Collection[str]) -> bool:
    """Whether a server of these settings can be given a budget in MB/s."""
    return WRITE in known


def budget(point: Point, targets: Targets, known: Collection[str]) -> tuple[Setting, ...]:
    """Return pg_sweep's budget for what a limit reads and dirties, as far as it is known there."""
    wanted = [
        (WRITE, point.write_mb_per_s and _up(point.write_mb_per_s)),
        (READ, point.read_mb_per_s and _up(point.read_mb_per_s)),
        (RATE, f"{targets.reclaim_rate:g}"),
        (DEVICE, targets.device and f"{targets.device:g}"),
        (CPU, targets.cpu and f"{targets.cpu:g}"),
    ]
    return tuple(Setting(name, str(value)) for name, value in wanted if value and name in known)


def below_floor(wanted: Sequence[Setting], floor_mb_per_s: float | None) -> tuple[str, ...]:
    """Return a sentence for each limit that is less than what sweep.floor promises vacuums."""
    if floor_mb_per_s is None:
        return ()
    return tuple(
        f"{each.name} = {each.value} is less than {FLOOR}, {floor_mb_per_s:g} MB/s, and the lower "
        "one holds. Vacuums never get what the floor promises them, however much garbage there is. "
        f"{floor_mb_per_s:g} is the least that does not undercut it"
        for each in wanted
        if each.name in (WRITE, READ) and float(each.value) < floor_mb_per_s
    )


def _up(value: float) -> str:
    """Return MB/s with one digit, never rounded down.

    A budget must leave room for the rate.
    """
    return f"{math.ceil(value * 10 - 1e-9) / 10:g}"


def _is_number(value: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", value) is not None


def quoted(value: str) -> str:
    """Return a value as postgresql.conf and SQL take it."""
    return value if _is_number(value) else "'" + value.replace("'", "''") + "'"


def as_conf(settings: Sequence[Setting], comments: Sequence[str]) -> str:
    """Return lines for postgresql.conf."""
    lines = [f"# {comment}" for comment in comments]
    return "\n".join([*lines, *(f"{each.name} = {quoted(each.value)}" for each in settings)])


def as_sql(settings: Sequence[Setting], comments: Sequence[str]) -> str:
    """Return statements."""
    lines = [f"-- {comment}" for comment in comments]
    lines += [f"ALTER SYSTEM SET {each.name} = {quoted(each.value)};" for each in settings]
    return "\n".join([*lines, "SELECT pg_catalog.pg_reload_conf();"])


def as_patroni(settings: Sequence[Setting], comments: Sequence[str]) -> str:
    """Return YAML for patronictl edit-config."""
    lines = [f"# {comment}" for comment in comments]
    lines += ["postgresql:", "  parameters:"]
    # A single-quoted scalar of YAML doubles its quotes, as SQL does.
    return "\n".join([*lines, *(f"    {each.name}: {quoted(each.value)}" for each in settings)])


FORMATS = {"postgresql.conf": as_conf, "patroni": as_patroni, "sql": as_sql}


@dataclass(frozen=True)
class Change:
    """What ALTER SYSTEM is to do to one setting.

    If `to` is None, it resets the setting.
    """

    name: str
    shown: str
    source: str
    # its value in postgresql.auto.conf before
    auto: str | None
    to: str | None
    # If somebody else has changed it since --apply, this is what pg_sweep had set.
    instead_of: str | None = None


@dataclass(frozen=True)
class Kept:
    """What --apply did to a setting: its value in postgresql.auto.conf before and since."""

    before: str | None
    set: str


def changes(wanted: Sequence[Setting], current: Mapping[str, Current]) -> tuple[Change, ...]:
    """Return what differs from what is wanted."""
    return tuple(
        Change(now.name, now.shown, now.source, now.auto, each.value)
        for each in wanted
        for now in (current[each.name],)
        if now.shown != each.value
    )


def kept_after(kept: Mapping[str, Kept], done: Sequence[Change]) -> dict[str, Kept]:
    """Return what is to be remembered once these changes are made.

    What there was before stays remembered when a value of our own is replaced by another one.
    """
    found = dict(kept)
    for change in done:
        assert change.to is not None
        earlier = kept.get(change.name)
        ours = earlier is not None and earlier.set == change.auto
        before = earlier.before if ours and earlier is not None else change.auto
        found[change.name] = Kept(before, change.to)
    return found


def undo(kept: Mapping[str, Kept], current: Mapping[str, Current]) -> tuple[Change, ...]:
    """Return what brings back what there was before."""
    found = []
    for name, was in kept.items():
        now = current[name]
        if now.auto == was.before:
            continue
        changed = was.set if now.auto != was.set else None
        found.append(Change(name, now.shown, now.source, now.auto, was.before, changed))
    return tuple(found)
