"""`pgsweep tune`: from a reclaim rate and shares of the machine to a verified setting."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated

import typer

from pgsweep.base import errors, output
from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep.commands.options import Json, with_target
from pgsweep.model import RunFilter
from pgsweep.output.terminal import question, tune as render
from pgsweep.source import db
from pgsweep.source.core import views as core_views
from pgsweep.tune import change, history, measure, settings, targets as wanted
from pgsweep.tune.advice import Advice, Verdict, advise
from pgsweep.tune.answer import Answer
from pgsweep.tune.experiment import Experiment
from pgsweep.tune.lab.progress import reporter
from pgsweep.tune.model import Measured
from pgsweep.tune.plan import Plan
from pgsweep.tune.scratch import NAME, Scratch
from pgsweep.tune.targets import Targets

DEFAULT_LIMITS = "200,85,50,35"
DEFAULT_DELAY_MS = 2.0


class Format(str, Enum):
    """How the settings are printed."""

    CONF = "postgresql.conf"
    PATRONI = "patroni"
    SQL = "sql"


class Form(str, Enum):
    """Whose settings are recommended."""

    PG_SWEEP = "pg_sweep"
    CORE = "core"


Rate = Annotated[
    str | None,
    typer.Option(
        "--reclaim-rate", metavar="ROWS", help="Dead rows a second to keep up with: 5000."
    ),
]
Device = Annotated[
    str | None,
    typer.Option("--device", metavar="SHARE", help="At most so busy may the disk be: 20%."),
]
Cpu = Annotated[
    str | None,
    typer.Option("--cpu", metavar="SHARE", help="At most so much of one processor: 20%."),
]
Scale = Annotated[
    float,
    typer.Option("--scale", min=0.01, help="Size of the tables. 200 is the seed's."),
]
Limits = Annotated[str, typer.Option("--limits", metavar="LIST", help="Cost limits to measure.")]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, max=99, help="How often each limit is measured.")
]
WantedForm = Annotated[
    Form | None,
    typer.Option(
        "--for",
        help="pg_sweep's budget or core's cost limit. Without it, what the server knows.",
        show_default=False,
    ),
]
WantedFormat = Annotated[
    Format | None,
    typer.Option("--format", help="Print only the settings.", show_default=False),
]


@with_target
def tune(
    target: db.Target,
    reclaim_rate: Rate = None,
    device: Device = None,
    cpu: Cpu = None,
    do_experiment: Annotated[
        bool, typer.Option("--experiment", help="Measure, in a scratch database: a real load.")
    ] = False,
    from_history: Annotated[
        bool, typer.Option("--from-history", help="Reckon from sweep.runs: no load at all.")
    ] = False,
    scale: Scale = 1.0,
    limits: Limits = DEFAULT_LIMITS,
    repeats: Repeats = 3,
    form: WantedForm = None,
    output_format: WantedFormat = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Set them by ALTER SYSTEM, after a question.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Restore what was set before --apply.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> int:
    """Find the setting that keeps up with dead rows within a share of the machine, and verify it.

    --experiment creates the scratch databases pgsweep_tune and pgsweep_tune_run and drops them.
    """
    if undo:
        if apply or do_experiment or from_history or output_format or json:
            raise errors.UsageError(
                "--undo goes with no other option but --yes", "It measures nothing."
            )
        return _undo(target, yes)
    _check_usage(do_experiment, from_history, output_format, apply, yes, json)
    asked = wanted.targets(reclaim_rate, device, cpu)
    at = wanted.limits(limits)
    with db.connect(target) as session:
        chosen = _form(session, form)
        plan = Plan(at, _delay(session), scale, repeats)
        known = session.settings_known(settings.BUDGET)
        floor = _floor(session)
        if apply:
            # This comes before anything is measured. An hour's work must not end in a refusal.
            names = settings.BUDGET if chosen is Form.PG_SWEEP else (settings.LIMIT, settings.DELAY)
            change.require_possible(
                session, [n for n in names if n in known or chosen is Form.CORE]
            )
        found = _experiment(session, asked, plan) if do_experiment else _past(session, asked, plan)
    answer = _answer(asked, found, chosen, known, floor)
    _show(answer, output_format, json)
    if apply:
        # An experiment may take longer than an idle connection lives.
        with session.again() as session:
            _apply(session, answer, yes)
    return 0 if answer.kept else 1


Found = tuple[Measured, Advice, Verdict | None]


def _floor(session: db.Session) -> float | None:
    """Return the rate that vacuums keep however many users wait, where the server knows that."""
    if not session.settings_known((settings.FLOOR,)):
        return None
    return float(session.setting(settings.FLOOR))


def _answer(
    asked: Targets, found: Found, form: Form, known: Collection[str], floor: float | None
) -> Answer:
    measured, advice, verdict = found
    point = verdict.point if verdict else advice.expected
    wanted = (
        settings.budget(point, asked, known)
        if form is Form.PG_SWEEP
        else settings.plain(advice.limit, measured.delay_ms)
    )
    return Answer(
        targets=asked,
        measured=measured,
        advice=advice,
        form=form.value,
        settings=wanted,
        verdict=verdict,
        warnings=settings.below_floor(wanted, floor),
    )


def _check_usage(
    do_experiment: bool,
    from_history: bool,
    output_format: Format | None,
    apply: bool,
    yes: bool,
    json: bool,
) -> None:
    if do_experiment == from_history:
        raise errors.UsageError(
            "name one of --experiment and --from-history",
            "The first measures in a scratch database, the second reckons from sweep.runs.",
        )
    if json and output_format:
        raise errors.UsageError("--json and --format are two outputs", "Name one of them.")
    if yes and not apply:
        raise errors.UsageError("--yes answers the question of --apply or --undo", "Name one.")
    if apply:
        question.require_answer(yes, "--apply")


def _form(session: db.Session, asked: Form | None) -> Form:
    """Return whose settings are recommended."""
    knows = settings.knows_budget(session.settings_known(settings.BUDGET))
    if asked is Form.PG_SWEEP and not knows:
        raise errors.UsageError(
            f"this server does not know {settings.WRITE}",
            "pg_sweep is not loaded there, or is too old. Use --for core.",
        )
    return asked or (Form.PG_SWEEP if knows else Form.CORE)


def _delay(session: db.Session) -> float:
    """Return the nap of autovacuum on this server in ms, or core's default if it never naps."""
    found = core_views.settings(session)
    for name in (settings.DELAY, "vacuum_cost_delay"):
        if float(found.get(name, -1)) >= 0:
            return float(found[name]) or DEFAULT_DELAY_MS
    return DEFAULT_DELAY_MS


