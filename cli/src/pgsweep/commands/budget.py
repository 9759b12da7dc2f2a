"""`pgsweep budget`: what vacuums may use, what they use, and what the governor decided."""

from __future__ import annotations

from typing import Annotated

import typer

from pgsweep import compute, db, output
from pgsweep.commands.options import Json, with_target
from pgsweep.render import as_json, budgets


@with_target
def budget(
    target: db.Target,
    steps: Annotated[
        int, typer.Option("--steps", min=0, max=256, help="Steps of the governor to read.")
    ] = 240,
    json: Json = False,
) -> int:
    """Show the limits of vacuums, which of them binds, and the governor's last decisions.

    Steps that follow each other with the same decision and reason are one line.
    """
    with db.connect(target) as session:
        session.require_extension()
        limits = session.budget()
        taken = session.governor(steps)
    if json:
        output.document(as_json.budget(limits, taken))
        return 0
    width = output.width()
    output.lines(budgets.limit_lines(limits, width))
    output.lines(budgets.step_lines(compute.stretches(taken), width))
    return 0
