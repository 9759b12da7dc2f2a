"""Owns a throwaway server until it is told to end. Tests kill it at different moments."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config


def main() -> int:
    """Run until a signal comes. The argument is where the folder goes."""
    interrupts = Interrupts()
    try:
        with (
            interrupts.installed(),
            ThrowawayServer(
                default_pg_config(), {}, interrupts, parent=Path(sys.argv[1])
            ) as server,
        ):
            server.start(["psql", *server.flags("postgres"), "-c", "SELECT pg_sleep(600)"], "p.log")
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            time.sleep(600)
    except Interrupted as exc:
        return exc.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
