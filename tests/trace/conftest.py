"""A run over the small world whose every call is written down, so that every count is known."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.graph.worlds import HOSTILE, cid, eid, small_world

from heldout.brain import Brain
from heldout.graph import WorldInterface, write_world
from heldout.incident import Incident
from heldout.llm import ModelReply, ModelRequest, ToolCall, Usage
from heldout.run import Arm, Plan, play
from heldout.settings import Settings
from heldout.split import Case, Split, write_split
from heldout.store import Ledger
from heldout.truth import Truth, write_truth

ALERT = "# HighErrorRate\n\nFired at 2026-03-04T12:00:00Z\nService: harbor-api\n"
DAY = {"since": "2026-03-04T00:00:00Z", "until": "2026-03-04T12:00:00Z"}
WEEK = {"since": "2026-02-26T00:00:00Z", "until": "2026-03-04T12:00:00Z"}
RIGHT = {
    "root_cause_entity": eid(4),
    "root_cause_change": cid(1),
    "mechanism": "the pool was shrunk and is exhausted",
    "evidence_ids": [cid(1)],
    "affected": ["harbor-api"],
}
WRONG = {
    "root_cause_entity": eid(99),
    "root_cause_change": "c-0000dead",
    "mechanism": "a bad deploy \x1b[31mred\x1b[0m",
    "evidence_ids": [eid(3), "l-999999999"],
    "affected": ["quay-core"],
}

Steps = Sequence[tuple[str, Any]]

GOOD: Steps = (
    ("search_entities", {"query": "harbor-api"}),
    ("get_neighbors", {"id": eid(1)}),
    ("get_neighbors", {"id": eid(2)}),
    ("get_neighbors", {"id": eid(3)}),
    ("list_changes", {"entity_ids": [eid(3), eid(4)], "limit": 5, **WEEK}),
    ("get_change", {"id": cid(1)}),
    ("submit_diagnosis", RIGHT),
)
BAD: Steps = (
    ("search_entities", {"query": "harbor-api"}),
    ("kubectl_logs", {"pod": "quay-core-a"}),
    ("get_entity", {"id": "quay-core"}),
    ("get_entity", {"id": eid(2)}),
    ("get_neighbors", {"id": eid(1), "depth": 5}),
    ("list_changes", {"service": "quay-core", **DAY}),
    ("list_changes", {"entity_ids": [eid(3)], **DAY}),
    ("list_changes", {"entity_ids": [eid(3)], **DAY}),
    ("search_logs", {"query": "no such line", "level": "ERROR"}),
    ("list_changes", {"types": ["deployment"], **DAY}),
    ("query_metrics", {"entity": eid(6), **DAY}),
    ("get_entity", "not json"),
    ("get_change", {}),
    ("get_change", {"id": cid(100)}),
    ("submit_diagnosis", WRONG),
)
MUTE: Steps = ()


@dataclass
class Scripted:
    """Plays the calls that are written for a brain; ``MUTE`` never calls a tool."""

    scripts: dict[str, Steps]
    closed: bool = field(default=False)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next reply."""
        system = str(request.messages[0]["content"])
        steps = next(steps for word, steps in self.scripts.items() if word in system)
        done = sum(message["role"] == "tool" for message in request.messages)
        usage, common = Usage(1000, 10, 400), {"served_model": "served", "usd": 0.01}
        if done >= len(steps):
            return ModelReply("I give up.", usage=usage, **common)
        tool, args = steps[done]
        text = args if isinstance(args, str) else json.dumps(args)
        call = ToolCall(f"call{done}", tool, text)
        said = f"Step {done}: {HOSTILE[:40]}"
        return ModelReply(said, (call,), "tool_calls", usage, **common)

    async def aclose(self) -> None:
        """Nothing to let go of."""
        self.closed = True


