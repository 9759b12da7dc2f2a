"""`pgsweep mcp`: what an assistant can ask, and that it can do no more."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from conftest import Pgsweep
from pgsweep.commands.mcp import Asking, tools
from pgsweep.source.db import Target
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config

pytestmark = pytest.mark.server

WATCHER = "watcher"
TOOLS = {"status", "doctor", "explain", "blockers", "progress", "queue", "tables", "runs", "bloat"}
TOOLS |= {"trial"}


@pytest.fixture(scope="module")
def core() -> Iterator[ThrowawayServer]:
    with ThrowawayServer(default_pg_config(), {"autovacuum": "off"}) as server:
        server.psql("postgres", f"CREATE ROLE {WATCHER} LOGIN IN ROLE pg_monitor")
        server.psql("postgres", 'CREATE TABLE "--json" AS SELECT generate_series(1, 100) i')
        yield server


def words(server: ThrowawayServer) -> list[str]:
    return ["-h", str(server.folder), "-p", str(server.port), "-U", WATCHER, "-d", "postgres"]


async def talk(server: ThrowawayServer) -> dict[str, Any]:
    command = ["-m", "pgsweep", "mcp", *words(server)]
    found: dict[str, Any] = {}
    async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
        found["tools"] = (await client.list_tools()).tools
        for name, given in (
            ("status", {}),
            ("tables", {"limit": 1}),
            ("explain", {"table": '"--json"'}),
            ("explain", {"table": "--watch=1"}),
            ("queue", {}),
        ):
            answer = await client.call_tool(name, given)
            (part,) = answer.content
            assert isinstance(part, TextContent)
            found[f"{name} {given}"] = answer.is_error, part.text
    return found


def test_an_assistant_asks(core: ThrowawayServer) -> None:
    found = anyio.run(talk, core)
    assert {tool.name for tool in found["tools"]} == TOOLS
    assert all(tool.description and tool.annotations.read_only_hint for tool in found["tools"])
    failed, text = found["status {}"]
    assert not failed
    assert json.loads(text)["status"] is None
    assert len(json.loads(found["tables {'limit': 1}"][1])) == 1
    # A name that looks like an option is a name.
    failed, text = found["""explain {'table': '"--json"'}"""]
    assert not failed, text
    assert "--json" in text
    failed, text = found["explain {'table': '--watch=1'}"]
    assert failed
    assert "not a valid identifier" in text
    failed, text = found["queue {}"]
    assert failed
    assert "extension" in text


def test_what_is_asked_is_bounded() -> None:
    asked: list[tuple[Any, ...]] = []

    def ask(*given: str, name: str | None = None) -> str:
        asked.append((*given, name))
        return "{}"

    by_name = {tool.__name__: tool for tool in tools(ask)}
    by_name["bloat"](limit=10**9)
    by_name["runs"](limit=-1, table="--user=x")
    assert asked == [
        ("bloat", "--limit=200", None),
        ("runs", "--limit=1", "--table=--user=x", None),
    ]


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(ValueError, match="/nonexistent"):
        Asking(Target(host="/nonexistent", port="1"), ValueError)("status")


def test_no_password_can_be_asked_for(pgsweep: Pgsweep) -> None:
    result = pgsweep("mcp", "-W")
    assert result.code == 2
    assert "stdin is the assistant's" in result.err
