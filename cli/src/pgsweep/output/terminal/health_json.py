"""What `check --json` and `doctor --json` print. All of it is pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgsweep.findings.checks import exit_code
from pgsweep.findings.nagios import BY_NAME
from pgsweep.output.terminal.as_json import dump

if TYPE_CHECKING:
    from pgsweep.findings.checks import Check
    from pgsweep.findings.nagios import Outcome


def check(outcome: Outcome) -> str:
    """Return the object that `check --json` prints."""
    rules = outcome.rules
    return dump(
        {
            "exit_code": outcome.state.value,
            "state": outcome.state.name,
            "text": outcome.text,
            "figures": [
                {
                    "name": figure.name,
                    "value": figure.value,
                    "unit": BY_NAME[figure.name].unit,
                    "warning": rules.warning[figure.name] if rules else None,
                    "critical": rules.critical[figure.name] if rules else None,
                    "text": figure.text,
                }
                for figure in outcome.figures
            ],
        }
    )


def doctor(checks: tuple[Check, ...]) -> str:
    """Return the object that `doctor --json` prints."""
    return dump(
        {
            "exit_code": exit_code(checks),
            "checks": [
                {
                    "level": check.level.label.lower(),
                    "subject": check.subject,
                    "text": check.text,
                    "fix": list(check.fix),
                }
                for check in checks
            ],
        }
    )
