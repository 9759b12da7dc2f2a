"""What only some commands need is an extra of pyproject.toml. `top` needs none of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from pgsweep.base.errors import UsageError

SERVE = ("prometheus_client", "starlette", "uvicorn")


def require(extra: str, what: str, packages: Sequence[str]) -> None:
    """Raise unless all these packages of an extra are installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{what} needs packages that are not installed: {', '.join(missing)}",
            f"Run pip install 'pgsweep[{extra}]', or tools/venv {extra} in pg_sweep's sources.",
        )


def require_serve(what: str) -> None:
    """Raise unless there is an HTTP server."""
    require("serve", what, SERVE)
