"""What OpenEnv 0.10 leaves open, tried on a bare environment and on ours.

Each surprise is a way in that is tried over a real socket and says whether it is open. On an
environment that guards nothing it has to be: so the trial is known to see the hole.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
import uvicorn

pytest.importorskip("openenv", reason="the extra is not installed: pip install 'heldout[openenv]'")

from openenv.core.env_server import Environment, State
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig
from openenv.core.generic_client import GenericEnvClient
from tests.rest.scripts import TRAIN, every_call, told
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import connect

from heldout.repair.episode import Episode
from heldout.rest.openenv import STEP_SECONDS, RepairAction, RepairObservation, openenv_app

IDLE_SECONDS = 1.0
ROOM = 3


class Careless(Environment[RepairAction, RepairObservation, State]):
    """Does what it is told, and pays for every step."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0

    def reset(self, **_: Any) -> RepairObservation:
        """Begin anew."""
        self._steps = 0
        return RepairObservation()

    def step(self, action: RepairAction, **_: Any) -> RepairObservation:
        """One more; the second ends the episode."""
        if action.tool == "break":
            raise RuntimeError("truth of the inside")
        if action.tool == "run_tests":
            time.sleep(0.5)
        self._steps += 1
        return RepairObservation(step=self._steps, reward=1.0, done=self._steps > 1)

    @property
    def state(self) -> State:
        """As it stands."""
        return State(step_count=self._steps)


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that is served by a thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="module")
def bare() -> Iterator[str]:
    """The framework's server as it comes, over an environment that guards nothing."""
    room = ConcurrencyConfig(max_concurrent_envs=ROOM, session_timeout=IDLE_SECONDS)
    made = create_fastapi_app(
        Careless, RepairAction, RepairObservation, concurrency_config=room, state_cls=State
    )
    with served(made) as address:
        yield address


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    """The repair environment."""
    with served(openenv_app(sessions=ROOM, idle_seconds=3600)) as address:
        yield address


def call(client: Any, tool: str, **args: Any) -> Any:
    """One step as the client makes it."""
    return client.step({"tool": tool, "args": args})


def paid(result: Any) -> bool:
    """Whether a step was taken for one and earned something."""
    return bool(result.reward) and not result.observation["is_error"]


def http_forgets(address: str) -> bool:
    """1: over plain HTTP every request has an environment of its own, and steps are paid."""
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as there:
        there.post("/reset", json={}).raise_for_status()
        answer = there.post("/step", json={"action": {"tool": "list_alerts", "args": {}}}).json()
    return bool(answer["reward"]) and not answer["observation"]["is_error"]


def steps_before_a_reset(address: str) -> bool:
    """4: a step without an episode is paid."""
    with GenericEnvClient(base_url=address).sync() as client:
        return paid(call(client, "list_alerts"))


def steps_after_the_end(address: str) -> bool:
    """4: a step after the last one is paid."""
    with GenericEnvClient(base_url=address).sync() as client:
        client.reset()
        for _ in range(61):
            if call(client, "list_alerts").done:
                break
        return paid(call(client, "list_alerts"))


def a_list_ends_the_session(address: str) -> bool:
    """7: a frame that is a list loses the episode."""
    return _ends(address, "[]")


def bytes_end_the_session(address: str) -> bool:
    """7: so does a frame of bytes."""
    return _ends(address, b"\x00")


def nesting_ends_the_session(address: str) -> bool:
    """7: and one that is nested beyond the parser."""
    return _ends(address, "[" * 100_000)


def _ends(address: str, frame: str | bytes) -> bool:
    with connect(address.replace("http", "ws") + "/ws") as socket:
        socket.send(frame)
        with suppress(WebSocketException):
            told_ = json.loads(socket.recv(30))
            socket.send(json.dumps({"type": "state"}))
            answer = json.loads(socket.recv(30))
            return not (told_["data"]["code"] == "INVALID_JSON" and answer["type"] == "state")
        return True


def plays_on_after_a_loss(address: str) -> bool:
    """10: a client that waited too long plays on in an episode that nobody began."""
    with GenericEnvClient(base_url=address, message_timeout_s=0.05).sync() as client:
        client._async._message_timeout = 60.0
        client.reset()
        client._async._message_timeout = 0.01
        with pytest.raises(TimeoutError):
            call(client, "run_tests", suite="unit")
        client._async._message_timeout = 60.0
        return paid(call(client, "list_alerts"))


def a_foreign_page_plays(address: str) -> bool:
    """A page of any origin opens a session on this machine."""
    there = address.replace("http", "ws") + "/ws"
    with suppress(InvalidStatus), connect(there, origin="http://evil.example"):
        return True
    return False


