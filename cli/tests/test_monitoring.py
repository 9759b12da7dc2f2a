"""What is in monitoring/ works: rules, dashboard, and the definitions for other exporters.

Prometheus itself judges it. It scrapes a real server under load. Where its programs cannot be had
these tests are skipped.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import prometheus
from conftest import needs_extension, until, write
from pgsweep.output.prometheus.fleet import NODES
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config
from serving import Serving
from test_metrics import documented

PATIENCE_S = 60.0
FOLDER = prometheus.TOP / "monitoring"
DASHBOARD = FOLDER / "grafana" / "pgsweep.json"
RULES = FOLDER / "prometheus"

needs_prometheus = pytest.mark.skipif(
    prometheus.folder() is None,
    reason="NOT TESTED: Prometheus cannot be had here: see what tools/prometheus says",
)

SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "sweep.max_workers": "1",
    "sweep.min_interval": "1s",
    # A vacuum takes long, and a limit binds.
    "sweep.write_limit": "0.2",
    "sweep.floor": "0.1",
    # The rate of transaction ids is known after a minute.
    "sweep.debug_clock_rate": "20",
    "autovacuum_naptime": "1h",
    "archive_mode": "on",
    "archive_command": "false",
    "max_prepared_transactions": "2",
}

# Tables of 47 MB each: the limits make the vacuum of one last four minutes.
ENDLESS = ("huge", "large", "wide", "tall")


# -- what the files say ----------------------------------------------------------------------


def expressions() -> dict[str, str]:
    """Return the dashboard's expressions, by panel."""
    found = {}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            found[f"{panel['title']} {target['refId']}"] = (
                target["expr"]
                .replace("$__rate_interval", "10s")
                .replace("$job", "pgsweep")
                .replace("$instance", ".*")
            )
    assert len(found) > 50
    return found


def rules(name: str) -> list[dict[str, Any]]:
    groups = yaml.safe_load((RULES / name).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def named(expression: str) -> set[str]:
    """Return the metrics in an expression, without those that are recorded."""
    return set(re.findall(r"(?<![\w:])pgsweep_\w+(?![\w:])", expression))


def test_rules_and_dashboard_ask_for_metrics_that_exist() -> None:
    asked = list(expressions().values())
    asked += [rule["expr"] for rule in rules("alerts.yml") + rules("recording.yml")]
    known = set(documented())
    for expression in asked:
        assert named(expression) <= known, expression


def test_every_metric_is_in_the_dashboard_or_in_an_alert() -> None:
    shown = set[str]().union(*map(named, expressions().values()))
    shown |= set[str]().union(*(named(rule["expr"]) for rule in rules("alerts.yml")))
    left_out = set(documented()) - shown
    # These are for ad-hoc questions.
    assert left_out <= {
        name
        for name in documented()
        if re.search(
            r"timestamp_seconds|_kept|decisions|cores|ratio|_configured|_measured|_node_|_fleet_",
            name,
        )
        or name
        in (
            "pgsweep_extension",
            "pgsweep_sees_everything",
            "pgsweep_launcher_up",
            "pgsweep_rounds_total",
            "pgsweep_relations",
            "pgsweep_worker_starts_total",
            "pgsweep_worker_start_failures_total",
            "pgsweep_visits_total",
            "pgsweep_recent_crashes",
            "pgsweep_vacuum_phase",
            "pgsweep_governor_vacuums",
            "pgsweep_part_failures_total",
        )
    }, left_out


def test_every_alert_is_provoked() -> None:
    tests = yaml.safe_load((RULES / "alerts_test.yml").read_text())["tests"]
    alerts = {rule["alert"] for rule in rules("alerts.yml")}
    fired: set[str] = set()
    silent: set[str] = set()
    for test in tests:
        for check in test["alert_rule_test"]:
            (fired if check.get("exp_alerts") else silent).add(check["alertname"])
    assert fired == alerts
    assert silent == alerts


def test_every_alert_says_what_to_do() -> None:
    for rule in rules("alerts.yml"):
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert {"summary", "description"} <= set(rule["annotations"]), rule["alert"]


def test_alerts_are_documented() -> None:
    text = (prometheus.TOP / "docs" / "how-to" / "metrics-and-alerts.md").read_text()
    rows = set(re.findall(r"^\| `(Pgsweep\w+)` \|", text, re.MULTILINE))
    assert rows == {rule["alert"] for rule in rules("alerts.yml")}


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="NOT TESTED: Grafana's SDK needs Python 3.11"
)
def test_grafana_knows_every_field_of_the_dashboard() -> None:
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    register_default_plugins()
    given = json.loads(DASHBOARD.read_text())
    # What it does not know it leaves out.
    kept = json.loads(json.dumps(Dashboard.from_json(given), cls=JSONEncoder))
    # It lacks what the editor of variables shows.
    for variable in given["templating"]["list"]:
        variable.pop("definition", None)
    assert _within(given, kept) == given


