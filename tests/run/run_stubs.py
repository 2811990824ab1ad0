"""A tiny environment, a scripted model, and cases: what a run is played with in these tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.brain import Brain
from heldout.errors import JudgeError, ProviderRefused, ProviderUnavailable
from heldout.incident import Incident
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.judge.verdict import Verdict
from heldout.llm import ModelReply, ModelRequest, ToolCall, Usage
from heldout.run import Arm, Plan
from heldout.settings import Settings
from heldout.split import Case
from heldout.truth import Truth, write_truth

LOOKS = 3
"""Tool calls that the scripted model makes before it submits."""


def brain(text: str = "Look, then answer.") -> Brain:
    """A brain of one file."""
    return Brain(files={"method.md": text + "\n"}, load=("method.md",))


def truth_of(incident: str) -> Truth:
    """The truth of one incident: entity ``e-<incident>`` did it."""
    return Truth(
        incident=incident,
        culprit_entity=f"e-{incident}",
        culprit_change="c-1",
        culprit_field="f",
        accepted_entities=(f"e-{incident}",),
        accepted_changes=("c-1",),
        mechanism="m",
        mechanism_terms=(("m",),),
        trigger="t",
        affected=(),
        unaffected=(),
        chain=(),
        decoys=(),
        near_misses=(),
        recommended_fix="f",
        canary="canary-0123456789abcdef",
    )


def case(root: Path, name: str, alert: str = "", side: Any = "train") -> Case:
    """One case; its alert tells the scripted model what to do (see :class:`ScriptedClient`)."""
    path = root / ".heldout" / "truths" / f"{name}.json"
    digest = write_truth(truth_of(name), path)
    world = root / ".heldout" / "worlds" / name
    incident = Incident(name, "stub", f"Incident={name} {alert}", world, f"w-{name}")
    return Case(incident, side, "trap", "d", "f", (), f"g-{name}", "simulated", path, digest)


def plan_of(cases: list[Case], **changed: Any) -> Plan:
    """A small plan over two arms."""
    values: dict[str, Any] = {
        "purpose": "train",
        "set": "stub",
        "model": "fake/model",
        "cases": tuple(cases),
        "arms": (Arm("before", brain()), Arm("after", brain("Look twice, then answer."))),
        "repeats": 2,
        "concurrency": 3,
    }
    return Plan(**{**values, **changed})


def settings_of(root: Path) -> Settings:
    """A project in a temporary folder."""
    return Settings(root=root)


def judge(submission: Submission, truth: Truth) -> Verdict:
    """Pass for the right entity; an answer ``judge!`` is more than this judge can bear."""
    if submission.mechanism == "judge!":
        raise JudgeError("no usable verdict")
    if submission.mechanism == "judge?":
        raise ZeroDivisionError("a mistake in the judge")
    right = submission.complete and submission.root_cause_entity in truth.accepted_entities
    return Verdict("pass" if right else "fail", "because", "stub", {"entity": right})


class StubSession:
    """Answers ``look`` with a few rows, and takes the submission."""

    def __init__(self, world: str) -> None:
        self.world = world
        self.made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """One call; ``look`` at ``explode`` breaks the environment."""
        if tool == "submit_diagnosis":
            self.made = Submission(
                root_cause_entity=str(args.get("entity")), mechanism=str(args.get("mechanism", ""))
            )
            return ToolAnswer("{}", final=True)
        if args.get("at") == "explode":
            raise ZeroDivisionError("a mistake in the environment")
        ids = [f"e-{n:08x}" for n in range(20)]
        rows = [{"id": one, "kind": "Pod", "name": f"{self.world}-{args}"} for one in ids]
        return ToolAnswer(json.dumps({"rows": rows}), shown_ids=tuple(ids))

    def finish(self) -> Submission | None:
        """The submission."""
        return self.made

    def close(self) -> None:
        """Nothing to let go of."""


class StubInterface:
    """Two tools; opening a world named ``unopened`` fails."""

    name = "stub"

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """``look`` and ``submit_diagnosis``."""
        thing = {"type": "object", "properties": {}}
        return (ToolSpec("look", "Look.", thing), ToolSpec("submit_diagnosis", "End.", thing))

    def open(self, task_ref: str, seed: int) -> StubSession:
        """Open one world."""
        if "unopened" in task_ref:
            raise OSError("disk error")
        return StubSession(Path(task_ref).name)


@dataclass
class ScriptedClient:
    """Looks ``LOOKS`` times, then submits the right entity, unless the alert says otherwise.

    ``wrong``: another entity. ``down``: the provider fails at the second request; ``down1``: only
    the first time that an investigation gets there. ``key``: refused. ``bug``: the client breaks.
    ``explode``: breaks the environment. ``judge!``/``judge?``: breaks the judge. ``mute``: never
    calls a tool. ``priceless``: its price is unknown.
    """

    delay: float = 0.0
    calls: int = 0
    closed: bool = False
    requests: list[tuple[str, int, int]] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply."""
        await asyncio.sleep(self.delay)
        system, alert = (str(message["content"]) for message in request.messages[:2])
        name = alert.split()[0].removeprefix("Incident=")
        told = alert.split()[1:]
        done = sum(message["role"] == "tool" for message in request.messages)
        self.calls += 1
        self.requests.append((name, request.seed or 0, done))
        key = f"{name}{request.seed}{system}"
        if "down" in told and done == 1:
            raise ProviderUnavailable("503 and 503 again")
        if "down1" in told and done == 1 and key not in self.failed:
            self.failed.add(key)
            raise ProviderUnavailable("503, once")
        if "key" in told:
            raise ProviderRefused("401")
        if "bug" in told and done == 1:
            raise KeyError("a mistake in the client")
        usd = None if "priceless" in told else 0.01
        usage = Usage(100, 10, 40)
        if "mute" in told:
            return ModelReply("I do not know.", usage=usage, usd=usd, served_model="served")
        if done < LOOKS:
            at = "explode" if "explode" in told and done == 1 else f"{done}"
            call = ToolCall(f"call{done}", "look", json.dumps({"at": at}))
        else:
            entity = "e-other" if "wrong" in told else f"e-{name}"
            mechanism = next((word for word in told if word.startswith("judge")), "m")
            said = {"entity": entity, "mechanism": mechanism}
            call = ToolCall(f"call{done}", "submit_diagnosis", json.dumps(said))
        return ModelReply(
            "", (call,), "tool_calls", usage, served_model="served", usd=usd, seconds=0.001
        )

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True
