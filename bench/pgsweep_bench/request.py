"""What a call of `run` asks for, and what follows from it for each experiment.

All of it is pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pgsweep.base.errors import UsageError
from pgsweep_bench.lab import Options
from pgsweep_bench.result import Experiment, Result
from pgsweep_bench.scenario import EXTRA, NAMES, OFF, OURS, Scenario, Size, VariantSpec

STOCK = "stock"
ALL = "all"
# The server is made and tables are filled on top of the load. This is for the progress bar only.
SETUP_S = 10.0


@dataclass(frozen=True)
class Request:
    """The command line."""

    names: tuple[str, ...]
    output: Path
    pg_configs: tuple[str, ...]
    scale: float | None = None
    seconds: float | None = None
    repeats: int | None = None
    smoke: bool = False
    against: str = STOCK
    settings: Mapping[str, str] = field(default_factory=dict)
    dsn: str | None = None
    resume: Result | None = None


@dataclass(frozen=True)
class Plan:
    """One experiment as it will be run."""

    scenario: Scenario
    variants: tuple[VariantSpec, ...]
    options: Options
    repeats: int
    against: str


def names_of(given: Sequence[str]) -> tuple[str, ...]:
    """Return the experiments that are meant, in their order, each once."""
    for name in given:
        if name not in (*NAMES, *EXTRA, ALL):
            raise UsageError(
                f'there is no experiment "{name}"', f"Name {', '.join((*NAMES, *EXTRA))} or {ALL}."
            )
    usual = tuple(name for name in NAMES if name in given or ALL in given)
    return usual + tuple(name for name in EXTRA if name in given)


def settings_of(given: Sequence[str]) -> dict[str, str]:
    """Return what --set says, by name."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                f'--set "{text}" is not NAME=VALUE', "Write for example sweep.min_interval=600."
            )
        found[name.strip()] = value.strip()
    return found


def plan(scenario: Scenario, request: Request) -> Plan:
    """Return what to run of a scenario."""
    size = _size(scenario, request)
    before = earlier(request, scenario.name)
    if before is not None:
        _check_same(before, size, request)
        size = replace(size, seconds=before.seconds, scale=before.scale)
    return Plan(
        scenario=scenario,
        variants=_variants(scenario, request),
        options=Options(seconds=size.seconds, scale=size.scale),
        repeats=size.repeats,
        against=request.against,
    )


def earlier(request: Request, name: str) -> Experiment | None:
    """Return what the resumed file has of an experiment."""
    if request.resume is None:
        return None
    return next((found for found in request.resume.experiments if found.name == name), None)


def _size(scenario: Scenario, request: Request) -> Size:
    size = scenario.smoke if request.smoke else scenario.defaults
    return Size(
        seconds=request.seconds or size.seconds,
        scale=request.scale or size.scale,
        repeats=request.repeats or size.repeats,
    )


def _check_same(before: Experiment, size: Size, request: Request) -> None:
    """Raise if what was asked for explicitly is not what the file to resume holds."""
    asked = (
        ("--seconds", request.seconds or (size.seconds if request.smoke else None), before.seconds),
        ("--scale", request.scale or (size.scale if request.smoke else None), before.scale),
    )
    for option, now, then in asked:
        if now is not None and now != then:
            raise UsageError(
                f'experiment "{before.name}" was begun with {option} {then:g}, not {now:g}',
                f"Resume it with {option} {then:g}, or begin anew without --resume.",
            )
    if before.against != request.against:
        raise UsageError(
            f'experiment "{before.name}" was begun with --against {before.against}',
            "Resume it with the same option, or begin anew without --resume.",
        )


def _variants(scenario: Scenario, request: Request) -> tuple[VariantSpec, ...]:
    chosen = list(scenario.variants)
    if request.against == OFF:
        if all(variant.name != OFF for variant in chosen):
            off = VariantSpec(OFF, "autovacuum off", settings={"autovacuum": "off"})
            chosen = [off if variant.name == STOCK else variant for variant in chosen]
        if all(variant.name != OFF for variant in chosen):
            chosen.insert(0, off)
    elif all(variant.name != request.against for variant in chosen):
        raise UsageError(f'experiment "{scenario.name}" has no variant "{request.against}"')
    return tuple(_with_settings(variant, request.settings) for variant in chosen)


def _with_settings(variant: VariantSpec, settings: Mapping[str, str]) -> VariantSpec:
    """Return our variant with what --set adds. Its label tells what that is."""
    if variant.name != OURS or not settings:
        return variant
    told = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return replace(
        variant,
        label=f"{variant.label}, {told}",
        settings={**variant.settings, **settings},
    )


def expected_s(plan: Plan, variants: int) -> float:
    """Return about how long so many variants take, for the progress bar."""
    loads = 1 if plan.scenario.together else variants
    return plan.options.seconds * loads + SETUP_S * variants
