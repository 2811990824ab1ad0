"""A small world and its brain for agents of others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.graph.worlds import small_world

from heldout.agent import Trace
from heldout.agent.program import ProgramAgent, ProgramOptions
from heldout.brain import Brain
from heldout.graph import open_interface, write_world
from heldout.incident import Incident
from heldout.run import Limits

FOREIGN = Path(__file__).with_name("foreign_agent.py")
ALERT = "# HighErrorRate\n\nFired at 2026-03-04T12:00:00Z on harbor-api\n"
BRAIN = Brain(files={"method.md": "Look before the day of the alert.\n"}, load=("method.md",))


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small world; not to be altered."""
    directory = tmp_path_factory.mktemp("served") / "world"
    write_world(small_world(), directory)
    return directory


def command(*words: str) -> str:
    """The command line of the foreign agent."""
    return " ".join([sys.executable, str(FOREIGN), *words])


async def investigated(world: Path, *words: str, tools: str = "native", **more: object) -> Trace:
    """One investigation of the small world by the foreign agent."""
    limits = Limits(max_steps=int(str(more.pop("max_steps", 10))),
                    max_seconds=float(str(more.pop("max_seconds", 60.0))))  # fmt: skip
    agent = ProgramAgent(ProgramOptions(command(*words), root=world.parent, **more))  # type: ignore[arg-type]
    incident = Incident("inc-1", "s", ALERT, world, "d")
    return await agent(
        incident, BRAIN, None, open_interface(tools), model="program/x", limits=limits, seed=7
    )  # type: ignore[arg-type]
