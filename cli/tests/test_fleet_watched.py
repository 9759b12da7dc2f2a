"""A fleet that is watched: keys and screens of `top`, the page, and metrics, without a server."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

import samples
from conftest import Pgsweep, until
from fleets import black_hole, moved, node, row
from pgsweep import cli
from pgsweep.fleet.citus import Origin
from pgsweep.fleet.lookout import Lookout, Seen
from pgsweep.fleet.parts import Part, together
from pgsweep.fleet.providers import Choice, Fleet
from pgsweep.fleet.reading import Row
from pgsweep.fleet.tables import TablesSeen
from pgsweep.output.prometheus import exposition
from pgsweep.output.prometheus.fleet import NODES, fleet
from pgsweep.output.terminal import fleet as render
from pgsweep.output.top import fleet_screen
from pgsweep.output.top.fleet_state import ORDERS, Action, FleetUi, handle_key, shown
from pgsweep.output.web import fleet_views, html
from test_metrics import DOCS, HOSTILE, documented, documented_in, value

AT = datetime(2026, 11, 24, 12, 0, tzinfo=timezone.utc)
NOW = 1_000.0
STALE_S = 19.0
EVIL = "\"><script>alert('x')</script>\x1b[31m&"


def answered(name: str, **given: Any) -> Row:
    """Return a node that answered a second ago."""
    return replace(row(name, **given), answered_at=NOW - 1)


def silent(name: str) -> Row:
    """Return a node that answered half a minute ago, and is silent now."""
    return Row(node(name), 2.0, None, "no answer in 2.0 s", NOW - 30)


def seen(*rows: Row, **given: Any) -> Seen:
    nodes = tuple(one.node for one in rows)
    plan: Any = None
    return Seen(Fleet(nodes, nodes, plan), rows, looks=3, took_s=2.0, ended_at=NOW - 1, **given)


ROWS = (
    answered("eu1", due=2),
    silent("eu2"),
    answered("us1", due=7, status=samples.status()),
)


# -- keys --------------------------------------------------------------------------


def press(ui: FleetUi, *keys: str, rows: tuple[Row, ...] = ROWS) -> tuple[FleetUi, Action]:
    action = Action.NONE
    for key in keys:
        ui, action = handle_key(ui, key, shown(rows, ui), key if len(key) == 1 else None)
    return ui, action


def names(ui: FleetUi) -> list[str]:
    return [one.node.name for one in shown(ROWS, ui)]


def test_a_node_is_selected_and_opened() -> None:
    ui, action = press(FleetUi(), "down", "down", "enter")
    assert (ui.selected, action) == ("us1", Action.OPEN)
    # It stays selected when others come before it.
    assert ui.position((answered("a"), *ROWS)) == 3
    assert press(ui, "home")[0].selected is None
    assert press(FleetUi(), "down", rows=())[0] == FleetUi()
    assert press(FleetUi(), "enter", rows=())[1] is Action.NONE


def test_a_mirror_is_not_opened() -> None:
    mirror = moved(ROWS[0], unasked="a mirror takes no sessions")
    ui, action = press(FleetUi(), "enter", rows=(mirror,))
    assert action is Action.NONE
    assert "takes no sessions" in ui.message


def test_orders() -> None:
    assert names(FleetUi()) == ["eu1", "eu2", "us1"]
    by = {order.name: number for number, order in enumerate(ORDERS, start=1)}
    assert names(FleetUi(order=by["problems"]))[0] == "eu2"
    assert names(FleetUi(order=by["due"])) == ["us1", "eu1", "eu2"]
    assert names(FleetUi(order=by["time to answer"]))[0] == "eu2"
    ui, _ = press(FleetUi(), *["s"] * (len(ORDERS) + 1))
    assert ui.order == 0
    assert press(FleetUi(), "S")[0].order == len(ORDERS)


def test_a_filter() -> None:
    ui, _ = press(FleetUi(), "/", "E", "U", "enter")
    assert names(ui) == ["eu1", "eu2"]
    assert press(ui, "escape")[0].filter == ""
    # While it is typed, keys are characters.
    assert press(FleetUi(), "/", "q")[1] is Action.NONE


def test_other_keys() -> None:
    assert press(FleetUi(), "q")[1] is Action.QUIT
    assert press(FleetUi(), "space")[0].frozen
    assert press(FleetUi(), "space", "space")[1] is Action.REFRESH
    assert press(FleetUi(interval_s=2.0), "plus")[0].interval_s == 3.0
    assert press(FleetUi(), "h", "x")[0] == FleetUi()


# -- screens -----------------------------------------------------------------------


def screen(rows: tuple[Row, ...], width: int = 80, height: int = 24, **ui: Any) -> list[str]:
    what, state = seen(*rows), FleetUi(**ui)
    listed = shown(rows, state)
    room = height - fleet_screen.HEADER_LINES - 1
    lines = [
        *fleet_screen.header(what, state, width, AT),
        fleet_screen.title(what, state, listed),
        *fleet_screen.nodes(listed, state, width - 2, room - 1, NOW),
        fleet_screen.footer(state, width),
    ]
    return [str(line) for line in lines]


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (60, 16)])
def test_the_screen_fits(size: tuple[int, int]) -> None:
    many = tuple(answered(f"node{i}", due=i) for i in range(200))
    lines = screen(many + ROWS, *size, selected="node150")
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    text = "\n".join(lines)
    assert "node150" in text
    assert "fleet of 203" in text
    assert "1 silent" in text


def test_a_silent_node_has_no_figures() -> None:
    lines = screen(ROWS, selected="eu2")
    (line,) = (one for one in lines if one.startswith("eu2  "))
    assert "no answer in 2.0 s; it answered last 0:30 ago" in line
    assert any("answered in 100 ms, 1 s ago" in one for one in screen(ROWS))


def test_a_node_that_is_being_asked() -> None:
    assert "being asked" in "\n".join(screen((Row(node("new")),)))
    assert render.waiting_for((ROWS[0], Row(node("new")))) == "1 of 2 nodes, waiting for new"
    assert render.waiting_for(ROWS) == ""


def test_a_hostile_name_steers_no_terminal() -> None:
    text = "\n".join(screen((answered(EVIL), silent(EVIL))))
    assert "\x1b" not in text


def test_before_anybody_is_known() -> None:
    lines = fleet_screen.header(Seen(), FleetUi(), 80, AT)
    assert "asking who is there" in str(lines[0])
    lines = fleet_screen.header(Seen(trouble="nobody knows"), FleetUi(), 80, AT)
    assert "nobody knows" in str(lines[0])


# -- the page ----------------------------------------------------------------------


def page(*rows: Row, find: str = "", by: str = "", tables: TablesSeen | None = None) -> str:
    shown_tables = fleet_views.tables(tables, 12)
    found = fleet_views.fleet(seen(*rows), shown_tables, find, by, NOW)
    filled = {
        "path": "/",
        "here": "/",
        "base": "",
        "node": "",
        "nav": (("/", "Fleet"),),
        "part": False,
        "who": None,
        "said": "",
        "failed": False,
        "style": "/s",
        "script": "/j",
        "top": None,
        "trouble": None,
        "reading": False,
        "every_s": 5,
        "fleet": found,
        "orders": fleet_views.BY,
    }
    return html.environment().get_template("fleet.html.j2").render(filled)


def part(on: str, name: str, dead: int) -> Part:
    return Part(on, "orders", name, dead > 100, dead, dead / 100, 10)


def test_the_page() -> None:
    tables = TablesSeen(
        together([part("eu1", "orders_1", 50), part("us1", "orders_2", 900)]),
        3,
        ((node("eu2"), "no answer"),),
    )
    text = page(*ROWS, tables=tables)
    assert "no answer in 2.0 s; it answered last 0:30 ago" in text
    assert f'href="/node/{fleet_views.key("us1")}/"' in text
    assert "orders_2" in text
    assert "as they were 12 s ago" in text
    assert "eu2: no answer" in text
    assert "They are being read." in page(*ROWS)
    assert "No node has such a name." in page(*ROWS, find="nowhere")
    first = re.search(r'href="/node/(\w+)/"', page(*ROWS, by="due"))
    assert first is not None
    assert first[1] == fleet_views.key("us1")


def test_hostile_names_stay_text_on_the_page() -> None:
    tables = TablesSeen(together([Part(EVIL, EVIL, EVIL, True, 1, 1.0, 1)]), 1, ())
    text = page(answered(EVIL), silent(EVIL), find=EVIL, tables=tables)
    assert "<script>alert" not in text
    assert "\x1b" not in text


def test_a_thousand_nodes_are_cut_and_it_says_so() -> None:
    text = page(*(answered(f"n{i}") for i in range(1000)))
    assert "250 of 1,000 shown" in text


# -- metrics -----------------------------------------------------------------------


def families(*rows: Row) -> dict[str, Metric]:
    content, _ = exposition.page(fleet(seen(*rows), 1, NOW, 1e9, STALE_S), "")
    return {family.name: family for family in text_string_to_metric_families(content.decode())}


def of(found: dict[str, Metric], name: str) -> list[str]:
    """Return the metrics that a node has."""
    return [
        family.name
        for family in found.values()
        for sample in family.samples
        if sample.labels.get("node") == name
    ]


def test_a_silent_node_is_down_and_has_nothing_else() -> None:
    found = families(*ROWS)
    assert value(found, "pgsweep_up", node="eu1") == 1
    assert value(found, "pgsweep_up", node="eu2") == 0
    assert of(found, "eu2") == ["pgsweep_up"]
    assert value(found, "pgsweep_node_tables_due", node="us1") == 7


def test_an_old_answer_is_none() -> None:
    stuck = replace(ROWS[0], answered_at=NOW - STALE_S - 1)
    found = families(stuck)
    assert value(found, "pgsweep_up", node="eu1") == 0
    assert of(found, "eu1") == ["pgsweep_up"]


def test_what_takes_no_sessions_is_not_down() -> None:
    mirror = Row(node("mirror", unasked="a mirror takes no sessions"))
    assert of(families(*ROWS, mirror), "mirror") == []


def test_hostile_names_stay_in_their_labels_of_a_fleet() -> None:
    found = families(moved(ROWS[0], name=HOSTILE, group=HOSTILE))
    assert value(found, "pgsweep_up", node=HOSTILE, group=HOSTILE) == 1


def test_nodes_make_a_bounded_number_of_series() -> None:
    many = families(*(answered(f"n{i}") for i in range(NODES + 500)))
    assert len(many["pgsweep_up"].samples) == NODES
    per_node = len(of(families(answered("a", status=samples.status())), "a"))
    assert per_node < 40


def full() -> Row:
    """Return a node of which everything is known."""
    one = answered(
        "a",
        status=replace(samples.status(), overdue=1),
        read_mb_per_s=1.0,
        dirty_mb_per_s=2.0,
        wal_mb_per_s=3.0,
        xids_per_s=5.0,
        conflicts=1,
    )
    return moved(one, group="g", lag_bytes=1)


def test_every_metric_of_a_fleet_is_documented_and_no_other() -> None:
    alone, together_ = DOCS.read_text().split("\n## The agent\n")[0].split("\n## A fleet\n")
    own = documented_in(together_)
    shared = set(re.findall(r"`(pgsweep_\w+)`", together_)) - own.keys()
    exposed = {}
    for family in fleet(seen(full()), 1, NOW, 1e9, STALE_S):
        suffix = "_total" if family.type == "counter" else ""
        labels = {label for sample in family.samples for label in sample.labels}
        exposed[family.name + suffix] = tuple(sorted(labels))
    assert {name for name in exposed if name not in own} == shared
    assert {name: labels for name, labels in exposed.items() if name in own} == own
    for name in shared:
        more = {"group", "node"} if {"group", "node"} <= set(exposed[name]) else set()
        assert set(exposed[name]) == set(documented_in(alone)[name]) | more, name
    assert set(exposed) <= set(documented())


# -- the lookout -------------------------------------------------------------------


def test_nobody_waits_for_a_silent_node(tmp_path: Any) -> None:
    file = tmp_path / "fleet.toml"
    told = threading.Event()
    with black_hole() as port:
        file.write_text(f'[[nodes]]\nname = "hole"\nhost = "127.0.0.1"\nport = {port}\n')
        lookout = Lookout(Choice(file=str(file)), 0.3, 0.1, told.set)
        lookout.start()
        try:
            until(lambda: lookout.seen.rows)
            begun = time.monotonic()
            _ = lookout.seen
            assert time.monotonic() - begun < 0.1
            until(lambda: lookout.seen.rows[0].is_silent)
            assert told.is_set()
            # It hangs in its first question, and is not asked again meanwhile.
            until(lambda: "no answer for" in lookout.seen.rows[0].trouble)
            assert threading.active_count() < 20
        finally:
            lookout.stop()
    lookout.join(10)
    assert not lookout.is_alive()


def test_a_file_that_is_broken_meanwhile(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgsweep.fleet.lookout.FIND_EVERY_S", 0.0)
    file = tmp_path / "fleet.toml"
    file.write_text('[[nodes]]\nname = "gone"\nhost = "127.0.0.1"\nport = 1\n')
    lookout = Lookout(Choice(file=str(file)), 5.0, 0.05)
    lookout.start()
    try:
        until(lambda: lookout.seen.looks)
        file.write_text("[[nodes]")
        until(lambda: lookout.seen.notes)
        assert "Nodes are those of before" in lookout.seen.notes[0]
        assert [one.node.name for one in lookout.seen.rows] == ["gone"]
    finally:
        lookout.stop()


def test_whom_it_works_for_stays_while_it_is_asked_again() -> None:
    from pgsweep.fleet import view
    from pgsweep.fleet.asking import Answer

    blocker = samples.blocker(name="citus_internal gpid=10000000042")
    origin = Origin(10_000_000_042, "coordinator", 42, usename="alice")
    before = answered("a", blocker=blocker, origin=origin)
    after = view._row(before.node, Answer(0.1, row("a", blocker=blocker).reading), before)  # noqa: SLF001
    assert after.reading is not None
    assert after.reading.origin == origin


# -- the command line --------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("top", "--node", "a"), "--node is for a fleet; hint: Write --fleet as well."),
        (("serve", "--deadline", "3"), "--deadline is for a fleet; hint: Write --fleet as well."),
        (("serve", "--fleet"), "no fleet is named"),
        (("serve", "--fleet", "-h", "there"), "-h, -p and -W are for one server"),
        (("serve", "--fleet", "--file", "/nowhere.toml"), 'cannot read "/nowhere.toml"'),
    ],
)
def test_wrong_usage(pgsweep: Pgsweep, words: tuple[str, ...], said: str) -> None:
    result = pgsweep(*words)
    assert result.code == 2
    assert said in result.err


def test_no_buttons_for_a_fleet(pgsweep: Pgsweep, tmp_path: Any) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text('[[nodes]]\nname = "a"\nhost = "localhost"\n')
    options = ("--fleet", "--file", str(file), "--act", "--token-file", str(tmp_path / "token"))
    result = pgsweep("serve", *options)
    assert result.code == 2
    assert "--act is for one server" in result.err


def test_a_command_imports_itself_only() -> None:
    assert cli.called(["fleet", "--tables"]) == "fleet"
    assert cli.called(["flet"]) is None
    assert cli.called([]) is None
    assert cli.called(["--help"]) is None
