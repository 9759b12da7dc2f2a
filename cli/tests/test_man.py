"""Every command has a page, and roff has nothing to say against any."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from pgsweep import man
from pgsweep.cli import application

PAGES = man.pages()
COMMANDS = typer.main.get_group(application()).commands
# A command of a command has its name as well: "fleet-hold".
BELOW = {
    f"{name}-{below}": command
    for name, group in COMMANDS.items()
    for below, command in getattr(group, "commands", {}).items()
}


def test_every_command_has_its_page() -> None:
    assert set(PAGES) == {"pgsweep.1", *(f"pgsweep-{name}.1" for name in (*COMMANDS, *BELOW))}
    for name in COMMANDS:
        assert rf"pgsweep\-{name}(1)" in PAGES["pgsweep.1"]
    for name in BELOW:
        group = name.split("-")[0]
        assert man.escaped(f"pgsweep-{name}") + "(1)" in PAGES[f"pgsweep-{group}.1"]


@pytest.mark.parametrize("name", sorted({**COMMANDS, **BELOW}))
def test_a_page_has_all_that_help_has(name: str) -> None:
    page = PAGES[f"pgsweep-{name}.1"].replace(r"\-", "-")
    assert f"\npgsweep-{name} - " in page
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
        assert f".SH {section}\n" in page or f'.SH "{section}"\n' in page
    for parameter in {**COMMANDS, **BELOW}[name].params:
        for option in parameter.opts:
            if option.startswith("-"):
                assert rf"\fB{option}\fR" in page


def test_what_roff_would_read_is_escaped() -> None:
    assert man.escaped(r".a\b -c 'd'") == r"\&.a\eb \-c \(aqd\(aq"
    assert man.quoted('a "b"') == r'"a \(dqb\(dq"'


def test_pages_are_written(tmp_path: Path) -> None:
    write = [sys.executable, "-m", "pgsweep.man"]
    subprocess.run([*write, str(tmp_path / "man")], check=True)
    assert {file.name for file in (tmp_path / "man").iterdir()} == set(PAGES)
    assert subprocess.run(write, check=False, capture_output=True).returncode == 2


@pytest.mark.skipif(shutil.which("groff") is None, reason="NOT TESTED: there is no groff")
@pytest.mark.parametrize("name", sorted(PAGES))
def test_groff_has_no_warning(name: str) -> None:
    made = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-rHY=0"],
        input=PAGES[name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stderr == ""
    assert name.split(".")[0].upper() in made.stdout


@pytest.mark.skipif(shutil.which("man") is None, reason="NOT TESTED: there is no man")
def test_man_shows_a_page(tmp_path: Path) -> None:
    file = tmp_path / "pgsweep-queue.1"
    file.write_text(PAGES[file.name])
    shown = subprocess.run(
        ["man", "--warnings", "-l", str(file)],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PAGER": "cat"},
        capture_output=True,
        text=True,
        check=False,
    )
    # In a small installation man says that it has no pages at all.
    if "minimized" not in shown.stdout:
        assert shown.returncode == 0
        assert shown.stderr == ""
        assert "--watch SECONDS" in shown.stdout
