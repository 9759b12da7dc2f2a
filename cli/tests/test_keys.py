"""What keys do. All of it is pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

import samples
from pgsweep.model import Progress, Run, TableKey
from pgsweep.output.top import orders
from pgsweep.output.top.state import (
    NUMBER_OF_ORDERS,
    Action,
    Panel,
    Question,
    UiState,
    Verb,
    handle_key,
    keys_of,
    next_interval,
    seen,
    waiting_key,
)

SNAPSHOT = samples.snapshot()


def asked(verb: Verb, pid: int) -> Question:
    """Return the question about the vacuum of a process in SNAPSHOT."""
    return Question(verb, next(row for row in SNAPSHOT.progress if row.pid == pid))


def press(ui: UiState, *keys: str) -> tuple[UiState, Action]:
    action = Action.NONE
    for key in keys:
        character = {"space": " ", "slash": "/"}.get(key, key if len(key) == 1 else None)
        ui, action = handle_key(ui, key, SNAPSHOT, character)
    return ui, action


def test_space_freezes_and_thaws() -> None:
    frozen, _ = press(UiState(), "space")
    assert frozen.frozen
    thawed, action = press(frozen, "space")
    assert not thawed.frozen
    assert action is Action.REFRESH


def test_interval_stays_in_its_limits() -> None:
    assert press(UiState(), "plus")[0].interval_s == 2
    assert press(UiState(), "minus")[0].interval_s == 0.5
    assert press(UiState(), *["minus"] * 9)[0].interval_s == 0.5
    assert press(UiState(), *["plus"] * 20)[0].interval_s == 60


def test_an_odd_interval_goes_to_the_next_step() -> None:
    assert next_interval(1.7, longer=True) == 2
    assert next_interval(1.7, longer=False) == 1


@pytest.mark.parametrize(
    ("keys", "panel"),
    [
        (["2"], Panel.RUNS),
        (["3"], Panel.DATABASES),
        (["tab"], Panel.RUNS),
        (["tab", "tab", "tab"], Panel.PROGRESS),
        (["shift+tab"], Panel.DATABASES),
        (["2", "1"], Panel.PROGRESS),
    ],
)
def test_panels(keys: list[str], panel: Panel) -> None:
    assert press(UiState(), *keys)[0].focus is panel


def test_the_fourth_panel_is_where_there_is_a_queue() -> None:
    queue = (samples.waiting(), samples.waiting(position=2, datid=None, relid=7))
    known = replace(SNAPSHOT, queue=queue)
    assert handle_key(UiState(), "4", known)[0].focus is Panel.QUEUE
    assert handle_key(UiState(), "4", SNAPSHOT)[0].focus is Panel.PROGRESS
    at_databases = UiState(focus=Panel.DATABASES)
    assert handle_key(at_databases, "tab", known)[0].focus is Panel.QUEUE
    assert handle_key(at_databases, "tab", SNAPSHOT)[0].focus is Panel.PROGRESS
    ui = UiState(focus=Panel.QUEUE)
    assert handle_key(ui, "tab", known)[0].focus is Panel.PROGRESS
    # It was there before the connection was lost.
    assert handle_key(ui, "tab", SNAPSHOT)[0].focus is Panel.RUNS
    moved = handle_key(ui, "down", known)[0]
    assert moved.selected == {Panel.QUEUE: waiting_key(queue[1])}
    assert "panel 1" in handle_key(replace(ui, act=True), "C", known)[0].message


def test_selection_moves_and_stops_at_the_ends() -> None:
    assert press(UiState(), "down")[0].selected == {Panel.PROGRESS: 200}
    assert press(UiState(), *["down"] * 9)[0].selected == {Panel.PROGRESS: 400}
    assert press(UiState(), "down", "up", "up")[0].selected == {}
    assert press(UiState(), "end")[0].selected == {Panel.PROGRESS: 400}
    assert press(UiState(), "end", "home")[0].selected == {}


def test_selection_follows_its_row() -> None:
    ui, _ = press(UiState(), "down")
    assert ui.position(Panel.PROGRESS, [1, 2, 200]) == 2
    assert ui.position(Panel.PROGRESS, [1, 2]) == 0


def test_cancel_needs_act() -> None:
    ui, action = press(UiState(), "C")
    assert ui.question is None
    assert action is Action.NONE
    assert "--act" in ui.message


@pytest.mark.parametrize("key", ["C", "upper_c"])
def test_cancel_asks_first(key: str) -> None:
    ui, action = press(UiState(act=True), key)
    assert (ui.question, action) == (asked(Verb.CANCEL, 100), Action.NONE)
    ui, action = press(ui, "y")
    assert (ui.question, action) == (asked(Verb.CANCEL, 100), Action.ACT)


@pytest.mark.parametrize(
    ("key", "verb"),
    [
        ("less_than_sign", Verb.SLOW),
        ("greater_than_sign", Verb.HURRY),
        ("equals_sign", Verb.RELEASE),
    ],
)
def test_steering_asks_first(key: str, verb: Verb) -> None:
    ui, action = press(UiState(act=True), key)
    assert (ui.question, action) == (asked(verb, 100), Action.NONE)
    assert "--act" in press(UiState(), key)[0].message


@pytest.mark.parametrize("key", ["n", "escape", "enter", "q", "C", "space"])
def test_anything_but_yes_is_no(key: str) -> None:
    ui, action = press(UiState(act=True), "C", key)
    assert (ui.question, action) == (None, Action.NONE)


@pytest.mark.parametrize(
    ("later", "stays"),
    [
        ({}, True),
        ({"phase": "vacuuming heap", "done_pct": 80.0}, True),
        ({"relid": 16402, "relname": "other"}, False),
        ({"started_at": samples.NOW}, False),
        ({"pid": 101}, False),
    ],
)
def test_a_question_is_about_the_vacuum_that_was_shown(
    later: dict[str, object], stays: bool
) -> None:
    """The process may go on to another table between C and y."""
    ui, _ = press(replace(UiState(act=True), trouble="no data"), "C")
    rows = (replace(asked(Verb.CANCEL, 100).row, **later),)  # type: ignore[arg-type]
    ui = seen(ui, replace(SNAPSHOT, progress=rows))
    assert ui.trouble == ""
    assert (ui.question is not None) is stays
    assert stays or ui.message.startswith("nothing was done: VACUUM of bench.pgbench_accounts")
    assert handle_key(ui, "y", SNAPSHOT)[1] is (Action.ACT if stays else Action.NONE)


def test_a_table_that_becomes_known_is_no_other_vacuum() -> None:
    row = samples.progress(relid=None, relname=None)
    ui = replace(UiState(act=True), question=Question(Verb.CANCEL, row))
    known = replace(SNAPSHOT, progress=(samples.progress(),))
    assert seen(ui, known).question is not None


def test_a_parallel_worker_is_cancelled_by_its_leader() -> None:
    ui, _ = press(UiState(act=True), "down", "down", "C")
    assert ui.question == asked(Verb.CANCEL, 200)


def test_cancel_wants_a_running_vacuum() -> None:
    assert press(UiState(act=True), "2", "C")[0].question is None
    nothing = replace(SNAPSHOT, progress=())
    assert handle_key(UiState(act=True), "C", nothing)[0].question is None
    assert handle_key(UiState(act=True), "C", None)[0].question is None


def test_lower_case_c_does_nothing() -> None:
    assert press(UiState(act=True), "c")[0] == UiState(act=True)


def test_help() -> None:
    ui, _ = press(UiState(), "h")
    assert ui.help
    assert not press(ui, "x")[0].help
    assert press(UiState(), "question_mark")[0].help
    assert press(ui, "q")[1] is Action.QUIT


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_quit(key: str) -> None:
    assert press(UiState(), key)[1] is Action.QUIT


def test_a_message_goes_with_the_next_key() -> None:
    assert press(UiState(message="told"), "down")[0].message == ""


def test_a_filter_is_typed() -> None:
    ui, _ = press(UiState(), "slash", "q", "space", "S", "y")
    assert (ui.typing, ui.filter) == (True, "q Sy")
    assert press(ui, "backspace", "enter")[0] == replace(ui, typing=False, filter="q S")
    kept, _ = press(ui, "enter", "down")
    assert (kept.typing, kept.filter) == (False, "q Sy")
    assert press(ui, "escape")[0] == UiState()
    assert press(kept, "escape")[0].filter == ""
    # Keys that type nothing do nothing, and with nothing to take away it is over.
    assert press(ui, "f5", "up")[0] == ui
    assert press(UiState(), "slash", "a", "backspace")[0].typing
    assert not press(UiState(), "slash", "backspace")[0].typing
    assert press(ui, "ctrl+c")[1] is Action.QUIT


def test_orders_follow_each_other() -> None:
    ui, _ = press(UiState(), "2", "s")
    assert ui.order == {Panel.RUNS: 1}
    assert press(ui, "S")[0].order == {Panel.RUNS: 0}
    assert press(ui, "upper_s", "upper_s")[0].order == {Panel.RUNS: NUMBER_OF_ORDERS[Panel.RUNS]}
    around, _ = press(UiState(), *["s"] * (NUMBER_OF_ORDERS[Panel.PROGRESS] + 1))
    assert around.order == {Panel.PROGRESS: 0}


def test_there_are_as_many_orders_as_keys_reach() -> None:
    assert {panel: len(there) for panel, there in orders.ORDERS.items()} == NUMBER_OF_ORDERS


def test_enter_opens_the_history_of_a_table() -> None:
    ui, action = press(UiState(), "down", "enter")
    assert ui.story == TableKey(5, 16401, "bench.sessions")
    assert action is Action.REFRESH
    assert press(ui, "down", "down", "up")[0].scroll == 1
    assert press(ui, "home")[0].scroll == 0
    assert press(ui, "q")[1] is Action.QUIT
    assert press(ui, "C", "4")[0] == ui
    for key in ("escape", "enter", "backspace"):
        assert press(ui, key)[0].story is None
    # A worker's table is its leader's.
    assert press(UiState(), "down", "down", "enter")[0].story == ui.story
    nothing, _ = press(UiState(), "3", "enter")
    assert nothing.story is None
    assert "select" in nothing.message


def test_a_shared_catalog_is_one_table() -> None:
    known = replace(SNAPSHOT, queue=(samples.waiting(datid=0, relid=1262),))
    ui, _ = handle_key(UiState(focus=Panel.QUEUE), "enter", known)
    assert ui.story is not None
    assert (ui.story.datid, ui.story.relid) == (None, 1262)


def test_without_the_extension_nothing_can_be_steered() -> None:
    core = replace(SNAPSHOT, status=None, core=samples.core_status())
    ui, _ = handle_key(UiState(act=True), "C", core)
    assert ui.question is None
    assert "does not have" in ui.message


def names(rows: Iterable[Progress | Run]) -> list[str]:
    return [row.relname or "" for row in rows]


def test_rows_are_filtered() -> None:
    seen = orders.shown(SNAPSHOT, UiState(filter="SESS"))
    assert seen is not None
    assert set(names(seen.progress)) == {"sessions"}
    assert seen.runs == ()
    # It is a table that is looked for. The databases are all there.
    assert seen.databases == SNAPSHOT.databases
    shop = orders.shown(SNAPSHOT, UiState(filter="shop"))
    assert shop is not None
    assert [row.datname for row in shop.databases] == ["shop"]
    assert orders.shown(SNAPSHOT, UiState()) is SNAPSHOT
    assert orders.shown(None, UiState(filter="x")) is None


@pytest.mark.parametrize("panel", list(Panel))
def test_every_order_takes_unknown_values(panel: Panel) -> None:
    blank = replace(
        SNAPSHOT,
        progress=(*SNAPSHOT.progress, samples.progress(pid=9, cost=None, done_pct=None)),
        runs=(*SNAPSHOT.runs, samples.run(run_id=7, started_at=None, tuples_removed=None)),
        databases=(*SNAPSHOT.databases, samples.database(datid=9, xid_age=None, dead_tuples=None)),
        queue=(samples.waiting(), samples.waiting(relid=2, score=None, waiting_since=None)),
    )
    for index in range(NUMBER_OF_ORDERS[panel] + 1):
        seen = orders.shown(blank, UiState(order={panel: index}))
        assert seen is not None
        assert sorted(keys_of(panel, seen)) == sorted(keys_of(panel, blank))


def test_the_greatest_comes_first_and_the_unknown_last() -> None:
    runs = (
        samples.run(run_id=1, cost=5),
        samples.run(run_id=2, cost=None),
        samples.run(run_id=3, cost=50),
    )
    by_cost = [order.name for order in orders.ORDERS[Panel.RUNS]].index("cost") + 1
    ui = UiState(order={Panel.RUNS: by_cost})
    seen = orders.shown(replace(SNAPSHOT, runs=runs), ui)
    assert seen is not None
    assert [run.run_id for run in seen.runs] == [3, 1, 2]
    assert orders.name(Panel.RUNS, ui) == "cost"
