"""The repair environment over HTTP: sessions apart, nothing told too early, and it stays here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from heldout.errors import UsageError
from heldout.repair.defect import MECHANISMS
from heldout.repair.tasks import tasks
from heldout.rest.app import repair_app
from heldout.rest.sessions import Refused, Sessions, require_loopback

TRAIN = sorted(one.id for one in tasks().values() if one.half == "train")
HELD = sorted(one.id for one in tasks().values() if one.half == "test")
REPORT = {"service": "shared", "file": "f.py", "symbol": "s", "mechanism": MECHANISMS[0]}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_alerts", {}), ("git_log", {"limit": 3}), ("list_files", {}), ("view_file", {"path": "x"}),
    ("query_metrics", {"service": "ad_ranking"}), ("nothing", {"a": 1}),
]  # fmt: skip


@pytest.fixture
def sessions() -> Iterator[Sessions]:
    """Room for a few sessions over the train half."""
    made = Sessions(frozenset(TRAIN), most=3)
    yield made
    made.close()


@pytest.fixture
def client(sessions: Sessions) -> TestClient:
    """A client of the application, as this machine's."""
    return TestClient(
        repair_app(sessions), base_url="http://127.0.0.1", raise_server_exceptions=False
    )


def started(client: TestClient, task: str = TRAIN[0]) -> str:
    """The key of a new session."""
    answer = client.post("/sessions", json={"task": task})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["session"])


def test_an_episode_goes_from_start_to_grade(client: TestClient):
    """A step sees what the step before it did, and the grade comes after the report, once."""
    key = started(client)
    first = client.post(f"/sessions/{key}/step", json={"tool": "list_alerts"}).json()
    assert (first["step"], first["done"]) == (1, False)
    assert client.get(f"/sessions/{key}/state").json()["step"] == 1
    assert client.post(f"/sessions/{key}/grade", json={}).status_code == 409
    done = client.post(f"/sessions/{key}/step", json={"tool": "submit_report", "args": REPORT})
    assert done.json()["ended"] == "submitted"
    grade = client.post(f"/sessions/{key}/grade", json={}).json()
    assert grade["repaired"] is False
    assert client.post(f"/sessions/{key}/grade", json={}).json() == grade
    after = client.post(f"/sessions/{key}/step", json={"tool": "list_alerts"})
    assert (after.status_code, "over" in after.json()["error"]["what"]) == (409, True)


def test_sessions_do_not_see_each_other(client: TestClient):
    """Steps of one count for one; a key that is none opens nothing."""
    one, two = started(client), started(client)
    assert one != two
    client.post(f"/sessions/{one}/step", json={"tool": "list_alerts"})
    assert client.get(f"/sessions/{two}/state").json()["step"] == 0
    assert client.get(f"/sessions/{one[:-1]}0/state").status_code in (404,)


def test_nothing_is_told_before_the_grade(client: TestClient):
    """No answer of any route holds template, half, guilty symbol of a healthy line, or a path here."""
    one = tasks()[TRAIN[0]]
    key = started(client)
    shown = [client.get(path).text for path in ("/health", "/tasks", "/docs", "/openapi.json")]
    shown.append(client.get(f"/sessions/{key}/state").text)
    for tool, args in CALLS:
        shown.append(client.post(f"/sessions/{key}/step", json={"tool": tool, "args": args}).text)
    text = "\n".join(shown)
    told = (one.template.name, one.template.fix.name, "held-out", "/src/heldout", "Traceback")
    assert [word for word in told if word in text] == []


def test_the_held_out_half_is_not_served(client: TestClient):
    """Its tasks are neither listed nor opened; the control is a task of the train half."""
    assert client.get("/tasks").json()["tasks"] == TRAIN
    assert client.post("/sessions", json={"task": HELD[0]}).status_code == 404
    started(client)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/sessions", b"{", 422),
        ("/sessions", b"[]", 422),
        ("/sessions", b'{"task": 1}', 422),
        ("/sessions", b'{"task": "x", "more": 1}', 422),
        ("/sessions/abc/step", b'{"tool": "list_alerts"}', 404),
        ("/sessions/abc/grade", b"{}", 404),
        ("/nowhere", b"{}", 404),
    ],
)
def test_bad_input_is_answered_with_what_is_wrong(
    client: TestClient, path: str, body: bytes, status: int
):
    """In one shape, with no trace of the code."""
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"what", "mend"}
    assert "Traceback" not in answer.text


