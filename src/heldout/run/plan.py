"""What is to be played, and what came of each investigation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from heldout.agent.trace import Trace
from heldout.judge.verdict import Verdict
from heldout.run.arm import Arm as Arm
from heldout.settings import Mode, Reducer, Settings, Wire
from heldout.split import Case

Purpose = Literal["train", "screen", "confirm", "score", "probe", "canary"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one investigation: steps, tokens, seconds, USD."""

    max_steps: int = 30
    max_tokens: int = 400_000
    max_seconds: float = 600.0
    max_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """How every investigation of a run is asked, judged and counted, beside its limits.

    ``judge`` is ``exact`` or ``llm``; the models of the latter, one or a panel, stand in
    ``judge_models``. ``reducer`` is what a run calls solved; a score always takes the majority.
    """

    wire: Wire = "chat"
    mode: Mode = "tools"
    notebook_tokens: int = 16_000
    judge: Literal["exact", "llm"] = "exact"
    judge_models: tuple[str, ...] = ()
    judge_base_url: str = ""
    judge_wire: Wire = "chat"
    reducer: Reducer = "majority"
    agent_command: str = ""
    """The program that plays the agent; empty is our own loop."""
    tools: str = "native"
    """The packs of tools that the agent is offered."""

    @classmethod
    def of(cls, settings: Settings) -> Terms:
        """What the project's settings say."""
        models, judge = settings.models, settings.judge
        return cls(
            wire=models.wire,
            mode=models.mode,
            notebook_tokens=models.notebook_tokens,
            judge=judge.by,
            judge_models=judge.models,
            judge_base_url=judge.base_url,
            judge_wire=judge.wire,
            reducer=settings.run.reducer,
            agent_command=settings.agent.command,
            tools=settings.agent.tools,
        )

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Terms:
        """Rebuild from a manifest; what an older one does not say is the default."""
        return cls(**{**plain, "judge_models": tuple(plain.get("judge_models", ()))})


@dataclass(frozen=True, slots=True)
class Plan:
    """Cases x arms x repeats for one model. The manifest pins everything by hash."""

    purpose: Purpose
    set: str
    model: str
    cases: tuple[Case, ...]
    arms: tuple[Arm, ...]
    repeats: int
    seed: int = 1
    limits: Limits = field(default_factory=Limits)
    concurrency: int = 8
    max_invalid: float = 0.05
    base_url: str = ""
    job: str = ""
    terms: Terms = field(default_factory=Terms)
    pins: Mapping[str, str] = field(default_factory=dict)
    """Further hashes: judge, tool schemas, checkers, prompts, settings."""

    @property
    def reducer(self) -> Reducer:
        """What counts as solved: the terms' reducer, and in a score always the majority."""
        return "majority" if self.purpose == "score" else self.terms.reducer

    def manifest(self) -> dict[str, Any]:
        """Plain data, stored with the run; a resumed run takes its configuration only from here."""
        return {
            "purpose": self.purpose,
            "set": self.set,
            "model": self.model,
            "cases": [
                {"incident": c.incident.id, "world": c.incident.digest, "truth": c.truth_digest}
                for c in self.cases
            ],
            "arms": [arm.plain() for arm in self.arms],
            "repeats": self.repeats,
            "seed": self.seed,
            "limits": {
                "max_steps": self.limits.max_steps,
                "max_tokens": self.limits.max_tokens,
                "max_seconds": self.limits.max_seconds,
                "max_usd": self.limits.max_usd,
            },
            "concurrency": self.concurrency,
            "max_invalid": self.max_invalid,
            "base_url": self.base_url,
            "job": self.job,
            "terms": {**asdict(self.terms), "judge_models": list(self.terms.judge_models)},
            "pins": dict(self.pins),
        }

    def digest(self) -> str:
        """sha256 over the manifest."""
        text = json.dumps(self.manifest(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def key(self) -> str:
        """The run's id: the first 16 hex digits of the digest."""
        return self.digest()[:16]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One investigation with its verdict. An invalid one has a ``reason`` and may lack a trace."""

    incident: str
    arm: str
    repeat: int
    attempt: int
    verdict: Verdict
    trace: Trace | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """Every outcome of a run: the first valid verdict of a slot is final."""

    run: str
    plan: Plan
    outcomes: Sequence[Outcome]
    absent: int = 0
    """Slots that a cap of the job left unstarted."""
    notes: Sequence[str] = ()
    """What a person should know of how it was played: shards taken over, files refused."""
