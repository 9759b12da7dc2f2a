"""The page of a fleet in a real browser: a hostile name, a silent node, and one that comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from conftest import needs_extension, write
from fleets import black_hole
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config
from serving import Serving
from test_web_browser import (
    DESK,
    HOSTILE,
    PATIENCE_MS,
    PHONE,
    REQUIRED,
    RULES,
    RULES_DARK,
    chromium,
    complaints,
    complete,
)

__all__ = ["chromium"]

pytestmark = [
    pytest.mark.server,
    needs_extension,
    pytest.mark.skipif(
        not REQUIRED,
        reason="NOT TESTED: pages in a browser: they need PG_SWEEP_BROWSER=required",
    ),
]
SETTINGS = {"shared_preload_libraries": "pg_sweep", "autovacuum_naptime": "1h"}


@dataclass(frozen=True)
class Site:
    server: ThrowawayServer
    serving: Serving

    def at(self, path: str) -> str:
        return f"http://{self.serving.address}{path}"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server under two names, of which one is hostile, and a node that never answers."""
    with ExitStack() as stack:
        server = stack.enter_context(ThrowawayServer(default_pg_config(), SETTINGS))
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        write(server, "postgres", "CREATE TABLE orders AS SELECT generate_series(1, 1000) AS i")
        port = stack.enter_context(black_hole())
        folder = tmp_path_factory.mktemp("fleet")
        # The same server by another way is another node.
        (folder / "again").symlink_to(server.folder)
        nodes = (
            ("eu1", server.folder, server.port),
            (HOSTILE, folder / "again", server.port),
            ("silent", "127.0.0.1", port),
        )
        file = folder / "fleet.toml"
        file.write_text(
            f'dbname = "postgres"\nuser = "{SUPERUSER}"\n'
            + "".join(
                f'[[nodes]]\nname = {json.dumps(name)}\nhost = "{host}"\nport = {at}\n'
                for name, host, at in nodes
            )
        )
        options = ("--fleet", "--file", str(file), "--deadline", "1")
        yield Site(server, stack.enter_context(Serving(*options)))


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": DESK, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_it_can_be_read_by_everybody(
    chromium: Browser,
    fleet: Site,
    width: int,
    dark: bool,
    tmp_path: Path,
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        is_mobile=width == PHONE,
        has_touch=width == PHONE,
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        shown = context.new_page()
        said = complaints(shown)
        asked: list[str] = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(fleet.at("/"))
        complete(shown)
        expect(shown.get_by_text("no answer", exact=False).first).to_be_visible()
        expect(shown.get_by_text("orders", exact=True).first).to_be_visible()
        found = Axe().run(shown, options=RULES_DARK if dark else RULES)
        assert found.violations_count == 0, found.generate_report()
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert all(url.startswith((fleet.at("/"), "data:")) for url in asked), asked
        assert said == []
        shown.screenshot(path=tmp_path / f"fleet-{width}.png", full_page=True)
    finally:
        context.close()


def test_a_hostile_name_and_its_own_pages(page: Page, fleet: Site) -> None:
    said = complaints(page)
    page.goto(fleet.at("/"))
    complete(page)
    assert page.locator("#live img").count() == 0
    page.get_by_role("link", name="onerror").first.click()
    complete(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Now")
    assert "onerror" in page.title()
    assert "stolen" not in page.title()[:6]
    page.get_by_role("link", name="Tables").click()
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("orders")
    found = Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()
    # By keyboard alone back to the fleet.
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Fleet").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fleet")
    assert page.locator("img").count() == 0
    assert said == []


def test_a_node_that_goes_and_comes_back(page: Page, fleet: Site) -> None:
    page.goto(fleet.at("/?find=eu1"))
    row = page.get_by_role("region", name="Nodes").get_by_role("row").filter(has_text="eu1")
    expect(row).to_contain_text("s ago")
    fleet.server.stop()
    try:
        expect(row).to_contain_text("it answered last")
    finally:
        fleet.server.start_again()
    expect(row).not_to_contain_text("it answered last")
    expect(row).to_contain_text("observe")
