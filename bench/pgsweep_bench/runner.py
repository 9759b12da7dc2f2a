"""Runs experiments: each variant on a server of its own, one load at a time.

The unit is a piece: one repeat of one variant, or of all variants where they take turns. After
each piece the result is written. So whatever ends the run costs one piece at most.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from pgsweep import __version__
from pgsweep.base.errors import PgsweepError, ServerError, UsageError
from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep.tune.lab import progress
from pgsweep.tune.lab.progress import Reporter
from pgsweep.tune.lab.session import LabSession
from pgsweep_bench import experiments, store
from pgsweep_bench.lab import Lab, Measured, Turns
from pgsweep_bench.request import Plan, Request, expected_s, plan
from pgsweep_bench.result import Experiment, Machine, Result, Variant
from pgsweep_bench.scenario import EXTRA, NAMES, OFF, OURS, Scenario, VariantSpec, load
from pgsweep_bench.servers.host import BASE_SETTINGS, DATABASE, ExistingHost, Host, ThrowawayHost
from pgsweep_bench.servers.server import ThrowawayServer, extension_is_installed, pg_config_value

LIBRARY_SETTINGS = {"shared_preload_libraries": "pg_sweep", "sweep.mode": "act"}
LAUNCHER_TIMEOUT_S = 30
REFUSED = "SELECT lower(name) FROM pg_file_settings WHERE error IS NOT NULL"


@dataclass(frozen=True)
class Piece:
    """What is run, kept or lost as a whole."""

    plan: Plan
    pg_config: str
    # "15.20" where pg_config says "PostgreSQL 15.20 (Debian ...)"
    server_version: str
    variants: tuple[VariantSpec, ...]
    repeat: int

    @property
    def title(self) -> str:
        """Return what the progress shows."""
        several = len(self.variants) > 1
        how = "together" if self.plan.scenario.together else "by turns"
        names = how if several else self.variants[0].name
        repeat = f" #{self.repeat + 1}" if self.plan.repeats > 1 else ""
        return f"{self.plan.scenario.name} {names} on {self.server_version}{repeat}"


@dataclass(frozen=True)
class Outcome:
    """The result, and what could not be measured.

    The latter is pairs of an experiment and the reason.
    """

    result: Result
    failures: tuple[tuple[str, PgsweepError], ...]


def run(request: Request, scenarios: Callable[[str], Scenario] = load) -> Outcome:
    """Run all that is asked for.

    At any time the result so far is in request.output.
    """
    plans = [plan(scenarios(name), request) for name in request.names]
    _check(request, plans)
    if request.resume is not None:
        result = request.resume
    else:
        result = Result(__version__, _now(), machine(), ())
    pieces = [piece for one in plans for piece in pieces_of(one, request)]
    todo = [piece for piece in pieces if not _is_done(piece, result)]
    failures: dict[str, PgsweepError] = {}
    with progress.reporter(len(todo)) as reporter:
        if len(todo) < len(pieces):
            reporter.note(f"{len(pieces) - len(todo)} of {len(pieces)} pieces are there already")
        for piece in todo:
            name = piece.plan.scenario.name
            if name not in failures:
                reporter.begin(piece.title, expected_s(piece.plan, len(piece.variants)))
                began = _now()
                try:
                    found = _measure(piece, request, reporter)
                except PgsweepError as exc:
                    # The other experiments go on.
                    failures[name] = exc
                    reporter.note(f"{piece.title} failed: {exc.one_line()}")
                else:
                    result = _merge(result, piece, found, began)
                    store.save(result, request.output)
            reporter.end()
    return Outcome(result, tuple(failures.items()))


def pieces_of(plan: Plan, request: Request) -> Iterator[Piece]:
    """Yield the pieces of an experiment in their order."""
    at_once = plan.scenario.interleaved or plan.scenario.together
    groups = [plan.variants] if at_once else [(v,) for v in plan.variants]
    if request.dsn is not None:
        # What kind of server that is turns out when it is reached.
        groups = [(VariantSpec("existing", "existing server"),)]
    for repeat in range(plan.repeats):
        for pg_config in request.pg_configs[: 1 if request.dsn else None]:
            version = pg_config_value(pg_config, "--version").split()[1]
            for group in groups:
                yield Piece(plan, pg_config, version, group, repeat)


def _check(request: Request, plans: Sequence[Plan]) -> None:
    """Raise for what would fail only after minutes."""
    if not os.access(request.output.absolute().parent, os.W_OK):
        raise UsageError(f'cannot write into the folder of "{request.output}"')
    versions: dict[str, str] = {}
    for pg_config in request.pg_configs:
        version = pg_config_value(pg_config, "--version")
        if version in versions:
            raise UsageError(
                f'"{pg_config}" and "{versions[version]}" are both {version}',
                "Name each version once: a result tells them apart by it.",
            )
        versions[version] = pg_config
        if request.dsn is None and not extension_is_installed(pg_config):
            raise ServerError(
                f'extension "pg_sweep" is not installed in the PostgreSQL of "{pg_config}"',
                f"Run make install PG_CONFIG={pg_config} in pg_sweep's sources.",
            )
    for one in plans:
        experiments.load(one.scenario.name)
        if request.dsn is not None and not one.scenario.existing_server:
            raise UsageError(
                f'experiment "{one.scenario.name}" needs servers that it can set up itself',
                "Leave --dsn out: it makes throwaway servers.",
            )
    if request.dsn is not None and request.settings:
        raise UsageError(
            "the settings of an existing server are not changed", "Use --set without --dsn."
        )
    if request.settings:
        _check_settings(request, plans[0])


def _check_settings(request: Request, plan: Plan) -> None:
    """Raise if a server does not take what --set says.

    Otherwise that would show only after minutes.
    """
    ours = plan.scenario.variant(OURS)
    for pg_config in request.pg_configs:
        settings = {**settings_of(plan.scenario, ours), **request.settings}
        interrupts = Interrupts()
        with interrupts.installed(), ThrowawayServer(pg_config, settings, interrupts) as server:
            known = server.psql("postgres", "SELECT lower(name) FROM pg_settings").split()
            refused = server.psql("postgres", REFUSED).split()
        if interrupts.missed is not None:
            raise Interrupted(interrupts.missed)
        for name in request.settings:
            # A server starts with unknown names that have a dot, and with any values of them.
            if name.lower() not in known:
                raise UsageError(f'--set: there is no setting "{name}"')
            if name.lower() in refused:
                value = request.settings[name]
                raise UsageError(f'--set: invalid value for parameter "{name}": "{value}"')


def _is_done(piece: Piece, result: Result) -> bool:
    known = next((e for e in result.experiments if e.name == piece.plan.scenario.name), None)
    if known is None:
        return False
    return all(_repeats(_find(known, spec, piece)) > piece.repeat for spec in piece.variants)


def _find(experiment: Experiment, spec: VariantSpec, piece: Piece) -> Variant | None:
    for variant in experiment.variants:
        if (variant.name, variant.server_version) == (spec.name, piece.server_version):
            if variant.settings != settings_of(piece.plan.scenario, spec):
                raise UsageError(
                    f'variant "{spec.name}" of experiment "{experiment.name}" was begun with '
                    "other settings",
                    "Resume with the same --set and release, or begin anew without --resume.",
                )
            return variant
    return None


def _repeats(variant: Variant | None) -> int:
    return len(variant.raw.get("repeats", ())) if variant is not None else 0


def settings_of(scenario: Scenario, spec: VariantSpec) -> dict[str, str]:
    """Return a variant's settings as the result tells them."""
    library = LIBRARY_SETTINGS if spec.library else {}
    return {**scenario.settings, **library, **spec.settings}


