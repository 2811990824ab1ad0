"""Arms that show more than a brain: what the model is sent, and that a run can be read back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import run_stubs as stubs

from heldout.errors import StoreError
from heldout.llm import ModelReply, ModelRequest
from heldout.run import Arm, Plan, outcomes, play, resume
from heldout.run.arm import Addition, with_page
from heldout.store import Ledger, queries

BESIDE = Addition(brain="# Records\n\nOnce it was the disk.", alert="# Seen\n\nThe disk is full.")


@dataclass
class Watching(stubs.ScriptedClient):
    """Keeps what every first request showed: system prompt, alert, names of the tools."""

    def __post_init__(self) -> None:
        self.seen: list[tuple[str, str, list[str]]] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply."""
        if len(request.messages) == 2:
            system, user = (str(message["content"]) for message in request.messages)
            self.seen.append((system, user, [tool["function"]["name"] for tool in request.tools]))
        return await super().complete(request)


def arms() -> tuple[Arm, ...]:
    """A plain arm, one with additions, one that is closed as well."""
    brain = stubs.brain()
    return (
        Arm("before", brain),
        Arm("memory", brain, {"i-1": BESIDE}),
        Arm("evidence", brain, {"i-1": BESIDE}, closed=True),
    )


def plan(root: Path, **changed: Any) -> Plan:
    """Two incidents, of which one has additions."""
    cases = [stubs.case(root, "i-1"), stubs.case(root, "i-2")]
    return stubs.plan_of(cases, **{"arms": arms(), "repeats": 1, "max_invalid": 1.0, **changed})


def played(root: Path, client: Any, run: str = "", **changed: Any) -> Any:
    """Play, or go on with a run."""
    settings = stubs.settings_of(root)
    more: dict[str, Any] = {"client_factory": lambda _: client, "judge": stubs.judge}
    more["interface"] = stubs.StubInterface()
    with Ledger.open(settings.ledger) as ledger:
        if run:
            return asyncio.run(resume(run, ledger, settings, **more))
        return asyncio.run(play(plan(root, **changed), ledger, settings, **more))


def test_an_addition_is_shown_for_its_incident_alone(tmp_path: Path):
    """Text after the brain and after the alert for one incident; others and other arms have none."""
    client = Watching()
    played(tmp_path, client)
    added = [(system, user) for system, user, _ in client.seen if "Once it was the disk" in system]
    assert len(added) == 2
    assert all(user.endswith("# Seen\n\nThe disk is full.") for _, user in added)
    assert all("Incident=i-1" in user for _, user in added)
    assert all(system.index("Look, then") < system.index("# Records") for system, _ in added)
    assert len(client.seen) == 6


def test_a_closed_arm_offers_only_the_last_tool(tmp_path: Path):
    """A closed arm is offered one tool, and a call of another one is an error, not a look."""
    client = Watching()
    settings = stubs.settings_of(tmp_path)
    played(tmp_path, client)
    closed = [tools for _, _, tools in client.seen if len(tools) == 1]
    assert closed == [["submit_diagnosis"]] * 2
    with Ledger.open(settings.ledger) as ledger:
        run = queries.runs(ledger)[0].run
        traces = [one.trace for one in outcomes(ledger, run) if one.arm == "evidence"]
        steps = [step for trace in traces if trace for step in trace.steps if step.tool == "look"]
    assert steps
    assert all(step.is_error for step in steps)


def test_a_run_with_additions_is_read_back_and_resumed(tmp_path: Path):
    """The stored plan equals the played one, and nothing is asked twice."""
    first = played(tmp_path, Watching())
    again = Watching()
    back = played(tmp_path, again, run=first.run)
    assert back.plan == first.plan
    assert back.plan.arms[1].additions == {"i-1": BESIDE}
    assert back.plan.arms[2].closed
    assert again.seen == []


def test_every_change_of_a_prompt_changes_the_run(tmp_path: Path):
    """Another text or a closed arm is another run; a plain arm's manifest is what it always was."""
    base = plan(tmp_path)
    assert base.manifest()["arms"][0] == {"name": "before", "brain": stubs.brain().hash}
    other = replace(BESIDE, brain="# Records\n\nOnce it was the net.")
    variants = [
        (Arm("memory", stubs.brain(), {"i-1": one}, closed=shut),)
        for one in (BESIDE, other, replace(BESIDE, alert=""))
        for shut in (True, False)
    ]
    assert len({replace(base, arms=arms).key() for arms in variants}) == 6


def test_a_missing_text_is_said(tmp_path: Path):
    """A ledger without an arm's text cannot resume its run as if there were none."""
    first = played(tmp_path, Watching())
    settings = stubs.settings_of(tmp_path)
    with duckdb.connect(str(settings.ledger)) as base:
        base.execute("DELETE FROM blobs WHERE hash = ?", [bytes.fromhex(BESIDE.hash)])
    with pytest.raises(StoreError, match="missing"):
        played(tmp_path, Watching(), run=first.run)


def test_a_page_never_takes_the_place_of_another():
    """A page of a taken name gets another one; it is loaded last and cannot be tuned."""
    brain = with_page(with_page(stubs.brain(), "beside.md", "one"), "beside.md", "two")
    assert brain.load == ("method.md", "beside.md", "further-beside.md")
    assert brain.prompt().endswith("one\n\ntwo")
    assert not brain.editable("further-beside.md")
