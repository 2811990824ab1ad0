"""Which environment an investigation plays in: worlds through packs of tools, or code to repair."""

from __future__ import annotations

from dataclasses import replace

from heldout.errors import UsageError
from heldout.graph import open_interface
from heldout.interface import Interface
from heldout.settings import Settings

REPAIR = "repair"
"""The word for the repair environment wherever packs of tools are named, and its set's name."""


def playing_in(settings: Settings, interface: str) -> Settings:
    """The settings with another environment in their place; empty leaves them as they are.

    ``repair`` has a set of its own; any other word is a :class:`UsageError`.
    """
    if not interface:
        return settings
    if interface != REPAIR:
        raise UsageError(
            f"there is no interface '{interface[:40]}'",
            mend=f"Say --interface {REPAIR}, or leave it out for worlds",
        )
    agent = settings.agent.model_copy(update={"tools": REPAIR})
    return replace(settings, agent=agent, set=REPAIR)


def open_environment(tools: str = "native") -> Interface:
    """The environment that ``tools`` names; an unknown one is a :class:`UsageError`."""
    if tools.strip() != REPAIR:
        return open_interface(tools)
    from heldout.repair.interface import RepairInterface

    return RepairInterface()
