"""From what a report says to one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from pgsweep import __version__
from pgsweep.output.report import charts, palette

PACKAGE = charts.PACKAGE


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
    return palette.style() + charts.file("templates/style.css") + charts.style()


def _hash(text: str) -> str:
    """Return how a policy names a style sheet or script of the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def render(
    template: str,
    title: str,
    lead: str,
    *,
    package: str = PACKAGE,
    script: str = "",
    **values: Any,  # noqa: ANN401
) -> str:
    """Return the page of a template of `package`.

    Its policy allows its own style sheet and `script`, by hash, and nothing else.
    """
    style = _style()
    return (
        _environment(package)
        .get_template(template)
        .render(
            title=title,
            lead=lead,
            style=Markup(style),
            style_hash=_hash(style),
            script=Markup(script),
            script_hash=_hash(script),
            release=__version__,
            made_at=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
            **values,
        )
    )