def _within(given: Any, kept: Any) -> Any:
    """Return what is kept of what was given. Defaults may have come in."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return {key: _within(value, kept[key]) for key, value in given.items() if key in kept}
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [_within(*pair) for pair in zip(given, kept, strict=True)]
    return kept


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="NOT TESTED: systemd-analyze is not installed"
)
@pytest.mark.parametrize("name", ["serve", "agent"])
def test_the_unit(tmp_path: Path, name: str) -> None:
    text = (FOLDER / "systemd" / f"pgsweep-{name}.service").read_text()
    command = re.search(rf"^ExecStart=/opt/pgsweep/bin/pgsweep {name} (.*)$", text, re.MULTILINE)
    assert command is not None
    documentation = (prometheus.TOP / "docs" / "commands.md").read_text()
    for option in re.findall(r"--[a-z-]+", command.group(1)):
        assert f"`{option}" in documentation
    # The program has to be there, or systemd complains.
    unit = tmp_path / f"pgsweep-{name}.service"
    unit.write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", text))
    if not Path("/run/systemd").is_dir():
        pytest.skip("systemd-analyze needs the folder /run/systemd")
    for check in (["verify"], ["security", "--offline=true", "--threshold=15"]):
        done = subprocess.run(
            ["systemd-analyze", "--no-pager", *check, str(unit)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


# Does to itself what systemd would do to a service, and makes the page with the charts.
CONFINED = """
import ctypes, sys
unit = dict(line.partition("=")[::2] for line in sys.stdin.read().splitlines())
assert unit["MemoryDenyWriteExecute"] == "yes"
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(65, 1, 0, 0, 0) != 0:  # PR_SET_MDWE, Linux 6.3
    print("not confined")
