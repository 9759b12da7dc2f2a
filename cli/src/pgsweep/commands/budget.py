"""`pgsweep budget`: what vacuums may use, what they use, and what the governor decided."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep import compute, db
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.page import Page, show
from pgsweep.render import as_json, budgets


@with_target
def budget(
    target: db.Target,
    steps: Annotated[
        int, typer.Option("--steps", min=0, max=256, help="Steps of the governor to read.")
    ] = 240,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show the limits of vacuums, which of them binds, and the governor's last decisions.

    Steps that follow each other with the same decision and reason are one line.
    """

    def look(session: db.Session) -> Page:
        session.require_extension()
        limits = session.budget()
        taken = session.governor(steps)
        return Page(
            lines=partial(budgets.lines, limits, compute.stretches(taken)),
            document=partial(as_json.budget, limits, taken),
        )

    return show(target, look, json, watch)
