"""Where a server listens: a host and a port, and how internal ones are reached from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pgsweep.base import errors

LAST_PORT = 65535
# A host with a colon stands in brackets, as in a URL.
_WRITTEN = re.compile(r"(?:\[(?P<v6>[^\[\]]+)\]|(?P<host>[^:\[\]]+))(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True)
class Address:
    """A host and a port. None means that libpq decides."""

    host: str | None
    port: int | None = None

    def __str__(self) -> str:
        host = self.host or "local"
        # The folder of a socket says little and can be long.
        if host.startswith("/"):
            host = "socket"
        if ":" in host:
            host = f"[{host}]"
        return f"{host}:{self.port}" if self.port else host


def is_port(value: object) -> bool:
    """Tell whether it is the number of a port."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LAST_PORT


def parse(written: str) -> Address:
    """Return the address that is written as HOST, HOST:PORT or [HOST]:PORT."""
    match = _WRITTEN.fullmatch(written.strip())
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port is not None and not is_port(port)):
        raise errors.UsageError(
            f"{errors.quoted(written)} is no address", "Write HOST or HOST:PORT."
        )
    return Address(match["v6"] or match["host"], port)


class Map:
    """How addresses that only the nodes know are reached from here."""

    def __init__(self, given: Mapping[Address, Address] | None = None) -> None:
        self._given = dict(given or {})

    @classmethod
    def of(cls, written: Mapping[str, str]) -> Map:
        """Return the map of addresses as they are written."""
        return cls({parse(old): parse(new) for old, new in written.items()})

    def with_options(self, options: tuple[str, ...]) -> Map:
        """Return a map in which FROM=TO of the command line come first."""
        found = dict(self._given)
        for option in options:
            old, equals, new = option.partition("=")
            if not equals:
                raise errors.UsageError(
                    f"{errors.quoted(option)} maps nothing",
                    "Write FROM=TO: 10.0.0.5=localhost:5433.",
                )
            found[parse(old)] = parse(new)
        return Map(found)

    def reached(self, address: Address) -> Address:
        """Return where an address is reached. One with its port goes before its host alone."""
        found = self._given.get(address) or self._given.get(Address(address.host))
        if found is None:
            return address
        return Address(found.host, found.port or address.port)
