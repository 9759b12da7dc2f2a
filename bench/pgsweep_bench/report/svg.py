"""From a Vega-Lite specification to a plot inside a page: drawn here, no script in the page.

Vega-Lite is given data and fixed expressions only. Names of tables and labels never become
part of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from pgsweep.output.report.palette import variable

# The version of Vega-Lite that the plots were written for. vl-convert has several.
VL_VERSION = "5.20"
# The column of text on a wide screen, and that of a phone of 360 pixels.
WIDE_PX, NARROW_PX = 776, 326
FIT = {"type": "fit-x", "contains": "padding"}
SVG = "http://www.w3.org/2000/svg"

Spec = dict[str, Any]

CONFIG: Spec = {
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": variable("muted"),
        "titleColor": variable("muted"),
        "gridColor": variable("line"),
        "domainColor": variable("line"),
        "tickColor": variable("line"),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 6,
        "tickSize": 4,
    },
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": variable("ink"),
        "labelFontSize": 12,
        "labelLimit": 280,
        "symbolSize": 110,
        "symbolType": "square",
        "symbolStrokeWidth": 0,
        "columnPadding": 16,
        "offset": 10,
    },
    "text": {"fontSize": 13, "color": variable("ink")},
    "line": {"strokeWidth": 2, "strokeJoin": "round"},
}


def values_axis(largest: float) -> Spec:
    """Return how the numbers of an axis are written: 4,000 but 40k."""
    if largest < 10_000:
        return {"format": ",~f"}
    return {"labelExpr": "datum.value === 0 ? '0' : format(datum.value, '~s')"}


@dataclass(frozen=True)
class Plot:
    """A picture in two widths, of which the page shows the one that fits."""

    title: str
    description: str
    wide: Markup
    narrow: Markup


def draw(plan: Callable[[int], Spec], title: str, description: str, name: str) -> Plot:
    """Return the plot that `plan` specifies for a width in pixels. `name` is unique in the page."""
    wide, narrow = (
        _svg(plan(width), width, title, description, f"{name}-{suffix}")
        for width, suffix in ((WIDE_PX, "w"), (NARROW_PX, "n"))
    )
    return Plot(title, description, wide, narrow)


def _svg(spec: Spec, width: int, title: str, description: str, name: str) -> Markup:
    # Of the extra "report": Markdown does without.
    import vl_convert

    # Panels have widths of their own, and do not fit themselves to one for all.
    fit = {} if "vconcat" in spec else {"width": width, "autosize": FIT}
    whole = {
        "background": None,
        "padding": {"left": 1, "right": 1, "top": 4, "bottom": 2},
        **fit,
        "config": CONFIG,
        **spec,
    }
    text = vl_convert.vegalite_to_svg(whole, vl_version=VL_VERSION)
    return Markup(_tidy(text, title, description, name))


def _tidy(text: str, title: str, description: str, name: str) -> str:
    """Name the picture for those who cannot see it, give each mark a tooltip, drop the rest."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(text)
    for element in root.iter():
        label = element.attrib.pop("aria-label", None)
        if label and element.get("aria-roledescription") not in (None, "axis", "legend"):
            tooltip = ElementTree.Element(f"{{{SVG}}}title")
            tooltip.text = label
            element.insert(0, tooltip)
        for attribute in ("role", "aria-roledescription", "aria-hidden", "class", "pointer-events"):
            element.attrib.pop(attribute, None)
        # A page that allows no inline styles would complain about each of them.
        element.attrib.pop("style", None)
        if element.get("opacity") == "1":
            del element.attrib["opacity"]
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.get('id')}")
        for attribute, value in list(element.attrib.items()):
            if value.startswith("url(#"):
                element.set(attribute, value.replace("url(#", f"url(#{name}-"))
    _without_nothing(root)
    heading = ElementTree.Element(f"{{{SVG}}}title", {"id": f"{name}-title"})
    heading.text = title
    summary = ElementTree.Element(f"{{{SVG}}}desc", {"id": f"{name}-desc"})
    summary.text = description
    root.insert(0, summary)
    root.insert(0, heading)
    root.attrib.pop("version", None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    return _shorter(ElementTree.tostring(root, encoding="unicode"))


def _without_nothing(element: ElementTree.Element) -> None:
    """Remove paths that draw nothing. Vega makes several for each group."""
    for child in list(element):
        _without_nothing(child)
        tag = child.tag.rpartition("}")[2]
        invisible = tag == "path" and (
            child.get("display") == "none" or not (child.get("fill") or child.get("stroke"))
        )
        inherited = element.get("fill") not in (None, "none")
        if (invisible and not inherited) or (tag == "g" and not len(child)):
            element.remove(child)


def _shorter(text: str) -> str:
    """Cut numbers to a hundredth of a pixel."""
    return re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found.group()):.2f}", text)
