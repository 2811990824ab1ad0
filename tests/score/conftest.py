"""A small held-out half without worlds, and a model whose answers follow the brain's text."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heldout.brain import Brain
from heldout.incident import Incident
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.llm import ModelReply, ModelRequest
from heldout.llm.messages import ToolCall, Usage
from heldout.score import Given, Progress, Score, ScoreRequest, run_score
from heldout.settings import RunSettings, ScoreSettings, Settings
from heldout.split import Case
from heldout.store import Ledger, remember_brain
from heldout.truth import Truth, write_truth

HINT = "Ask when the value became what it is."
BEFORE = Brain(files={"method.md": "# Method\n\n- Read the alert.\n"}, load=("method.md",))
AFTER = BEFORE.with_file("method.md", f"# Method\n\n- Read the alert.\n- {HINT}\n")


class DeskSession:
    """Answers list_changes with two changes and takes the submission."""

    def __init__(self) -> None:
        self.made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """One answer."""
        if tool == "submit_diagnosis":
            self.made = Submission(
                root_cause_entity=args["root_cause_entity"],
                root_cause_change=args["root_cause_change"],
                mechanism=args.get("mechanism", ""),
                evidence_ids=tuple(args.get("evidence_ids", ())),
            )
            return ToolAnswer("{}", final=True)
        entity = [{"id": "e-bad", "name": "bad"}]
        row = {"id": "c-new", "ts": "2026-03-04T11:00:00Z", "entities": entity, "fields": ["x"]}
        return ToolAnswer(json.dumps({"rows": [row], "cursor": None}), shown_ids=("c-new",))

    def finish(self) -> Submission | None:
        """The submission."""
        return self.made

    def close(self) -> None:
        """Nothing is held."""


class Desk:
    """An environment with two tools."""

    name = "desk"

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """list_changes and submit_diagnosis."""
        schema = {"type": "object", "properties": {}}
        return ToolSpec("list_changes", "", schema), ToolSpec("submit_diagnosis", "", schema)

    def open(self, task_ref: str, seed: int) -> DeskSession:
        """One session."""
        return DeskSession()


Answer = Callable[[str, bool, int], bool]


@dataclass
class Actor:
    """A model: ``answer(incident, hinted, seed)`` says whether it finds the cause."""

    answer: Answer
    served: str = "actor-1"
    fail: Callable[[str, bool], Exception | None] = lambda incident, hinted: None
    asked: list[tuple[str, bool, int]] = field(default_factory=list)
    usd: float | None = 0.01

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Submit at once."""
        text = " ".join(str(message.get("content")) for message in request.messages)
        match = re.search(r"Service: (\S+)", str(request.messages[1].get("content")))
        assert match
        incident, hinted, seed = match.group(1), HINT in text, request.seed or 0
        self.asked.append((incident, hinted, seed))
        error = self.fail(incident, hinted)
        await asyncio.sleep(0)
        if error is not None:
            raise error
        good = self.answer(incident, hinted, seed)
        args = {
            "root_cause_entity": "e-good" if good else "e-bad",
            "root_cause_change": "c-old",
            "mechanism": "the limit was lowered",
            "evidence_ids": ["c-new"],
        }
        call = ToolCall(f"call-{len(self.asked)}", "submit_diagnosis", json.dumps(args))
        usage = Usage(input_tokens=100, output_tokens=10)
        return ModelReply(tool_calls=(call,), usage=usage, served_model=self.served, usd=self.usd)

    async def aclose(self) -> None:
        """Nothing is held."""


@dataclass
class Bench:
    """Everything a score needs, small."""

    settings: Settings
    ledger: Ledger
    cases: tuple[Case, ...]

    def request(self, **more: Any) -> ScoreRequest:
        """Before against after, with a no-op arm and no floors unless asked for."""
        wanted: dict[str, Any] = {
            "model": "openai/actor@low",
            "before": BEFORE.hash,
            "after": AFTER.hash,
            "floors": False,
        }
        return ScoreRequest(**{**wanted, **more})

    def given(self, actor: Actor, cases: tuple[Case, ...] | None = None, **more: Any) -> Given:
        """The small half, the desk and the actor."""
        return Given(
            cases=self.cases if cases is None else cases,
            **more,
            interface=Desk(),
            client_factory=lambda plan: actor,
        )

    def score(
        self,
        actor: Actor,
        *,
        cases: tuple[Case, ...] | None = None,
        given: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Score:
        """Run one score to its end; ``given`` stands in further places."""
        from heldout.split import HeldoutAccess

        return asyncio.run(
            run_score(
                more.pop("settings", self.settings),
                self.ledger,
                HeldoutAccess(),
                self.request(**more),
                given=self.given(actor, cases, **(given or {})),
                on_progress=self.progress.append,
            )
        )

    progress: list[Progress] = field(default_factory=list)


def make_case(root: Path, name: str, kind: str, origin: str = "simulated") -> Case:
    """One incident whose cause is e-good, c-old, with a truth file."""
    truth = Truth(
        incident=name,
        culprit_entity="e-good",
        culprit_change="c-old",
        culprit_field="limit",
        accepted_entities=("e-good",),
        accepted_changes=("c-old",),
        mechanism="the limit was lowered",
        mechanism_terms=(("limit",),),
        trigger="",
        affected=(),
        unaffected=(),
        chain=(),
        decoys=(),
        near_misses=(),
        recommended_fix="",
        canary="canary-canary-canary",
    )
    path = root / "truths" / f"{name}.json"
    digest = write_truth(truth, path)
    alert = f"# Rule\nFired at 2026-03-04T12:00:00Z\nService: {name}\nsecret alert words"
    incident = Incident(name, "small", alert, root / "worlds" / name, f"w-{name}")
    return Case(
        incident=incident,
        side="test",
        kind=kind,
        domain="db",
        family="pool" if name < "trap-05" else "quota",
        traps=("latent",) if kind == "trap" else (),
        group=name,
        origin=origin,
        truth_file=path,
        truth_digest=digest,
    )


@pytest.fixture
def role(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process plays the score's role for one test."""
    monkeypatch.setattr("heldout.split._role", "score")


@pytest.fixture
def make_actor() -> type[Actor]:
    """The fake model."""
    return Actor


@pytest.fixture
def new_case() -> Callable[..., Case]:
    """Makes one more incident."""
    return make_case


@pytest.fixture
def brains() -> tuple[Brain, Brain]:
    """Before and after."""
    return BEFORE, AFTER


@pytest.fixture
def bench(tmp_path: Path, role: None) -> Any:
    """Ten traps, four controls, two brains in the ledger."""
    settings = Settings(
        root=tmp_path,
        set="small",
        run=RunSettings(concurrency=6),
        score=ScoreSettings(repeats=1, looks=2),
    )
    traps = [make_case(tmp_path, f"trap-{n:02}", "trap") for n in range(10)]
    controls = [make_case(tmp_path, f"calm-{n:02}", "onset_control") for n in range(4)]
    with Ledger.open(settings.ledger) as ledger:
        remember_brain(ledger, BEFORE)
        remember_brain(ledger, AFTER)
        yield Bench(settings, ledger, tuple(traps + controls))
