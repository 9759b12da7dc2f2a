"""Asks many at the same time, each in a thread. Who is silent is not waited for.

Each has the same time, counted from when it is asked itself. To ask a thousand takes seconds, and
who comes last is not silent because of that.

A thread that hangs in the network cannot be ended. It is left alone (it is a daemon, so that the
program can end), and whatever it still finds is dropped.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pgsweep.base import errors

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What came of asking one: a value, or why there is none. `seconds` is how long it took."""

    seconds: float
    value: T | None = None
    problem: errors.PgsweepError | None = None
    # It has not answered in time. What it was asked for may still happen.
    silent: bool = False


class Deadline:
    """A moment that is so many seconds away when this is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun = time.monotonic()

    @property
    def spent(self) -> float:
        """Return the seconds that have passed."""
        return time.monotonic() - self._begun

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self.seconds - self.spent)


def ask_all(
    whom: Sequence[K], ask: Callable[[K, Deadline], T], seconds: float
) -> tuple[Answer[T], ...]:
    """Return an answer for each, in their order. Each has so many seconds for it."""
    found = dict(answers(whom, ask, seconds))
    return tuple(found[index] for index in range(len(whom)))


def answers(
    whom: Sequence[K], ask: Callable[[K, Deadline], T], seconds: float
) -> Iterator[tuple[int, Answer[T]]]:
    """Yield each answer, with the index of whose it is, as it comes.

    Who has not answered within so many seconds is silent. `ask` is told when that will be.
    """
    given: queue.SimpleQueue[tuple[int, Answer[T] | BaseException]] = queue.SimpleQueue()

    def run(index: int, one: K, deadline: Deadline) -> None:
        try:
            value = ask(one, deadline)
        except errors.PgsweepError as exc:
            given.put((index, Answer(deadline.spent, problem=exc)))
        except Exception as exc:
            given.put((index, Answer(deadline.spent, problem=_bug(exc))))
        except BaseException as exc:
            given.put((index, exc))
        else:
            given.put((index, Answer(deadline.spent, value)))

    # In the order in which they are asked, and so in that in which their time ends.
    awaited: dict[int, Deadline] = {}
    for index, one in enumerate(whom):
        awaited[index] = Deadline(seconds)
        threading.Thread(
            target=run,
            args=(index, one, awaited[index]),
            name=f"pgsweep-ask-{index}",
            daemon=True,
        ).start()
    while awaited:
        first, deadline = next(iter(awaited.items()))
        try:
            index, answer = (
                given.get(timeout=deadline.left) if deadline.left else given.get(block=False)
            )
        except queue.Empty:
            index, answer = first, Answer(deadline.spent, silent=True)
        if isinstance(answer, BaseException):
            raise answer
        # One that was silent may answer while others are awaited. That is too late.
        if awaited.pop(index, None) is not None:
            yield index, answer


def _bug(exc: Exception) -> errors.PgsweepError:
    """Return a bug of ours as what came of asking one. The others are not concerned."""
    return errors.PgsweepError(
        f"{type(exc).__name__}: {exc}", "This is an error of pgsweep itself: please report it."
    )


def first_answer(whom: Sequence[K], ask: Callable[[K], T], timeout_s: float, name: str) -> T:
    """Return the first good answer of any. Raise what the first of them said if there is none."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()
    deadline = Deadline(timeout_s)

    def run(one: K) -> None:
        try:
            answers.put((ask(one), None))
        except BaseException as exc:
            answers.put((None, exc))

    for one in whom:
        threading.Thread(target=run, args=(one,), name="pgsweep-ask", daemon=True).start()
    problem: BaseException | None = None
    for _ in whom:
        try:
            value, exc = answers.get(timeout=max(deadline.left, 0.001))
        except queue.Empty:
            break
        if exc is None:
            assert value is not None
            return value
        if isinstance(exc, Exception) and not isinstance(exc, errors.PgsweepError):
            exc = _bug(exc)
        if not isinstance(exc, errors.PgsweepError):
            raise exc
        # What was answered says more than that nobody was there.
        if problem is None or isinstance(problem, errors.CannotConnectError):
            problem = exc
    if problem is None:
        raise errors.CannotConnectError(f"{name} did not answer within {timeout_s:g} s")
    raise problem
