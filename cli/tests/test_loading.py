"""A command loads what it needs, and not what others need."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from conftest import Pgsweep
from pgsweep import cli, model
from pgsweep.commands import fleet

FLEET = ("--file", "nodes.toml", "--deadline", "2", "--json")


def loaded_by(command: str, *arguments: str) -> set[str]:
    """Return our modules that a command has loaded when it begins, without the package's name."""
    script = f"""
import sys
from pgsweep import cli
cli.application({command!r}, {arguments!r})
print(*(name for name in sys.modules if name.startswith("pgsweep.")))
"""
    found = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True)
    return {name.partition(".")[2] for name in found.stdout.decode().split()}


def test_a_view_of_a_fleet_loads_nothing_of_the_commands_below_it() -> None:
    found = loaded_by("fleet", *FLEET)
    assert {"fleet.view", "model.server", "output.terminal.fleet"} <= found
    assert not found & {
        *("commands.fleet_acts", "commands.fleet_explain", "commands.set", "commands.fleet_acting"),
        *("fleet.causes", "fleet.core_reader", "fleet.tables", "model.reports", "model.tables"),
        *("findings.nagios", "source.core.views", "findings.sources", "tune.settings"),
    }


def test_a_command_below_it_loads_them() -> None:
    assert "commands.fleet_acts" in loaded_by("fleet", "hold", *FLEET)


@pytest.mark.parametrize(
    ("arguments", "below"),
    [
        ((), False),
        (FLEET, False),
        (("--json", "--tables"), False),
        (("--file=nodes.toml", "-d", "postgres"), False),
        (("hold",), True),
        (("--file", "hold"), True),
        (("--help",), True),
        (("-f", "nodes.toml", "hodl"), True),
        (("--json", "hodl"), True),
        (("--file=nodes.toml", "hodl"), True),
    ],
)
def test_they_are_there_when_one_may_be_called(arguments: tuple[str, ...], below: bool) -> None:
    assert bool(fleet.application(arguments).registered_commands) is below


def test_who_misspells_one_is_told_which_there_are() -> None:
    arguments = ("--json", "hodl")
    app = cli.application("fleet", arguments)
    said = CliRunner().invoke(app, ["fleet", *arguments])
    assert said.exit_code == 2
    assert "Did you mean" in said.output
    assert "hold" in said.output


@pytest.mark.parametrize(
    ("called", "now"),
    [
        *((word, f"pgsweep {now}") for word, now in cli.RENAMED.items()),
        *((f"fleet {word}", f"pgsweep fleet {now}") for word, now in fleet.RENAMED.items()),
    ],
)
def test_a_name_that_has_gone_says_where_to(pgsweep: Pgsweep, called: str, now: str) -> None:
    result = pgsweep(*called.split(), "-d", "x")
    assert result.code == 2
    assert f'"{called}" is now "{now}"' in result.err


def test_all_commands_below_it_are_known() -> None:
    group = typer.main.get_group(fleet.application())
    assert list(group.commands) == list(fleet.BELOW)


@pytest.mark.parametrize("module", model.MODULES)
def test_all_classes_of_the_model_are_found(module: str) -> None:
    found = import_module(f"pgsweep.model.{module}")
    there = {
        name
        for name, what in inspect.getmembers(found, inspect.isclass)
        if what.__module__ == found.__name__
    }
    assert there == set(model.MODULES[module])
    assert all(getattr(model, name) is getattr(found, name) for name in there)


def test_what_is_not_of_the_model_is_not_found() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        model.Nothing  # noqa: B018