def test_what_breaks_inside_is_not_told(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    """An unforeseen error is a 500 without its text."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the inside")

    key = started(client)
    monkeypatch.setattr(Sessions, "step", broken)
    answer = client.post(f"/sessions/{key}/step", json={"tool": "list_alerts"})
    assert answer.status_code == 500
    assert "secret" not in answer.text


def test_no_more_sessions_than_there_is_room_for(client: TestClient):
    """The fourth of three is refused until one ends."""
    keys = [started(client) for _ in range(3)]
    assert client.post("/sessions", json={"task": TRAIN[0]}).status_code == 429
    assert client.delete(f"/sessions/{keys[0]}").json() == {"ended": True}
    started(client)
    assert client.get(f"/sessions/{keys[0]}/state").status_code == 404


def test_what_stands_idle_is_closed_and_stays_closed():
    """A session that nobody asked for an hour ends; its next step finds nothing behind it."""
    now = [0.0]
    sessions = Sessions(frozenset(TRAIN), idle_seconds=3600, clock=lambda: now[0])
    one = sessions.start(TRAIN[0])
    now[0] = 3599
    assert sessions.reap() == 0
    now[0] = 3601
    assert sessions.reap() == 1
    with pytest.raises(Refused) as caught:
        sessions.step(one.key, "list_alerts", {})
    assert caught.value.status == 404
    assert len(sessions) == 0


def test_other_names_for_this_machine_are_refused(sessions: Sessions):
    """A page in a browser that resolves its own name to here gets nothing."""
    there = TestClient(repair_app(sessions), base_url="http://evil.example")
    assert there.get("/tasks").status_code == 400


def test_an_address_that_others_reach_has_to_be_wanted():
    """The loopback device needs no word; any other address does."""
    require_loopback("127.0.0.1", anywhere=False)
    require_loopback("0.0.0.0", anywhere=True)
    with pytest.raises(UsageError):
        require_loopback("0.0.0.0", anywhere=False)


def _played(sessions: Sessions, task: str) -> list[str]:
    one = sessions.start(task)
    texts = [sessions.step(one.key, tool, args)[0].text for tool, args in CALLS]
    texts.append(json.dumps(sessions.graded(one.key, end=True), sort_keys=True))
    sessions.stop(one.key)
    return texts


@pytest.mark.slow
def test_sixteen_sessions_at_once_equal_one_after_another():
    """Answers and grades are the same bytes, whoever else plays meanwhile."""
    wanted = [TRAIN[at % len(TRAIN)] for at in range(0, 48, 3)]
    serial = Sessions(frozenset(TRAIN))
    expected = [_played(serial, task) for task in wanted]
    together = Sessions(frozenset(TRAIN))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda task: _played(together, task), wanted)) == expected


def test_the_command_serves_until_it_is_stopped():
    """It says where, answers there, refuses other addresses, and ends on a signal without a trace."""
    command = [sys.executable, "-m", "heldout.cli.main", "serve", "repair", "--port", "0"]
    refused = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, check=False
    )
    assert (refused.returncode, "--anywhere" in refused.stderr) == (2, True)
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert child.stderr is not None
        line = child.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        with httpx.Client(base_url=found[0], trust_env=False, timeout=60) as there:
            key = there.post("/sessions", json={"task": TRAIN[0]}).json()["session"]
            answer = there.post(f"/sessions/{key}/step", json={"tool": "list_alerts"}).json()
            assert "alerts" in answer["answer"]["text"]
        child.send_signal(signal.SIGINT)
        assert child.wait(30) in (0, 130, -2)
        assert "Traceback" not in child.stderr.read()
    finally:
        child.kill()
