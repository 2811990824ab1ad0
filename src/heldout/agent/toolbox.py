"""The tools of one investigation: the environment's session, skills, and what guards both."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from rapidfuzz import process

from heldout.agent import prompt
from heldout.agent.loops import Loops, call_key
from heldout.agent.prompt import CIRCLING, NOT_RUN, READ_SKILL, REPEATED, SAME_ERROR, SUBMIT
from heldout.agent.sandbox import SandboxFailure
from heldout.agent.trace import Step
from heldout.brain import Brain
from heldout.interface import Session, Submission, ToolAnswer, ToolSpec
from heldout.llm.messages import ToolCall

STOPPING_MALFORMED = 4
"""So many malformed calls in a row end the investigation."""


_OBJECTIONS = {"repeated_call": REPEATED, "circling": CIRCLING}
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n?", re.DOTALL)


@dataclass(slots=True)
class Toolbox:
    """Runs the model's calls, one :class:`Step` each, and counts what must not go on for ever."""

    session: Session
    specs: tuple[ToolSpec, ...]
    brain: Brain
    max_steps: int
    model: str = ""
    interface: str = ""
    acts: frozenset[str] = frozenset()
    """Tools that change the environment, so that the same call may be answered otherwise."""
    steps: list[Step] = field(default_factory=list)
    final: bool = False
    loops: Loops = field(default_factory=Loops)
    guard: Callable[[str, dict[str, Any]], ToolAnswer | None] | None = None
    """What a mode has against a call; its answer then takes the environment's place."""
    malformed: int = 0
    """Malformed calls in a row."""
    seconds: float = 0.0
    _names: frozenset[str] = frozenset()
    _own_skills: bool = False

    def __post_init__(self) -> None:
        own = offered(self.specs, self.brain)
        self._own_skills = len(own) > len(self.specs)
        self.specs = own
        self._names = frozenset(spec.name for spec in self.specs)

    @property
    def names(self) -> frozenset[str]:
        """The tools that the model may call."""
        return self._names

    def wire(self) -> list[dict[str, Any]]:
        """All tools, as sent with every request."""
        return [spec.wire() for spec in self.specs]

    def submit_name(self) -> str:
        """The tool that ends the session: ``submit_diagnosis``, else the environment's last one."""
        if SUBMIT in self._names:
            return SUBMIT
        own = [spec.name for spec in self.specs if spec is not READ_SKILL]
        return own[-1] if own else SUBMIT

    def run(self, call: ToolCall, *, cut_off: bool = False, beyond_limit: bool = False) -> str:
        """Run one call and return what the model is told. Never raises for the model's mistakes."""
        began = time.perf_counter()
        args: dict[str, Any] = {}
        if not beyond_limit and len(self.steps) >= self.max_steps:
            return typed_error("limit_reached", NOT_RUN).text
        if call.name not in self._names:
            answer = self._unknown(call.name)
        else:
            parsed = read_arguments(call.arguments)
            if parsed is None:
                answer = self._not_json(call, cut_off)
            else:
                args = parsed
                self.malformed = 0
                guard = None if beyond_limit else self.guard
                objection = guard(call.name, args) if guard else None
                answer = self._told_again(call.name, objection or self._checked(call.name, args))
        seconds = time.perf_counter() - began
        self.seconds += seconds
        self.steps.append(
            Step(
                index=len(self.steps),
                tool=call.name[:100],
                args=args,
                answer=answer.text,
                is_error=answer.is_error,
                shown_ids=answer.shown_ids,
                seconds=seconds,
            )
        )
        self.final = self.final or answer.final
        return answer.text

    def words(self, text: str) -> str:
        """The harness's words as they fit this environment: its last tool, and whether it acts."""
        if self.acts:
            text = re.sub(prompt.ONLY_READS, prompt.ACTS, text)
        return text.replace(SUBMIT, self.submit_name())

    def submission(self) -> Submission:
        """What was submitted; a session that ended without one broke its contract."""
        made = self.session.finish()
        if made is None:
            raise SandboxFailure(
                "the environment ended the session and holds no submission",
                mend="Report it with the environment's name and version",
            )
        return made

    def _checked(self, name: str, args: dict[str, Any]) -> ToolAnswer:
        kind = self.loops.objection(call_key(name, args))
        if kind:
            return typed_error(kind, _OBJECTIONS[kind])
        if self._own_skills and name == READ_SKILL.name:
            wanted = str(args.get("name"))
            return skill_answer(self.brain, wanted, self.model, self.interface)
        answer = self.session.call(name, args)
        if name in self.acts:
            self.loops.forget_answers()
        return answer

    def _told_again(self, name: str, answer: ToolAnswer) -> ToolAnswer:
        """An error that came too often in a row says so beside its message."""
        error = _error_of(answer)
        times = self.loops.failed(name, str(error.get("type") or "error") if error else "")
        if not times or error is None:
            return answer
        body = {"error": {**error, "again": SAME_ERROR.format(count=times)}}
        return replace(answer, text=json.dumps(body, ensure_ascii=False))

    def _count_malformed(self) -> None:
        self.malformed += 1
        self.loops.counts["malformed"] += 1

    def _unknown(self, name: str) -> ToolAnswer:
        self._count_malformed()
        near = process.extract(name[:100], sorted(self._names), limit=3, score_cutoff=50)
        return typed_error(
            "unknown_tool", "there is no tool of this name", tuple(str(one[0]) for one in near)
        )

    def _not_json(self, call: ToolCall, cut_off: bool) -> ToolAnswer:
        self._count_malformed()
        why = (
            "your reply was cut off; make the call again, shorter" if cut_off else "send an object"
        )
        return typed_error(
            "malformed_arguments", f"the arguments of {call.name} are not JSON: {why}"
        )


def skill_answer(brain: Brain, name: str, model: str, interface: str) -> ToolAnswer:
    """What ``read_skill`` answers: one skill's text, or an error with the names that there are."""
    found = brain.skill(name, model, interface)
    if found is None:
        names = tuple(skill.name for skill in brain.skills())
        return typed_error("unknown_skill", "there is no skill of this name", names)
    text = _FRONT_MATTER.sub("", found).strip()
    return ToolAnswer(json.dumps({"name": name, "text": text}, ensure_ascii=False))


def offered(specs: tuple[ToolSpec, ...], brain: Brain) -> tuple[ToolSpec, ...]:
    """An environment's tools, and one that reads skills where a brain has some on demand."""
    own = bool(brain.on_demand) and READ_SKILL.name not in {spec.name for spec in specs}
    return (*specs, READ_SKILL) if own else specs


def read_arguments(text: str) -> dict[str, Any] | None:
    """A call's arguments, ``None`` for text that is no JSON object; no text at all means none."""
    if not text.strip():
        return {}
    try:
        data = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None
    return data if isinstance(data, dict) else None


def _error_of(answer: ToolAnswer) -> dict[str, Any] | None:
    """The error that an answer holds; one of another shape is a message without a type."""
    if not answer.is_error:
        return None
    try:
        data = json.loads(answer.text)
    except (ValueError, RecursionError):
        data = None
    error = data.get("error") if isinstance(data, dict) else None
    return error if isinstance(error, dict) else {"message": answer.text}


def typed_error(kind: str, message: str, near: tuple[str, ...] = ()) -> ToolAnswer:
    """An error in the shape in which environments answer theirs."""
    body = {"error": {"type": kind, "message": message, "near": list(near)}}
    return ToolAnswer(json.dumps(body, ensure_ascii=False), is_error=True)
