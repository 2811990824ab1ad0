"""One incident as it is served: the assignment, the session behind a limit, and its record."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from heldout.interface import Interface, Session, ToolAnswer, ToolSpec

Transport = Literal["stdio", "http"]
_LONGEST_ARGUMENTS = 40_000
SUBMIT = "submit_diagnosis"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tool beside the world's whose answers are known beforehand, by its one argument."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    argument: str
    answers: Mapping[str, str]
    otherwise: str
    """What any other value is answered with, as an error."""

    def spec(self) -> ToolSpec:
        """The tool as it is offered."""
        return ToolSpec(self.name, self.description, self.parameters)

    def call(self, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call."""
        found = self.answers.get(str(args.get(self.argument)))
        return ToolAnswer(self.otherwise, is_error=True) if found is None else ToolAnswer(found)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a serving process is told: nothing else of the project is known to it.

    ``prefix`` stands before every path of the HTTP server; one that is hard to guess keeps other
    programs on the machine out. ``tools`` are the packs, none of them for the submission alone,
    which ``task`` then describes. ``sregym`` adds that benchmark's endpoints without a prefix.
    """

    world: str
    alert: str
    tools: str = "native"
    task: str = ""
    seed: int = 1
    max_steps: int = 30
    max_seconds: float = 600.0
    transport: Transport = "stdio"
    port: int = 0
    prefix: str = ""
    sregym: bool = False
    prepared: tuple[Prepared, ...] = ()

    def dump(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Assignment:
        """Read :meth:`dump`."""
        plain = json.loads(text)
        return cls(**{**plain, "prepared": tuple(Prepared(**one) for one in plain["prepared"])})


Write = Callable[[Mapping[str, Any]], None]
"""Hands one line of the record on."""


class Sitting:
    """The session of one assignment, for any protocol: calls are counted, recorded and bounded.

    Calls beyond a limit are refused, but for the submission. Safe to use from several threads.
    """

    def __init__(self, assignment: Assignment, interface: Interface, write: Write) -> None:
        self.assignment = assignment
        self._prepared = {one.name: one for one in assignment.prepared}
        self.specs = tuple(
            replace(spec, description=assignment.task)
            if assignment.task and spec.name == SUBMIT
            else spec
            for spec in (*interface.tool_specs(), *(one.spec() for one in assignment.prepared))
        )
        self.submitted = False
        self._session: Session = interface.open(assignment.world, assignment.seed)
        self._write = write
        self._steps = 0
        self._began: float | None = None
        self._limit = ""
        self._lock = threading.Lock()

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call and record it; what breaks in the world is recorded as such."""
        with self._lock:
            refused = None if self.submitted else self._beyond(tool)
            if refused is not None:
                return refused
            began = time.perf_counter()
            try:
                own = self._prepared.get(tool)
                answer = own.call(args) if own else self._session.call(tool, args)
            except Exception as error:  # noqa: BLE001 - the boundary to the environment
                self._write({"kind": "broken", "detail": f"{type(error).__name__}: {error}"[:500]})
                return _error("unavailable", "the environment broke; the session is over")
            if not self.submitted:
                self._record(tool, args, answer, time.perf_counter() - began)
            return answer

    def _beyond(self, tool: str) -> ToolAnswer | None:
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        if self._steps >= self.assignment.max_steps:
            self._limit = self._limit or "max_steps"
        elif now - self._began >= self.assignment.max_seconds:
            self._limit = self._limit or "max_seconds"
        if not self._limit or tool == SUBMIT:
            return None
        return _error("limit_reached", f"the session is at its limit: call {SUBMIT} now")

    def _record(
        self, tool: str, args: Mapping[str, Any], answer: ToolAnswer, seconds: float
    ) -> None:
        self._write(
            {
                "kind": "step",
                "index": self._steps,
                "tool": str(tool)[:100],
                "args": _bounded(args),
                "answer": answer.text,
                "is_error": answer.is_error,
                "shown_ids": list(answer.shown_ids),
                "seconds": seconds,
            }
        )
        self._steps += 1
        if answer.final:
            made = self._session.finish()
            self.submitted = True
            self._write(
                {
                    "kind": "submitted",
                    "submission": made.as_dict() if made else None,
                    "limit": self._limit,
                }
            )

    def close(self) -> None:
        """End the session; without a submission the record says which limit was reached."""
        with self._lock:
            self._session.close()
            self._write({"kind": "ended", "limit": self._limit})


def _bounded(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for the record; what is longer than any tool reads is cut."""
    text = json.dumps(args, default=str)
    return dict(args) if len(text) <= _LONGEST_ARGUMENTS else {"cut": text[:_LONGEST_ARGUMENTS]}


def _error(kind: str, message: str) -> ToolAnswer:
    body = {"error": {"type": kind, "message": message, "near": []}}
    return ToolAnswer(json.dumps(body), is_error=True)