# ---- one piece


def _measure(piece: Piece, request: Request, reporter: Reporter) -> list[tuple[Variant, Measured]]:
    interrupts = Interrupts()
    with interrupts.installed(), ExitStack() as stack:
        labs = []
        for spec in piece.variants:
            reporter.stage(f"{spec.name}: connecting" if request.dsn else f"{spec.name}: starting")
            if request.dsn is not None:
                labs.append(
                    stack.enter_context(_existing(request.dsn, piece, interrupts, reporter))
                )
            else:
                labs.append(stack.enter_context(_throwaway(piece, spec, interrupts, reporter)))
        measured = _take_turns(piece, labs, stack)
        found = [
            (_variant(piece, lab, request), one) for lab, one in zip(labs, measured, strict=True)
        ]
    # The clean-up is never broken off. A signal that came during it is meant for the whole run.
    if interrupts.missed is not None:
        raise Interrupted(interrupts.missed)
    return found


def _take_turns(piece: Piece, labs: Sequence[Lab], stack: ExitStack) -> list[Measured]:
    measure = experiments.load(piece.plan.scenario.name)
    measured: dict[int, Measured] = {}
    turns = {}
    for i, lab in enumerate(labs):
        found = measure(lab, piece.plan.options)
        if isinstance(found, Measured):
            measured[i] = found
        else:
            turns[i] = stack.enter_context(closing(found))
    order = list(turns)
    while order:
        for i in list(order):
            done = _turn(turns[i])
            if done is not None:
                measured[i] = done
                order.remove(i)
        # The order is A B, B A, A B and so on. So what drifts falls on both alike.
        order.reverse()
    return [measured[i] for i in range(len(labs))]


def _turn(turns: Turns) -> Measured | None:
    """Let a variant have its turn.

    Return what it measured if that was the last turn.
    """
    try:
        next(turns)
    except StopIteration as stop:
        measured = stop.value
        assert isinstance(measured, Measured)
        return measured
    return None