def truth_of(incident: str) -> Truth:
    """The shrunk pool did it."""
    return Truth(
        incident=incident,
        culprit_entity=eid(4),
        culprit_change=cid(1),
        culprit_field="data.pool.maxSize",
        accepted_entities=(eid(4),),
        accepted_changes=(cid(1),),
        mechanism="the pool is too small",
        mechanism_terms=(("pool",),),
        trigger="load",
        affected=(),
        unaffected=(),
        chain=(),
        decoys=(),
        near_misses=(),
        recommended_fix="widen it",
        canary="0123456789abcdef0123456789abcdef",
    )


def case(settings: Settings, name: str, side: Any = "train") -> Case:
    """One incident over the small world."""
    world = settings.state / "worlds" / "small"
    digest = "w-small" if not world.is_dir() else world.name
    if not world.is_dir():
        write_world(small_world(), world)
    path = settings.state / "truths" / f"{name}.json"
    truth = write_truth(truth_of(name), path)
    incident = Incident(name, "small", ALERT, world, digest)
    return Case(incident, side, "trap", "d", "f", (), f"g-{name}", "simulated", path, truth)


def brain(word: str) -> Brain:
    """A brain that the scripted model knows by one word."""
    return Brain(files={"method.md": f"Be {word}.\n"}, load=("method.md",))


def played(ledger: Ledger, settings: Settings, cases: Sequence[Case], **changed: Any) -> str:
    """Play a small run and return its id."""
    plan = Plan(
        **{
            "purpose": "train",
            "set": "small",
            "model": "fake/model@low",
            "cases": tuple(cases),
            "arms": (Arm("before", brain("hasty")), Arm("after", brain("thorough"))),
            "repeats": 1,
            **changed,
        }
    )
    client = Scripted({"hasty": BAD, "thorough": GOOD, "mute": MUTE})
    return asyncio.run(
        play(plan, ledger, settings, interface=WorldInterface(), client_factory=lambda _: client)
    ).run


@dataclass(frozen=True)
class Project:
    """A project with a ledger of three runs."""

    settings: Settings
    train: str
    """Two incidents, ``before`` fails and ``after`` passes."""
    mute: str
    """One arm that never answers."""
    test: str
    """A run over the held-out side."""


def project_in(root: Path) -> Settings:
    """A project with a set of three incidents by name, whose specs are taken from the demo."""
    (root / "heldout.toml").write_text('name = "traces"\nset = "small"\n', encoding="utf-8")
    names = ("inc-one", "inc-two", "inc-test")
    write_split(Split("small", names[:2], names[2:]), root / "datasets" / "small")
    demo = Path(__file__).resolve().parents[2] / "datasets" / "demo" / "specs"
    for name, spec in zip(names, sorted(demo.glob("*.toml")), strict=False):
        target = root / "datasets" / "small" / "specs" / f"{name}.toml"
        target.parent.mkdir(exist_ok=True)
        text = spec.read_text(encoding="utf-8").replace(spec.stem, name)
        target.write_text(text, encoding="utf-8")
    return Settings(root=root, set="small")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The runs, played once; never written to by tests."""
    root = tmp_path_factory.mktemp("traces")
    settings = project_in(root)
    one, two = case(settings, "inc-one"), case(settings, "inc-two")
    held = case(settings, "inc-test", "test")
    with Ledger.open(settings.ledger) as ledger, pytest.MonkeyPatch.context() as patch:
        train = played(ledger, settings, [one, two])
        mute = played(ledger, settings, [one], arms=(Arm("brain", brain("mute")),))
        patch.setattr("heldout.split._role", "score")
        test = played(ledger, settings, [held], purpose="score")
    return Project(settings, train, mute, test)


@pytest.fixture(scope="module")
def ledger(project: Project) -> Iterator[Ledger]:
    """The played ledger, read only."""
    with Ledger.open(project.settings.ledger, read_only=True) as ledger:
        yield ledger


def end_score(ledger: Ledger, run: str, *, ended: bool = True) -> None:
    """Write the row of a score that was played by a run."""
    closing = {"ended": 3, "outcome": "no gain shown", "run": run} if ended else {}
    row = {"score": "s-1", "model": "fake/model@low", "result_json": {"runs": [run]}}
    ledger.append("scores", [{**row, **closing}])
    ledger.flush()


def heldout(project: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a project."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=project,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
