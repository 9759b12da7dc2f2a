"""Seed 002: what a throttled vacuum costs, seen while it runs.

Two fifths of pgbench_accounts are deleted, then the table is vacuumed by hand at the seed's 200
every 20 ms. Then as much again is deleted and vacuumed. The last time it is the rest, which is
half as much, because an estimate may rest on the table's last run. Without pg_sweep a user has
pg_stat_progress_vacuum. There the time left is what the share of scanned blocks tells, and there
is no cost before the end.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from dataclasses import asdict, dataclass

from pgsweep.base.errors import PgsweepError, ServerError
from pgsweep_bench.lab import Lab, LabSession, Measured, Options, Probe, Sampler, Series, VacuumLine

TABLE = "pgbench_accounts"
LIMIT = 200
DELAY_MS = 20
RATE = LIMIT * 1000 / DELAY_MS
# pgbench's scale for each second that the first vacuum is to take. At pgbench's scale of 1,
# 15,000 rows are about 1640 pages, and two fifths of them are dirtied.
SCALE_PER_S = 0.30
MB = 1 << 20
EVERY_S = 0.25
# So many vacuums are watched. They are the last ones of the table.
WATCHED = 3
SETTLE_S = 0.2
PATIENCE_S = 20

PROGRESS = "FROM sweep.progress WHERE relname = 'pgbench_accounts' AND leader_pid IS NULL"
SWEEP_PROBES = (
    Probe("cost", "cost so far", "", f"SELECT cost {PROGRESS}"),
    Probe("cost_per_s", "cost per second", "/s", f"SELECT cost_per_s {PROGRESS}"),
    Probe("dirty", "dirtied", "MB/s", f"SELECT dirty_mb_per_s {PROGRESS}"),
    Probe("eta", "time left, told", "s", f"SELECT extract(epoch FROM eta) {PROGRESS}"),
)
# People who have only core's view compute this.
CORE_ETA = Probe(
    "eta",
    "time left by the share of scanned blocks",
    "s",
    """SELECT extract(epoch FROM clock_timestamp() - a.query_start)
        * (p.heap_blks_total::float8 / nullif(p.heap_blks_scanned, 0) - 1)
    FROM pg_stat_progress_vacuum p JOIN pg_stat_activity a USING (pid)
    WHERE p.relid = to_regclass('pgbench_accounts')""",
)


@dataclass
class Pass:
    """One vacuum, watched."""

    line: VacuumLine
    # by the sampler's clock and this program's
    began_s: float
    ended_s: float
    written_mb: float
    sampler: Sampler

    @property
    def took_s(self) -> float:
        """Seconds from the statement's begin to its end."""
        return self.ended_s - self.began_s


def measure(lab: Lab, options: Options) -> Measured:
    """Fill, then delete and vacuum three times."""
    measured = Measured()
    scale = max(1, round(SCALE_PER_S * options.seconds * options.scale))
    lab.stage("filling pgbench_accounts")
    lab.pgbench_init(scale)
    # No one else may vacuum the table. That would take the work away from the vacuum that is
    # watched.
    lab.run(f"ALTER TABLE {TABLE} SET (autovacuum_enabled = off)")
    lab.run(f"VACUUM {TABLE}")
    rows = 100_000 * scale

    first = _pass(lab, f"aid <= {rows * 2 // 5}")
    again = _pass(lab, f"aid <= {rows * 4 // 5}")
    smaller = _pass(lab, "true")

    _costs(lab, first, measured)
    _live(lab, first, measured)
    for name, label, one in (
        ("eta_off", "first", first),
        ("eta_off_again", "as much again", again),
        ("eta_off_smaller", "half as much", smaller),
    ):
        errors = _eta_errors(one)
        if errors:
            measured.add(name, statistics.mean(abs(error) for _, error in errors))
            label = f"error of the time left: {label}"
            measured.series.append(Series(name, label, "% of the whole", tuple(errors)))
    measured.raw = {
        "vacuums": [asdict(one.line) for one in (first, again, smaller)],
        "took_s": [one.took_s for one in (first, again, smaller)],
        "runs": [_plain(row) for row in lab.sweep_runs(TABLE)],
    }
    return measured


def _pass(lab: Lab, condition: str) -> Pass:
    lab.stage("deleting rows")
    lab.run(f"DELETE FROM {TABLE} WHERE {condition}")
    # What the deletes dirtied must not count as written by the vacuum.
    lab.run("CHECKPOINT")
    lab.stage("vacuuming, watched")
    written_before = _written_mb(lab)
    probes = SWEEP_PROBES if lab.library else (CORE_ETA,)
    with lab.connect() as session, lab.sampling(*probes, every_s=EVERY_S) as sampler:
        session.run(f"SET vacuum_cost_limit = {LIMIT}")
        session.run(f"SET vacuum_cost_delay = '{DELAY_MS}ms'")
        line, began, ended = _vacuum(lab, session)
        began_s, ended_s = sampler.since(began), sampler.since(ended)
    lab.run("CHECKPOINT")
    written = _written_mb(lab) - written_before
    return Pass(line, began_s, ended_s, written, sampler)


