"""Reports in a real browser: on a phone and on a desk, in the light and in the dark.

Run when $PG_SWEEP_BROWSER is "required": they take minutes.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser
import results
import samples
from pgsweep.output.report import live_page
from pgsweep_bench.report import model as bench_model, page as bench_page
from test_day import a_day
from test_report_live import day, run

PHONE, DESK = 360, 1280
REQUIRED = os.environ.get("PG_SWEEP_BROWSER") == "required"

pytestmark = pytest.mark.skipif(
    not REQUIRED,
    reason="NOT TESTED: reports in a browser: they need PG_SWEEP_BROWSER=required",
)

# For each plot that is shown: how many marks of some size it has, and whether it is inside the
# page.
PLOTS = """
[...document.querySelectorAll('figure.plot')].map(figure => {
  const svg = [...figure.querySelectorAll('svg')].filter(svg => svg.getClientRects().length);
  const marks = svg.flatMap(svg => [...svg.querySelectorAll('path, line')]).filter(mark => {
    const box = mark.getBoundingClientRect(), style = getComputedStyle(mark);
    return box.width + box.height > 0 && (style.fill !== 'none' || style.stroke !== 'none');
  });
  const box = svg[0]?.getBoundingClientRect();
  const texts = svg.flatMap(svg => [...svg.querySelectorAll('text')]);
  return {
    folded: !!figure.closest('details:not([open])'), shown: svg.length, marks: marks.length,
    width: box?.width, height: box?.height, name: svg[0]?.querySelector('title').textContent,
    right: Math.max(0, ...texts.map(text => text.getBoundingClientRect().right)),
    colours: [...new Set(marks.map(mark => getComputedStyle(mark).fill))],
    smallest: Math.min(...texts.map(text => text.getBoundingClientRect().height)),
  };
})
"""


# For each figure of the live page: what is drawn on its canvas, and whether it is inside the page.
CHARTS = """
[...document.querySelectorAll('figure.plot')].map(figure => {
  const canvas = figure.querySelector('canvas'), svg = figure.querySelector('.shares svg');
  const box = (canvas ?? svg).getBoundingClientRect();
  const pixels = canvas?.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return {
    kind: figure.dataset.chart ?? 'shares', width: box.width, right: box.right,
    colours: pixels ? new Set(new Uint32Array(pixels.buffer)).size : 0,
    bars: figure.querySelectorAll('.shares rect').length,
    rows: figure.querySelectorAll('details tbody tr').length,
  };
})
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    path = browser.find()
    if path is None:
        pytest.fail("$PG_SWEEP_BROWSER is required, and no chromium or google-chrome is here")
    with browser.Browser(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report of two results, that of the experiment day, and that of a server's last day."""
    folder = tmp_path_factory.mktemp("pages")
    first = results.result(results.experiment(), results.experiment("cost"))
    second = results.result(results.experiment(), started_at="2026-11-21T10:00:00+00:00")
    live = day(
        runs=tuple(run(i * 13, 400, relname=f"t{i % 7}", blks_read=i * 999) for i in range(99)),
        progress=samples.snapshot().progress,
        blockers=(samples.blocker(),),
    )
    texts = {
        "bench": bench_page.html(bench_model.build([first, second])),
        "day": bench_page.html(bench_model.build([results.result(a_day())])),
        "live": live_page.html(live),
    }
    files = {name: folder / f"{name}.html" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    return files


def colours(png: Path) -> int:
    """Return how many different bytes the rows of a PNG have, which is 1 for an empty picture."""
    data, position, packed = png.read_bytes(), 8, b""
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        if data[position + 4 : position + 8] == b"IDAT":
            packed += data[position + 8 : position + 8 + length]
        position += length + 12
    return len(set(zlib.decompress(packed)))


@pytest.mark.parametrize(
    ("width", "dark"),
    [(PHONE, False), (DESK, False), (PHONE, True)],
    ids=["phone", "desk", "phone-dark"],
)
@pytest.mark.parametrize(("name", "plots"), [("bench", 4), ("day", 2)])
def test_page(
    chromium: browser.Browser,
    pages: dict[str, Path],
    tmp_path: Path,
    name: str,
    plots: int,
    width: int,
    dark: bool,
) -> None:
    seen = chromium.open(pages[name], width, dark=dark)
    assert seen.complaints == []
    assert seen.requests == [pages[name].as_uri()]
    root = "document.documentElement"
    assert chromium.evaluate(f"{root}.scrollWidth") == width
    found: list[dict[str, Any]] = chromium.evaluate(PLOTS)
    assert len(found) == plots
    for plot in found:
        assert plot["shown"] == 1, plot
        assert plot["marks"] > 1, plot
        assert plot["width"] > 0.8 * min(width, 840) - 60, plot
        assert plot["height"] > 80, plot
        assert plot["right"] <= width, plot
        assert plot["smallest"] >= 10, plot
        assert plot["name"], plot
    background = chromium.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 26)" if dark else "rgb(251, 251, 250)")
    picture = tmp_path / "picture.png"
    chromium.screenshot(picture)
    assert colours(picture) > 30


@pytest.mark.parametrize(
    ("width", "dark"),
    [(PHONE, False), (DESK, False), (PHONE, True)],
    ids=["phone", "desk", "phone-dark"],
)
def test_charts(chromium: browser.Browser, pages: dict[str, Path], width: int, dark: bool) -> None:
    seen = chromium.open(pages["live"], width, dark=dark)
    assert seen.complaints == []
    assert seen.requests == [pages["live"].as_uri()]
    assert chromium.evaluate("document.documentElement.scrollWidth") == width
    found: list[dict[str, Any]] = chromium.evaluate(CHARTS)
    assert [chart["kind"] for chart in found] == ["timeline", "lines", "shares"]
    for chart in found:
        assert chart["width"] > 0.8 * min(width, 840) - 60, chart
        assert chart["right"] <= width, chart
        assert chart["colours"] > 5 or chart["bars"] > 5, chart
        assert chart["rows"] > 3 or chart["kind"] == "shares", chart
    # Over a bar it says what it is.
    said = chromium.evaluate("""(() => {
      const figure = document.querySelector('figure[data-chart=timeline]');
      const over = figure.querySelector('.u-over'), box = over.getBoundingClientRect();
      for (let x = 1; x < box.width; x += 2) {
        const at = {clientX: box.left + x, clientY: box.top + 27, bubbles: true};
        over.dispatchEvent(new MouseEvent('mouseenter', at));
        over.dispatchEvent(new MouseEvent('mousemove', at));
        const about = figure.querySelector('.about').textContent;
        if (about) return about;
      }
      return '';
    })()""")
    assert " to " in said


@pytest.mark.parametrize("width", [PHONE, DESK], ids=["phone", "desk"])
def test_better_and_worse_stand_side_by_side(
    chromium: browser.Browser, pages: dict[str, Path], width: int
) -> None:
    """On a wide screen better is at the left of worse. On a narrow one worse comes first."""
    chromium.open(pages["bench"], width)
    better, worse = (
        chromium.evaluate(
            f"document.querySelector('.side.{side}').getBoundingClientRect().toJSON()"
        )
        for side in ("better", "worse")
    )
    if width == DESK:
        assert better["top"] == worse["top"]
        assert better["right"] <= worse["left"]
    else:
        assert better["left"] == worse["left"]
        assert worse["bottom"] <= better["top"]


def test_the_policy_holds(chromium: browser.Browser, pages: dict[str, Path]) -> None:
    """A violation is seen as a complaint. Otherwise the test above could not fail."""
    file = pages["bench"].with_name("bad.html")
    bad = '<script>console.log(1)</script><img src="https://example.invalid/x.png">'
    file.write_text(pages["bench"].read_text().replace("<main>", f"<main>{bad}"))
    seen = chromium.open(file, DESK)
    assert any("script-src" in complaint for complaint in seen.complaints)
    assert any("img-src" in complaint for complaint in seen.complaints)
