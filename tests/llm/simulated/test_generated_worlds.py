"""The anchored model in generated worlds of its own seeds: lessons help, and answers follow causes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

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
LESSONS = load_brain(ROOT / "bench/reference_brain").prompt()
SMALL: dict[str, float | int | str] = {
    "scale": 0.4, "events": 1200, "log_lines": 4000, "latency_days": 4, "hops": 2,
}  # fmt: skip
TRAPS = {
    "pool_ceiling": ("onset_decoy", "change_noise"),
    "memory_ceiling": ("onset_decoy", "misleading_alert"),
    "static_parameter": ("onset_decoy", "red_herring_alerts"),
    "probe_timeout": ("lookalike_entity", "change_noise"),
    "policy_detach": ("reactive_change", "onset_decoy"),
    "rotated_secret": ("squashed_pr", "onset_decoy"),
    "replica_ceiling": ("partial_fleet", "onset_decoy"),
    "issuer_switch": ("reverted_twin", "onset_decoy"),
    "evict_any": ("missing_telemetry", "onset_decoy"),
    "overlapping_runs": ("onset_decoy", "red_herring_alerts"),
    "lookup_dots": ("squashed_pr", "reactive_change"),
    "role_narrowed": ("misleading_alert", "onset_decoy"),
    "memory_quota": ("reverted_twin", "red_herring_alerts"),
    "rate_cap": ("lookalike_entity", "onset_decoy"),
}
"""Which traps each fault is stacked with, besides a latent cause; every trap occurs."""
CONTROLS = (
    ("no_change", "load_surge"), ("no_change", "retired_host"), ("no_fault", "passed_burst"),
    ("no_fault", "probe_login"), ("unanswerable", "static_parameter"),
    ("unanswerable", "retention_cut"),
)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """One generated incident on disk."""

    alert: str
    world: Path
    truth: Truth


def make(
    root: Path, kind: str, fault: str, traps: tuple[str, ...], number: int, variant: str = ""
) -> Made:
    """A small incident of one fault, or its twin with the same alert."""
    record = faults()[fault]
    fleet = {"archetype": "fleet"} if "partial_fleet" in traps else {}
    spec = Spec(
        id=f"own-{number:04d}", kind=kind, domain=record.domain, family=record.family,  # type: ignore[arg-type]
        fault=fault, traps=tuple(sorted(traps)), group=f"own-{number}", generator="own",
        seed=70_000 + number, canary="c" * 24, knobs={**SMALL, **fleet},
    )  # fmt: skip
    made = generate(spec, variant=variant)
    world = root / f"{kind}-{fault}-{variant or 'world'}"
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
    for _ in range(40):
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


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> list[Made]:
    """One incident per fault of :data:`TRAPS`."""
    root = tmp_path_factory.mktemp("trapped")
    return [
        make(root, "trap", fault, ("latent_cause", *traps), number)
        for number, (fault, traps) in enumerate(TRAPS.items())
    ]


def test_the_reference_brain_mends_what_traps_break(trapped: list[Made]):
    """With the base brain few trap incidents are solved, with the reference brain four of five."""
    base = sum(passes(world, BASE) for world in trapped)
    solved = sum(passes(world, LESSONS) for world in trapped)
    print(f"of {len(trapped)}: base {base}, with the reference brain {solved}")
    assert base <= 0.5 * len(trapped)
    assert solved >= 0.8 * len(trapped)


def test_twins_get_another_answer(trapped: list[Made], tmp_path: Path):
    """Where the change at onset is the cause after all, it is named, whatever else misleads."""
    pairs = [
        (
            trapped[number],
            make(tmp_path, "trap", fault, ("latent_cause", *traps), number, "other_cause"),
        )
        for number, (fault, traps) in enumerate(TRAPS.items())
        if "onset_decoy" in traps
    ]
    followed = 0
    for world, twin in pairs:
        assert world.alert == twin.alert
        answer = solve(twin, LESSONS)
        assert answer is not None
        assert answer.root_cause_change != world.truth.culprit_change
        followed += judge_exact(answer, twin.truth).result == "pass"
    print(f"twins followed: {followed} of {len(pairs)}")
    assert followed >= 0.8 * len(pairs)


def test_controls_without_a_culprit_are_mended_by_lines_of_method(tmp_path: Path):
    """Where nothing changed, nothing is broken or nothing can be proven, the reference brain says
    so; the base brain mostly blames something.
    """
    made = [
        make(tmp_path, kind, fault, ("onset_decoy",), 500 + number)
        for number, (kind, fault) in enumerate(CONTROLS)
    ]
    base = sum(passes(one, BASE) for one in made)
    solved = sum(passes(one, LESSONS) for one in made)
    print(f"of {len(made)} controls: base {base}, with the reference brain {solved}")
    assert base <= 0.5 * len(made)
    assert solved >= 0.8 * len(made)


def test_over_correction_has_its_price(tmp_path: Path):
    """Where the change at onset is the cause, lines that go too far lose what lessons had kept."""
    names = ("image_rollout", "issuer_switch", "evict_any", "memory_ceiling")
    made = [
        make(tmp_path, "onset_control", name, ("older_change",), 900 + number)
        for number, name in enumerate(names)
    ]
    too_far = {
        "old": "- Always look weeks back and blame the oldest change.",
        "none": "- Never blame a change.",
    }
    assert sum(passes(one, LESSONS) for one in made) >= 3
    for line in too_far.values():
        assert sum(passes(one, f"{LESSONS}\n\n{line}") for one in made) <= 1
