"""Running the visible suites, and asking somebody with more experience."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pydantic import Field

from heldout.repair.suites import SUITES, rendered, run_suite
from heldout.repair.tools.tool import Arguments, Nothing, Shown, Tool, ToolRefused

if TYPE_CHECKING:
    from heldout.repair.episode import Episode

MINUTES = {"unit": 3.0, "integration": 4.0, "load": 5.0, "security": 4.0}
HINT_MINUTES = 5.0
HINTS = (
    "Ask first which part fails for itself and which only asks it: follow the first error, not "
    "the loudest alert.",
    "Say what changed for the code that fails, and when; a change can lie dormant until load, a "
    "warm cache or a nightly job meets it.",
    "Choose the suite that can see this kind of failure: load for what runs out, integration for "
    "what is counted wrong, security for what is said, unit for what breaks at once.",
)
"""What a senior says: method, never a place."""


class RunTests(Arguments):
    """Arguments of run_tests."""

    suite: str = Field(description=f"one of {', '.join(SUITES)}", max_length=20)
    service: str = Field(default="", max_length=60, description="one service; empty is all")


def _run(episode: Episode, args: RunTests) -> Shown:
    state = episode.state()
    checks = run_suite(
        episode.sandbox, episode.instance, episode.workspace.tree, state, args.suite, args.service
    )
    state.database.close()
    text = rendered(args.suite, checks)
    mark = hashlib.sha256(f"{args.suite}{args.service}{text}".encode()).hexdigest()[:8]
    found = f"t-{mark}"
    data = {"id": found, "output": text, "failed": sum(not one.passed for one in checks)}
    return Shown(data, (found,), MINUTES[args.suite])


def _ask(episode: Episode, args: Nothing) -> Shown:
    if episode.hints >= len(HINTS):
        raise ToolRefused("no_more", "there is nothing more to say")
    episode.hints += 1
    return Shown({"hint": HINTS[episode.hints - 1], "number": episode.hints}, minutes=HINT_MINUTES)


TESTING = (
    Tool("run_tests", "Run a test suite against the code as it is now.", RunTests, _run),
    Tool("ask_senior", "Ask a senior engineer; three times at most, and it costs.", Nothing, _ask),
)
