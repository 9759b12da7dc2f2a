"""The provider `file`: a TOML file of nodes, of libpq's services, and of clusters to be asked.

It has no passwords. Those for servers come from libpq's own places, those for Patroni from its
environment or from a file that only its owner reads.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pgsweep.base import errors
from pgsweep.fleet.address import Map, is_port
from pgsweep.fleet.citus import Asked
from pgsweep.fleet.http import Credentials
from pgsweep.fleet.node import Found, Node
from pgsweep.fleet.patroni import Cluster

PROVIDER = "file"
_PLACE = ("host", "port", "service", "dbname", "user")
_TOP = ("dbname", "user", "services", "nodes", "map", "citus", "patroni", "cloudberry")
_CLUSTER = ("name", "urls", "dbname", "user", "rest_user", "password_file", "cacert", "cert", "key")
_SECRETS = ("password", "passwd", "passfile", "sslkey", "sslpassword")


@dataclass(frozen=True)
class Seed:
    """A node to be asked who else there is, and the name of the group of these."""

    asked: Asked
    name: str


@dataclass(frozen=True)
class Plan:
    """Whom to ask who is there: what a file, or the command line, says."""

    nodes: tuple[Node, ...] = ()
    citus: tuple[Seed, ...] = ()
    patroni: tuple[Cluster, ...] = ()
    cloudberry: tuple[Seed, ...] = ()
    places: Map = field(default_factory=Map)

    @property
    def empty(self) -> bool:
        """Tell whether nobody is named."""
        return not (self.nodes or self.citus or self.patroni or self.cloudberry)

    @property
    def found(self) -> Found:
        """Return the nodes that are named one by one."""
        return Found(self.nodes)


def load(path: Path, environment: Mapping[str, str] | None = None) -> Plan:
    """Return what a file says. Raise if it cannot be read, or has what is not known."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as exc:
        said = getattr(exc, "strerror", None) or "it is not UTF-8"
        raise errors.UsageError(f'cannot read "{path}": {said}', "Name a TOML file.") from exc
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        # RecursionError: brackets can be nested deeper than Python goes.
        document = toml.loads(text)
    except (toml.TOMLDecodeError, RecursionError) as exc:
        said = str(exc) or "it is nested too deeply"
        raise errors.UsageError(f'"{path}" is no TOML: {said}', "See docs/fleet.md.") from exc
    return parse(document, path, os.environ if environment is None else environment)


def parse(document: Mapping[str, Any], path: Path, environment: Mapping[str, str]) -> Plan:
    """Return what the tables of a file say."""
    top = _Table(document, f'"{path}"')
    top.only(_TOP)
    places = _Table(top.table("map"), f'[map] in "{path}"')
    defaults = Asked(None, None, None, top.text("dbname"), top.text("user"))
    nodes = [_node(_Table(row, where), defaults) for row, where in top.tables("nodes")]
    nodes += [service_node(name, defaults) for name in top.texts("services")]
    return Plan(
        nodes=tuple(nodes),
        citus=tuple(_seed(_Table(row, where), defaults) for row, where in top.tables("citus")),
        patroni=tuple(
            _cluster(_Table(row, where), defaults, path.parent, environment)
            for row, where in top.tables("patroni")
        ),
        cloudberry=tuple(
            _seed(_Table(row, where), defaults) for row, where in top.tables("cloudberry")
        ),
        places=Map.of({name: places.text(name) or "" for name in places.names}),
    )


def service_node(name: str, defaults: Asked) -> Node:
    """Return the node of one of libpq's services."""
    return Node(
        name=name,
        group="",
        role="",
        host=None,
        port=None,
        host_id=name,
        service=name,
        dbname=defaults.dbname,
        user=defaults.user,
    )


def _node(table: _Table, defaults: Asked) -> Node:
    table.only((*_PLACE, "name", "group", "role", "host_id"))
    asked = _asked(table, defaults)
    name = table.text("name") or asked.service or asked.host or ""
    if not name or (asked.host is None and asked.service is None):
        raise table.wrong("has neither host nor service", "Say where it is.")
    return Node(
        name=name,
        group=table.text("group") or "",
        role=table.text("role") or "",
        host=asked.host,
        port=asked.port,
        host_id=table.text("host_id") or asked.host or name,
        service=asked.service,
        dbname=asked.dbname,
        user=asked.user,
    )


