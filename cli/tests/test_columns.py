"""A view's columns are written down in C, SQL, a query, the model and the documentation.

Here the list of each is held against the next one's, so that a column that was forgotten in one
of them fails. That C fills as many as SQL names is asserted by the server itself (row_store).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from conftest import needs_extension
from pgsweep import model, queries
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config

pytestmark = [pytest.mark.server, needs_extension]

DOCS = Path(__file__).parents[2] / "docs" / "views.md"
KINDS: dict[str, type] = {
    "progress": model.Progress,
    "runs": model.Run,
    "history": model.HourOfTable,
    "databases": model.Database,
    "decisions": model.Decision,
    "audit": model.Call,
    "trial": model.TriedTable,
    "worth": model.Worth,
    "status": model.Status,
    "features": model.Feature,
    "tables": model.Table,
    "queue": model.Waiting,
    "blockers": model.Blocker,
    "budget": model.Limit,
    "governor": model.Step,
}
FUNCTIONS: dict[str, type] = {
    "simulate": model.SimulatedHour,
    "simulate_tables": model.SimulatedTable,
    "simulate_summary": model.SimulationSummary,
}
# The view makes other columns of these, or the command does not show them.
NOT_IN_VIEW = {
    "blockers": {"catalogs"},
    "trial": {"block_size"},
    "simulate_summary": {"mode", "block_size"},
}
NOT_IN_MODEL = {
    "history": {"blks_hit", "wal_records", "wal_fpi", "delay_time"},
}
# The columns of these views are described in a table, and not in prose or by a pattern.
DESCRIBED = (
    "audit",
    "trial",
    "worth",
    "progress",
    "runs",
    "tables",
    "queue",
    "blockers",
    "budget",
    "governor",
    "activity",
)


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection[tuple[str]]]:
    with ThrowawayServer(default_pg_config(), {"shared_preload_libraries": "pg_sweep"}) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        with psycopg.connect(
            host=str(server.folder), port=server.port, user=SUPERUSER, dbname="postgres"
        ) as conn:
            yield conn


def columns(connection: psycopg.Connection[tuple[str]], view: str) -> list[str]:
    rows = connection.execute(
        "SELECT attname::text FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (f"sweep.{view}",),
    )
    return [name for (name,) in rows]


@pytest.mark.parametrize("view", KINDS)
def test_the_view_has_what_its_function_returns(
    connection: psycopg.Connection[tuple[str]], view: str
) -> None:
    rows = connection.execute(
        "SELECT name FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode) "
        "WHERE oid::regproc::text = %s AND mode IN ('o', 't')",
        (f"sweep_internal.get_{view}",),
    )
    returned = {name for (name,) in rows}
    assert returned
    assert returned - NOT_IN_VIEW.get(view, set()) <= set(columns(connection, view))


@pytest.mark.parametrize(("view", "kind"), KINDS.items())
def test_the_query_asks_for_what_the_model_has(
    connection: psycopg.Connection[tuple[str]], view: str, kind: type
) -> None:
    query = queries.text(view, connection.info.server_version, kind)
    nothing = dict.fromkeys(re.findall(r"%\((\w+)\)s", query.decode()))
    asked = connection.execute(query, nothing).description
    assert asked is not None
    fields = [field.name for field in dataclasses.fields(kind)]
    assert [column.name for column in asked] == fields
    assert set(columns(connection, view)) - NOT_IN_MODEL.get(view, set()) <= set(fields)


def section(view: str) -> str:
    """Return what the documentation says about a view."""
    match = re.search(rf"^## sweep\.{view}\n(.*?)^## ", DOCS.read_text(), re.DOTALL | re.MULTILINE)
    assert match is not None, view
    return match.group(1)


def described(view: str) -> set[str]:
    """Return the columns in the first cells of a section's table."""
    cells = re.findall(r"^\| (`[^|]*`) \|", section(view), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("view", DESCRIBED)
def test_the_documentation_has_the_columns(
    connection: psycopg.Connection[tuple[str]], view: str
) -> None:
    named = described(view)
    if view == "runs":
        assert "The columns are those of `sweep.progress`, and these:" in section(view)
        named |= described("progress") & set(columns(connection, "runs"))
    assert named == set(columns(connection, view))


@pytest.mark.parametrize(("function", "kind"), FUNCTIONS.items())
def test_what_a_function_returns_is_in_the_query_the_model_and_the_documentation(
    connection: psycopg.Connection[tuple[str]], function: str, kind: type
) -> None:
    rows = connection.execute(
        "SELECT name FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode) "
        "WHERE oid::regproc::text = %s AND mode IN ('o', 't')",
        (f"sweep.{function}",),
    )
    returned = {name for (name,) in rows}
    fields = {field.name for field in dataclasses.fields(kind)}
    assert returned == fields - NOT_IN_VIEW.get(function, set())
    assert returned == described(rf"{function}\(\)")
