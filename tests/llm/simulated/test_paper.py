"""Simulated models without native tools: the same investigator, reading its tools from the prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.agent import NotebookOptions, Trace, investigate, mode_of
from heldout.brain import Brain
from heldout.graph import tool_specs
from heldout.incident import Incident
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.llm import open_client
from heldout.llm.simulated import handle
from heldout.llm.simulated.transcript import read_transcript
from heldout.run.plan import Limits

LESSON = "Look for changes of the failing field up to 14 days back, not only on the incident's day."


class Tiny:
    """A tiny world as an environment with the real tools' schemas."""

    name = "tiny"

    def __init__(self, world: Any) -> None:
        self.world = world

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The fourteen tools."""
        return tool_specs()

    def open(self, task_ref: str, seed: int) -> TinySession:
        """A session over the world."""
        return TinySession(self.world)


class TinySession:
    """Answers from the world and keeps what is submitted."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """One call."""
        if tool == "submit_diagnosis":
            self.made = Submission(
                args["root_cause_entity"], args["root_cause_change"], args["mechanism"]
            )
            return ToolAnswer('{"accepted":true}', final=True)
        return ToolAnswer(self.world.call(tool, dict(args)))

    def finish(self) -> Submission | None:
        """What was submitted."""
        return self.made

    def close(self) -> None:
        """Nothing is held."""


def solve(
    bench: Any,
    mode: str,
    brain: str,
    *,
    number: int = 1,
    model: str = "anchored",
    tokens: int = 16_000,
    skill: str = "",
) -> Trace:
    """One investigation of the tiny world with a latent cause."""

    async def main() -> Trace:
        incident = Incident(f"i-{number}", "tiny", bench.alert(number), Path(), "")
        files = {"method.md": brain + "\n", "skills/back/SKILL.md": skill}
        text = Brain(files, ("method.md",), ("skills/back/SKILL.md",) if skill else ())
        async with open_client(f"sim/{model}@low") as client:
            return await investigate(
                incident, text, client, Tiny(bench.latent()), model=f"sim/{model}@low",
                limits=Limits(), seed=1, mode=mode_of(mode, NotebookOptions(tokens)),
            )  # fmt: skip

    return asyncio.run(main())


@pytest.mark.parametrize("mode", ["json", "notebook"])
@pytest.mark.parametrize("model", ["anchored", "scattered"])
@pytest.mark.parametrize("brain", ["Be brief.", LESSON])
def test_the_same_calls_in_every_mode(bench: Any, mode: str, model: str, brain: str):
    """What the model does hangs on what it reads, not on how it is asked."""
    for number in (1, 2, 3):
        native = solve(bench, "tools", brain, number=number, model=model)
        paper = solve(bench, mode, brain, number=number, model=model)
        assert [(one.tool, one.args) for one in paper.steps] == [
            (one.tool, one.args) for one in native.steps
        ]
        assert paper.submission == native.submission
        assert native.stop_reason == paper.stop_reason == "submitted"


@pytest.mark.parametrize("mode", ["json", "notebook"])
def test_a_lesson_moves_the_model_in_every_mode(bench: Any, mode: str):
    """The brain's text is told apart from the harness and the tools that stand behind it."""
    found = {
        brain: sum(
            solve(bench, mode, brain, number=n).submission.root_cause_change == bench.culprit
            for n in range(6)
        )
        for brain in ("Be brief.", LESSON)
    }
    assert found[LESSON] > found["Be brief."]


SKILL = f"---\nname: back\ndescription: when requests fail for a service\n---\n{LESSON}\n"


@pytest.mark.parametrize("mode", ["json", "notebook"])
def test_skills_are_read_on_demand_in_every_mode(bench: Any, mode: str):
    """The harness's own tool stands on paper as well, and what it returns is heeded."""
    native = solve(bench, "tools", "Be brief.", skill=SKILL)
    paper = solve(bench, mode, "Be brief.", skill=SKILL)
    assert native.steps[0].tool == "read_skill"
    assert [(one.tool, one.args) for one in paper.steps] == [
        (one.tool, one.args) for one in native.steps
    ]
    plain = solve(bench, mode, "Be brief.")
    assert [one.args for one in plain.steps] != [one.args for one in paper.steps[1:]]


def test_a_notebook_that_forgets_still_comes_to_an_end(bench: Any):
    """With a few hundred tokens the model loses its way and is stopped by a limit, not by a crash."""
    trace = solve(bench, "notebook", LESSON, tokens=400)
    assert trace.stop_reason in ("submitted", "max_steps", "loop")


def test_tools_offered_natively_are_not_looked_for_on_paper(bench: Any):
    """A prompt that merely quotes a tool sheet changes nothing where tools are offered."""
    quoted = "# This session\n\n# Tools\n\nlook(q: string)\n"
    assert bench.play(bench.latent(), quoted).calls[0][0] == "search_entities"


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_paper_is_read(sheet: str, page: str):
    """Nothing in a prompt or a notebook can make the reading raise."""
    body = {
        "model": "anchored",
        "messages": [
            {
                "role": "system",
                "content": f"# This session\n\n# Tools\n{sheet}\nlook(q: any, p?: list of x)",
            },
            {
                "role": "user",
                "content": f"alert\n\n# Notebook\n\n1. look {{}}\nanswer: {page}\n\n{page}",
            },
        ],
    }
    assert "look" in read_transcript(body).offered
    assert json.dumps(handle(body))
