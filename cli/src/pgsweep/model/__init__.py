"""What was read from the server, frozen.

Field names are the columns of the views in schema sweep. They are also the keys of `--json`.
Times are in milliseconds unless the type says otherwise (datetime, timedelta). None is what the
view returns as NULL: the value is unknown, does not apply, or may not be seen by this role.

Python takes a millisecond or two to make such a class. So a module is loaded with the first of its
classes that somebody asks for here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgsweep.model.history import (
        CountedHour as CountedHour,
    )
    from pgsweep.model.history import (
        HourOfAll as HourOfAll,
    )
    from pgsweep.model.history import (
        HourOfOne as HourOfOne,
    )
    from pgsweep.model.history import (
        HourOfTable as HourOfTable,
    )
    from pgsweep.model.history import (
        LastHour as LastHour,
    )
    from pgsweep.model.history import (
        Span as Span,
    )
    from pgsweep.model.reports import (
        CallFilter as CallFilter,
    )
    from pgsweep.model.reports import (
        Day as Day,
    )
    from pgsweep.model.reports import (
        DecisionFilter as DecisionFilter,
    )
    from pgsweep.model.reports import (
        Facts as Facts,
    )
    from pgsweep.model.reports import (
        RunFilter as RunFilter,
    )
    from pgsweep.model.reports import (
        Snapshot as Snapshot,
    )
    from pgsweep.model.reports import (
        StatusReport as StatusReport,
    )
    from pgsweep.model.reports import (
        TableHistory as TableHistory,
    )
    from pgsweep.model.reports import (
        TuneFacts as TuneFacts,
    )
    from pgsweep.model.server import (
        Blocker as Blocker,
    )
    from pgsweep.model.server import (
        Call as Call,
    )
    from pgsweep.model.server import (
        Cluster as Cluster,
    )
    from pgsweep.model.server import (
        CoreStatus as CoreStatus,
    )
    from pgsweep.model.server import (
        Current as Current,
    )
    from pgsweep.model.server import (
        Database as Database,
    )
    from pgsweep.model.server import (
        DatabaseAge as DatabaseAge,
    )
    from pgsweep.model.server import (
        Feature as Feature,
    )
    from pgsweep.model.server import (
        IdRates as IdRates,
    )
    from pgsweep.model.server import (
        Limit as Limit,
    )
    from pgsweep.model.server import (
        Members as Members,
    )
    from pgsweep.model.server import (
        RecoveryConflict as RecoveryConflict,
    )
    from pgsweep.model.server import (
        Server as Server,
    )
    from pgsweep.model.server import (
        Status as Status,
    )
    from pgsweep.model.server import (
        Step as Step,
    )
    from pgsweep.model.server import (
        Totals as Totals,
    )
    from pgsweep.model.simulated import (
        SimulatedHour as SimulatedHour,
    )
    from pgsweep.model.simulated import (
        SimulatedTable as SimulatedTable,
    )
    from pgsweep.model.simulated import (
        SimulationSummary as SimulationSummary,
    )
    from pgsweep.model.tables import (
        Cause as Cause,
    )
    from pgsweep.model.tables import (
        DeadTuples as DeadTuples,
    )
    from pgsweep.model.tables import (
        Decision as Decision,
    )
    from pgsweep.model.tables import (
        QueueWait as QueueWait,
    )
    from pgsweep.model.tables import (
        Table as Table,
    )
    from pgsweep.model.tables import (
        TableKey as TableKey,
    )
    from pgsweep.model.tables import (
        TableName as TableName,
    )
    from pgsweep.model.tables import (
        TableSetting as TableSetting,
    )
    from pgsweep.model.tables import (
        TriedTable as TriedTable,
    )
    from pgsweep.model.tables import (
        Waiting as Waiting,
    )
    from pgsweep.model.tables import (
        Worth as Worth,
    )
    from pgsweep.model.vacuums import (
        Progress as Progress,
    )
    from pgsweep.model.vacuums import (
        Run as Run,
    )

MODULES = {
    "history": (
        "CountedHour",
        "HourOfAll",
        "HourOfOne",
        "HourOfTable",
        "LastHour",
        "Span",
    ),
    "reports": (
        "CallFilter",
        "Day",
        "DecisionFilter",
        "Facts",
        "RunFilter",
        "Snapshot",
        "StatusReport",
        "TableHistory",
        "TuneFacts",
    ),
    "server": (
        "Blocker",
        "Call",
        "Cluster",
        "CoreStatus",
        "Current",
        "Database",
        "DatabaseAge",
        "Feature",
        "IdRates",
        "Members",
        "Limit",
        "RecoveryConflict",
        "Server",
        "Status",
        "Step",
        "Totals",
    ),
    "simulated": (
        "SimulatedHour",
        "SimulatedTable",
        "SimulationSummary",
    ),
    "tables": (
        "Cause",
        "DeadTuples",
        "Decision",
        "QueueWait",
        "Table",
        "TableKey",
        "TableName",
        "TableSetting",
        "TriedTable",
        "Waiting",
        "Worth",
    ),
    "vacuums": (
        "Progress",
        "Run",
    ),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return a class that was not asked for yet (PEP 562)."""
    for module, names in MODULES.items():
        if name in names:
            found = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
