"""Signals become one exception, wherever they come."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from pgsweep.base import interrupts
from pgsweep.base.interrupts import Interrupted, Interrupts

PATIENCE_S = 30.0


class Deaf:
    """An object in whose __del__ a signal comes. Nobody hears an exception from there."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        # By then Python has called the handler.
        sum(range(1000))
        pytest.fail("the handler has not raised")


def drop_and_wait() -> None:
    deaf = Deaf()
    del deaf
    time.sleep(PATIENCE_S)
    pytest.fail("the signal is lost")


def test_raised_where_nobody_hears_it() -> None:
    hook = sys.unraisablehook
    with pytest.raises(Interrupted) as caught, Interrupts().installed():
        drop_and_wait()
    assert caught.value.exit_code == 128 + signal.SIGTERM
    assert sys.unraisablehook is hook


def test_sent_again_before_anybody_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # It comes while the thread that sends it is still being started.
    monkeypatch.setattr(interrupts, "AGAIN_S", 0.0)
    for _ in range(50):
        with pytest.raises(Interrupted), Interrupts().installed():
            drop_and_wait()


def test_other_exceptions_that_nobody_hears(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __del__(self) -> None:
            raise ValueError("told")

    told: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(str(args.exc_value)))
    with Interrupts().installed():
        broken = Broken()
        del broken
    assert told == ["told"]


def test_held_and_ignored() -> None:
    interrupts = Interrupts()
    went_on: list[int] = []

    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        went_on.append(sum(range(1000)))

    with interrupts.installed():
        with pytest.raises(Interrupted) as caught, interrupts.held():
            interrupted()
        assert went_on
        assert caught.value.exit_code == 128 + signal.SIGINT
        interrupts.ignore()
        os.kill(os.getpid(), signal.SIGHUP)
        sum(range(1000))
        assert interrupts.missed == signal.SIGHUP
