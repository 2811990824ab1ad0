"""A real Prefect server on loopback, one for the session, with a project deployed on it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.conftest import cut, heldout

BIN = Path(sys.executable).parent
SOON = 45
"""Seconds between two runs of the schedule that stands in the place of a weekly one."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server, the project that is deployed on it, and what both are called with."""

    url: str
    project: Path
    env: dict[str, str]

    def prefect(self, *words: str) -> str:
        """One command of Prefect's, in the project."""
        done = subprocess.run(
            [str(BIN / "prefect"), "--no-prompt", *words],
            cwd=self.project,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """One request to the API, as the page in the browser sends it."""
        asked = urllib.request.Request(
            f"{self.url}/api{path}",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        for _ in range(40):
            try:
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                said = {"status": error.code, "said": error.read().decode()}
                if (
                    error.code != 503
                ):  # Its own database was busy; Prefect's clients ask again, too.
                    break
                time.sleep(0.5)
        return said

    def runs(self, flow: str) -> list[dict[str, Any]]:
        """The runs of a flow that were ever begun, oldest first."""
        asked = {
            "sort": "START_TIME_ASC",
            "flows": {"name": {"any_": [flow]}},
            "flow_runs": {"state": {"type": {"not_any_": ["SCHEDULED"]}}},
        }
        return list(self.post("/flow_runs/filter", asked))

    def wait(self, flow: str, states: set[str], count: int = 1, seconds: float = 900) -> Any:
        """Wait until so many runs of a flow are in one of these states; returns them."""
        deadline = time.monotonic() + seconds
        while True:
            every = self.runs(flow)
            found = [run for run in every if run["state"]["name"] in states]
            if len(found) >= count:
                return found
            bad = {"Failed", "Crashed"} - states
            broken = [run["state"] for run in every if run["state"]["name"] in bad]
            assert not broken, broken
            assert time.monotonic() < deadline, [run["state"] for run in every]
            time.sleep(1)

    def artifact(self, key: str) -> Any:
        """The newest page under a key."""
        asked = {"artifacts": {"key": {"any_": [key]}}, "sort": "CREATED_DESC"}
        found = self.post("/artifacts/filter", asked)
        assert found, key
        return found[0]["data"]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def often(project: Path) -> None:
    """Put a schedule of seconds in the place of the weekly ones of the first model."""
    path = project / "prefect.yaml"
    text = yaml.safe_load(path.read_text())
    kept = {"review", "tune-sim-anchored", "canary-sim-anchored"}
    text["deployments"] = [one for one in text["deployments"] if one["name"] in kept]
    for one in text["deployments"]:
        if one["name"] == "tune-sim-anchored":
            one["schedules"] = [{"interval": SOON}]
            one["parameters"]["job"] |= {
                "repeats": 1,
                "rounds": 2,
                "target": "base",
                "review": "form",
            }
    path.write_text(yaml.safe_dump(text))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server with everything of prefect.yaml deployed, and a worker that takes what is due."""
    home = tmp_path_factory.mktemp("served")
    project = cut(home / "project")
    heldout(project, "build")
    often(project)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = {
        **os.environ,
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_API_URL": f"{url}/api",
        "HELDOUT_PROJECT": str(project),
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "2",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "PREFECT_WORKER_PREFETCH_SECONDS": "1",
    }
    on_server = Served(url, project, env)
    with (home / "log").open("w") as log:
        commands = (
            ("server", "start", "--host", "127.0.0.1", "--port", str(port)),
            ("worker", "start", "--pool", "local"),
        )
        children: list[subprocess.Popen[bytes]] = []
        try:
            for words in commands:
                children.append(
                    subprocess.Popen(
                        [str(BIN / "prefect"), *words],
                        cwd=project,
                        env=env,
                        stdout=log,
                        stderr=log,
                    )
                )
                if words[0] == "server":
                    _healthy(url, children[0])
                    on_server.prefect("work-pool", "create", "local", "--type", "process")
                    on_server.prefect("work-pool", "set-concurrency-limit", "local", "1")
                    on_server.prefect("deploy", "--all")
            yield on_server
        finally:
            for child in reversed(children):  # The worker first: without its server it hangs.
                _ended(child)


def _ended(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(timeout=20)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while True:
        try:
            with urllib.request.urlopen(f"{url}/api/health", timeout=5):
                return
        except OSError:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.5)
