"""What was read from the server, frozen.

Field names are the columns of the views in schema sweep. They are also the keys of `--json`.
Times are in milliseconds unless the type says otherwise (datetime, timedelta). None is what the
view returns as NULL: the value is unknown, does not apply, or may not be seen by this role.
"""

from pgsweep.model.history import CountedHour, HourOfAll, HourOfOne, HourOfTable, LastHour, Span
from pgsweep.model.reports import (
    CallFilter,
    Day,
    DecisionFilter,
    Facts,
    RunFilter,
    Snapshot,
    StatusReport,
    TableHistory,
    TuneFacts,
)
from pgsweep.model.server import (
    Blocker,
    Call,
    Cluster,
    CoreStatus,
    Database,
    DatabaseAge,
    Feature,
    IdRates,
    Limit,
    RecoveryConflict,
    Server,
    Status,
    Step,
    Totals,
)
from pgsweep.model.simulated import SimulatedHour, SimulatedTable, SimulationSummary
from pgsweep.model.tables import (
    Cause,
    DeadTuples,
    Decision,
    QueueWait,
    Table,
    TableKey,
    TableName,
    TableSetting,
    TriedTable,
    Waiting,
    Worth,
)
from pgsweep.model.vacuums import Progress, Run

__all__ = [
    "Blocker",
    "Call",
    "CallFilter",
    "Cause",
    "Cluster",
    "CoreStatus",
    "CountedHour",
    "Database",
    "DatabaseAge",
    "Day",
    "DeadTuples",
    "Decision",
    "DecisionFilter",
    "Facts",
    "Feature",
    "HourOfAll",
    "HourOfOne",
    "HourOfTable",
    "IdRates",
    "LastHour",
    "Limit",
    "Progress",
    "QueueWait",
    "RecoveryConflict",
    "Run",
    "RunFilter",
    "Server",
    "SimulatedHour",
    "SimulatedTable",
    "SimulationSummary",
    "Snapshot",
    "Span",
    "Status",
    "StatusReport",
    "Step",
    "Table",
    "TableHistory",
    "TableKey",
    "TableName",
    "TableSetting",
    "Totals",
    "TriedTable",
    "TuneFacts",
    "Waiting",
    "Worth",
]
