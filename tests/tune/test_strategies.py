"""Strategies over the wire, memory across jobs, and shortening what a job added."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.llm.wire import Handler, WireServer
from tests.tune.test_job import GOOD, NEAR, OPTIONS, OVERLAY, go, line

from heldout.canaries import Watch
from heldout.edit import apply_edits, edit_from_plain
from heldout.llm.simulated.proposer import reply
from heldout.signatures import BEHAVIOURS
from heldout.store.queries import edit_events, jobs, proposals
from heldout.tune import resume_tune

CARE = "- Be careful, take care."
FAILURE_WORDS = ("quillmere", "tarnwick", "c-00000", "trap-", "late-", "blames change", "12 %",
                 "## digest", "## cluster", "## diagnoses", "targeted failures")  # fmt: skip


def answers(handler: Handler) -> None:
    """The simulated proposer behind a real socket."""
    body = handler.server.owner.requests[-1].body
    handler.send_bytes(json.dumps(reply(body)).encode())


@pytest.fixture
def server() -> Iterator[WireServer]:
    """An endpoint that proposes."""
    with WireServer(answers) as opened:
        yield opened


def sent(server: WireServer) -> list[str]:
    """Every message that went over the wire, request by request."""
    return [
        "\n".join(str(m["content"]) for m in request.body["messages"])
        for request in server.requests
    ]


@pytest.mark.parametrize("name", ["blind", "reflect"])
def test_blind_is_told_nothing_of_any_failure(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer, name: str
) -> None:
    """No word of a failure leaves for the placebo; negative control: for reflect it does."""
    models = project.settings.models.model_copy(update={"proposer_base_url": server.url})
    project.settings = replace(project.settings, models=models)
    options = replace(OPTIONS, strategy=name, max_rounds=3)
    done = go(project, parts, monkeypatch, proposer="openai/writer", options=options)
    said = sent(server)
    leaked = {word for text in said for word in FAILURE_WORDS if word in text}
    named = {key for text in said for key in BEHAVIOURS if "_" in key and key in text}
    drafts = [text for text in said if "[[ ## limits ## ]]" in text]
    assert drafts
    assert all("at most 3 candidates, each at most" in text for text in drafts)
    if name == "blind":
        assert (leaked, named) == (set(), set())
        assert len(drafts) == done.rounds
    else:
        assert {"## digest", "## cluster", "## diagnoses"} <= leaked
        assert named
    with project.ledger() as ledger:
        started = ledger.read("SELECT detail_json FROM jobs WHERE status = 'started'")
        asked = [e.detail for e in edit_events(ledger) if e.event == "asked"]
    assert json.loads(started[0]["detail_json"])["options"]["strategy"] == name
    assert {one["strategy"] for one in asked} == {name}
    assert {edit["author"] for one in asked for edit in one["edits"]} == {name}


def test_blind_knows_its_own_texts_alone(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It need not write the same again, but learns neither why it fell nor what others wrote."""
    go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(CARE)]))
    proposer = scripted(parts, [line("- Stay calm.")])
    options = replace(OPTIONS, job="tune-blind", strategy="blind", max_rounds=2)
    go(project, parts, monkeypatch, proposer=proposer, options=options)
    first, second = proposer.prompts("tried")
    assert "Stay calm" not in first
    assert "Stay calm" in second
    assert "take care" not in first + second
    assert "no effect" not in first + second


def scripted(parts: Any, drafts: Any, shorter: Callable[[list[str]], Any] | None = None) -> Any:
    """The simulated proposer, but for what is written for it: drafts, and a shorter text."""

    class Scripted(parts.proposer):  # type: ignore[misc, name-defined]
        async def complete(self, request: Any) -> Any:
            answer = await super().complete(request)
            text = self.bodies[-1]["messages"][-1]["content"]
            if "[[ ## tried ## ]]" in text or "[[ ## diagnoses ## ]]" in text:
                return replace(answer, text=json.dumps({"edits": drafts}))
            if "[[ ## grown ## ]]" in text and shorter is not None:
                lines = json.loads(text.split("[[ ## grown ## ]]\n")[1].split("\n\nRespond")[0])
                edit = {"ops": shorter(lines), "reason": "shorter"}
                return replace(answer, text=json.dumps({"edit": edit}))
            return answer

        def prompts(self, section: str) -> list[str]:
            texts = [body["messages"][-1]["content"] for body in self.bodies]
            return [text for text in texts if f"[[ ## {section} ## ]]" in text]

    return Scripted()


