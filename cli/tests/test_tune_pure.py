"""`pgsweep tune` without a server: curves, advice, words, formats, what --apply remembers."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import samples
from pgsweep.base import errors
from pgsweep.model import Current, Run
from pgsweep.output.terminal import tune as render
from pgsweep.tune import advice, history, kept, machine, measure, model, settings, targets
from pgsweep.tune.advice import advise, corrected, verify
from pgsweep.tune.answer import Answer
from pgsweep.tune.fit import Throttled, fit, fit_throttled
from pgsweep.tune.lab.progress import Reporter
from pgsweep.tune.model import Measured, Point
from pgsweep.tune.plan import Plan
from pgsweep.tune.settings import Kept, Setting
from pgsweep.tune.targets import Targets

# Seed 004, as limit and rows/s. With limits 200 and 35 it has the other figures, too.
SEED = ((200, 32545), (85, 13644), (50, 7812), (35, 6015))
ASKED = Targets(5000, device=20, cpu=20)


def point(limit: int, rows_per_s: float, device: float | None = None, cpu: float = 3) -> Point:
    return Point(
        limit=limit,
        rows_per_s=rows_per_s,
        cpu_percent=cpu,
        read_mb_per_s=rows_per_s / 1000,
        write_mb_per_s=rows_per_s / 900,
        wal_mb_per_s=rows_per_s / 4000,
        device_write_mb_per_s=rows_per_s / 700,
        device_percent=device,
        rows=60000,
        seconds=60000 / rows_per_s,
    )


def seed() -> Measured:
    """Return the article's table.

    The device's share at the limits between goes with the rate.
    """
    device = {200: 35.0, 85: 17.0, 50: 11.7, 35: 10.0}
    return Measured(
        "experiment",
        2.0,
        tuple(point(limit, rate, device[limit], cpu=1) for limit, rate in SEED),
        cost_per_row=3.1,
        notes=("CPU: of the vacuuming process, from /proc/PID/schedstat",),
    )


def answer(measured: Measured | None = None, asked: Targets = ASKED, verified: float = 0) -> Answer:
    measured = measured or seed()
    found = advise(measured, asked)
    verdict = verify(replace(found.expected, rows_per_s=verified), asked) if verified else None
    return Answer(asked, measured, found, "core", settings.plain(found.limit, 2.0), verdict)


# -- curves -------------------------------------------------------------------


def test_line_through_the_seed() -> None:
    line = fit([(float(limit), float(rate)) for limit, rate in SEED])
    assert line.r_squared >= 0.98
    assert line.slope == pytest.approx(162, abs=2)


@pytest.mark.parametrize(
    ("work", "naps"), [(0.0, 0.007), (1e-5, 0.007), (1e-4, 0.007), (0.0001, 0.00001)]
)
def test_curve_is_found_again(work: float, naps: float) -> None:
    true = Throttled(work, naps)
    found = fit_throttled([(limit, true.rate(limit)) for limit, _ in SEED])
    assert found.work == pytest.approx(work, abs=1e-12)
    assert found.naps == pytest.approx(naps)
    for limit in (1, 30, 1000):
        assert found.limit(true.rate(limit)) == pytest.approx(limit)


def test_curve_has_an_end() -> None:
    curve = Throttled(0.0001, 0.007)
    assert curve.most == pytest.approx(10000)
    assert curve.limit(10000) is None
    assert curve.limit(20000) is None
    assert Throttled(0.0, 0.007).most is None


def test_curve_of_noise_never_bends_upward() -> None:
    found = fit_throttled([(200, 42000), (85, 13644), (50, 7812), (35, 5000)])
    assert found.work == 0
    assert found.rate(100) > 0
    flat = fit_throttled([(200, 1000), (100, 1000), (50, 1001)])
    assert flat.rate(75) == pytest.approx(1000, rel=0.01)


# -- what is wanted -----------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("5000", 5000), ("5,000", 5000), ("5_000.5", 5000.5)])
def test_number(text: str, value: float) -> None:
    assert targets.number(text, "--reclaim-rate") == value


@pytest.mark.parametrize("text", ["0", "-1", "many", "", "nan", "inf", "5000/s"])
def test_number_refused(text: str) -> None:
    with pytest.raises(errors.UsageError, match="--reclaim-rate") as caught:
        targets.number(text, "--reclaim-rate")
    assert caught.value.hint


@pytest.mark.parametrize(("text", "value"), [("20%", 20), (" 2.5 % ", 2.5), ("100%", 100)])
def test_share(text: str, value: float) -> None:
    assert targets.share(text, "--cpu") == value
    assert targets.share(None, "--cpu") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("20", "has no % sign"),
        ("0.2", "has no % sign"),
        ("%", "is not a percentage"),
        ("x%", "is not a percentage"),
        ("nan%", "is not a percentage"),
        ("-5%", "must be above 0%"),
        ("0%", "must be above 0%"),
        ("120%", "must be above 0%"),
    ],
)
def test_share_refused(text: str, message: str) -> None:
    with pytest.raises(errors.UsageError, match=message):
        targets.share(text, "--device")


def test_limits() -> None:
    assert targets.limits("35,200, 85,50,35") == (200, 85, 50, 35)


@pytest.mark.parametrize("text", ["", "200", "200,200", "a,b", "0,5", "200,10001", "1.5,2"])
def test_limits_refused(text: str) -> None:
    with pytest.raises(errors.UsageError, match="--limits"):
        targets.limits(text)


# -- advice -------------------------------------------------------------------


def test_advice_for_the_seed() -> None:
    found = advise(seed(), ASKED)
    # The article's author took 35, the smallest that was measured.
    assert 29 <= found.limit <= 33
    assert found.expected.rows_per_s >= 5000
    assert found.expected.device_percent == pytest.approx(8.5, abs=1.5)
    assert found.conflicts == ()
    assert found.for_shares is not None
    assert 85 < found.for_shares < 200


def test_limit_is_the_smallest_that_reaches_the_rate() -> None:
    found = advise(seed(), Targets(7812))
    assert found.curve.rate(found.limit) >= 7812
    assert found.curve.rate(found.limit - 1) < 7812


def test_both_cannot_be_had() -> None:
    asked = Targets(30000, device=20)
    found = advise(seed(), asked)
    (conflict,) = found.conflicts
    assert "20% allow limit" in conflict
    assert found.for_rate is not None
    assert found.for_shares is not None
    # The share is kept.
    assert found.limit == found.for_shares < found.for_rate
    assert corrected(found, verify(point(found.limit, 1000), asked), asked) is None


def test_share_that_no_limit_keeps() -> None:
    """Somebody else keeps the device busy then, and a smaller limit does not help."""
    found = advise(seed(), Targets(5000, device=2))
    (conflict,) = found.conflicts
    assert "cannot be kept at any limit" in conflict
    assert found.limit == found.for_rate
    # The other share is kept all the same.
    both = advise(
        replace(seed(), points=tuple(replace(p, cpu_percent=p.limit / 10) for p in seed().points)),
        Targets(30000, device=2, cpu=5),
    )
    assert len(both.conflicts) == 2
    assert both.limit == both.for_shares
    assert 45 <= both.limit <= 55


def test_smallest_limit_is_too_fast() -> None:
    found = advise(seed(), Targets(10))
    assert found.limit == 1
    assert any("only a longer delay" in remark for remark in found.remarks)
    assert Plan((200, 35), 2.0, repeats=3).to_verify(1) == 1
    assert Plan((200, 35), 2.0, repeats=3).to_verify(35) == 3


def test_rate_that_nothing_reaches() -> None:
    curve = Throttled(0.0001, 0.007)
    measured = replace(seed(), points=tuple(point(limit, curve.rate(limit)) for limit, _ in SEED))
    found = advise(measured, Targets(20000))
    assert found.for_rate is None
    assert found.limit == targets.MOST_LIMIT
    assert "20,000 rows/s cannot be reached with a delay of 2 ms" in found.conflicts[0]


def test_share_that_was_not_measured_is_said() -> None:
    measured = replace(seed(), points=tuple(point(limit, rate) for limit, rate in SEED))
    found = advise(measured, ASKED)
    assert found.remarks == ("--device 20% could not be checked: it was not measured",)
    assert verify(found.expected, ASKED).device_met is None


def test_far_from_what_was_measured() -> None:
    assert any("far from" in remark for remark in advise(seed(), Targets(500)).remarks)


@pytest.mark.parametrize(
    ("rate", "met"),
    [(4749, False), (4750, True), (5000, True), (6000, True), (6001, False)],
)
def test_verdict(rate: float, met: bool) -> None:
    found = verify(point(31, rate, device=19.9), ASKED)
    assert found.rate_met is found.all_met is met
    assert not verify(point(31, rate, device=20.1), ASKED).all_met
    assert not verify(point(31, rate, device=1, cpu=21), ASKED).all_met


def test_missed_rate_is_corrected_by_what_was_measured() -> None:
    found = advise(seed(), ASKED)
    assert corrected(found, verify(point(found.limit, 4000), ASKED), ASKED) == -(
        -found.limit * 5 // 4
    )
    assert corrected(found, verify(point(found.limit, 5100), ASKED), ASKED) is None


def test_median_of_runs() -> None:
    runs = [point(35, 6000, 10), point(35, 5000, 30), point(200, 9, None), point(35, 5900, 11)]
    slow, fast = model.medians(runs)[::-1]
    assert (slow.limit, slow.rows_per_s, slow.device_percent) == (35, 5900, 11)
    assert (fast.limit, fast.device_percent) == (200, None)
    with pytest.raises(ValueError, match="limit"):
        model.median(runs)


def test_order_is_interleaved() -> None:
    plan = Plan((200, 85, 35), 2.0, repeats=3)
    assert plan.order() == [200, 85, 35, 35, 85, 200, 200, 85, 35]
    assert plan.pieces == 1 + 9 + 3
    assert Plan((35,), 2.0, scale=200).rows_per_table == 10_000_000
    assert Plan((35,), 20.0).seconds(35) > 5 * Plan((35,), 2.0).seconds(35)


class Imagined:
    """An experiment whose vacuums take what a curve says, and for which no server is needed."""

    def __init__(self, curve: Throttled, at_chosen: float = 1.0) -> None:
        self.curve, self.at_chosen = curve, at_chosen
        self.notes: list[str] = []
        self.ran: list[int] = []

    def fill(self, _plan: Plan) -> None:
        self.ran.append(0)

    def run(self, limit: int, _plan: Plan) -> Point:
        self.ran.append(limit)
        factor = 1.0 if limit in dict(SEED) else self.at_chosen
        return replace(point(limit, self.curve.rate(limit) * factor, 5), budget_percent=90.0)


def test_experiment_ends_with_a_verified_limit() -> None:
    plan = Plan(tuple(limit for limit, _ in SEED), 2.0, repeats=1)
    scratch = Imagined(Throttled(1e-5, 0.007))
    measured, found, verdict = measure.run(scratch, ASKED, plan, Reporter(9))  # type: ignore[arg-type]
    assert verdict.all_met
    assert verdict.point.limit == found.limit
    assert scratch.ran == [0, 200, 85, 50, 35, found.limit]
    assert measured.cost_per_row > 0


def test_experiment_tries_again_when_the_curve_was_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = Plan(tuple(limit for limit, _ in SEED), 2.0, repeats=1)
    scratch = Imagined(Throttled(1e-5, 0.0061), at_chosen=0.8)
    _, found, verdict = measure.run(scratch, ASKED, plan, Reporter(9))  # type: ignore[arg-type]
    assert "trying" in capsys.readouterr().err
    assert scratch.ran[-1] == found.limit == verdict.point.limit > scratch.ran[-2]
    assert verdict.all_met


# -- history ------------------------------------------------------------------


def past(**given: object) -> list[Run]:
    """Return twenty vacuums of 8 s that slept for 6 s, at limit 200 and 2 ms."""
    base: dict[str, object] = {
        "started_at": samples.NOW - timedelta(seconds=8),
        "ended_at": samples.NOW,
        "tuples_removed": 100_000,
        "cost": 600_000,
        "cost_limit": 200,
        "cost_delay": 2.0,
        "delay_time": 6600.0,
        "blks_read": 12_800,
        "blks_dirtied": 25_600,
        "wal_bytes": 2**20 * 50,
    }
    return [samples.run(run_id=i, **{**base, **given}) for i in range(20)]


def test_history() -> None:
    found = history.measured(past(), (200, 35), 2.0, 8192)
    assert found.cost_per_row == pytest.approx(6)
    fast, slow = found.points
    # A row takes 14 µs of work and 6 credits. 200 credits take 2 ms, stretched by a tenth.
    assert fast.rows_per_s == pytest.approx(1 / (1.4e-5 + 6 * 1.1 * 0.002 / 200))
    assert slow.rows_per_s == pytest.approx(1 / (1.4e-5 + 6 * 1.1 * 0.002 / 35))
    assert fast.read_mb_per_s == pytest.approx(fast.rows_per_s * 100 / 100_000)
    assert fast.write_mb_per_s == pytest.approx(fast.rows_per_s * 200 / 100_000)
    assert fast.cpu_percent is fast.device_percent is None
    assert "20 vacuums in sweep.runs that removed 2,000,000 rows" in found.notes[0]
    assert not any("in shared buffers" in note for note in found.notes)
    warm = history.measured(past(blks_hit=1_000_000), (200, 35), 2.0, 8192)
    assert any("99% of their pages were in shared buffers" in note for note in warm.notes)


@pytest.mark.parametrize("delay_time", [None, 0.0])
def test_history_whose_naps_were_not_seen(delay_time: float | None) -> None:
    """Naps are taken to be as long as they should have been, and are not counted as work."""
    (found, _) = history.measured(past(delay_time=delay_time), (200, 35), 2.0, 8192).points
    assert found.rows_per_s == pytest.approx(100_000 / 8)


def test_history_of_vacuums_that_were_not_throttled() -> None:
    given = past(cost_delay=0.0, delay_time=0.0)
    (found, _) = history.measured(given, (200, 35), 2.0, 8192).points
    assert found.rows_per_s == pytest.approx(1 / (8e-5 + 6 * 0.002 / 200))


@pytest.mark.parametrize(
    "given",
    [
        {"tuples_removed": 400},
        {"tuples_removed": None},
        {"outcome": "cancelled"},
        {"command": "ANALYZE"},
    ],
)
def test_too_little_history_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(errors.UsageError, match="too little to go by") as caught:
        history.measured(past(**given), (200, 35), 2.0, 8192)
    assert "--experiment" in (caught.value.hint or "")


# -- settings -----------------------------------------------------------------

PLAIN = settings.plain(31, 2.0)


def test_formats() -> None:
    assert settings.as_conf(PLAIN, ["why"]).splitlines() == [
        "# why",
        "autovacuum_vacuum_cost_limit = 31",
        "autovacuum_vacuum_cost_delay = '2ms'",
    ]
    assert settings.as_sql(PLAIN, ["why"]).splitlines() == [
        "-- why",
        "ALTER SYSTEM SET autovacuum_vacuum_cost_limit = 31;",
        "ALTER SYSTEM SET autovacuum_vacuum_cost_delay = '2ms';",
        "SELECT pg_catalog.pg_reload_conf();",
    ]
    assert settings.as_patroni(PLAIN, ["why"]).splitlines() == [
        "# why",
        "postgresql:",
        "  parameters:",
        "    autovacuum_vacuum_cost_limit: 31",
        "    autovacuum_vacuum_cost_delay: '2ms'",
    ]
    assert settings.quoted("it's") == "'it''s'"


def test_budget() -> None:
    found = settings.budget(point(31, 5040), ASKED, set(settings.BUDGET))
    assert {each.name: each.value for each in found} == {
        "sweep.write_limit": "5.6",
        "sweep.read_limit": "5.1",
        "sweep.reclaim_rate": "5000",
        "sweep.device_utilization": "20",
        "sweep.cpu_limit": "20",
    }
    assert settings.knows_budget(settings.BUDGET)
    assert not settings.knows_budget({"sweep.mode"})
    few = settings.budget(point(31, 5040), Targets(5000), {settings.WRITE, settings.CPU})
    assert few == (Setting("sweep.write_limit", "5.6"),)


def test_less_than_the_floor_is_said() -> None:
    budget = settings.budget(point(31, 5040), ASKED, set(settings.BUDGET))
    assert settings.below_floor(budget, 2.0) == ()
    assert settings.below_floor(budget, None) == ()
    (said,) = settings.below_floor(budget, 5.5)
    assert said.startswith("sweep.read_limit = 5.1 is less than sweep.floor, 5.5 MB/s")
    assert len(settings.below_floor(budget, 8.0)) == 2
    shown = replace(answer(), warnings=(said,))
    text = " ".join(line.plain.strip() for line in render.verdict_lines(shown, 80))
    assert "note sweep.read_limit = 5.1 is less than sweep.floor" in " ".join(text.split())
    assert said in json.loads(render.document(shown))["recommendation"]["remarks"]


def now(name: str, shown: str, auto: str | None = None) -> dict[str, Current]:
    return {name: Current(name, shown, "default" if auto is None else "configuration file", auto)}


def test_only_what_differs_is_changed() -> None:
    current = now(settings.LIMIT, "-1") | now(settings.DELAY, "2ms")
    (change,) = settings.changes(PLAIN, current)
    assert (change.name, change.shown, change.auto, change.to) == (settings.LIMIT, "-1", None, "31")


def test_what_was_there_first_is_remembered() -> None:
    first = settings.changes(PLAIN, now(settings.LIMIT, "-1") | now(settings.DELAY, "2ms"))
    once = settings.kept_after({}, first)
    assert once == {settings.LIMIT: Kept(None, "31")}
    # A second --apply replaces our own value. What is kept is still what was there first.
    again = now(settings.LIMIT, "31", "31") | now(settings.DELAY, "2ms")
    second = settings.changes(settings.plain(40, 2.0), again)
    assert settings.kept_after(once, second) == {settings.LIMIT: Kept(None, "40")}
    # If somebody set a value between the two, that value is kept.
    other = now(settings.LIMIT, "77", "77") | now(settings.DELAY, "2ms")
    third = settings.changes(settings.plain(40, 2.0), other)
    assert settings.kept_after(once, third) == {settings.LIMIT: Kept("77", "40")}


def test_undo() -> None:
    was = {"a": Kept(None, "1"), "b": Kept("5", "6"), "c": Kept("7", "8"), "d": Kept("9", "10")}
    current = now("a", "1", "1") | now("b", "6", "6") | now("c", "55", "55") | now("d", "9", "9")
    found = {change.name: change for change in settings.undo(was, current)}
    assert set(found) == {"a", "b", "c"}
    assert (found["a"].to, found["b"].to, found["c"].to) == (None, "5", "7")
    assert found["a"].instead_of is found["b"].instead_of is None
    assert found["c"].instead_of == "8"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pgsweep"


def test_kept_file_is_private_and_whole(state: Path) -> None:
    was = {"a": Kept(None, "1"), "b": Kept("it's", "6")}
    assert kept.load("77") == {}
    file = kept.save("77", was)
    assert file == state / "tune-77.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert kept.load("77") == was
    assert kept.load("78") == {}
    assert [path.name for path in state.iterdir()] == ["tune-77.json"]
    kept.forget("77")
    kept.forget("77")
    assert kept.load("77") == {}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"settings": {"a": {"x": 1}}}', '{"settings": 5}']
)
def test_kept_file_that_is_something_else(state: Path, text: str) -> None:
    state.mkdir(parents=True)
    kept.path("77").write_text(text)
    with pytest.raises(errors.UsageError, match="is not what pgsweep tune --apply wrote"):
        kept.load("77")


def test_kept_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file where a folder is needed")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(errors.UsageError, match="could not keep what was set before") as caught:
        kept.save("77", {})
    assert "Nothing was changed" in (caught.value.hint or "")


def test_relative_state_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "somewhere")
    assert kept.folder() == Path.home() / ".local" / "state" / "pgsweep"


# -- /proc --------------------------------------------------------------------

DISKSTATS = """\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 914776 64515 29385762 951323 2277585 5938009 561597440 5 0 707668 6 1 2 3 4 5 6
 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11