def pages_load_from_elsewhere(address: str) -> bool:
    """The page of the routes loads its script from a CDN."""
    with httpx.Client(base_url=address, trust_env=False) as there:
        texts = [there.get(path).text for path in ("/docs", "/redoc")]
    return any("https://" in text for text in texts)


SURPRISES = [
    http_forgets, steps_before_a_reset, steps_after_the_end, a_list_ends_the_session,
    bytes_end_the_session, nesting_ends_the_session, plays_on_after_a_loss, a_foreign_page_plays,
    pages_load_from_elsewhere,
]  # fmt: skip


@pytest.mark.parametrize("surprise", SURPRISES, ids=lambda one: one.__name__)
def test_a_surprise_is_open_without_a_guard_and_shut_with_it(
    bare: str, ours: str, surprise: Callable[[str], bool]
):
    """The trial finds the hole where nobody closed it, and none here."""
    assert (surprise(bare), surprise(ours)) == (True, False)


def test_what_breaks_inside_is_told_by_the_framework_alone(
    bare: str, ours: str, monkeypatch: pytest.MonkeyPatch
):
    """3: the framework sends an exception's text; ours says that it is not scored."""
    with (
        GenericEnvClient(base_url=bare).sync() as there,
        pytest.raises(RuntimeError, match="truth of the inside"),
    ):
        call(there, "break")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("truth of the inside")

    with GenericEnvClient(base_url=ours).sync() as here:
        here.reset()
        monkeypatch.setattr(Episode, "call", broken)
        said = call(here, "list_alerts")
    assert (said.reward, said.done, "truth" in str(said.observation)) == (None, True, False)


def test_what_waits_without_end_is_answered_before_the_client_gives_up(
    ours: str, monkeypatch: pytest.MonkeyPatch
):
    """2: no limit arrives over a socket; code that waits is ended, and the session goes on."""
    assert STEP_SECONDS < 60
    monkeypatch.setattr("heldout.rest.openenv.STEP_SECONDS", 3.0)
    with GenericEnvClient(base_url=ours).sync() as client:
        client.reset(task=TRAIN[0])
        listed = json.loads(call(client, "list_files").observation["text"])["files"]
        path = next(one["path"] for one in listed if one["path"].endswith("service.py"))
        text = "import os\nos.read(os.pipe()[0], 1)"
        began = time.monotonic()
        edited = call(client, "edit_lines", path=path, action="insert", first=1, text=text)
        assert not edited.observation["is_error"], edited.observation
        seen = call(client, "list_alerts")
        assert time.monotonic() - began < 20
        assert not seen.observation["is_error"]
        assert "HighErrorRate" in seen.observation["text"]


def test_one_session_too_many_is_told_and_leaves_no_trace(ours: str):
    """6: it is refused in words, and there is room as soon as another ends."""
    with contextmany(ours, ROOM) as clients:
        with (
            GenericEnvClient(base_url=ours).sync() as late,
            pytest.raises((RuntimeError, WebSocketException), match="CAPACITY_REACHED"),
        ):
            late.reset()
        assert not clients[0].reset().observation["is_error"]
    with GenericEnvClient(base_url=ours).sync() as later:
        assert not later.reset().observation["is_error"]


@contextmanager
def contextmany(address: str, count: int) -> Iterator[list[Any]]:
    """Several clients with a session each."""
    clients = [GenericEnvClient(base_url=address).sync() for _ in range(count)]
    for client in clients:
        client.connect()
        client.reset()
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


def test_a_session_that_stood_idle_is_closed_and_its_socket_reaches_nothing(bare: str):
    """8 and 9: its place is free again; the framework alone would have played on behind it."""
    with (
        served(openenv_app(sessions=1, idle_seconds=IDLE_SECONDS)) as ours,
        GenericEnvClient(base_url=ours).sync() as here,
        GenericEnvClient(base_url=bare).sync() as there,
    ):
        here.reset()
        there.reset()
        time.sleep(7)
        with GenericEnvClient(base_url=ours).sync() as next_:
            assert not next_.reset().observation["is_error"]
        said = call(here, "list_alerts")
        assert (paid(said), "closed" in said.observation["text"]) == (False, True)
        assert paid(call(there, "list_alerts"))


@pytest.mark.parametrize("task", TRAIN[::9])
def test_nothing_is_told_by_any_route(ours: str, task: str):
    """11: schemas, descriptions, tasks, state and every tool's answers hold no truth."""
    with httpx.Client(base_url=ours, trust_env=False) as there:
        paths = ("/schema", "/metadata", "/openapi.json", "/docs", "/state", "/list_environments")
        shown = [there.get(path).text for path in paths]
    with GenericEnvClient(base_url=ours).sync() as client:
        shown.append(str(client.reset(task=task).observation))
        shown += [str(call(client, tool, **args)) for tool, args in every_call(task)]
        shown.append(str(client.state()))
    assert [told(text, task) for text in shown if told(text, task)] == []
