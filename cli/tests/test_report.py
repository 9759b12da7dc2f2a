"""Reports of made-up results: sentences, tables, the page's safety."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import results
from conftest import Pgsweep
from pgsweep.output.report import palette
from pgsweep_bench import store, verdict
from pgsweep_bench.report import markdown, model as bench_model, page as bench_page, plots, words
from pgsweep_bench.result import Result

WORSENED = {**results.SAMPLES["sweep"], "freeze": (70000.0, 71000.0), "wal": (200.0,)}


def later() -> Result:
    """Return a second result in which one figure became worse, and one better."""
    changed = results.variant("sweep", samples=WORSENED)
    return results.result(
        results.experiment(variants=(results.variant("stock"), changed)),
        started_at="2026-11-21T10:00:00+00:00",
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    store.save(results.result(), path)
    return path


def test_losses_come_first() -> None:
    report = bench_model.build([results.result()])
    counter, time = report.tallies
    assert counter.text == "Of 5 counter-based figures: worse in 1, same in 1, better in 3."
    assert time.text == "Of 1 timing: worse in 0, same in 1, better in 0."
    (section,) = report.sections
    assert [row.judgement for row in section.rows] == [
        *("worse", "better", "better", "better", "same", "same", "info")
    ]
    assert section.losses == (
        "WAL written by vacuums: 312 MB with pg_sweep, 240 MB for stock: 30 % more.",
    )
    assert section.outcome == "1 of 6 figures is worse with pg_sweep:"


def test_columns_are_ours_the_other_and_the_rest() -> None:
    (section,) = bench_model.build([results.result()]).sections
    assert [v.name for v in section.variants] == ["sweep", "stock", "stock_naptime_1s"]
    removed = next(row for row in section.rows if row.metric.name == "removed")
    assert removed.said is not None
    assert removed.said.values == ("stock 13,644", "pg_sweep 32,545")
    assert removed.said.remarks == ("on 8 cores, limit 200",)
    assert removed.cells[2] is None


def test_several_versions_have_a_section_each() -> None:
    both = tuple(results.variant(n, major) for major in (17, 15) for n in ("stock", "sweep"))
    report = bench_model.build([results.result(results.experiment(variants=both))])
    assert [section.version for section in report.sections] == ["15.4", "17.4"]
    assert report.tallies[0].judged == 10
    assert len({section.anchor for section in report.sections}) == 2


def test_changes_since_the_first_result() -> None:
    (since,) = bench_model.build([results.result(), later()]).since
    assert [(c.label, c.judgement) for c in since.changes] == [
        ("Unfrozen pages after the load", "worse"),
        ("WAL written by vacuums", "better"),
    ]
    assert "1 became worse, 4 stayed the same, 1 became better" in since.text
    assert since.same_machine
    assert not any(change.other_too for change in since.changes)


def test_different_experiments_are_put_together() -> None:
    report = bench_model.build(
        [results.result(), results.result(results.experiment("cost", metrics=results.METRICS[:2]))]
    )
    assert [section.anchor for section in report.sections] == ["insert", "cost"]
    assert report.since == ()


def test_without_ours_nothing_is_judged() -> None:
    alone = results.result(results.experiment(variants=(results.variant("stock"),)))
    report = bench_model.build([alone])
    assert not any(tally.judged for tally in report.tallies)
    assert "Nothing could be compared here" in bench_page.html(report)
    assert "not measured" not in markdown.results(report).split("insert")[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (41237.4, "41,237"),
        (870.0, "870"),
        (312.4, "312"),
        (12.34, "12.3"),
        (4.1, "4.1"),
        (0.04512, "0.0451"),
        (-2.5, "-2.5"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert words.number(value) == text


def test_words_of_bars() -> None:
    def said(verdict: str, times: float | None, infinite: float = 0.0) -> str:
        return plots.words(plots.Bar("x", "", verdict, times, infinite))

    assert said("worse", 0.5) == "▼ 2.00× worse"
    assert said("better", 31.2) == "▲ 31× better"
    assert said("same", 1.02) == "= same (1.02× better)"
    assert said("same", None) == "= both 0"
    assert said("worse", None, -1.0) == "▼ worse (one is 0)"


def test_a_long_line_keeps_its_peaks() -> None:
    points = [(float(i), 9999.0 if i == 5003 else float(i % 7)) for i in range(10_000)]
    kept = plots.thinned(points)
    assert len(kept) <= plots.MOST_POINTS
    assert (5003.0, 9999.0) in kept
    assert kept == sorted(kept)


def test_colours_can_be_read() -> None:
    """Text in a verdict's colour has a contrast of 4.5 at least, on both pages."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("ink", "muted", "better", "worse", "same", "sweep"):
        for mode in (0, 1):
            a, b = (luminance(palette.COLOURS[each][mode]) for each in (name, "card"))
            assert (max(a, b) + 0.05) / (min(a, b) + 0.05) >= 4.5, (name, mode)


