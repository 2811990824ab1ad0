"""Put the project template (brain, checkers, flows, sets) into the built wheel.

An editable install finds the same folders in the checkout, so nothing is copied for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("brain", "checkers", "flows", "datasets", "prefect.yaml", "prefect.toml")


class ProjectTemplate(BuildHookInterface):
    """Adds the folders that ``heldout init`` copies."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a build; ``version`` is ``standard`` or ``editable``."""
        if version != "standard":
            return
        for name in FOLDERS:
            source = Path(self.root) / name
            if source.exists():
                build_data["force_include"][str(source)] = f"heldout/_project/{name}"