def _past(session: db.Session, asked: Targets, plan: Plan) -> Found:
    session.require_extension()
    runs = session.runs(RunFilter(limit=None, outcome="done"))
    block_size = int(session.setting("block_size"))
    measured = history.measured(runs, plan.limits, plan.delay_ms, block_size)
    return measured, advise(measured, asked), None


def _experiment(session: db.Session, asked: Targets, plan: Plan) -> Found:
    interrupts = Interrupts()
    left: list[errors.QueryError] = []
    try:
        with (
            interrupts.installed(),
            reporter(plan.pieces) as progress,
            Scratch(
                lambda dbname: session.parameters_to_write(dbname, NAME), interrupts, left
            ) as scratch,
        ):
            experiment = Experiment.on(scratch, progress)
            return measure.run(experiment, asked, plan, progress)
    except Interrupted as exc:
        output.note("interrupted" if left else "interrupted, the scratch databases are dropped")
        raise typer.Exit(exc.exit_code) from exc
    finally:
        output.notes(failure.one_line() for failure in left)


def _show(answer: Answer, wanted_format: Format | None, json: bool) -> None:
    if json:
        output.document(render.document(answer))
    elif wanted_format is not None:
        write = settings.FORMATS[wanted_format.value]
        output.document(write(answer.settings, render.comments(answer)))
        output.notes((*answer.advice.conflicts, *answer.warnings))
    else:
        output.lines(render.lines(answer, output.width()))


def _apply(session: db.Session, answer: Answer, yes: bool) -> None:
    identifier = change.require_possible(session, [each.name for each in answer.settings])
    found = change.planned(session, answer.settings)
    if not found:
        output.note("nothing to apply: the server has these settings")
        return
    output.notes(line.plain for line in render.change_lines(found, "to change"))
    if yes and not answer.kept:
        raise errors.UsageError(
            "not applied: what was asked cannot all be had",
            "Change what is asked, or apply it without --yes.",
        )
    if not yes and not question.confirmed("Apply?"):
        output.note("not applied")
        return
    with _uninterrupted():
        file = change.apply(session, identifier, found)
    output.note(f"applied. --undo restores what there was, which is kept in {file}")


def _undo(target: db.Target, yes: bool) -> int:
    question.require_answer(yes, "--undo")
    with db.connect(target) as session:
        identifier = change.require_possible(session, ())
        names, found = change.to_undo(session, identifier)
        change.require_possible(session, names)
        output.notes(line.plain for line in render.change_lines(found, "to restore"))
        if yes and any(each.instead_of is not None for each in found):
            raise errors.UsageError(
                "not restored: somebody has changed it since", "Undo it without --yes, or by hand."
            )
        if found and not yes and not question.confirmed("Restore?"):
            output.note("not restored")
            return 1
        with _uninterrupted():
            change.undo(session, identifier, found)
    output.note("restored" if found else "all is as it was, and is forgotten")
    return 0


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back. Between the file and the server's settings nothing may be lost."""
    interrupts = Interrupts()
    try:
        with interrupts.installed(), interrupts.held():
            yield
    except Interrupted as exc:
        raise typer.Exit(exc.exit_code) from exc
