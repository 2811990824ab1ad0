"""The anchored model in generated worlds of its own seeds: lessons help, and answers follow causes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from heldout.agent.prompt import system_prompt
from heldout.brain import load_brain
from heldout.graph import WorldInterface, tool_specs, write_world
from heldout.interface import Submission
from heldout.judge import judge_exact
from heldout.llm.simulated import handle
from heldout.simulate import generate
from heldout.simulate.fault import faults
from heldout.truth import Spec, Truth

ROOT = Path(__file__).resolve().parents[3]
BASE = load_brain(ROOT / "brain").prompt()
LESSONS = (Path(__file__).parent / "reference_brain.md").read_text(encoding="utf-8")
TRAPS = ("latent_cause", "onset_decoy", "change_noise")
SMALL: dict[str, float | int | str] = {
    "scale": 0.4, "events": 1500, "log_lines": 4000, "latency_days": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """One generated incident on disk."""

    alert: str
    world: Path
    truth: Truth


def make(root: Path, fault: str, number: int, variant: str = "") -> Made:
    """A small latent incident of one fault, or its twin with the same alert."""
    record = faults()[fault]
    spec = Spec(
        id=f"own-{number:04d}", kind="trap", domain=record.domain, family=record.family,
        fault=fault, traps=TRAPS, group=f"own-{number}", generator="own", seed=70_000 + number,
        canary="c" * 24, knobs=SMALL,
    )  # fmt: skip
    made = generate(spec, variant=variant)
    world = root / f"{fault}-{variant or 'world'}"
    write_world(made.tables, world)
    return Made(made.alert, world, made.truth)


def solve(made: Made, brain: str, seed: int = 1) -> Submission | None:
    """Let the anchored model work on it through the real tools."""
    session = WorldInterface().open(str(made.world), seed)
    tools = [spec.wire() for spec in tool_specs()]
    messages = [
        {"role": "system", "content": system_prompt(brain)},
        {"role": "user", "content": made.alert},
    ]
    for _ in range(30):
        body = {"model": "anchored", "messages": messages, "tools": tools, "seed": seed,
                "reasoning_effort": "low"}  # fmt: skip
        message = handle(body)["choices"][0]["message"]
        call = message["tool_calls"][0]
        answer = session.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": answer.text}]
        if answer.final:
            break
    made_submission = session.finish()
    session.close()
    return made_submission


def passes(made: Made, brain: str, seed: int = 1) -> bool:
    """True when the exact judge accepts the answer."""
    submission = solve(made, brain, seed)
    return submission is not None and judge_exact(submission, made.truth).result == "pass"


def test_lessons_help_and_twins_get_another_answer(tmp_path: Path):
    """Reference lines lift the share solved, and a twin's own cause is named, never the first's."""
    changing = sorted(name for name, record in faults().items() if record.cause == "change")
    worlds = [
        (make(tmp_path, name, number), make(tmp_path, name, number, "other_cause"))
        for number, name in enumerate(changing[::2])
    ]
    lessons = f"{BASE}\n\n{LESSONS}"
    base = sum(passes(world, BASE) for world, _ in worlds)
    solved = sum(passes(world, lessons) for world, _ in worlds)
    twins = sum(passes(twin, lessons) for _, twin in worlds)
    print(f"of {len(worlds)}: base {base}, with lessons {solved}, twins {twins}")
    assert all(world.alert == twin.alert for world, twin in worlds)
    assert base <= 0.6 * len(worlds)
    assert solved >= 0.8 * len(worlds)
    assert twins >= 0.8 * len(worlds)
    for world, twin in worlds:
        answer = solve(twin, lessons)
        assert answer is not None
        assert answer.root_cause_change != world.truth.culprit_change