"""


def test_diskstats() -> None:
    found = machine.parse_diskstats(DISKSTATS, 254, 0)
    assert found is not None
    assert found[0] == "vda"
    assert found[1] == machine.DiskCounters(29385762 * 512, 561597440 * 512, 707668)
    assert machine.parse_diskstats(DISKSTATS, 8, 0) is None
    assert machine.parse_diskstats("254 0 vda 1", 254, 0) is None


def test_processor_time() -> None:
    assert machine.parse_schedstat("1500000000 22 3\n") == 1.5
    assert machine.parse_schedstat("") is None
    line = "77 (postgres: a) b) S 1 77 77 0 -1 0 1 2 3 4 150 50 0 0 20 0"
    assert machine.parse_stat(line, 100) == 2.0
    assert machine.parse_stat("77 (x) S", 100) is None


def test_what_proc_cannot_tell() -> None:
    assert not machine.is_backend(os.getpid(), "postgres")
    assert not machine.is_backend(2**22 + 1, "postgres")
    assert machine.Cpu(2**22 + 1).seconds() is None
    assert (machine.Cpu(os.getpid()).seconds() or 0) > 0
    assert machine.Disk(None).why == "the server is not on this machine"
    assert "cannot be looked at" in machine.Disk(Path("/none/at/all")).why
    proc = machine.Disk(Path("/proc"))
    assert "has no disk of its own" in proc.why
    assert proc.counters() is None


# -- what is printed ----------------------------------------------------------


def text(found: Answer, width: int = 80) -> str:
    return "\n".join(line.plain for line in render.lines(found, width))


def test_answer_of_an_experiment() -> None:
    shown = text(answer(verified=5040))
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "R² = 0.99" in shown
    assert "met: 5,040 rows/s, wanted 5,000 (+0.8%, and −5 to +20% is met)" in shown
    assert "autovacuum_vacuum_cost_limit = 3" in shown
    assert "from /proc/PID/schedstat" in shown
    head, *rows = shown.splitlines()[:6]
    assert head.split()[:7] == ["LIMIT", "ROWS/S", "CPU%", "READ", "DIRTIED", "WRITTEN", "WAL"]
    assert rows[0].split()[:3] == ["200", "32,545", "1.0"]
    assert rows[-1].split()[-1] == "recommended"
    assert "NOT" not in shown
    assert "MISSED" in text(answer(verified=4000))
    assert "NOT all met" in text(answer(verified=4000))


def test_answer_when_both_cannot_be_had() -> None:
    found = answer(asked=Targets(30000, device=20), verified=15000)
    assert not found.kept
    joined = " ".join(text(found).split())
    assert "conflict 30,000 rows/s take limit" in joined
    assert "20% allow limit" in joined


def test_answer_of_the_past() -> None:
    measured = history.measured(past(), (200, 85, 50, 35), 2.0, 8192)
    shown = text(answer(measured, Targets(5000)))
    assert "no, nothing was run. --experiment does it" in shown
    assert "R²" not in shown
    assert "● reckoned" in shown
    assert "reckoned from sweep.runs, not verified" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_plot_fits(width: int) -> None:
    lines = [line.plain for line in render.plot_lines(answer(verified=5040), width)]
    # The legend may be longer than such a narrow terminal is wide.
    assert max(len(line) for line in lines[:-1]) <= width
    drawn = "".join(lines[:-1])
    assert drawn.count("●") >= 3
    assert drawn.count("◆") == 1


def test_document() -> None:
    found = json.loads(render.document(answer(verified=5040)))
    assert [point["limit"] for point in found["points"]] == [200, 85, 50, 35]
    assert found["line"]["r_squared"] > 0.98
    assert found["verification"]["all_met"] is True
    assert found["settings"]["autovacuum_vacuum_cost_delay"] == "2ms"
    assert found["targets"] == {"reclaim_rate": 5000, "device": 20, "cpu": 20}


def test_changes_are_shown() -> None:
    was = {settings.LIMIT: Kept(None, "31")}
    lines = render.change_lines(settings.undo(was, now(settings.LIMIT, "40", "40")), "to restore")
    assert lines[0].plain == "1 setting to restore:"
    assert lines[1].plain == (
        "  autovacuum_vacuum_cost_limit: 40 (configuration file) → not set in "
        "postgresql.auto.conf, changed since: pgsweep had set 31"
    )
    assert render.change_lines((), "to restore") == []
    assert advice.FAR > 1
