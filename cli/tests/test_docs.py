"""A command or option without documentation fails here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from pgsweep.cli import application

DOCS = Path(__file__).parents[2] / "docs" / "commands.md"
README = Path(__file__).parents[1] / "README.md"
GROUP = typer.main.get_group(application())


def section(name: str) -> str:
    """Return what the documentation says about a command."""
    text = DOCS.read_text()
    match = re.search(rf"^## `pgsweep {name}`$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert match is not None, f"{DOCS.name} has no section about pgsweep {name}"
    return match.group(1)


@pytest.mark.parametrize("name", sorted(GROUP.commands))
def test_every_command_is_documented(name: str) -> None:
    common = DOCS.read_text().split("\n## ")[0]
    documented = section(name) + common
    for parameter in GROUP.commands[name].params:
        for option in parameter.opts:
            if option.startswith("-") and option != "--help":
                assert f"`{option}" in documented, f"{option} of {name}"


@pytest.mark.parametrize("name", sorted(set(GROUP.commands)))
def test_every_command_below_a_command_is_documented(name: str) -> None:
    documented = section(name) + DOCS.read_text().split("\n## ")[0]
    for below, command in getattr(GROUP.commands[name], "commands", {}).items():
        assert f"`pgsweep {name} {below}" in documented, f"{name} {below}"
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-") and option != "--help":
                    assert f"`{option}" in documented, f"{option} of {name} {below}"


@pytest.mark.parametrize("name", sorted(GROUP.commands))
def test_every_command_is_in_the_readme(name: str) -> None:
    assert f"`pgsweep {name}`" in README.read_text()


def test_no_section_about_a_command_that_is_not_there() -> None:
    assert set(re.findall(r"^## `pgsweep (\w+)`$", DOCS.read_text(), re.MULTILINE)) == set(
        GROUP.commands
    )


@pytest.mark.parametrize("name", ["", "-serve", "-bench", "-dev"])
def test_locks_pin_everything_and_name_no_host(name: str) -> None:
    text = (README.parent / f"requirements{name}.lock").read_text()
    assert "://" not in text
    assert not re.search(r"^--", text, re.MULTILINE)
    # A requirement starts a line, and hashes follow it.
    pinned = re.findall(r"^([A-Za-z0-9_.-]+)==\S+(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(pinned) == len(lines) > 20
    assert all("--hash=sha256:" in rest for _, rest in pinned)
