"""The pages in a real browser: accessibility, policy, keys, live update, a restart, many tables.

Run when $PG_SWEEP_BROWSER is "required": they take minutes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

import browser
from conftest import needs_extension, write
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config
from serving import Serving

REQUIRED = os.environ.get("PG_SWEEP_BROWSER") == "required"
FOUND = browser.find()
pytestmark = [
    pytest.mark.server,
    needs_extension,
    pytest.mark.skipif(
        not REQUIRED,
        reason="NOT TESTED: pages in a browser: they need PG_SWEEP_BROWSER=required",
    ),
]

PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
DESK, PHONE = 1440, 390
PAGES = {
    "now": "/",
    "next": "/next",
    "tables": "/tables?find=huge",
    "catalogs": "/catalogs?find=pg_class",
    "bloat": "/bloat",
    "day": "/day",
    "horizon": "/horizon",
    "budget": "/budget",
    "audit": "/audit",
    "trial": "/trial",
    "signin": "/signin",
}
HOSTILE = '"><img src=x onerror="document.title=\'stolen\'">'
# What WCAG 2.2 asks for at level AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# In the dark only the colours are others.
RULES_DARK = {"runOnly": ["color-contrast"]}
TABLES = 10_000
FIRST_PAINT_MS = 300
# After how many ms something was shown. The page's policy lets no text become a script, so this is
# not asked again and again, but waits.
PAINT = """new Promise(done => new PerformanceObserver(seen => {
  for (const each of seen.getEntries())
    if (each.name === "first-contentful-paint") done(each.startTime);
}).observe({type: "paint", buffered: true}))"""
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "sweep.max_workers": "1",
    "sweep.min_interval": "1s",
    "autovacuum_naptime": "1h",
    "sweep.write_limit": "0.1",
    "sweep.floor": "0.1",
    "max_prepared_transactions": "2",
}


@dataclass(frozen=True)
class Site:
    server: ThrowawayServer
    serving: Serving
    token: str
    cookie: str

    def context(self, chromium: Browser, **given: Any) -> BrowserContext:
        """Return a browser in which somebody has signed in."""
        found = chromium.new_context(**given)
        name, _, value = self.cookie.partition("=")
        found.add_cookies([{"name": name, "value": value, "url": self.at("/")}])
        found.set_default_timeout(PATIENCE_MS)
        return found

    def at(self, path: str) -> str:
        return f"http://{self.serving.address}{path}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if FOUND is None:
        pytest.fail("$PG_SWEEP_BROWSER is required, and no chromium or google-chrome is here")
    with sync_playwright() as playwright:
        flags = [flag for flag in browser.FLAGS if "pipe" not in flag]
        yield playwright.chromium.launch(executable_path=FOUND, args=flags)


def serve(stack: ExitStack, server: ThrowawayServer, folder: Path) -> Site:
    token_file = folder / "token"
    arguments = (*server.flags("postgres"), "--act", "--token-file", str(token_file))
    serving = stack.enter_context(Serving(*arguments))
    token = token_file.read_text().strip()
    return Site(server, serving, token, serving.sign_in(token))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        server = stack.enter_context(ThrowawayServer(default_pg_config(), SETTINGS))
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        quoted = HOSTILE.replace('"', '""')
        # Nothing begins until each page that a vacuum changes is written and logged whole.
        server.psql("postgres", "SELECT sweep.hold('1 h')")
        names = ("huge", "large", f'"{quoted}"')
        for name in names:
            rows = "SELECT i, repeat('x', 700) FROM generate_series(1, 60000) AS i"
            write(server, "postgres", f"CREATE TABLE {name} (i, filler) AS {rows}")
            write(server, "postgres", f"DELETE FROM {name} WHERE i % 3 = 0")
        server.psql("postgres", "CHECKPOINT")
        server.psql("postgres", "SELECT sweep.hold('0')")
        server.psql("postgres", "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'lunch'")
        yield serve(stack, server, tmp_path_factory.mktemp("web"))


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    context = site.context(chromium, viewport={"width": DESK, "height": 900})
    found = context.new_page()
    yield found
    context.close()


def complete(page: Page) -> None:
    """Wait until the page has its contents, also where they could not be read at first."""
    expect(page.locator("#live")).not_to_contain_text("Reading the server")
    expect(page.locator("#live .trouble")).to_have_count(0)


def sign_in(page: Page, site: Site) -> None:
    page.context.clear_cookies()
    page.goto(site.at("/signin"))
    page.get_by_label("Token").fill(site.token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def complaints(page: Page) -> list[str]:
    """Return where the page's errors and violations of its policy will be.

    A server that is too slow is answered for by 503. The page says so, and asks again.
    """
    found: list[str] = []

    def hear(said: ConsoleMessage) -> None:
        if said.type == "error" and "status of 503" not in said.text:
            found.append(said.text)

    page.on("console", hear)
    page.on("pageerror", lambda exc: found.append(str(exc)))
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_everybody(
    chromium: Browser, site: Site, name: str, width: int, dark: bool, tmp_path: Path
) -> None:
    context = site.context(
        chromium,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        is_mobile=width == PHONE,
        has_touch=width == PHONE,
    )
    try:
        page = context.new_page()
        said = complaints(page)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(site.at(PAGES[name]))
        complete(page)
        found = Axe().run(page, options=RULES_DARK if dark else RULES)
        assert found.violations_count == 0, found.generate_report()
        # Nothing is wider than the screen, nothing is fetched from elsewhere, nothing complains.
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert all(url.startswith((site.at("/"), "data:")) for url in asked), asked
        assert said == []
        page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)
    finally:
        context.close()


def test_with_buttons_as_well(page: Page, site: Site) -> None:
    sign_in(page, site)
    for path in ("/", "/next"):
        page.goto(site.at(path))
        complete(page)
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()
    page.goto(site.at("/tables?find=huge"))
    page.get_by_role("link", name="huge", exact=True).click()
    expect(page.get_by_role("button", name="Vacuum next")).to_be_visible()
    found = Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()


def test_hostile_names(page: Page, site: Site) -> None:
    said = complaints(page)
    for path in ("/", "/next", "/tables"):
        page.goto(site.at(path))
        complete(page)
        assert "stolen" not in page.title()
        assert page.locator("#live img").count() == 0
    page.goto(site.at("/tables?find=onerror"))
    page.get_by_role("link", name="onerror").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("onerror")
    assert said == []


def test_it_is_live(page: Page, site: Site) -> None:
    page.goto(site.at("/"))
    running = page.get_by_role("region", name="Running vacuums")
    expect(running).to_be_visible()
    page.evaluate("window.here = true")
    before = running.inner_text()
    expect(running).not_to_have_text(before)
    # It was not loaded again.
    assert page.evaluate("window.here") is True


def test_what_is_focused_and_open_stays_so(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.goto(site.at("/"))
    complete(page)
    more = page.locator("details").first
    more.locator("summary").click()
    page.get_by_role("button", name=re.compile("^Slow ")).first.focus()
    chosen = page.evaluate("document.activeElement.id")
    # An update came in between.
    page.evaluate("document.querySelector('#live section').dataset.old = 'yes'")
    expect(page.locator("#live [data-old]")).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == chosen
    assert more.get_attribute("open") is not None


def test_links_keep_the_focus_and_it_can_be_paused(page: Page, site: Site) -> None:
    page.goto(site.at("/"))
    complete(page)
    page.locator("#live a").first.focus()
    chosen = page.evaluate("document.activeElement.href")
    page.evaluate("document.querySelector('#live section').dataset.old = 'yes'")
    expect(page.locator("#live [data-old]")).to_have_count(0)
    assert page.evaluate("document.activeElement.href") == chosen
    page.get_by_role("button", name="Pause").click()
    page.evaluate("document.querySelector('#live section').dataset.old = 'yes'")
    # Two updates would have come by then.
    page.wait_for_timeout(5000)
    expect(page.locator("#live [data-old]")).to_have_count(1)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#live [data-old]")).to_have_count(0)


def test_by_keyboard_alone(page: Page, site: Site) -> None:
    page.goto(site.at("/"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.goto(site.at("/"))
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Next")


def test_steering_with_clicks(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.goto(site.at("/"))
    page.get_by_role("button", name=re.compile("^Slow ")).first.click()
    expect(page.get_by_text("slowed down as long as")).to_be_visible()
    expect(page.locator("#live")).to_contain_text("sweep.slow()")
    page.get_by_role("button", name=re.compile("^Release ")).first.click()
    expect(page.get_by_text("neither slowed down nor hurried")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Cancel ")).first.click()
    page.get_by_role("link", name="Keep it").click()
    page.get_by_role("link", name=re.compile("^Cancel ")).first.click()
    page.get_by_role("button", name="Cancel the vacuum").click()
    expect(page.get_by_text(re.compile("cancelled: .*process"))).to_be_visible()
    page.goto(site.at("/tables?find=large"))
    page.get_by_role("link", name="large", exact=True).click()
    page.get_by_role("button", name="Snooze 2 h").click()
    expect(page.get_by_text("it is left alone until")).to_be_visible()
    page.get_by_role("button", name="End snooze").click()
    expect(page.get_by_text("it is not left alone any more")).to_be_visible()


def test_charts_of_the_day(page: Page, site: Site) -> None:
    # The server's first vacuums are those of its tables.
    page.goto(site.at("/day"))
    complete(page)
    charts = page.locator("figure[data-chart]")
    expect(charts.first).to_be_visible()
    for chart in charts.all():
        expect(chart.locator("canvas")).to_be_visible()
        chart.get_by_text("As a table").click()
        expect(chart.locator("details table")).to_be_visible()
    # What is read again has charts again.
    page.evaluate("""async () => {
      const answer = await fetch('/day?part=1');
      document.getElementById('live').innerHTML = await answer.text();
    }""")
    expect(charts.locator("canvas")).to_have_count(0)
    page.evaluate("document.dispatchEvent(new Event('replaced'))")
    expect(charts.locator("canvas")).to_have_count(charts.count())


def test_without_a_script(chromium: Browser, site: Site) -> None:
    context = site.context(chromium, java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.at("/horizon"))
        # It loads itself again where the server took too long for the first time.
        page.get_by_text("prepared transaction").first.wait_for()
    finally:
        context.close()


def test_a_restart_under_the_open_page(page: Page, site: Site) -> None:
    page.goto(site.at("/"))
    complete(page)
    page.evaluate("window.here = true")
    site.server.stop()
    expect(page.get_by_role("alert")).to_contain_text("No data")
    site.server.start_again()
    expect(page.get_by_role("region", name="Running vacuums")).to_be_visible()
    assert page.evaluate("window.here") is True


def test_many_tables(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """10,000 tables: the first paint does not wait for the server."""
    with ExitStack() as stack:
        settings = {**SETTINGS, "sweep.mode": "observe", "max_locks_per_transaction": "1000"}
        server = stack.enter_context(ThrowawayServer(default_pg_config(), settings))
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        loop = "FOR i IN %s LOOP EXECUTE 'CREATE TABLE t' || i || ' (a int)'; END LOOP"
        for first in range(1, TABLES, 1000):
            ids = f"{first}..{first + 999}"
            write(server, "postgres", f"DO $$ BEGIN {loop % ids}; END $$")
        site = serve(stack, server, tmp_path_factory.mktemp("many"))
        context = site.context(chromium, viewport={"width": DESK, "height": 900})
        stack.callback(context.close)
        page = context.new_page()
        for path in ("/", "/tables", "/next"):
            paints_soon(page, site, path)
            complete(page)
        page.goto(site.at("/tables?find=t9999"))
        expect(page.locator("#live")).to_contain_text("1 of 1 shown")


def paints_soon(page: Page, site: Site, path: str) -> None:
    """Check that something is shown soon, measured beside what browser and machine take.

    The sign-in page does not ask the server, so it tells that. Where other work comes and goes,
    the two have to be measured close to each other, and more than once.
    """
    seen = []
    for _ in range(4):
        alone = first_paint(page, site.at("/signin"))
        took = first_paint(page, site.at(path))
        if took < max(FIRST_PAINT_MS, alone + FIRST_PAINT_MS * 2 / 3):
            return
        seen.append((took, alone))
    pytest.fail(f"{path}: first paint after {seen} ms, and of a page that asks nobody")


def first_paint(page: Page, url: str) -> float:
    """Return after how many ms something was shown, the best of a few times."""
    times = []
    for _ in range(5):
        page.goto(url)
        times.append(float(page.evaluate(PAINT)))
    return min(times)