def test_the_page_loads_nothing_and_escapes_everything() -> None:
    nasty = results.experiment(
        title=results.NASTY,
        hypothesis=results.NASTY,
        metrics=tuple(
            type(m)(m.name, results.NASTY, m.unit, m.kind, m.better) for m in results.METRICS
        ),
        variants=(
            results.variant("stock", label=results.NASTY, settings={"x": results.NASTY}),
            results.variant("sweep", notes=(results.NASTY,)),
        ),
    )
    page = bench_page.html(bench_model.build([results.result(nasty)]))
    assert "<script" not in page
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:,")""", page)
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in page
    assert " style=" not in page
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(picture)
    assert len(page.encode()) < 1_500_000


def test_markdown_is_not_broken_by_names() -> None:
    text = markdown.results(
        bench_model.build([results.result(results.experiment(title=results.NASTY))])
    )
    assert "<script>" not in text
    tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    bars = [
        {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()} for table in tables
    ]
    assert bars == [{3}, {7}]


def test_the_head_has_better_and_worse_by_size() -> None:
    """Both sides begin with the greatest difference, and say where it was found."""
    own = {"sweep.mode": "act", "sweep.min_interval": "2s", "shared_buffers": "128MB"}
    found = results.experiment(
        variants=(
            results.variant("stock"),
            results.variant("sweep", settings=own),
            results.variant("stock_naptime_1s"),
        )
    )
    report = bench_model.build([results.result(found, results.experiment("cost"))])
    better, worse = (report.differences(side) for side in ("better", "worse"))
    assert [(one.section.anchor, one.row.metric.name) for one in better] == [
        *(("insert", "kept"), ("cost", "kept")),
        *(("insert", "freeze"), ("cost", "freeze")),
        *(("insert", "removed"), ("cost", "removed")),
    ]
    assert better[0].times == math.inf
    assert [round(one.times, 2) for one in better[2::2]] == [18.85, 3.02]
    assert [(one.section.anchor, one.row.change) for one in worse] == [
        ("insert", "30 % more"),
        ("cost", "30 % more"),
    ]
    assert worse[0].text == (
        "WAL written by vacuums: 30 % more. 312 MB with pg_sweep, 240 MB for stock "
        "(insert: sweep.min_interval = 2s)"
    )
    assert worse[1].where == "cost: pg_sweep's defaults"
    assert report.same_text == "The same in 4 figures: insert 2, cost 2."
    page = bench_page.html(report)
    head = page.split('class="card experiment"')[0]
    assert head.index('id="worse-title"') < head.index('id="better-title"')
    for one in (*better, *worse):
        assert f'<a href="#{one.section.anchor}">{one.section.experiment.name}</a>' in head
        assert one.row.change in head
        assert one.values in head
    assert "sweep.min_interval = 2s" in head
    assert "in 4: " in head
    text = markdown.results(report)
    rows = [line for line in text.splitlines() if line.startswith("| WAL written by vacuums: 30")]
    assert ["(insert: " in rows[0], "(cost: " in rows[1]] == [True, True]
    assert "| Rows kept back: none at all. " in rows[0]
    assert "The same in 4 figures" in text.split("## ")[0]


