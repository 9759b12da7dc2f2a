"""The provider `patroni`: the members of a Patroni cluster, asked of any of them over REST.

GET /cluster names all members. Which member answers does not matter. So all that are given are
asked at the same time, and the first answer that makes sense counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pgsweep.base import errors
from pgsweep.fleet import http
from pgsweep.fleet.address import is_port
from pgsweep.fleet.asking import first_answer
from pgsweep.fleet.http import Credentials
from pgsweep.fleet.node import Found, Node, understood

PROVIDER = "patroni"
# Older versions call the leader master.
ROLES = {"master": "leader", "primary": "leader"}
KNOWN = frozenset({"leader", "replica", "sync_standby", "quorum_standby", "standby_leader"})
WELL = frozenset({"running", "streaming"})
MOST_MEMBERS = 1000
# Patroni's default. More than the other is not waited for.
LOOP_WAIT_S = 10.0
LONGEST_LOOP_WAIT_S = 60.0


@dataclass(frozen=True)
class Cluster:
    """Where a Patroni cluster is asked. Any member does."""

    urls: tuple[str, ...]
    name: str = ""
    who: Credentials = field(default_factory=Credentials)
    dbname: str | None = None
    user: str | None = None


def fetch(cluster: Cluster, timeout_s: float) -> Found:
    """Ask all members that are given, and take the first good answer."""
    for url in cluster.urls:
        http.split(url)

    def members(url: str) -> Found:
        return parse(http.ask(url, "/cluster", cluster.who, timeout_s), cluster)

    return first_answer(cluster.urls, members, timeout_s, "Patroni")


def parse(document: object, cluster: Cluster) -> Found:
    """Return the members of an answer of /cluster. What is odd about one is said."""
    members = document.get("members") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(members, list):
        raise errors.QueryError(
            "the answer has no members", "Is this the address of Patroni's REST API?"
        )
    scope = document.get("scope")
    group = cluster.name or (scope if isinstance(scope, str) else "")
    nodes, notes = understood(
        members[:MOST_MEMBERS], lambda row: _node(row, group, cluster), "A member of Patroni"
    )
    if len(members) > MOST_MEMBERS:
        notes.append(f"Patroni names {len(members):,} members: only {MOST_MEMBERS:,} are shown.")
    if not nodes:
        raise errors.QueryError(" ".join(["Patroni names no member", *notes]))
    if document.get("pause") is True:
        notes.append(f'Patroni\'s cluster "{group}" is paused: there is no failover now.')
    notes += _absent(members, cluster.urls)
    leaders = [node for node in nodes if node.role == "leader"]
    if len(leaders) > 1:
        both = ", ".join(node.name for node in leaders)
        notes.append(f'Patroni names several leaders of "{group}": {both}.')
    return Found(tuple(nodes), tuple(notes))


def _node(member: object, group: str, cluster: Cluster) -> Node:
    if not isinstance(member, Mapping):
        raise ValueError("it is no object")
    name, host, port = member.get("name"), member.get("host"), member.get("port")
    if not isinstance(name, str) or not name:
        raise ValueError("it has no name")
    role = member.get("role")
    role = ROLES.get(role, role) if isinstance(role, str) else ""
    state = member.get("state")
    state = state if isinstance(state, str) else "unknown"
    unasked = ""
    # A member that has never been started has no address yet.
    if host is None:
        unasked = f"Patroni knows no address yet ({state})"
    elif not isinstance(host, str) or not host:
        raise ValueError(f'the host of "{name}" is no text')
    if port is not None and not is_port(port):
        raise ValueError(f'the port of "{name}" is no port')
    return Node(
        name=name,
        group=group,
        role=role if role in KNOWN else role or "",
        host=host,
        port=port,
        host_id=host or "",
        provider=PROVIDER,
        dbname=cluster.dbname,
        user=cluster.user,
        state=_restart(member) if state in WELL else state,
        unasked=unasked,
        lag_bytes=_number(member, "lag"),
        timeline=_number(member, "timeline"),
        patroni=cluster.urls,
    )


def _absent(members: list[Any], urls: Sequence[str]) -> list[str]:
    """Return what is to be said of addresses at which Patroni has no member.

    Patroni forgets a member whose Patroni has ended. If addresses are written as Patroni has them
    (one at least is), one that no member has is said.
    """
    there = {_place(member.get("api_url")) for member in members if isinstance(member, Mapping)}
    asked = [_place(url) for url in urls]
    if not (there & set(asked)) - {""}:
        return []
    return [
        f"Patroni names no member at {place}: it has ended, or it is a name of another one."
        for place in asked
        if place not in there
    ]


def _place(url: object) -> str:
    """Return host and port of a URL, as they are written there."""
    try:
        return urlsplit(url).netloc if isinstance(url, str) else ""
    except ValueError:
        return ""


def _restart(member: Mapping[str, Any]) -> str:
    """Return which settings wait for a restart. Before 4.0 Patroni does not name them."""
    if member.get("pending_restart") is not True:
        return ""
    reason = member.get("pending_restart_reason")
    names = ", ".join(map(str, reason)) if isinstance(reason, Mapping) else ""
    return f"a restart is pending ({names})" if names else "a restart is pending"


def _number(member: Mapping[str, Any], name: str) -> int | None:
    """Return a number. Patroni writes "unknown" where it does not know it."""
    value = member.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        return None
    return value


# -- its dynamic configuration ---------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    """What the dynamic configuration says of servers, and of when members look at it."""

    parameters: Mapping[str, Any]
    loop_wait_s: float = LOOP_WAIT_S


def configuration(cluster: Cluster, timeout_s: float) -> Configuration:
    """Return the dynamic configuration."""

    def ask(url: str) -> Configuration:
        return parse_config(http.ask(url, "/config", cluster.who, timeout_s))

    return first_answer(cluster.urls, ask, timeout_s, "Patroni")


def parse_config(document: object) -> Configuration:
    """Return what an answer of /config says."""
    if not isinstance(document, Mapping):
        raise errors.QueryError("Patroni's configuration is no object")
    found = document.get("postgresql") or {}
    found = found.get("parameters") or {} if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        raise errors.QueryError("Patroni's configuration has no postgresql.parameters")
    wait = _number(document, "loop_wait") or 0
    return Configuration(dict(found), wait if 0 < wait <= LONGEST_LOOP_WAIT_S else LOOP_WAIT_S)


def patch(cluster: Cluster, values: Mapping[str, Any], timeout_s: float) -> str:
    """Change postgresql.parameters of the dynamic configuration. None removes a setting.

    One member after the other is asked, because two must not do it at the same time. Return the
    address of the one that did it.
    """
    body = {"postgresql": {"parameters": dict(values)}}

    def refused(url: str) -> errors.PgsweepError | None:
        try:
            http.ask(url, "/config", cluster.who, timeout_s, "PATCH", body)
        except errors.PgsweepError as exc:
            return exc
        return None

    problems = []
    for url in cluster.urls:
        problem = refused(url)
        if problem is None:
            return url
        problems.append(problem)
    raise problems[0]


def edit_config(group: str, values: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the command of Patroni that changes settings of its dynamic configuration."""
    pairs = [word for name, value in values.items() for word in ("-p", f"{name}={_yaml(value)}")]
    return ("patronictl", "edit-config", *([group] if group else []), *pairs)


def _yaml(value: str | None) -> str:
    """Return a value as patronictl reads it: as YAML, in which null removes a setting."""
    if value is None:
        return "null"
    plain = re.fullmatch(r"-?\d{1,15}(\.\d+)?|[A-Za-z][A-Za-z0-9_]*", value) is not None
    # YAML takes these for something else than a text.
    if plain and value.lower() not in ("null", "on", "off", "yes", "no", "true", "false", "y", "n"):
        return value
    # A text of JSON is one of YAML, too.
    return json.dumps(value, ensure_ascii=False)
