"""What the archives of the command have from outside its folder.

The scenario files of the experiments come from the checkout. An sdist brings them along. Manual
pages, completions and the unit of `pgsweep serve` are what tools/dist put into the folder share.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SCENARIOS = "pgsweep/bench/scenarios"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Names these files to hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what is there. An editable install reads the checkout itself."""
        root = Path(self.root)
        scenarios, share = root.parent / "bench" / "scenarios", root / "share"
        is_wheel = self.target_name == "wheel"
        if scenarios.is_dir() and version == "standard":
            place = SCENARIOS if is_wheel else f"src/{SCENARIOS}"
            build_data["force_include"][str(scenarios)] = place
        # One by one, because hatchling leaves out a folder that git ignores.
        kind = "shared_data" if is_wheel else "force_include"
        for file in (file for file in share.rglob("*") if file.is_file()):
            build_data[kind][str(file)] = str(file.relative_to(root))