sys.path.insert(0, {tests!r})
from pgsweep.output.report import live_page
from test_report_live import day
print(live_page.html(day()))
"""


def test_charts_are_there_in_the_unit_and_nodes_can_be_asked() -> None:
    unit = (FOLDER / "systemd" / "pgsweep-serve.service").read_text()
    script = CONFINED.format(tests=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", script], input=unit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:1000]
    assert 'data-chart="timeline"' in done.stdout
    assert "uPlot" in done.stdout
    # Each node may take a thread.
    tasks = re.search(r"^TasksMax=(\d+)$", unit, re.MULTILINE)
    assert tasks is None or int(tasks[1]) > NODES


@needs_prometheus
def test_rules() -> None:
    prometheus.promtool("check", "rules", "recording.yml", "alerts.yml", cwd=RULES)
    assert "SUCCESS" in prometheus.promtool("test", "rules", "alerts_test.yml", cwd=RULES)


# -- on a server under load ------------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """A server under load, pgsweep serve on it, and Prometheus that scrapes that."""

    server: ThrowawayServer
    serving: Serving
    prometheus: prometheus.Daemon


def load(server: ThrowawayServer) -> None:
    """Have somebody work, tables in need, a held horizon, and a vacuum that takes long."""
    server.psql("postgres", "CREATE EXTENSION pg_sweep")
    server.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
    server.run(["pgbench", *server.flags("postgres")[:-2], "-i", "-q", "postgres"])
    # The worker is busy with one of these for minutes, and the others wait. Nothing begins until
    # each page that a vacuum changes is written and logged whole.
    server.psql("postgres", "SELECT sweep.hold('1 h')")
    for name in ENDLESS:
        rows = "SELECT i, repeat('x', 700) AS filler FROM generate_series(1, 60000) AS i"
        write(server, "postgres", f"CREATE TABLE {name} AS {rows}")
        # A last run tells how long the next one takes.
        server.psql("postgres", f"VACUUM {name}")
        write(server, "postgres", f"DELETE FROM {name} WHERE i % 3 = 0")
    server.psql("postgres", "VACUUM ANALYZE pgbench_tellers")
    server.psql("postgres", "CHECKPOINT")
    server.psql("postgres", "SELECT sweep.hold('0')")
    server.psql("postgres", "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'lunch'")
    flags = [*server.flags("postgres")[:-2], "-n", "-c", "2", "-R", "50", "-T", "3600"]
    server.start(["pgbench", *flags, "postgres"], log="pgbench.log")
    # Runs end all the time, somebody else's.
    script = Path(server.folder) / "vacuum.sql"
    script.write_text("VACUUM pgbench_branches;\n")
    flags = [*server.flags("postgres")[:-2], "-n", "-f", str(script), "-R", "2", "-T", "3600"]
    server.start(["pgbench", *flags, "postgres"], log="vacuums.log")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("prometheus")
    with ExitStack() as stack:
        server = stack.enter_context(ThrowawayServer(default_pg_config(), SETTINGS))
        load(server)
        target = (*server.flags("postgres"), "-U", "watcher")
        serving = stack.enter_context(Serving(*target, "--max-age", "0.5"))
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES / "recording.yml"), str(RULES / "alerts.yml")],
            "scrape_configs": [
                {"job_name": "pgsweep", "static_configs": [{"targets": [serving.address]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        address = prometheus.free_address()
        arguments = [
            prometheus.program("prometheus"),
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
        ]
        daemon = prometheus.Daemon(arguments, address, "/-/ready", folder / "prometheus.log")
        yield Watched(server, serving, stack.enter_context(daemon))


def on_a_server(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs all of it."""
    marked: Callable[..., None] = pytest.mark.server(needs_extension(needs_prometheus(test)))
    return marked


@on_a_server
def test_every_panel_has_data(watched: Watched) -> None:
    missing = dict(expressions())

    def all_there() -> bool:
        for panel in [p for p, e in missing.items() if watched.prometheus.has_data(e)]:
            del missing[panel]
        return not missing

    try:
        until(all_there)
    finally:
        assert not missing


@on_a_server
def test_every_recorded_rule_has_data(watched: Watched) -> None:
    missing = {rule["record"] for rule in rules("recording.yml")}

    def all_there() -> bool:
        missing.difference_update([m for m in missing if watched.prometheus.has_data(m)])
        return not missing

    try:
        until(all_there)
    finally:
        assert not missing


@on_a_server
def test_a_failing_archiver_is_on_its_way_to_an_alert(watched: Watched) -> None:
    def states() -> dict[str, str]:
        groups = watched.prometheus.api("rules", type="alert")["groups"]
        return {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}

    until(lambda: states()["PgsweepArchiverFailing"] == "pending")
    now = states()
    well = ("PgsweepServerUnreachable", "PgsweepWraparoundNear", "PgsweepAutovacuumOff")
    assert {now[name] for name in well} == {"inactive"}


@on_a_server
def test_promtool_finds_nothing_to_say_about_the_page(watched: Watched) -> None:
    _, content = watched.serving.get("/metrics")
    # What the library itself says of the process is not ours.
    ours = re.sub(r"^(# (HELP|TYPE) )?process_.*\n", "", content.decode(), flags=re.MULTILINE)
    assert prometheus.promtool("check", "metrics", given=ours) == ""
