"""A small world of failures: incidents that a brain solves once it says what they need.

Investigations are made up (no tools, no model); everything else of a job is real: the ledger, the
simulated proposer behind the typed calls, the loop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from heldout.agent.trace import Step, Trace
from heldout.brain import Brain
from heldout.gate.report import Finding, GateReport
from heldout.incident import Incident
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.llm import ModelReply, ModelRequest, Usage
from heldout.llm.simulated.proposer import reply
from heldout.run.plan import Outcome, Plan, RunResult
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger

ALERT = (
    "# High error rate\nFired at 2026-03-04T12:00:00Z\nService: quillmere-orbit\nErrors at 12 %."
)
CULPRIT, DECOY = "c-00000aaa", "c-00000bbb"
NEEDS = {
    "history": ("days before", "back 7 days", "back 10", "back 14", "back two", "back three",
                "back 30", "back a", "week", "month", "previous"),
    "proximity": ("not proof", "latest one", "suspect only"),
    "never": (),
}  # fmt: skip


class Killed(BaseException):
    """Stands for a process that ends in the middle; no handler of the project catches it."""


class FakeInterface:
    """An environment that is never opened."""

    name = "world"

    def tool_specs(self) -> tuple[Any, ...]:
        return ()


class FakeGate:
    """Refuses what looks like a pull request or a quotation; counts its checks."""

    def __init__(self, *, leak: bool = False) -> None:
        self.leak = leak
        self.checks: list[tuple[Brain, Brain, str, tuple[str, ...]]] = []

    def check(
        self, before: Brain, after: Brain, *, rationale: str = "", job_texts: Sequence[str] = ()
    ) -> GateReport:
        self.checks.append((before, after, rationale, tuple(job_texts)))
        findings = [
            Finding("shapes", "reject", name, number, 1, 9, word, hint="Drop the example")
            for name, text in after.all_files().items()
            for number, line in enumerate(text.splitlines(), 1)
            for word in ("PR #", "For example,")
            if word in line
        ]
        if self.leak:
            findings = [Finding("names", "reject", "method.md", 1, 1, 2, "x")]
        return GateReport(
            not findings, tuple(findings), 0, "1", "i", "v", "c", 0.0, test_side_only=self.leak
        )


class Proposer:
    """The simulated proposer without a wire; ``edits`` replaces what it would write."""

    def __init__(self, edits: Callable[[int], list[dict[str, Any]]] | None = None) -> None:
        self.edits = edits
        self.bodies: list[dict[str, Any]] = []
        self.asked = 0
        self.fail_at: int | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        if self.fail_at is not None and len(self.bodies) >= self.fail_at:
            raise Killed
        body = {"model": "proposer", "messages": list(request.messages), "seed": request.seed}
        self.bodies.append(body)
        text = reply(body)["choices"][0]["message"]["content"]
        if self.edits is not None and "[[ ## diagnoses ## ]]" in body["messages"][-1]["content"]:
            text = json.dumps({"edits": self.edits(self.asked)})
            self.asked += 1
        return ModelReply(text=text, usage=Usage(100, 20), served_model="p", usd=0.001)


def make_trace(need: str, solved: bool) -> Trace:
    """What an investigation leaves that lacks ``need``: a short window, or a believed decoy."""
    since = "2026-02-20T12:00:00Z" if need == "proximity" else "2026-03-04T00:00:00Z"
    rows = [
        {"id": DECOY, "ts": "2026-03-04T11:55:00Z", "type": "deploy", "actor": "mira.holt",
         "pr": "4711", "summary": "Roll out quillmere-orbit", "entities": [], "fields": ["image"]},
    ]  # fmt: skip
    if need == "proximity":
        rows.append({**rows[0], "id": CULPRIT, "ts": "2026-02-27T08:00:00Z", "type": "config"})
    answer = {
        "rows": rows,
        "total_estimate": len(rows),
        "truncated": False,
        "cursor": None,
        "window_used": {"since": since, "until": "2026-03-04T12:00:00Z"},
        "outside_window": 40,
        "data_gaps": [],
    }
    entity = {"rows": [{"id": "e-0000000a", "kind": "Service", "name": "quillmere-orbit"}]}
    other = {"rows": [{"id": "e-0000000b", "kind": "Database", "name": "tarnwick-ledger"}]}
    history = {"rows": [{"ts": "2026-03-01T00:00:00Z", "change_id": "c-1"}]}
    steps = (
        Step(0, "get_entity", {"id": "e-0000000a"}, json.dumps(entity), False),
        Step(1, "get_entity", {"id": "e-0000000b"}, json.dumps(other), False),
        Step(2, "list_changes", {"since": since}, json.dumps(answer), False),
        Step(3, "get_field_history", {"entity": "e-0000000b", "field": "spec.maxConns"},
             json.dumps(history), False),
    )  # fmt: skip
    said = Submission("e-0000000b", CULPRIT if solved else DECOY, "pool of tarnwick-ledger is full")
    return Trace((), steps[: 4 if solved else 3], said, "submitted", 5, 900, 0, 100, 0.01, 1.0, "m")


class FakeRuns:
    """Plays plans without a model. ``noise`` is the chance that an investigation goes wrong.

    With the alert alone nothing is known, unless the brain holds the words ``tells``.
    """

    def __init__(
        self, needs: dict[str, str], *, noise: float = 0.0, breaks: str = "", tells: str = ""
    ) -> None:
        self.needs = needs
        self.noise = noise
        self.breaks = breaks
        self.tells = tells
        self.plans: list[Plan] = []
        self.investigations = 0
        self.kill_at: int | None = None
        self._played: dict[str, RunResult] = {}

    async def play(self, plan: Plan, ledger: Ledger, settings: Settings, **more: Any) -> RunResult:
        if plan.key() in self._played:
            return self._played[plan.key()]
        if self.kill_at is not None and len(self.plans) >= self.kill_at:
            raise Killed
        self.plans.append(plan)
        budget, absent, outcomes = more["caps"], 0, []
        for case in plan.cases:
            for repeat in range(plan.repeats):
                for arm in plan.arms:
                    if budget.reached():
                        absent += 1
                        continue
                    outcomes.append(self._one(plan, case.incident.id, arm.name, repeat, arm.brain))
                    budget.add(0.01, 1000)
        result = RunResult(plan.key(), plan, tuple(outcomes), absent)
        if not absent:
            self._played[plan.key()] = result
        return result

    def _one(self, plan: Plan, incident: str, arm: str, repeat: int, brain: Brain) -> Outcome:
        self.investigations += 1
        need = self.needs[incident]
        text = brain.prompt(plan.model, "world")
        passed = not need or any(word in text for word in NEEDS[need])
        if self.breaks and self.breaks in text and not need:
            passed = False
        if "setup" in plan.pins:
            passed = bool(self.tells) and self.tells in text
        mark = hashlib.sha256(f"{plan.seed}{incident}{repeat}{arm}".encode()).digest()[0]
        if mark < 256 * self.noise:
            passed = not passed
        reasoning = f"It blames change {DECOY}, not {CULPRIT}; the pool of tarnwick-ledger was cut."
        verdict = Verdict("pass" if passed else "fail", "right" if passed else reasoning, "exact")
        return Outcome(incident, arm, repeat, 0, verdict, make_trace(need, passed))


def make_case(name: str, kind: str, root: Path) -> Case:
    incident = Incident(name, "small", ALERT, root / name, "d" + name)
    return Case(incident, "train", kind, "db", "f", (), "g", "simulated", root / "t", "t" + name)


class Project:
    """A project folder with a brain and a ledger, and the pieces that a job needs."""

    def __init__(self, root: Path) -> None:
        (root / "brain").mkdir(parents=True)
        (root / "brain/brain.toml").write_text('load = ["method.md"]\n')
        (root / "brain/method.md").write_text("- Look at the alert first.\n")
        self.settings = Settings(root=root)
        self.root = root
        needs = {f"trap-{i}": "history" for i in range(5)}
        needs |= {f"late-{i}": "proximity" for i in range(3)}
        needs |= {f"fine-{i}": "" for i in range(4)}
        self.needs = needs
        self.cases = tuple(
            make_case(name, "trap" if not name.startswith("fine") else "onset_control", root)
            for name in needs
        )

    def ledger(self) -> Ledger:
        return Ledger.open(self.settings.ledger)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh project."""
    return Project(tmp_path)


@pytest.fixture
def parts() -> Any:
    """The classes above, for tests that make their own."""

    class Parts:
        gate = FakeGate
        proposer = Proposer
        runs = FakeRuns
        interface = FakeInterface
        trace = staticmethod(make_trace)
        alert = ALERT
        killed = Killed

    return Parts
