"""What the archives of the command have from outside its folder.

Manual pages, completions and the unit of `pgsweep serve` are what tools/dist put into the folder
share.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _fetch_charts(root: Path) -> None:
    """Fetch what draws charts, in the sources. Without it pages and reports have tables."""
    fetch = root.parent / "tools" / "charts"
    if fetch.is_file():
        subprocess.run([str(fetch)], check=False)


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Names these files to hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Add what is there."""
        root = Path(self.root)
        _fetch_charts(root)
        share = root / "share"
        # One by one, because hatchling leaves out a folder that git ignores.
        kind = "shared_data" if self.target_name == "wheel" else "force_include"
        for file in (file for file in share.rglob("*") if file.is_file()):
            build_data[kind][str(file)] = str(file.relative_to(root))