def test_a_later_job_knows_what_was_refused_and_does_not_try_it_again(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redacted, with why; the same text on the same incidents is dropped before gate and screen."""
    first = [line(f"{CARE}\n- See PR #4711."), line("- Take your time.")]
    options = replace(OPTIONS, max_rounds=1, gate_tries=1)
    go(project, parts, monkeypatch, proposer=scripted(parts, first), options=options)
    again = scripted(parts, [line("- Take your time."), line(GOOD)])
    runs = parts.runs(project.needs)
    later = replace(OPTIONS, job="tune-later", max_rounds=1)
    go(project, parts, monkeypatch, proposer=again, options=later, runs=runs)
    told = again.prompts("diagnoses")[0]
    assert "See [...]<value-1>" in told
    assert "4711" not in told
    assert "the checker refused it" in told
    assert "Take your time" in told
    assert "no effect" in told
    screens = [plan for plan in runs.plans if plan.purpose == "screen"]
    assert [arm.name for arm in screens[0].arms] == ["before", "c1"]
    with project.ledger() as ledger:
        repeats = [e.detail for e in edit_events(ledger, job="tune-later")
                   if e.detail.get("by") == "repeat"]  # fmt: skip
    assert [one["reason"] for one in repeats] == [
        "an earlier job refused it, with the same brain and incidents"
    ]


@pytest.mark.parametrize("change", ["recall", "model", "cases"])
def test_without_memory_it_is_tried_again(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Negative control: switched off, for another model, or where there are other incidents."""
    draft = [line("- Take your time.")]
    options = replace(OPTIONS, max_rounds=1)
    go(project, parts, monkeypatch, proposer=scripted(parts, draft), options=options)
    later = replace(options, job="tune-later", recall=change != "recall")
    if change == "model":
        monkeypatch.setattr("tests.tune.test_job.MODEL", "sim/scattered@low")
        draft = [line("- Take your time.", OVERLAY.replace("anchored", "scattered"))]
    if change == "cases":
        project.cases = project.cases[1:]
    runs, proposer = parts.runs(project.needs), scripted(parts, draft)
    go(project, parts, monkeypatch, proposer=proposer, options=later, runs=runs)
    assert "screen" in {plan.purpose for plan in runs.plans}
    assert ("Take your time" in proposer.prompts("diagnoses")[0]) == (change == "cases")


def test_what_a_person_turned_down_is_not_proposed_again(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever incidents there are now; what the person named in the reason is redacted."""
    done = go(project, parts, monkeypatch, proposer=scripted(parts, [line(GOOD), line(NEAR)]))
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
        why = "billing-gateway-7 needs longer, ask ana@example.org"
        ledger.append("decisions", [{"proposal": done.proposal, "diff_hash": row.diff_hash,
                                     "action": "reject", "name": "kim", "reason": why}])  # fmt: skip
    project.cases = project.cases[1:]
    proposer = scripted(parts, [line(GOOD), line(NEAR)])
    later = go(project, parts, monkeypatch, proposer=proposer,
               options=replace(OPTIONS, job="tune-later"))  # fmt: skip
    assert (later.proposal, later.rejected) == ("", {})
    told = proposer.prompts("diagnoses")[0]
    assert "a reviewer turned it down: <name-1> needs longer, ask <address-1>" in told
    assert "billing" not in told
    assert "example.org" not in told


def test_a_resumed_job_knows_what_it_knew_when_it_began(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another job refused in the meantime changes none of its prompts."""
    options = replace(OPTIONS, max_rounds=1)
    runs = parts.runs(project.needs)
    runs.kill_at = 0
    with pytest.raises(parts.killed):
        go(project, parts, monkeypatch, runs=runs, options=options)
    other = replace(options, job="tune-other")
    go(project, parts, monkeypatch, proposer=scripted(parts, [line(CARE)]), options=other)
    proposer = scripted(parts, [line(GOOD)])
    with project.ledger() as ledger:
        asyncio.run(
            resume_tune(
                project.settings, ledger, "tune-test", cases=project.cases, gate=parts.gate(),
                interface=parts.interface(), proposer=proposer, watch=Watch(),
            )
        )  # fmt: skip
        assert {row.job for row in jobs(ledger)} == {"tune-test", "tune-other"}
    assert "take care" not in proposer.prompts("diagnoses")[0]


HOLLOW = "- Remember that every system is different."


def drop(*wanted: str) -> Callable[[list[str]], Any]:
    """A shorter text: the wanted lines deleted."""
    return lambda lines: [
        {"file": OVERLAY, "action": "delete", "anchor": text} for text in lines if text in wanted
    ]


def test_what_has_grown_is_shortened_if_nothing_is_harmed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the setting one more edit is tried: gated, played on all that is solved, proposed."""
    gate, runs = parts.gate(), parts.runs(project.needs)
    proposer = scripted(parts, [line(f"{GOOD}\n{NEAR}\n{HOLLOW}")], drop(HOLLOW))
    options = replace(OPTIONS, compress_above=2)
    done = go(project, parts, monkeypatch, gate=gate, runs=runs, proposer=proposer, options=options)
    assert done.status == "saturated"
    assert [one.edit.author for one in done.accepted] == ["reflect", "shorten"]
    assert HOLLOW not in done.after.extra[OVERLAY]
    assert HOLLOW not in gate.checks[-1][1].extra[OVERLAY]
    guard = [p for p in runs.plans if p.purpose == "screen"][-1]
    assert len(guard.cases) == len(project.cases)
    (shown,) = proposer.prompts("grown")
    assert not [word for word in FAILURE_WORDS if word in shown]
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
    edits = [edit_from_plain(one["edit"]) for one in row.edits]
    assert apply_edits(done.before, edits).hash == row.after_hash
    assert "breaks nothing" in row.edits[1]["why"]


def test_a_shortening_that_harms_is_refused(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that mattered is missed by incidents that it had solved, and stays."""
    proposer = scripted(parts, [line(f"{GOOD}\n{NEAR}\n{HOLLOW}")], drop(GOOD))
    options = replace(OPTIONS, compress_above=2)
    done = go(project, parts, monkeypatch, proposer=proposer, options=options)
    assert [one.edit.author for one in done.accepted] == ["reflect"]
    assert GOOD in done.after.extra[OVERLAY]
    with project.ledger() as ledger:
        fell = [e.detail for e in edit_events(ledger) if e.event == "rejected"]
    assert [(one["cluster"], one["by"]) for one in fell] == [("shorten", "screen")]
    assert "broke passing incidents" in fell[0]["reason"]


def longer(lines: list[str]) -> Any:
    """No shortening: the first line with more words."""
    text = f"{lines[0]} And once more, with feeling."
    return [{"file": OVERLAY, "action": "replace", "anchor": lines[0], "text": text}]


def elsewhere(_: list[str]) -> Any:
    """A line that the tuning did not write."""
    return [{"file": "method.md", "action": "delete", "anchor": "- Look at the alert first."}]


@pytest.mark.parametrize(
    ("shorter", "why"), [(longer, "makes nothing shorter"), (elsewhere, "outside the model's")]
)
def test_what_is_no_shortening_is_never_played(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, shorter: Any, why: str
) -> None:
    """Longer text, or an edit of what the tuning did not add, is refused by its form."""
    proposer = scripted(parts, [line(f"{GOOD}\n{NEAR}\n{HOLLOW}")], shorter)
    options = replace(OPTIONS, compress_above=2, gate_tries=1)
    done = go(project, parts, monkeypatch, proposer=proposer, options=options)
    assert len(done.accepted) == 1
    with project.ledger() as ledger:
        fell = [e.detail for e in edit_events(ledger) if e.event == "rejected"]
    assert [one["by"] for one in fell] == ["form"]
    assert why in fell[0]["reason"]


def test_a_small_brain_is_left_alone(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: up to the setting nobody is asked to shorten anything."""
    proposer = scripted(parts, [line(f"{GOOD}\n{NEAR}\n{HOLLOW}")], drop(HOLLOW))
    options = replace(OPTIONS, compress_above=3)
    go(project, parts, monkeypatch, proposer=proposer, options=options)
    assert proposer.prompts("grown") == []


@pytest.mark.parametrize("kill", [("runs", 3), ("asks", 1)])
def test_a_killed_job_shortens_the_same_when_resumed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, kill: tuple[str, int]
) -> None:
    """State comes from stored rows: the resumed job ends with the brain of an uninterrupted one."""
    options = replace(OPTIONS, compress_above=2, strategy="blind")
    drafts = [line(f"{GOOD}\n{NEAR}\n{HOLLOW}")]
    whole = go(project, parts, monkeypatch, options=options,
               proposer=scripted(parts, drafts, drop(HOLLOW)))  # fmt: skip
    assert [one.edit.author for one in whole.accepted] == ["blind", "shorten"]
    with project.ledger() as ledger:
        wanted = [(e.edit, e.event, e.detail) for e in edit_events(ledger)]
    project.settings.ledger.unlink()
    runs, proposer = parts.runs(project.needs), scripted(parts, drafts, drop(HOLLOW))
    if kill[0] == "runs":
        runs.kill_at = kill[1]
    else:
        proposer.fail_at = kill[1]
    with pytest.raises(parts.killed):
        go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
    runs.kill_at = proposer.fail_at = None
    again = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
    assert again.after.hash == whole.after.hash
    with project.ledger() as ledger:
        assert [(e.edit, e.event, e.detail) for e in edit_events(ledger)] == wanted