def test_no_loss_is_folded_away() -> None:
    """However many figures are worse, all of them are shown. Only better ones are folded."""
    many = [
        results.experiment(f"number_{i}", metrics=(results.METRICS[1], results.METRICS[4]))
        for i in range(20)
    ]
    head = bench_page.html(bench_model.build([results.result(*many)])).split("<details>")[0]
    assert head.count("30 % more") == 20
    alone = [results.experiment(f"number_{i}", metrics=results.METRICS[1:2]) for i in range(20)]
    page = bench_page.html(bench_model.build([results.result(*alone)]))
    assert "No figure is worse with pg_sweep." in page
    assert f"<summary>{20 - bench_page.SHOWN_BETTER} more</summary>" in page


def test_words_of_differences() -> None:
    def said(ours: float, other: float) -> str:
        metric = results.METRICS[1]
        return words.difference(verdict.compare(metric, (ours,), (other,)))

    assert said(72, 100) == "28 % less"
    assert said(48, 10_000) == "99.5 % less"
    assert said(1, 10_000) == "99.99 % less"
    assert said(310, 100) == "3.1 times as much"
    assert said(0, 100) == "none at all"
    assert said(5, 0) == "the other has 0"
    assert words.capital("pg_class, largest") == "pg_class, largest"
    assert words.capital("rows read") == "Rows read"


def test_files(bench: Pgsweep, file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = bench("report", str(file), "--output", str(page))
    assert (found.code, found.out) == (0, "")
    assert page.read_text().startswith("<!doctype html>")
    found = bench("report", str(file), "--markdown")
    assert found.code == 0
    assert "▼ worse, 30 % more" in found.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page.html", "result.json"]


def test_errors_are_one_line(bench: Pgsweep, file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"format": 1}))
    for arguments in (
        (str(broken),),
        (str(tmp_path / "none.json"),),
        (str(file), "-o", str(tmp_path / "no" / "folder.html")),
    ):
        found = bench("report", *arguments)
        assert found.code == 2, arguments
        assert found.err.count("\n") == 1
        assert found.err.startswith("pgsweep_bench: error: ")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"sweep.mode": "act"}, "; sweep.mode = act, all else at pg_sweep's defaults."),
        (
            {"sweep.mode": "act", "sweep.min_interval": "2s"},
            "sweep.mode = act, and not pg_sweep's default settings: sweep.min_interval = 2s.",
        ),
    ],
)
def test_every_experiment_names_its_settings(own: dict[str, str], said: str) -> None:
    base = {"shared_buffers": "64MB", "autovacuum_naptime": "60s"}
    library = {"shared_preload_libraries": "pg_sweep"}
    found = results.experiment(
        variants=(
            results.variant("stock", settings=base),
            results.variant("sweep", settings={**base, **library, **own}),
            results.variant("stock_naptime_1s", settings={**base, "autovacuum_naptime": "1s"}),
        )
    )
    (section,) = bench_model.build([results.result(found)]).sections
    common, *each = section.settings
    assert common.startswith("All servers: shared_buffers = 64MB, fsync = off")
    assert any(line.endswith(said) for line in each), each
    assert any("autovacuum_naptime = 1s" in line for line in each)
    page = bench_page.html(bench_model.build([results.result(found)]))
    assert "shared_buffers = 64MB, fsync" in page.split("<table")[0]


def test_an_existing_server_has_settings_of_its_own() -> None:
    settings = {"autovacuum": "on", "shared_preload_libraries": "", "shared_buffers": "16384"}
    found = results.experiment(variants=(results.variant("stock", settings=settings),))
    (section,) = bench_model.build([results.result(found)]).sections
    assert section.settings[0].startswith("An existing server, with autovacuum = on")
