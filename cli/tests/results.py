"""Made-up results of experiments: every verdict, a seed's figures, lines over time."""

from __future__ import annotations

import math
from typing import Any

from pgsweep_bench.result import Experiment, Machine, Metric, Result, Said, Series, Variant

# A name that would be a script or break a table if anybody forgot to escape it.
NASTY = '<script>alert(1)</script> | `x` & "y"'

METRICS = (
    Metric("vacuums", "Vacuums of the table", "", "counter", "info"),
    Metric("freeze", "Unfrozen pages after the load", "pages", "counter", "lower"),
    Metric("reads", "Pages read by vacuums", "pages", "counter", "lower", negligible=100),
    Metric("removed", "Dead rows removed", "rows/s", "counter", "higher"),
    Metric("wal", "WAL written by vacuums", "MB", "counter", "lower"),
    Metric("kept", "Rows kept back", "rows", "counter", "lower"),
    Metric("latency", "Latency of transactions, 95th percentile", "ms", "time", "lower"),
)
SAMPLES: dict[str, dict[str, tuple[float, ...]]] = {
    "sweep": {
        "vacuums": (31.0, 33.0, 30.0),
        "freeze": (5200.0, 5150.0, 5300.0),
        "reads": (12000.0, 12100.0, 11900.0),
        "removed": (41237.0, 40000.0, 42000.0),
        "wal": (312.4, 310.0, 315.0),
        "kept": (0.0, 0.0, 0.0),
        "latency": (4.1, 4.4, 3.9),
    },
    "stock": {
        "vacuums": (4.0, 4.0, 5.0),
        "freeze": (98000.0, 97000.0, 99000.0),
        "reads": (11800.0, 11750.0, 11900.0),
        "removed": (13644.0, 13000.0, 14000.0),
        "wal": (240.1, 238.0, 244.0),
        "kept": (870.0, 870.0, 870.0),
        "latency": (4.3, 4.0, 4.9),
    },
    "stock_naptime_1s": {"vacuums": (28.0,), "freeze": (21000.0,), "wal": (355.0,)},
}
LABELS = {"sweep": "pg_sweep", "stock": "stock", "stock_naptime_1s": "stock, naptime 1 s"}


def variant(name: str, major: int = 15, **given: Any) -> Variant:
    """Return one server of the experiment."""
    grows = {"sweep": 0.15, "stock": 1.0, "stock_naptime_1s": 0.4}[name]
    points = tuple(
        (i / 4, grows * (1000 + i * 50) + 200 * math.sin(i / 9) * grows) for i in range(1200)
    )
    base: dict[str, Any] = {
        "name": name,
        "label": LABELS[name],
        "major": major,
        "server_version": f"{major}.4",
        "settings": {"shared_buffers": "128MB", "autovacuum_naptime": "60s"},
        "samples": SAMPLES[name],
        "series": (Series("unfrozen", "Unfrozen pages", "pages", points),),
    }
    return Variant(**{**base, **given})


def experiment(name: str = "insert", **given: Any) -> Experiment:
    """Return an experiment that is lost in one figure, and won in others."""
    base: dict[str, Any] = {
        "name": name,
        "seed": "000",
        "title": "Insert-heavy tables are frozen while their pages are still cached",
        "hypothesis": "Vacuuming by the unfrozen part of a table keeps less to be frozen later, "
        "and reads fewer pages from disk.",
        "metrics": METRICS,
        "said": (
            Said("removed", "stock", 13644.0),
            Said("removed", "sweep", 32545.0, "on 8 cores, limit 200"),
        ),
        "variants": (variant("stock"), variant("sweep"), variant("stock_naptime_1s")),
        "scale": 1.0,
        "seconds": 300.0,
        "started_at": "2026-11-20T10:00:00+00:00",
        "ended_at": "2026-11-20T10:06:00+00:00",
    }
    return Experiment(**{**base, **given})


def result(*experiments: Experiment, **given: Any) -> Result:
    """Return a result of these experiments."""
    base: dict[str, Any] = {
        "release": "0.1.0",
        "started_at": "2026-11-20T10:00:00+00:00",
        "machine": Machine(2, 7951, "Linux 6.1.0", "Some CPU at 2.5 GHz"),
        "experiments": experiments or (experiment(),),
    }
    return Result(**{**base, **given})
