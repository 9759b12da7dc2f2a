"""What an installation of the command alone has, and what it says of the rest."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pytest

from pgsweep.output.report import charts
from pgsweep_bench.servers.server import (
    ThrowawayServer,
    default_pg_config,
    ordinary_user,
    pg_config_value,
)

CLI = Path(__file__).parents[1]
# None in sys.modules keeps what the extras bring from being imported or found.
WITHOUT_EXTRAS = """
import sys
for name in ("vl_convert", "duckdb", "duckdb_extension_tpcds", "starlette", "uvicorn"):
    sys.modules[name] = None
"""
COMMAND = """
from pgsweep.cli import main
sys.argv[0] = "pgsweep"
main()
"""

needs_hatchling = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None,
    reason="NOT TESTED: hatchling is not installed: run tools/venv dev",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, as pip would put them into an environment."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CLI, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the wheel is installed, and none of the extras."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + code, *arguments],
        cwd=installed,
        env={"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def call(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the installed command."""
    return run(installed, COMMAND, *arguments)


@needs_hatchling
def test_the_wheel_has_what_it_needs_and_no_experiment(installed: Path) -> None:
    files = {str(file.relative_to(installed)) for file in installed.rglob("*") if file.is_file()}
    needed = (
        "queries/status.sql",
        "output/report/templates/live.html.j2",
        "output/report/static/charts.js",
        *(f"output/report/{name}" for name in charts.LIBRARY),
        "output/report/vendor/LICENSE",
    )
    for name in needed:
        assert f"pgsweep/{name}" in files
    assert not [name for name in files if "bench" in name]
    requirements = [
        line.partition(": ")[2]
        for line in next(installed.glob("*.dist-info/METADATA")).read_text().splitlines()
        if line.startswith("Requires-Dist: ")
    ]
    optional = ("vl-convert", "duckdb", "starlette", "uvicorn", "prometheus-client")
    heavy = [line for line in requirements if line.startswith(optional)]
    assert len(heavy) == 7
    assert all("extra == " in line for line in heavy)


@needs_hatchling
@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("top", "--help"), ("report", "--help")]
)
def test_it_runs_without_any_extra(installed: Path, arguments: tuple[str, ...]) -> None:
    said = call(installed, *arguments)
    assert said.returncode == 0, said.stderr
    assert said.stdout


@needs_hatchling
def test_top_is_drawn_without_any_extra(installed: Path) -> None:
    said = run(installed, "import pgsweep.output.top.app; print(pgsweep.output.top.app.__file__)")
    assert said.stdout.startswith(str(installed)), said.stderr


@needs_hatchling
def test_markdown_needs_no_extra(installed: Path, stub: ThrowawayServer) -> None:
    said = call(installed, "report", "--markdown", *stub.flags("stub"))
    assert said.returncode == 0, said.stderr
    assert "|" in said.stdout


@needs_hatchling
def test_what_is_missing_is_said(installed: Path) -> None:
    said = call(installed, "serve")
    assert said.returncode == 2
    assert "not installed: starlette, uvicorn" in said.stderr
    assert "pip install 'pgsweep[serve]'" in said.stderr


@pytest.mark.server
def test_the_image_leaves_the_libraries_to_the_users_file() -> None:
    """The second stage of the Containerfile, on a copy of what a server is made of."""
    text = (CLI.parent / "packaging" / "container" / "Containerfile").read_text()
    stage = text[text.rindex("\nFROM ") :]
    steps = re.findall(r"^RUN (.*)$", stage, re.MULTILINE)
    command = re.search(r"^CMD (.*)$", stage, re.MULTILINE)
    arguments = json.loads(command[1])[1:] if command else []
    user = ordinary_user()
    started: dict[str, Any] = (
        {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    )
    bindir = Path(pg_config_value(default_pg_config(), "--bindir"))
    with TemporaryDirectory(prefix="pgsweep-", dir="/tmp") as folder:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        share, data = Path(folder, "share"), Path(folder, "data")
        shutil.copytree(pg_config_value(default_pg_config(), "--sharedir"), share)
        for step in steps:
            there = step.replace("/usr/share/postgresql/$PG_MAJOR", str(share))
            subprocess.run(["sh", "-euc", there], check=True)

        def run(*words: str) -> str:
            done: subprocess.CompletedProcess[str] = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, check=True, **started
            )
            return done.stdout.strip()

        def libraries() -> str:
            asked = ("-C", "shared_preload_libraries")
            return run(str(bindir / "postgres"), *arguments, "-D", str(data), *asked)

        run(str(bindir / "initdb"), "-N", "-A", "trust", "-L", str(share), "-D", str(data))
        assert libraries() == "pg_sweep"
        with (data / "postgresql.conf").open("a") as file:
            file.write("shared_preload_libraries = 'pg_sweep,auto_explain'\n")
        assert libraries() == "pg_sweep,auto_explain"
