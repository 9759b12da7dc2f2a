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
        HourOfAll as HourOfAll,
        HourOfOne as HourOfOne,
        HourOfTable as HourOfTable,
        LastHour as LastHour,
        Span as Span,
    )
    from pgsweep.model.reports import (
        CallFilter as CallFilter,
        Day as Day,
        DecisionFilter as DecisionFilter,
        Facts as Facts,
        RunFilter as RunFilter,
        Snapshot as Snapshot,
        StatusReport as StatusReport,
        TableHistory as TableHistory,
        TuneFacts as TuneFacts,
    )
    from pgsweep.model.server import (
        Blocker as Blocker,
        Call as Call,
        Cluster as Cluster,
        CoreStatus as CoreStatus,
        Current as Current,
        Database as Database,
        DatabaseAge as DatabaseAge,
        Feature as Feature,
        IdRates as IdRates,
        Limit as Limit,
        Members as Members,
        RecoveryConflict as RecoveryConflict,
        Server as Server,
        Status as Status,
        Step as Step,
        Totals as Totals,
    )
    from pgsweep.model.simulated import (
        SimulatedHour as SimulatedHour,
        SimulatedTable as SimulatedTable,
        SimulationSummary as SimulationSummary,
    )
    from pgsweep.model.tables import (
        Cause as Cause,
        DeadTuples as DeadTuples,
        Decision as Decision,
        QueueWait as QueueWait,
        Table as Table,
        TableKey as TableKey,
        TableName as TableName,
        TableSetting as TableSetting,
        ToFreeze as ToFreeze,
        TriedTable as TriedTable,
        Waiting as Waiting,
        Worth as Worth,
    )
    from pgsweep.model.vacuums import (
        Progress as Progress,
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
        "ToFreeze",
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
