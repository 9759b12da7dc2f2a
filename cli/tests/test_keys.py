"""What keys do. All of it is pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

import samples
from pgsweep.tui.state import (
    Action,
    Panel,
    Question,
    UiState,
    Verb,
    handle_key,
    next_interval,
    waiting_key,
)

SNAPSHOT = samples.snapshot()


def press(ui: UiState, *keys: str) -> tuple[UiState, Action]:
    action = Action.NONE
    for key in keys:
        ui, action = handle_key(ui, key, SNAPSHOT)
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
    assert (ui.question, action) == (Question(Verb.CANCEL, 100), Action.NONE)
    ui, action = press(ui, "y")
    assert (ui.question, action) == (Question(Verb.CANCEL, 100), Action.ACT)


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
    assert (ui.question, action) == (Question(verb, 100), Action.NONE)
    assert "--act" in press(UiState(), key)[0].message


@pytest.mark.parametrize("key", ["n", "escape", "enter", "q", "C", "space"])
def test_anything_but_yes_is_no(key: str) -> None:
    ui, action = press(UiState(act=True), "C", key)
    assert (ui.question, action) == (None, Action.NONE)


def test_a_parallel_worker_is_cancelled_by_its_leader() -> None:
    ui, _ = press(UiState(act=True), "down", "down", "C")
    assert ui.question == Question(Verb.CANCEL, 200)


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
