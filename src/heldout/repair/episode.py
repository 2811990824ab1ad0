"""One episode: an alert, tools, simulated minutes, and a report at the end.

Pure Python, no web: the in-process interface and every server mount this. What a step shows comes
from running the code as it is now; nothing is scripted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import ValidationError

from heldout.errors import EditError, UsageError
from heldout.repair.codebase import SERVICES, editable
from heldout.repair.history import History, history
from heldout.repair.instance import Instance, State, play
from heldout.repair.platform.records import Window
from heldout.repair.report import IncidentReport
from heldout.repair.sandbox.runner import Sandbox, SandboxError
from heldout.repair.telemetry import Alert, Reading, alerts, health, readings
from heldout.repair.tools import TOOLS
from heldout.repair.tools.tool import Shown, Tool, ToolRefused
from heldout.repair.tree import Workspace

EndReason = Literal["", "submitted", "sla", "steps", "closed", "unscored"]

SLA_MINUTES = 90
MAX_STEPS = 60
MAX_TEXT = 8_192
REFUSED_MINUTES = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """One call as the record keeps it."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool
    minute: float
    tree: str
    chain: str


def beginning(instance: Instance) -> str:
    """What the first step of a task is chained to."""
    name, seed, tree = instance.template.name, instance.seed, instance.tree().digest
    return hashlib.sha256(f"{name}\0{seed}\0{tree}".encode()).hexdigest()


def linked(before: str, step: Step) -> str:
    """The chain after a step: over the one before and everything that the record says of it."""
    said = [before, step.number, step.tool, step.arguments, step.text, step.is_error]
    link = json.dumps([*said, step.minute, step.tree], sort_keys=True)
    return hashlib.sha256(link.encode()).hexdigest()


@dataclass(slots=True)
class View:
    """A replayed window as dashboards show it."""

    window: Window
    series: dict[str, tuple[Reading, ...]]
    alerts: tuple[Alert, ...]


@dataclass
class Episode:
    """One task under way. Not to be shared between threads; close it when done.

    ``watch`` is called after every recorded step; what it learns is never part of an answer.
    """

    instance: Instance
    sandbox: Sandbox
    sla_minutes: float = SLA_MINUTES
    max_steps: int = MAX_STEPS
    tools: Mapping[str, Tool] = field(default_factory=lambda: TOOLS)
    watch: Callable[[Episode], None] | None = None
    minute: float = field(default=0.0, init=False)
    steps: list[Step] = field(default_factory=list, init=False)
    ended: EndReason = field(default="", init=False)
    report: IncidentReport | None = field(default=None, init=False)
    hints: int = field(default=0, init=False)
    taken_back: str = field(default="", init=False)
    restored: bool = field(default=False, init=False)
    wrong_rollbacks: int = field(default=0, init=False)
    shown: set[str] = field(default_factory=set, init=False)
    viewed: set[str] = field(default_factory=set, init=False)
    unscored: str = field(default="", init=False)

    def __post_init__(self) -> None:
        tree = self.instance.tree()
        self.workspace = Workspace(tree, editable(tree))
        self.history: History = history(self.instance)
        self._views: dict[tuple[str, str, bool], View] = {}
        self._chain = beginning(self.instance)

    def state(self) -> State:
        """Database, cache and settings as they are after what was done so far."""
        made = self.instance.database(taken_back=self.taken_back, restored=self.restored)
        return State(made)

    def view(self) -> View:
        """What dashboards show of the code as it is now; run only where something changed."""
        key = (self.workspace.tree.digest, self.taken_back, self.restored)
        if key not in self._views:
            state = self.state()
            window = play(self.sandbox, self.instance, self.workspace.tree, state, seed=1)
            state.database.close()
            series = readings(window, self.instance.plant())
            self._views[key] = View(window, series, alerts(series, window.seconds))
        return self._views[key]

    def observation(self) -> dict[str, Any]:
        """What an agent sees at any time: the alert, the clock, the services."""
        view = self.view()
        return {
            "title": self.instance.template.title,
            "minute": round(self.minute, 1),
            "sla_minutes": self.sla_minutes,
            "steps_left": self.max_steps - len(self.steps),
            "services": {
                name: {"health": health(view.series[name]), **view.series[name][-1].as_dict()}
                for name in SERVICES
            },
            "alerts": [
                {"rule": one.rule, "severity": one.severity, "text": one.text}
                for one in view.alerts
            ],
            "ended": self.ended,
        }

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool, tuple[str, ...]]:
        """Answer one call: its text (JSON), whether it is an error, the ids shown."""
        if self.ended:
            said = {"error": "ended", "message": f"this episode ended: {self.ended}"}
            return self._text(said), True, ()
        shown, refused = self._answered(tool, arguments)
        data = shown.data if shown is not None else refused
        ids, minutes = (shown.ids, shown.minutes) if shown is not None else ((), REFUSED_MINUTES)
        self.minute += minutes
        text = self._text(data)
        self.shown.update(ids)
        self._record(tool, arguments, text, shown is None)
        self._end_if_due(shown)
        if self.watch is not None:
            self.watch(self)
        return text, shown is None, ids

    def _answered(
        self, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Shown | None, dict[str, Any]]:
        """What a tool shows, or why it does not; whatever was called with whatever."""
        found = self.tools.get(tool)
        if found is None:
            return None, {"error": "unknown_tool", "message": "there is no such tool",
                          "known": sorted(self.tools)}  # fmt: skip
        try:
            return found.run(self, found.arguments.model_validate(dict(arguments))), {}
        except ToolRefused as refused:
            return None, {"error": refused.code, "message": refused.message, **refused.more}
        except ValidationError as wrong:
            first = wrong.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            return None, {"error": "bad_argument", "message": f"{where}: {first['msg']}"}
        except (EditError, UsageError) as wrong:
            return None, {"error": "refused", "message": wrong.sentence()}
        except SandboxError as broken:
            self.unscored, self.ended = broken.what, "unscored"
            said = "the environment failed; this is not scored"
            return None, {"error": "environment", "message": said}

    def close(self) -> None:
        """End the episode and its sandbox; later calls are answered with an error."""
        self.ended = self.ended or "closed"
        self.sandbox.close()

    def _text(self, data: Mapping[str, Any]) -> str:
        text = json.dumps(data, sort_keys=True, default=str)
        if len(text) <= MAX_TEXT:
            return text
        note = "this is the beginning of the answer; ask for less at once"
        return json.dumps({"truncated": note, "text": text[: MAX_TEXT // 2]})

    def _record(self, tool: str, arguments: Mapping[str, Any], text: str, error: bool) -> None:
        plain = json.loads(json.dumps(dict(arguments), default=str))
        tree, number = self.workspace.tree.digest, len(self.steps) + 1
        step = Step(number, tool, plain, text, error, self.minute, tree, "")
        self._chain = linked(self._chain, step)
        self.steps.append(replace(step, chain=self._chain))

    def _end_if_due(self, shown: Shown | None) -> None:
        if self.ended:
            return
        if shown is not None and shown.final:
            self.ended = "submitted"
        elif self.minute >= self.sla_minutes:
            self.ended = "sla"
        elif len(self.steps) >= self.max_steps:
            self.ended = "steps"
