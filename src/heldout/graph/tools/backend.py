"""What an environment with a world must be able to answer: one method per tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from heldout.graph.tools.page import Page

Args = Mapping[str, Any]
"""Checked arguments of one call, plus ``offset`` and ``limit``."""


class WorldBackend(Protocol):
    """The thirteen tools over one world, simulated or real.

    Arguments are already checked and converted (times in microseconds, lists as tuples). What
    cannot be answered is a :class:`~heldout.graph.tools.refusals.Refusal`, never an empty page.
    """

    def search_entities(self, args: Args) -> Page:
        """Entities by name."""
        ...

    def get_entity(self, args: Args) -> Page:
        """One entity with its fields."""
        ...

    def get_neighbors(self, args: Args) -> Page:
        """What an entity is connected to."""
        ...

    def find_paths(self, args: Args) -> Page:
        """How two entities are connected."""
        ...

    def list_changes(self, args: Args) -> Page:
        """Changes in a window, newest first."""
        ...

    def get_change(self, args: Args) -> Page:
        """One change with its diffs."""
        ...

    def get_field_history(self, args: Args) -> Page:
        """Every recorded change of one field."""
        ...

    def compare_state(self, args: Args) -> Page:
        """Fields that differ between two times or two entities."""
        ...

    def search_logs(self, args: Args) -> Page:
        """Log lines, newest first."""
        ...

    def log_patterns(self, args: Args) -> Page:
        """Patterns of log lines against a baseline."""
        ...

    def query_metrics(self, args: Args) -> Page:
        """Series of one entity."""
        ...

    def list_alerts(self, args: Args) -> Page:
        """Alerts in a window, newest first."""
        ...

    def check_health(self, args: Args) -> Page:
        """Findings of the health checks."""
        ...
