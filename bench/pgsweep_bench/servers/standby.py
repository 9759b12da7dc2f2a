"""A standby of a throwaway server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pgsweep.base.interrupts import Interrupts


class Standby(ThrowawayServer):
    """A copy of a primary that follows it. Later settings win."""

    def __init__(
        self,
        options: argparse.Namespace,
        interrupts: Interrupts | None,
        primary: ThrowawayServer,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(options.pg_config, settings or {}, interrupts, keep=options.keep)
        self._primary = primary

    def conninfo(self) -> str:
        """Return where it gets its WAL from."""
        return f"host={self._primary.folder} port={self._primary.port} user={SUPERUSER}"

    def _initdb(self) -> None:
        data = self.folder / "data"
        self.run(
            [
                *("pg_basebackup", "-D", str(data), "-c", "fast", "-X", "stream"),
                *self._primary.flags("postgres")[:-2],
            ]
        )
        settings = {
            **self._primary.settings,
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "port": str(self.port),
            "fsync": "off",
            "sweep.mode": "off",
            "wal_receiver_status_interval": "1s",
            "primary_conninfo": self.conninfo(),
            **self.settings,
        }
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        self._write(data / "postgresql.auto.conf", "".join(lines))
        self._write(data / "standby.signal", "")