def _seed(table: _Table, defaults: Asked) -> Seed:
    table.only((*_PLACE, "name"))
    return Seed(_asked(table, defaults), table.text("name") or "")


def _asked(table: _Table, defaults: Asked) -> Asked:
    return Asked(
        host=table.text("host"),
        port=table.port(),
        service=table.text("service"),
        dbname=table.text("dbname") or defaults.dbname,
        user=table.text("user") or defaults.user,
    )


def _cluster(
    table: _Table, defaults: Asked, folder: Path, environment: Mapping[str, str]
) -> Cluster:
    table.only(_CLUSTER)
    urls = table.texts("urls")
    if not urls:
        raise table.wrong("has no urls", 'Write urls = ["http://HOST:8008"].')

    def file(name: str) -> str | None:
        given = table.text(name)
        return str(folder / given) if given else None

    secret = file("password_file")
    usual = credentials(environment)
    return Cluster(
        urls=urls,
        name=table.text("name") or "",
        who=Credentials(
            user=table.text("rest_user") or usual.user,
            password=_secret(Path(secret)) if secret else usual.password,
            cacert=file("cacert") or usual.cacert,
            cert=file("cert") or usual.cert,
            key=file("key") or usual.key,
        ),
        dbname=table.text("dbname") or defaults.dbname,
        user=table.text("user") or defaults.user,
    )


def credentials(environment: Mapping[str, str]) -> Credentials:
    """Return what Patroni's own variables say, those that patronictl goes by too."""

    def given(name: str) -> str | None:
        return environment.get(f"PATRONI_{name}") or None

    return Credentials(
        user=given("RESTAPI_USERNAME"),
        password=given("RESTAPI_PASSWORD"),
        cacert=given("CTL_CACERT"),
        cert=given("CTL_CERTFILE"),
        key=given("CTL_KEYFILE"),
    )


def _secret(path: Path) -> str:
    """Return the first line of a file that nobody else can read."""
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as exc:
        said = getattr(exc, "strerror", None) or "it is not UTF-8"
        raise errors.UsageError(
            f'cannot read the password in "{path}": {said}', "It is its first line."
        ) from exc
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise errors.UsageError(
            f'others can read the password in "{path}"', f"Run chmod 600 {path}."
        )
    return lines[0] if lines else ""


class _Table:
    """A table of the file, read with checks. `where` names it in errors."""

    def __init__(self, values: object, where: str) -> None:
        self._where = where
        if not isinstance(values, Mapping):
            raise self.wrong("is no table", "See docs/fleet.md.")
        self._values = values

    @property
    def names(self) -> tuple[str, ...]:
        """Return the keys."""
        return tuple(self._values)

    def wrong(self, what: str, hint: str) -> errors.UsageError:
        """Return the error that says what is wrong here."""
        return errors.UsageError(f"{self._where} {what}", hint)

    def only(self, known: tuple[str, ...]) -> None:
        """Raise unless all keys are known."""
        for name in self._values:
            if name in _SECRETS:
                raise self.wrong(
                    f"has a {name}, which does not belong into such a file",
                    "Use ~/.pgpass, PGPASSWORD or a service. For Patroni use password_file.",
                )
            if name not in known:
                raise self.wrong(f'has an unknown key "{name}"', f"There are: {', '.join(known)}.")

    def text(self, name: str) -> str | None:
        """Return a text. None means that it is not given."""
        value = self._values.get(name)
        if value is not None and (not isinstance(value, str) or not value or "\0" in value):
            raise self.wrong(f"has a {name} that is no text", f'Write {name} = "…".')
        return value

    def port(self) -> int | None:
        """Return the port. None means that it is not given."""
        value = self._values.get("port")
        if value is not None and not is_port(value):
            raise self.wrong("has a port that is none", "Write port = 5432.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(x, str) and x for x in value):
            raise self.wrong(f"has {name} that are no list of texts", f'Write {name} = ["…"].')
        return tuple(value)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table within this one."""
        value = self._values.get(name, {})
        if not isinstance(value, Mapping):
            raise self.wrong(f"has a {name} that is no table", f"Write [{name}].")
        return value

    def tables(self, name: str) -> list[tuple[object, str]]:
        """Return an array of tables, each with what errors call it. One table does as well."""
        value = self._values.get(name, [])
        if isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list):
            raise self.wrong(f"has {name} that are no tables", f"Write [[{name}]].")
        return [(row, f"[[{name}]] {i} in {self._where}") for i, row in enumerate(value, 1)]
