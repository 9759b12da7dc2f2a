"""Photographs the pages, for docs/pages. tools/page-shots runs this."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import browser
from conftest import write
from fleets import black_hole
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config
from serving import Serving

SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "sweep.max_workers": "2",
    "sweep.min_interval": "5s",
    "sweep.write_limit": "1",
    "autovacuum_naptime": "1h",
    "max_prepared_transactions": "2",
}
PAGES = ("next", "tables", "catalogs", "day", "horizon", "budget", "audit", "trial", "signin")
SIZES = ((1440, 900), (390, 844))
# Time for some vacuums to come and go.
WORK_S = 150
OBSERVE_S = 75


def load(server: ThrowawayServer) -> None:
    """Have a shop with garbage, a forgotten transaction, and vacuums that take a while.

    For a time pg_sweep only observes.
    """
    server.psql("postgres", "CREATE DATABASE shop")
    server.psql("shop", "CREATE EXTENSION pg_sweep")
    mode(server, "observe")
    flags = server.flags("shop")[:-1]
    server.run(["pgbench", *flags, "-i", "-q", "-s", "5", "shop"])
    for name, rows in (("orders", 240_000), ("order_lines", 600_000), ("events", 60_000)):
        source = f"SELECT i AS id, repeat('x', 300) AS body FROM generate_series(1, {rows}) AS i"
        write(server, "shop", f"CREATE TABLE {name} AS {source}")
        write(server, "shop", f"CREATE INDEX ON {name} (id)")
        write(server, "shop", f"DELETE FROM {name} WHERE id % 4 = 0")
    server.psql("shop", "CHECKPOINT")
    server.psql("shop", "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'invoice_run'")
    server.psql("shop", "CREATE ROLE alice SUPERUSER")
    for act in ("hold('2 h')", "hold('0')", "snooze('pgbench_tellers', '1 day')"):
        server.psql("shop", f"SELECT sweep.{act}")
    server.psql("shop", "SET ROLE alice; SELECT sweep.set('orders', 'min_interval', '5 min')")
    server.start(["pgbench", *flags, "-n", "-c", "2", "-R", "100", "-T", "3600", "shop"], log="b")
    time.sleep(OBSERVE_S)
    mode(server, "act")


def mode(server: ThrowawayServer, name: str) -> None:
    """Change what pg_sweep does."""
    server.psql("shop", f"ALTER SYSTEM SET sweep.mode = '{name}'")
    server.psql("shop", "SELECT pg_reload_conf()")


def fleet_of(server: ThrowawayServer, folder: Path, silent: int) -> Path:
    """Return the file of a fleet: the server under three names, and a port that never answers."""
    lines = ['dbname = "shop"', f'user = "{SUPERUSER}"']
    for name in ("eu1", "eu2", "us1"):
        (folder / name).symlink_to(server.folder)
        lines += ["[[nodes]]", f'name = "{name}"', f'group = "{name[:2]}"']
        lines += [f'host = "{folder / name}"', f"port = {server.port}"]
    lines += ["[[nodes]]", 'name = "us2"', 'group = "us"', 'host = "127.0.0.1"', f"port = {silent}"]
    file = folder / "fleet.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def shoot(
    chromium: Browser, base: str, pages: dict[str, str], folder: Path, cookie: str = ""
) -> None:
    """Write a picture of each page."""
    for name, path in pages.items():
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                context = chromium.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    is_mobile=width < 600,
                )
                if cookie:
                    name_of_it, _, value = cookie.partition("=")
                    context.add_cookies([{"name": name_of_it, "value": value, "url": base}])
                page = context.new_page()
                page.goto(base + path)
                for passing in ("Reading the server", "They are being read"):
                    page.get_by_text(passing).wait_for(state="detached")
                tall = page.evaluate("document.documentElement.scrollHeight")
                page.screenshot(
                    path=folder / f"{name}-{width}-{scheme}.png",
                    full_page=True,
                    clip={"x": 0, "y": 0, "width": width, "height": min(tall, 2 * height)},
                )
                context.close()


def main() -> None:
    """Photograph all of it."""
    folder = Path(sys.argv[1])
    with ExitStack() as stack:
        server = stack.enter_context(ThrowawayServer(default_pg_config(), SETTINGS))
        load(server)
        private = stack.enter_context(tempfile.TemporaryDirectory())
        token = str(Path(private) / "token")
        arguments = (*server.flags("shop"), "--act", "--token-file", token)
        serving = stack.enter_context(Serving(*arguments))
        time.sleep(WORK_S)
        address = "SELECT '/table/' || d.oid || '/' || 'orders'::regclass::oid FROM pg_database d "
        relid = server.psql("shop", address + "WHERE datname = current_database()").strip()
        playwright = stack.enter_context(sync_playwright())
        flags = [flag for flag in browser.FLAGS if "pipe" not in flag]
        chromium = playwright.chromium.launch(executable_path=browser.find(), args=flags)
        stack.callback(chromium.close)
        pages = {"now": "/", **{name: f"/{name}" for name in PAGES}, "table": relid}
        cookie = serving.sign_in(Path(token).read_text())
        shoot(chromium, f"http://{serving.address}", pages, folder, cookie)
        silent = stack.enter_context(black_hole())
        file = fleet_of(server, Path(private), silent)
        serving = stack.enter_context(Serving("--fleet", "--file", str(file)))
        serving.event("cannot read", node="us2")
        shoot(chromium, f"http://{serving.address}", {"fleet": "/"}, folder)


if __name__ == "__main__":
    main()
