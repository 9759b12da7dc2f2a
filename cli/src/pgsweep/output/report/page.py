"""From what a report says to one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from pgsweep import __version__
from pgsweep.output.report import palette

PACKAGE = "pgsweep.output.report"


@cache
def _environment(package: str) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(name, "templates") for name in (package, PACKAGE)]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _style() -> str:
    sheet = resources.files(PACKAGE).joinpath("templates/style.css").read_text()
    return palette.style() + sheet


def render(template: str, title: str, lead: str, *, package: str = PACKAGE, **values: Any) -> str:  # noqa: ANN401
    """Return the page of a template of `package`.

    Its policy allows its own style sheet, by hash, and nothing else.
    """
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment(package)
        .get_template(template)
        .render(
            title=title,
            lead=lead,
            style=Markup(style),
            style_hash=f"sha256-{digest}",
            release=__version__,
            made_at=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
            **values,
        )
    )
