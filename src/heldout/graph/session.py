"""Sessions: one investigation's view of one world, through the tools.

Whatever a model sends comes back as an answer: wrong names, types, ids and expressions are typed
errors, a query that takes longer than five seconds is interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from heldout.graph.ontology import near
from heldout.graph.packs.pack import Answerer, TextPage
from heldout.graph.tools import alerts, changes, entities, logs, metrics, paths
from heldout.graph.tools.arguments import read_arguments
from heldout.graph.tools.backend import Args, WorldBackend
from heldout.graph.tools.catalogue import BY_NAME, SUBMIT, Tool, tool_specs
from heldout.graph.tools.page import DEFAULT_ROWS, Page, answer, ids_in, query_mark, read_cursor
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal
from heldout.graph.tools.submission import read_submission
from heldout.graph.watchdog import WATCHDOG
from heldout.graph.world import World, WorldCache
from heldout.interface import Submission, ToolAnswer, ToolSpec

TIMEOUT_SECONDS = 5.0
Tools = Mapping[str, tuple[Tool, Answerer | None]]

NATIVE: Tools = {name: (tool, None) for name, tool in BY_NAME.items()}
"""The thirteen tools and ``submit_diagnosis``; where nothing stands beside a tool, the backend
answers it."""
_SUBMITTED = '{"accepted": true}'


class DuckBackend:
    """The tools over a world. One per session: it holds a cursor of its own."""

    def __init__(self, world: World) -> None:
        self._reader = Reader(world)

    @property
    def reader(self) -> Reader:
        """This session's access to the world, for what the protocol does not ask."""
        return self._reader

    def search_entities(self, args: Args) -> Page:
        """Entities by name."""
        return entities.search_entities(self._reader, args)

    def get_entity(self, args: Args) -> Page:
        """One entity with its fields."""
        return entities.get_entity(self._reader, args)

    def get_neighbors(self, args: Args) -> Page:
        """What an entity is connected to."""
        return entities.get_neighbors(self._reader, args)

    def find_paths(self, args: Args) -> Page:
        """How two entities are connected."""
        return paths.find_paths(self._reader, args)

    def list_changes(self, args: Args) -> Page:
        """Changes in a window, newest first."""
        return changes.list_changes(self._reader, args)

    def get_change(self, args: Args) -> Page:
        """One change with its diffs."""
        return changes.get_change(self._reader, args)

    def get_field_history(self, args: Args) -> Page:
        """Every recorded change of one field."""
        return changes.get_field_history(self._reader, args)

    def compare_state(self, args: Args) -> Page:
        """Fields that differ between two times or two entities."""
        return entities.compare_state(self._reader, args)

    def search_logs(self, args: Args) -> Page:
        """Log lines, newest first."""
        return logs.search_logs(self._reader, args)

    def log_patterns(self, args: Args) -> Page:
        """Patterns of log lines against a baseline."""
        return logs.log_patterns(self._reader, args)

    def query_metrics(self, args: Args) -> Page:
        """Series of one entity."""
        return metrics.query_metrics(self._reader, args)

    def list_alerts(self, args: Args) -> Page:
        """Alerts in a window, newest first."""
        return alerts.list_alerts(self._reader, args)

    def check_health(self, args: Args) -> Page:
        """Findings of the health checks."""
        return alerts.check_health(self._reader, args)

    def interrupt(self) -> None:
        """Stop the query that runs now; it ends in an error."""
        self._reader.interrupt()

    def close(self) -> None:
        """Give the cursor back."""
        self._reader.close()


class WorldSession:
    """Implements :class:`heldout.interface.Session` over one world."""

    def __init__(
        self,
        world: World,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        tools: Tools = NATIVE,
    ) -> None:
        self._backend = DuckBackend(world)
        self._answers = world.answers
        self._tools = tools
        self._timeout = timeout_seconds
        self._submission: Submission | None = None
        self._lock = threading.Lock()
        self._closed = False

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call; nothing that a model can send makes it raise."""
        with self._lock:
            try:
                return self._call(tool, args)
            except Refusal as refusal:
                shown = ids_in(" ".join(refusal.near))
                return ToolAnswer(refusal.text(), is_error=True, shown_ids=shown)

    def _call(self, tool: str, args: Any) -> ToolAnswer:
        known = self._tools.get(tool) if isinstance(tool, str) else None
        if known is None:
            shown = str(tool)[:60]
            raise Refusal(
                "unknown_tool",
                f"there is no tool '{shown}'",
                near(shown, self._tools) or tuple(self._tools),
            )
        if self._submission is not None or self._closed:
            raise Refusal("unavailable", "the investigation has ended")
        if tool == SUBMIT:
            self._submission = read_submission(args)
            return ToolAnswer(_SUBMITTED, final=True)
        return self._look(*known, args)

    def _look(self, tool: Tool, answerer: Answerer | None, given: Any) -> ToolAnswer:
        reader = self._backend.reader
        args = read_arguments(tool.name, tool.all_arguments, given, now=reader.now)
        mark = query_mark(tool.name, args)
        args["offset"] = read_cursor(args.get("cursor"), mark)
        args.setdefault("limit", DEFAULT_ROWS)
        asked = f"{tool.name} {sorted(args.items())!r}"
        known = self._answers.get(asked)
        if known is None:
            known = self._found(tool, answerer, args, mark)
            self._answers.keep(asked, known)
        return known

    def _found(self, tool: Tool, answerer: Answerer | None, args: Args, mark: str) -> ToolAnswer:
        backend: WorldBackend = self._backend
        read_as = self._backend.reader.read_as
        read_as.clear()
        try:
            with WATCHDOG.limit(self._timeout, self._backend.interrupt):
                page: Page | TextPage = (
                    answerer(self._backend.reader, args)
                    if answerer
                    else getattr(backend, tool.name)(args)
                )
        except duckdb.InterruptException as error:
            raise Refusal(
                "timeout", f"{tool.name} took longer than {self._timeout:g} s: narrow it down"
            ) from error
        except duckdb.Error as error:
            raise Refusal(
                "unavailable", f"{tool.name} could not be answered ({type(error).__name__})"
            ) from error
        if isinstance(page, TextPage):
            return page.answer(mark)
        if read_as:
            meant = {
                given: {"id": one.id, "kind": one.kind, "name": one.name}
                for given, one in read_as.items()
            }
            page = replace(page, extra={"read_as": meant, **page.extra})
        return answer(page, mark)

    def finish(self) -> Submission | None:
        """The submission made so far, ``None`` when there was none."""
        return self._submission

    def close(self) -> None:
        """Release the cursor; the world stays with whoever else looks at it."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._backend.close()


class WorldInterface:
    """Implements :class:`heldout.interface.Interface`: worlds by the path of their folder."""

    name = "world"

    def __init__(
        self,
        *,
        cached_worlds: int = 12,
        kept_answers: int = 200,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._cache = WorldCache(cached_worlds, kept_answers=kept_answers)
        self._timeout = timeout_seconds

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools, in stable order."""
        return tool_specs()

    def open(self, task_ref: str, seed: int) -> WorldSession:
        """Open the world in folder ``task_ref``; a world has no chance in it, so ``seed`` is moot.

        A folder that is no world is a :class:`~heldout.errors.WorldError`.
        """
        return WorldSession(self._cache.get(Path(task_ref)), timeout_seconds=self._timeout)