@contextmanager
def _throwaway(
    piece: Piece, spec: VariantSpec, interrupts: Interrupts, reporter: Reporter
) -> Iterator[Lab]:
    settings = {**BASE_SETTINGS, **settings_of(piece.plan.scenario, spec)}
    with ThrowawayServer(piece.pg_config, settings, interrupts) as server:
        server.psql("postgres", f"CREATE DATABASE {DATABASE}")
        host: Host = ThrowawayHost(server)
        with closing(Lab(host, spec, reporter)) as lab:
            if lab.library:
                _create_extension(lab)
            yield lab


@contextmanager
def _existing(dsn: str, piece: Piece, interrupts: Interrupts, reporter: Reporter) -> Iterator[Lab]:
    with ExistingHost(dsn, piece.pg_config, interrupts) as host:
        with LabSession(host.parameters(DATABASE)) as session:
            spec, library = _what_it_is(session)
        with closing(Lab(host, spec, reporter, library)) as lab:
            if library:
                _create_extension(lab)
            yield lab


def _what_it_is(session: LabSession) -> tuple[VariantSpec, bool]:
    """Return as which variant an existing server counts, and whether it has the library."""
    mode = session.value("SELECT pg_catalog.current_setting('sweep.mode', true)")
    autovacuum = session.value("SELECT pg_catalog.current_setting('autovacuum')")
    preloaded = session.value("SELECT pg_catalog.current_setting('shared_preload_libraries')")
    library = "pg_sweep" in str(preloaded)
    if library and mode == "act":
        return VariantSpec(OURS, "existing server, pg_sweep acts", library=True), True
    name = "stock" if autovacuum == "on" else OFF
    mode_text = f", pg_sweep {mode}" if library else ""
    return VariantSpec(name, f"existing server, autovacuum {autovacuum}{mode_text}"), library


def _create_extension(lab: Lab) -> None:
    lab.run("CREATE EXTENSION IF NOT EXISTS pg_sweep")
    lab.wait_for(
        lambda: bool(lab.value("SELECT launcher_pid IS NOT NULL FROM sweep.status")),
        "pg_sweep's launcher",
        LAUNCHER_TIMEOUT_S,
    )


def _variant(piece: Piece, lab: Lab, request: Request) -> Variant:
    """Return the variant without its samples."""
    if request.dsn is None:
        settings = settings_of(piece.plan.scenario, lab.variant)
        version = piece.server_version
    else:
        names = [*piece.plan.scenario.settings, "autovacuum", "shared_preload_libraries"]
        sql = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY (%s)"
        found = lab.rows(f"{sql} OR name LIKE 'sweep.%%' ORDER BY name", names)
        settings = {row["name"]: row["setting"] for row in found}
        version = str(lab.value("SELECT current_setting('server_version')")).split()[0]
    return Variant(lab.variant.name, lab.variant.label, lab.major, version, settings, samples={})


# ---- the result


def _merge(
    result: Result, piece: Piece, found: Sequence[tuple[Variant, Measured]], began: str
) -> Result:
    name = piece.plan.scenario.name
    known = next((e for e in result.experiments if e.name == name), None) or _experiment(
        piece.plan, began
    )
    variants = list(known.variants)
    for variant, measured in found:
        key = (variant.name, variant.server_version)
        places = [i for i, v in enumerate(variants) if (v.name, v.server_version) == key]
        if places:
            variants[places[0]] = _add(variants[places[0]], measured)
        else:
            variants.append(_add(variant, measured))
    merged = replace(known, variants=tuple(variants), ended_at=_now())
    others = [e for e in result.experiments if e.name != name]
    ordered = sorted((*others, merged), key=lambda e: (*NAMES, *EXTRA).index(e.name))
    return replace(result, experiments=tuple(ordered))


def _add(variant: Variant, measured: Measured) -> Variant:
    """Return the variant with one more repeat. Its plots are those of the first."""
    samples = dict(variant.samples)
    for name, values in measured.samples.items():
        samples[name] = (*samples.get(name, ()), *values)
    repeats = [*variant.raw.get("repeats", ()), measured.raw]
    notes = (*variant.notes, *(note for note in measured.notes if note not in variant.notes))
    return replace(
        variant,
        samples=samples,
        series=variant.series or tuple(measured.series),
        notes=notes,
        raw={**variant.raw, "repeats": repeats},
    )


def _experiment(plan: Plan, began: str) -> Experiment:
    scenario = plan.scenario
    return Experiment(
        name=scenario.name,
        seed=scenario.seed,
        title=scenario.title,
        hypothesis=scenario.hypothesis,
        metrics=scenario.metrics,
        said=scenario.said,
        variants=(),
        scale=plan.options.scale,
        seconds=plan.options.seconds,
        started_at=began,
        ended_at=began,
        against=plan.against,
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def machine() -> Machine:
    """Return what this machine is, without its name."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return Machine(
        cpus=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        memory_mb=pages * size // (1 << 20),
        kernel=f"{platform.system()} {platform.release()}",
        cpu_model=model,
    )
