"""Which tools an investigation is offered, by the names of packs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from heldout.errors import UsageError
from heldout.graph.packs.pack import Answerer, Pack
from heldout.graph.session import NATIVE, TIMEOUT_SECONDS, WorldInterface, WorldSession
from heldout.graph.tools.catalogue import SUBMIT, Tool
from heldout.graph.world import WorldCache
from heldout.interface import Interface, ToolSpec

PACKS = ("native", "core", "kubectl", "promql", "git")
"""The packs by name, in the order in which a model is shown them."""
CORE = (
    "search_entities",
    "get_entity",
    "get_neighbors",
    "list_changes",
    "get_change",
    "search_logs",
)
"""What of the native tools a diagnosis needs at least. A small model gets lost among thirteen, and
their sheet is most of what it reads."""


class WorldTools:
    """Implements :class:`heldout.interface.Interface`: worlds through the tools of some packs.

    Its name is the packs' names with '+' between them, which brain overlays go by.
    """

    def __init__(
        self,
        packs: tuple[str, ...],
        *,
        cached_worlds: int = 12,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.name = "+".join(packs)
        self._tools = _tools(packs)
        self._cache = WorldCache(cached_worlds)
        self._timeout = timeout_seconds

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The packs' tools in order, ``submit_diagnosis`` last."""
        return tuple(tool.spec() for tool, _ in self._tools.values())

    def open(self, task_ref: str, seed: int) -> WorldSession:
        """Open the world in folder ``task_ref``; ``seed`` is moot."""
        world = self._cache.get(Path(task_ref))
        return WorldSession(world, timeout_seconds=self._timeout, tools=self._tools)


def _tools(packs: tuple[str, ...]) -> Mapping[str, tuple[Tool, Answerer | None]]:
    found: dict[str, tuple[Tool, Answerer | None]] = {}
    for name in packs:
        if name == "native":
            found |= {one: tool for one, tool in NATIVE.items() if one != SUBMIT}
        elif name == "core":
            found |= {one: NATIVE[one] for one in CORE}
        else:
            pack: Pack = import_module(f"heldout.graph.packs.{name}").PACK
            found |= pack.tools
    return {**found, SUBMIT: NATIVE[SUBMIT]}


def open_interface(tools: str = "native") -> Interface:
    """The environment with the packs named in ``tools``, by commas or '+'; ``native`` alone is
    :class:`WorldInterface`.

    An unknown or repeated name is a :class:`UsageError`, a pack that cannot work here a
    :class:`ConfigError`.
    """
    given = [part.strip() for part in tools.replace("+", ",").split(",") if part.strip()]
    given = ["native" if part == WorldInterface.name else part for part in given]
    for name in given:
        if name not in PACKS:
            raise UsageError(
                f"there is no pack of tools '{name[:40]}'", mend=f"Packs: {', '.join(PACKS)}"
            )
    packs = tuple(name for name in PACKS if name in given)
    if not packs or len(packs) != len(given):
        raise UsageError(
            f"'{tools[:60]}' does not name each pack once", mend=f"Packs: {', '.join(PACKS)}"
        )
    if {"native", "core"} <= set(packs):
        raise UsageError("'core' is a part of 'native'", mend="Name one of the two")
    if "promql" in packs:
        import_module("heldout.graph.packs.promql").parser()
    return WorldInterface() if packs == ("native",) else WorldTools(packs)
