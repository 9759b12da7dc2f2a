"""What an experiment must know of the server that it is run on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pgsweep.base.errors import PermissionDeniedError, QueryError, UsageError
from pgsweep.tune import machine

if TYPE_CHECKING:
    from pgsweep.tune.lab.session import LabSession


@dataclass(frozen=True)
class Costs:
    """The cost model of the server."""

    hit: float = 1
    miss: float = 2
    dirty: float = 20


@dataclass(frozen=True)
class Facts:
    """The server's cost model, block size and files, and what our role may."""

    costs: Costs
    block_mb: float
    # None: it is out of reach
    data: Path | None
    disk: machine.Disk
    may_checkpoint: bool


def require_possible(session: LabSession) -> None:
    """Raise where nothing can be measured, or our role may not.

    Raises `UsageError` on a standby or where pg_sweep would slow us, and `PermissionDeniedError`.
    """
    row = session.rows(
        "SELECT pg_catalog.pg_is_in_recovery() AS standby, rolsuper OR rolcreatedb AS may, "
        "rolname, pg_catalog.current_setting('sweep.steer', true) AS steered "
        "FROM pg_catalog.pg_roles WHERE rolname = current_user"
    )[0]
    if row["standby"]:
        raise UsageError(
            "a standby cannot be measured: nothing is vacuumed there",
            "Connect to the primary, or to a server like it.",
        )
    if not row["may"]:
        raise PermissionDeniedError(
            f'role "{row["rolname"]}" may not create a scratch database',
            f'Run ALTER ROLE "{row["rolname"]}" CREATEDB as superuser, or use --from-history.',
        )
    if row["steered"] in ("manual", "all"):
        raise UsageError(
            "sweep.steer includes manual VACUUM: pg_sweep would slow the experiment's own vacuums",
            "Set it to none for the time of the experiment.",
        )


def read(session: LabSession) -> Facts:
    """Return what the session can find out."""
    one = session.value
    costs = Costs(
        *(
            float(one("SELECT current_setting(%s)", f"vacuum_cost_page_{name}"))
            for name in ("hit", "miss", "dirty")
        )
    )
    may_checkpoint = bool(
        one(
            "SELECT rolsuper OR EXISTS (SELECT FROM pg_catalog.pg_roles AS r "
            "WHERE r.rolname = 'pg_checkpoint' "
            "AND pg_catalog.pg_has_role(current_user, r.oid, 'USAGE')) "
            "FROM pg_catalog.pg_roles WHERE rolname = current_user"
        )
    )
    block_mb = int(one("SELECT current_setting('block_size')")) / machine.MB
    data, why = None, "the server is not on this machine"
    if machine.is_backend(session.pid, str(one("SELECT current_database()"))):
        why = ""
        try:
            data = Path(str(one("SELECT current_setting('data_directory')")))
        except QueryError:
            why = "the server does not tell this role its data_directory (pg_read_all_settings)"
    return Facts(costs, block_mb, data, machine.Disk(data, why=why), may_checkpoint)