def _vacuum(lab: Lab, session: LabSession) -> tuple[VacuumLine, float, float]:
    """Vacuum in a thread, so that the bars move and the server is watched meanwhile."""
    found: list[VacuumLine | None] = []
    failed: list[PgsweepError] = []

    def work() -> None:
        try:
            # PARALLEL 0 is as in autovacuum. The free space at the end would be another
            # experiment, so it is not truncated.
            found.append(lab.vacuum(TABLE, "TRUNCATE off, PARALLEL 0", session))
        except PgsweepError as exc:
            failed.append(exc)

    thread = threading.Thread(target=work, daemon=True)
    began = time.monotonic()
    thread.start()
    lab.wait_for(lambda: not thread.is_alive(), "the vacuum", 3600)
    ended = time.monotonic()
    if failed:
        raise failed[0]
    if not found or found[0] is None:
        raise ServerError("VACUUM (VERBOSE) did not say what it did")
    return found[0], began, ended


def _costs(lab: Lab, one: Pass, measured: Measured) -> None:
    """Check what the seed checked: does the accumulated cost equal limit / delay × time?"""
    weights = [
        float(lab.value(f"SELECT current_setting('vacuum_cost_page_{name}')"))
        for name in ("hit", "miss", "dirty")
    ]
    cost = one.line.cost(*weights)
    expected = RATE * (one.line.elapsed_s or one.took_s)
    measured.add("cost", cost)
    measured.add("expected_cost", expected)
    measured.add("cost_off", 100 * abs(cost - expected) / expected)
    measured.add("dirtied", one.line.blks_dirtied * 8192 / MB)
    measured.add("written", one.written_mb)
    runs = [run for run in lab.sweep_runs(TABLE) if run["command"] == "VACUUM"]
    if len(runs) >= WATCHED:
        measured.add("meter_off", 100 * abs(float(runs[-WATCHED]["cost"]) - cost) / cost)


def _live(lab: Lab, one: Pass, measured: Measured) -> None:
    if not lab.library:
        measured.add("live_samples", 0)
        measured.notes.append("Without pg_sweep there is no cost and no MB/s before the end.")
        return
    rates = one.sampler.values("cost_per_s")
    measured.add("live_samples", len(rates))
    if rates:
        measured.add("live_rate_off", 100 * abs(statistics.median(rates) - RATE) / RATE)
    dirty = one.sampler.points("dirty")
    if len(dirty) > 1 and one.written_mb:
        # These are rates times the time that each of them stood for.
        steps = itertools.pairwise(dirty)
        summed = sum(rate * (later - at) for (at, rate), (later, _) in steps)
        measured.add("live_dirty_off", 100 * abs(summed - one.written_mb) / one.written_mb)
    measured.series += [s for s in one.sampler.series() if s.name in ("cost_per_s", "dirty")]


def _eta_errors(one: Pass) -> list[tuple[float, float]]:
    """Return by how much each told time was too long (+) or too short (-), in % of the whole."""
    return [
        (round(at - one.began_s, 3), 100 * (eta - (one.ended_s - at)) / one.took_s)
        for at, eta in one.sampler.points("eta")
        if one.began_s <= at <= one.ended_s
    ]


def _written_mb(lab: Lab) -> float:
    """Return what all processes have written of tables and indexes so far, in MB."""
    blocks = "buffers_checkpoint + buffers_clean + buffers_backend"
    sql = f"SELECT ({blocks}) * 8192.0 FROM pg_stat_bgwriter"
    if lab.major >= 16:
        written = "write_bytes" if lab.major >= 18 else "writes * op_bytes"
        sql = f"SELECT coalesce(sum({written}), 0) FROM pg_stat_io WHERE object = 'relation'"
    # A process reports after it has answered. So this waits until nobody has more to say.
    seen = [-1.0]

    def settled() -> bool:
        lab.run("SELECT pg_stat_force_next_flush()")
        seen.append(float(lab.value(sql)))
        lab.sleep(SETTLE_S)
        return seen[-1] == seen[-2]

    lab.wait_while(lambda: not settled(), PATIENCE_S)
    return seen[-1] / MB


def _plain(row: dict[str, object]) -> dict[str, object]:
    """Return a row of sweep.runs as JSON holds it."""
    return {
        key: value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
        for key, value in row.items()
    }
