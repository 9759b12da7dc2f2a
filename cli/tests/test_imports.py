"""Who may import what: one door to the server, and nothing heavy where it is not used."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "pgsweep"


def imported(file: Path) -> set[str]:
    """Return the modules that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def importers(module: str) -> set[str]:
    """Return the files, below src/pgsweep, that import a module or a part of it."""
    return {
        str(file.relative_to(SOURCES))
        for file in SOURCES.rglob("*.py")
        if any(f"{name}.".startswith(f"{module}.") for name in imported(file))
    }


def test_one_door_to_the_server() -> None:
    assert importers("psycopg") == {"source/connection.py"}


def test_the_browser_draws() -> None:
    assert importers("vl_convert") == set()


def test_who_speaks_http_and_prometheus() -> None:
    def parts(module: str) -> set[str]:
        return {file.split("/")[1] for file in importers(module)}

    assert parts("starlette") == parts("uvicorn") == {"web"}
    assert parts("prometheus_client") == {"prometheus", "web"}
    # The other commands do without: only this one imports them, and only when it is called.
    assert importers("pgsweep.output.web") <= {
        "commands/serve.py",
        *(str(file.relative_to(SOURCES)) for file in (SOURCES / "output" / "web").glob("*.py")),
    }
    # Metrics are made of what was read. Only the reader has a session.
    assert not any(
        f.startswith("output/prometheus/")
        for f in importers("pgsweep.source.db") - {"output/prometheus/reader.py"}
    )


def test_only_tune_needs_the_laboratory_and_none_an_experiment() -> None:
    parts = {file.split("/")[0] for file in importers("pgsweep.tune.lab")} - {"commands"}
    assert parts == {"tune"}
    assert importers("pgsweep_bench") == set()
