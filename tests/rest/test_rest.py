"""The repair environment over HTTP: sessions apart, nothing told too early, and it stays here."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from starlette.testclient import TestClient
from tests.rest.scripts import HELD, REPORT, TRAIN, edited, every_call, told

from heldout.errors import UsageError
from heldout.repair.tasks import tasks
from heldout.rest.app import repair_app
from heldout.rest.sessions import Refused, Sessions, require_loopback


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


@pytest.mark.parametrize("task", TRAIN[::5])
def test_nothing_is_told_before_the_grade(client: TestClient, task: str):
    """No answer of any route or tool holds the task's truth or a path of this machine."""
    key = started(client, task)
    shown = [client.get(path).text for path in ("/health", "/tools", "/docs", "/openapi.json")]
    shown.append(client.get(f"/sessions/{key}/state").text)
    for tool, args in every_call(task):
        shown.append(client.post(f"/sessions/{key}/step", json={"tool": tool, "args": args}).text)
    assert [told(text, task) for text in shown if told(text, task)] == []


def test_what_would_be_told_is_seen():
    """The control of the scan: an answer with the template's name in it is found."""
    name = tasks()[TRAIN[0]].template.name
    assert told(f'{{"text": "{name}"}}', TRAIN[0]) == [name]


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


@contextmanager
def commanded(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``heldout serve repair`` as a process, where it says that it serves."""
    command = [sys.executable, "-m", "heldout.cli.main", "serve", "repair", "--port", "0", *options]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert child.stderr is not None
        line = child.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        yield found[0], child
    finally:
        child.kill()
        child.wait()


def _played(address: str, task: str) -> list[str]:
    with httpx.Client(base_url=address, trust_env=False, timeout=120) as there:
        key = there.post("/sessions", json={"task": task}).json()["session"]
        texts = [
            there.post(f"/sessions/{key}/step", json={"tool": tool, "args": args}).text
            for tool, args in edited(task)
        ]
        return [*texts, there.post(f"/sessions/{key}/grade", json={}).text]


@pytest.mark.slow
def test_sixteen_sessions_at_once_equal_one_after_another():
    """Answers and grades are the same bytes over the wire, whoever else edits meanwhile."""
    some = TRAIN[::9]
    with commanded() as (address, _):
        expected = {task: _played(address, task) for task in some}
        wanted = [some[at % len(some)] for at in range(16)]
        with ThreadPoolExecutor(16) as pool:
            played = list(pool.map(lambda task: _played(address, task), wanted))
    assert played == [expected[task] for task in wanted]
    assert len({str(one) for one in expected.values()}) == len(some)


def test_an_episode_is_built_while_others_go_on(monkeypatch: pytest.MonkeyPatch):
    """A slow start holds up no step of another session, and its place is counted meanwhile."""
    sessions = Sessions(frozenset(TRAIN), most=2)
    first = sessions.start(TRAIN[0])
    begun, go_on = threading.Event(), threading.Event()
    plain = sessions._interface.open

    def slow(task: str, seed: int) -> object:
        begun.set()
        assert go_on.wait(60)
        return plain(task, seed)

    monkeypatch.setattr(sessions._interface, "open", slow)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(sessions.start, TRAIN[1])
        assert begun.wait(60)
        sessions.stop(sessions.step(first.key, "list_alerts", {})[1].key)
        monkeypatch.setattr(sessions._interface, "open", plain)
        sessions.start(TRAIN[2])
        with pytest.raises(Refused):
            sessions.start(TRAIN[3])
        go_on.set()
        assert second.result(60).task == TRAIN[1]
    assert len(sessions) == 2
    sessions.close()


def test_a_start_that_fails_leaves_its_place(monkeypatch: pytest.MonkeyPatch):
    """What could not be built takes no room."""
    sessions = Sessions(frozenset(TRAIN), most=1)

    def broken(*_: object) -> None:
        raise RuntimeError("no jail")

    with monkeypatch.context() as patched:
        patched.setattr(sessions._interface, "open", broken)
        with pytest.raises(RuntimeError):
            sessions.start(TRAIN[0])
    sessions.start(TRAIN[0])
    sessions.close()


ORIGINS = [
    (None, 201), ("http://127.0.0.1", 201), ("http://evil.example", 403), ("null", 403),
    ("http://127.0.0.1:8000", 403),
]  # fmt: skip


@pytest.mark.parametrize(("origin", "status"), ORIGINS)
def test_a_page_of_another_origin_starts_nothing(
    client: TestClient, origin: str | None, status: int
):
    """A browser names the page that asks; programs name none."""
    headers = {} if origin is None else {"origin": origin}
    answer = client.post("/sessions", json={"task": TRAIN[0]}, headers=headers)
    assert answer.status_code == status


def test_the_page_of_the_routes_loads_nothing_from_elsewhere(client: TestClient):
    """Its script and style are here, and it says so to the browser."""
    page = client.get("/docs")
    assert "http://" not in page.text.replace("http://127.0.0.1", "")
    assert "https://" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(parts) == 3
    assert [client.get(part).status_code for part in parts] == [200] * 3


def test_the_command_serves_until_it_is_stopped():
    """It says where, answers there, refuses other addresses, and ends on a signal without a trace."""
    command = [sys.executable, "-m", "heldout.cli.main", "serve", "repair", "--port", "0"]
    refused = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, check=False
    )
    assert (refused.returncode, "--anywhere" in refused.stderr) == (2, True)
    with commanded() as (address, child):
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as there:
            key = there.post("/sessions", json={"task": TRAIN[0]}).json()["session"]
            answer = there.post(f"/sessions/{key}/step", json={"tool": "list_alerts"}).json()
            assert "alerts" in answer["answer"]["text"]
        child.send_signal(signal.SIGINT)
        assert child.wait(30) in (0, 130, -2)
        assert child.stderr is not None
        assert "Traceback" not in child.stderr.read()
