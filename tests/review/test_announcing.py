"""A waiting proposal is told once, without a fact of an incident; a hook that fails costs nothing."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.loopback import JsonServer, send
from tests.review.conftest import BEFORE, EDITS, edit, propose, stored

from heldout.brain import load_brain
from heldout.edit import Edit, apply_edits
from heldout.pipeline.job import Job
from heldout.pipeline.stages import tune_brain
from heldout.review import Reviewer, reject
from heldout.review.announcing import announce, code, comment_on, message
from heldout.review.webhook import TRIES, post
from heldout.settings import ReviewSettings, Settings
from heldout.store import Ledger
from heldout.store.queries import decisions, edit_events

VARIABLE = "HELDOUT_WEBHOOK_URL"
INCIDENT = "inc-secret-7f3a"


class Hook(JsonServer):
    """Keeps what it is sent; answers with the codes in ``answers``, then with 200."""

    def __init__(self, *answers: int) -> None:
        super().__init__()
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The next answer."""
        self.bodies.append(body)
        return (self.answers.pop(0) if self.answers else 200), {}

    def respond(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A redirect names another place of this server."""
        status, data = self.answer(body)
        if status == 302:
            request.send_response(302)
            request.send_header("location", self.url)
            request.send_header("content-length", "0")
            request.end_headers()
            return
        send(request, status, json.dumps(data).encode())


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A hook that takes everything."""
    with Hook() as opened:
        yield opened


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are not waited for."""
    monkeypatch.setattr("heldout.review.webhook.PAUSE", 0.001)


def told(settings: Settings, ledger: Ledger, name: str) -> list[str]:
    """Announce a proposal; what was noted of it."""
    notes: list[str] = []
    asyncio.run(announce(settings, ledger, name, notes.append))
    return notes


def with_incidents(ledger: Ledger) -> str:
    """A proposal whose evidence names incidents everywhere that evidence does."""
    return propose(
        ledger,
        incidents=[{"incident": INCIDENT, "kind": "trap", "before": [False], "after": [True]}],
        trace_pair={"run": "r", "incident": INCIDENT, "repeat": 0, "step": 1,
                    "before_attempt": 0, "after_attempt": 0},
        controls={"pairs": 4, "fixed": 0, "broken": 2, "incidents": 2, "fixed_incidents": 0,
                  "broken_incidents": 1},
    )  # fmt: skip


def test_a_proposal_is_told_once(
    settings: Settings, ledger: Ledger, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message; a job that is resumed does not send it again, and nothing is applied."""
    monkeypatch.setenv(VARIABLE, f"{hook.url}/T0KEN-1234")
    name = propose(ledger)
    assert told(settings, ledger, name) == []
    assert told(settings, ledger, name) == []
    (body,) = hook.bodies
    assert body["proposal"] == name
    assert "waits for a person" in body["text"]
    assert "fixed 9, broken 1" in body["text"]
    assert "Silence applies nothing" in body["text"]
    assert decisions(ledger, name) == []
    assert load_brain(settings.brain).hash == BEFORE.hash


def test_the_message_holds_no_fact_of_an_incident(ledger: Ledger) -> None:
    """Counts and our own names leave the house: no incident, no line, no text of a model."""
    name = with_incidents(ledger)
    said = json.dumps(message(ledger, name))
    assert INCIDENT not in said
    for one in EDITS:
        for text in (*one.added_lines(), one.reason, one.expected_effect, one.cluster):
            assert not text or text not in said
    assert message(ledger, name)["looked_for"]["over-correction"] == "flag"


def test_the_address_is_stored_nowhere(
    settings: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the row of a failed message nor what is noted of it repeats a part of the address."""
    with Hook(404) as hook:
        monkeypatch.setenv(VARIABLE, f"{hook.url}/T0KEN-1234")
        notes = told(settings, ledger, propose(ledger))
    (row,) = [one for one in edit_events(ledger) if one.event == "announced"]
    assert row.detail["failure"] == "it answered 404 after 1 tries"
    assert notes == [f"the webhook in {VARIABLE} was not told: it answered 404 after 1 tries"]
    for text in (json.dumps(row.detail), *notes, json.dumps(settings.plain())):
        assert "T0KEN" not in text
        assert "127.0.0.1" not in text
    with pytest.raises(ValidationError):
        ReviewSettings(webhook="https://hooks.example/T0KEN-1234")


@pytest.mark.parametrize(
    ("answers", "requests", "failure"),
    [
        ((), 1, ""),
        ((503, 429), 3, ""),
        ((500, 500, 500, 500), TRIES, "it answered 500 after 3 tries"),
        ((400,), 1, "it answered 400 after 1 tries"),
        ((302,), 1, "it answered 302 after 1 tries"),
    ],
)
def test_tries_are_bounded(answers: tuple[int, ...], requests: int, failure: str) -> None:
    """What may pass is tried again, a few times; what will not is not; nobody is redirected."""
    with Hook(*answers) as hook:
        assert asyncio.run(post(hook.url, {"text": "x"})) == failure
        assert len(hook.bodies) == requests


@pytest.mark.parametrize(
    ("address", "failure"),
    [
        ("http://127.0.0.1:9/x", "ConnectError after 3 tries"),
        ("ftp://example.invalid/x", "it is not an http or https address"),
        ("no address", "it is not an http or https address"),
        ("http://127.0.0.1:99999/x", "it is not an http or https address"),
    ],
)
def test_an_address_that_cannot_be_reached_is_a_note(
    settings: Settings,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    failure: str,
) -> None:
    """Whatever stands in the variable, the job goes on."""
    monkeypatch.setenv(VARIABLE, address)
    assert told(settings, ledger, propose(ledger)) == [
        f"the webhook in {VARIABLE} was not told: {failure}"
    ]


def test_whatever_breaks_in_sending_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw is named and ends nothing; an interrupt still does."""

    def broken(error: BaseException) -> Any:
        async def tried(*_: Any) -> str:
            raise error

        return tried

    monkeypatch.setattr("heldout.review.webhook._tried", broken(OverflowError("T0KEN")))
    assert asyncio.run(post("http://127.0.0.1/T0KEN", {})) == "OverflowError"
    monkeypatch.setattr("heldout.review.webhook._tried", broken(asyncio.CancelledError()))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(post("http://127.0.0.1/T0KEN", {}))


def test_a_hook_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tries together take no longer than is allowed."""

    class Slow(Hook):
        def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            time.sleep(1)
            return 200, {}

    monkeypatch.setattr("heldout.review.webhook.TOTAL", 0.2)
    with Slow() as hook:
        assert asyncio.run(post(hook.url, {})) == "no answer within 0.2 s"


def test_without_an_address_or_when_decided_nothing_is_sent(
    settings: Settings, ledger: Ledger, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable unset, or a person faster than the job's end."""
    monkeypatch.delenv(VARIABLE, raising=False)
    name = propose(ledger)
    told(settings, ledger, name)
    monkeypatch.setenv(VARIABLE, hook.url)
    reject(ledger, name, Reviewer("kim", "no"))
    told(settings, ledger, name)
    assert hook.bodies == []
    assert [one for one in edit_events(ledger) if one.event == "announced"] == []


def test_the_comment_shows_what_is_decided_on(settings: Settings, ledger: Ledger) -> None:
    """Verdict, what was looked for, each edit with what the agent will now do, the diff."""
    said = comment_on(settings, ledger, with_incidents(ledger))
    assert said.startswith("### Brain proposal `p-0123456789ab` for `openai/gpt-x@low`\n")
    assert ":x: over-correction: `it broke 1 of 2 train controls`" in said
    assert ":white_check_mark: padding: nothing found" in said
    for one in EDITS:
        assert f"the agent will now: `{one.expected_effect}`" in said
        assert all(f"\n+{line}\n" in said for line in one.added_lines())
    assert "silence applies nothing" in said
    assert INCIDENT not in said


def test_a_hostile_proposal_cannot_format_a_comment(settings: Settings, ledger: Ledger) -> None:
    """Fences, markup, mentions and images of a model stay text in code."""
    nasty = "``` ` ```` @everyone #1 <img src=x> ![x](http://evil.example) | a |"
    lines = ("- ```", f"- {nasty}", "- `````` and on")
    hostile = Edit(edit(*lines).ops, reason=nasty, expected_effect=nasty, feared_harm=nasty)
    said = comment_on(settings, ledger, propose(ledger, (hostile,), beside=[stored(hostile)]))
    fence = re.search(r"^(`{3,})diff$", said, re.MULTILINE)
    assert fence is not None
    assert len(fence.group(1)) == 7
    assert said.count(f"\n{fence.group(1)}") == 2
    outside = re.sub(r"(?ms)^`{7}diff$.*?^`{7}$", "", said)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert not re.search(r"@|<|\[|#1", outside)


@pytest.mark.parametrize("text", ["a`b", "`a`", "``", "a", "x" * 1000])
def test_code_ends_where_it_should(text: str) -> None:
    """The run of ticks around a text stands nowhere in it."""
    run = re.match(r"`+", code(text))
    assert run is not None
    inner = code(text)[len(run.group()) : -len(run.group())]
    assert run.group() not in re.findall(r"`+", inner)


@pytest.mark.parametrize(("review", "sent"), [("wait", 1), ("auto", 0)])
def test_a_job_announces_what_waits(
    settings: Settings, hook: Hook, monkeypatch: pytest.MonkeyPatch, review: Any, sent: int
) -> None:
    """The tuning stage tells of its proposal; one that policy accepted waits for nobody."""
    monkeypatch.setenv(VARIABLE, hook.url)
    made = SimpleNamespace(
        job="tune-1", status="saturated", before=BEFORE, after=apply_edits(BEFORE, EDITS),
        evidence={"confirmed": True}, rejected={}, train=(1, 1), rounds=1, accepted=(), proposal="",
    )  # fmt: skip

    async def tuned(_: Settings, ledger: Ledger, **more: Any) -> Any:
        made.proposal = propose(ledger)
        return made

    for room, name, other in (
        ("heldout.tune", "tune", tuned),
        ("heldout.build", "cases", lambda *_, **__: ["a case"]),
        ("heldout.gate", "GateProcess", lambda _: contextlib.nullcontext()),
        ("heldout.graph", "open_interface", lambda _: None),
        ("heldout.split", "declare_process", lambda _: None),
    ):
        monkeypatch.setattr(importlib.import_module(room), name, other)
    found = tune_brain(Job(project=str(settings.root), review=review))
    assert found.accepted is (review == "auto")
    assert [body["proposal"] for body in hook.bodies] == [made.proposal] * sent
