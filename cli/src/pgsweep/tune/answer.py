"""What `tune` answers: everything that is shown, printed or applied. All of it is frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.tune.advice import Advice, Verdict
    from pgsweep.tune.model import Measured
    from pgsweep.tune.settings import Setting
    from pgsweep.tune.targets import Targets


@dataclass(frozen=True)
class Answer:
    """A recommendation, what it rests on, and whether it was found to hold."""

    targets: Targets
    measured: Measured
    advice: Advice
    # "pg_sweep" (its budget) or "core" (the cost limit)
    form: str
    settings: tuple[Setting, ...]
    # None means that nothing was run.
    verdict: Verdict | None = None
    # sentences about the settings
    warnings: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether all that was asked can be had, as far as is known."""
        if self.advice.conflicts:
            return False
        return self.verdict is None or self.verdict.all_met
