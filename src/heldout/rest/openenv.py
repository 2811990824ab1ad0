"""The repair environment as an OpenEnv server (0.10), for trainers that speak it; an extra.

Typed actions over WebSocket, one environment for each session. What the framework leaves open is
closed here: a step before a reset, after the end or after the session was closed is answered with
an error and pays nothing; nothing that breaks inside is told; every observation says its episode
and its number, so that a client sees when its session was lost; a frame that is no message ends
nothing, a page of another origin reaches nothing, and ``/docs`` loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server import Action, Environment, Observation, State
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig
from pydantic import ConfigDict, Field
from starlette.middleware.trustedhost import TrustedHostMiddleware

from heldout.errors import HeldoutError
from heldout.repair.episode import Episode
from heldout.repair.reward import Rewards
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import tasks
from heldout.rest.guards import Frames, SameOrigin
from heldout.rest.pages import add_page
from heldout.rest.sessions import IDLE_SECONDS

_LOG = logging.getLogger(__name__)
NAME = "heldout-repair"
SPLIT = "train"
SESSIONS = 64
STEP_SECONDS = 50.0
"""What a step may take: OpenEnv's client drops its session after 60 s, and tells no server how long
it waits. What the code under repair does not answer until then it does not answer."""


class RepairAction(Action):
    """One call: a tool of the environment and its arguments."""

    tool: str = Field(max_length=100)
    args: dict[str, Any] = Field(default_factory=dict)


class RepairObservation(Observation):
    """What a call was answered, or at a reset what stands at the beginning.

    ``reward`` is the step's, ``None`` where the environment failed: such an episode is not scored,
    and never worth 0. ``end_reason`` says how an episode ended.
    """

    text: str = ""
    is_error: bool = False
    ids: list[str] = Field(default_factory=list)
    episode_id: str = ""
    step: int = 0
    end_reason: str = ""


class RepairState(State):
    """What whoever holds the session may know of it: nothing that a step would not show."""

    model_config = ConfigDict(extra="forbid")

    task: str = ""
    minute: float = 0.0
    end_reason: str = ""


def served() -> tuple[str, ...]:
    """The tasks that are served: the train half, in order."""
    return tuple(sorted(one.id for one in tasks().values() if one.half == SPLIT))


class RepairEnvironment(Environment[RepairAction, RepairObservation, RepairState]):
    """One session's episodes, one after another."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._episode: Episode | None = None
        self._rewards = Rewards()
        self._task = ""
        self._id = ""
        self._closed = False

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        task: str = "",
        split: str = SPLIT,
        index: int = 0,
        **_: Any,
    ) -> RepairObservation:
        """Begin an episode of a task, named by its id or by its place in the train split."""
        if self._closed:
            return self._refused("the session is closed")
        names = served()
        if type(index) is not int or not isinstance(task, str):
            return self._refused("index is a whole number and task a text")
        if episode_id is not None and (not isinstance(episode_id, str) or len(episode_id) > 100):
            return self._refused("episode_id is a text of 100 characters at most")
        if split != SPLIT:
            return self._refused(f"only the split '{SPLIT}' is served")
        if task and task not in names:
            return self._refused("no such task is served")
        self._drop()
        self._task = task or names[index % len(names)]
        self._id = episode_id or secrets.token_hex(8)
        self._rewards = Rewards()
        try:
            self._episode = Episode(tasks()[self._task].instance(), Sandbox(), watch=self._rewards)
            text = json.dumps(self._episode.observation(), sort_keys=True)
        except Exception:  # noqa: BLE001 - what breaks inside is logged here and never told
            return self._failed()
        return self._said(text)

    def step(
        self, action: RepairAction, timeout_s: float | None = None, **_: Any
    ) -> RepairObservation:
        """Make one call. ``timeout_s`` does not arrive over a socket: ``STEP_SECONDS`` holds."""
        episode = self._episode
        if self._closed:
            return self._refused("the session is closed")
        if episode is None:
            return self._refused("there is no episode: reset first")
        if episode.ended:
            return self._refused(f"the episode is over: {episode.ended}")
        episode.sandbox.until = time.monotonic() + STEP_SECONDS
        try:
            text, is_error, ids = episode.call(action.tool, action.args)
        except HeldoutError as error:
            return self._refused(error.what)
        except Exception:  # noqa: BLE001 - what breaks inside is logged here and never told
            return self._failed()
        return self._said(text, is_error=is_error, ids=list(ids), paid=True)

    @property
    def state(self) -> RepairState:
        """The session as it stands."""
        episode = self._episode
        if episode is None:
            return RepairState(episode_id=self._id or None)
        return RepairState(
            episode_id=self._id, step_count=len(episode.steps), task=self._task,
            minute=round(episode.minute, 1), end_reason=episode.ended,
        )  # fmt: skip

    def close(self) -> None:
        """End the session; a socket that is still open gets errors from now on."""
        self._closed = True
        self._drop()

    def list_splits(self) -> list[str]:
        """The train half alone: the held-out one is for scoring."""
        return [SPLIT]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Tasks by ids that say nothing."""
        return [self.get_task(split, index) for index in range(self.num_tasks(split))]

    def num_tasks(self, split: str) -> int:
        """How many there are."""
        return len(served()) if split == SPLIT else 0

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One of them; an index beyond is an IndexError, as the framework wants it."""
        if split != SPLIT or not 0 <= index < len(served()):
            raise IndexError("no such task is served")
        return {"id": served()[index], "index": index}

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """A slice of them."""
        return self.list_tasks(split)[start:stop]

    def _drop(self) -> None:
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def _said(
        self, text: str, *, is_error: bool = False, ids: list[str] | None = None, paid: bool = False
    ) -> RepairObservation:
        episode = self._episode
        ended = episode.ended if episode is not None else ""
        return RepairObservation(
            text=text,
            is_error=is_error,
            ids=ids or [],
            episode_id=self._id,
            step=len(episode.steps) if episode is not None else 0,
            end_reason=ended,
            done=bool(ended),
            reward=self._rewards.steps[-1] if paid and self._rewards.steps else None,
        )

    def _refused(self, why: str) -> RepairObservation:
        """An error that pays nothing and ends nothing."""
        said = self._said(json.dumps({"error": "refused", "message": why}), is_error=True)
        said.reward = 0.0
        return said

    def _failed(self) -> RepairObservation:
        """The environment's own failure: unscored, never 0."""
        _LOG.exception("an episode failed")
        if self._episode is not None:
            self._episode.unscored, self._episode.ended = "the environment failed", "unscored"
        text = json.dumps({"error": "environment", "message": "this is not scored"})
        said = self._said(text, is_error=True)
        said.done, said.end_reason, said.reward = True, "unscored", None
        return said


def openenv_app(
    hosts: list[str] | None = None, sessions: int = SESSIONS, idle_seconds: float = IDLE_SECONDS
) -> FastAPI:
    """The server's application; ``hosts`` are the names that it answers to."""
    made: FastAPI = create_fastapi_app(
        RepairEnvironment,
        RepairAction,
        RepairObservation,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=sessions, session_timeout=idle_seconds
        ),
        env_name=NAME,
        state_cls=RepairState,
    )
    add_page(made)
    made.add_middleware(Frames)
    made.add_middleware(SameOrigin)
    made.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["127.0.0.1", "localhost"])
    return made


def app() -> FastAPI:
    """For ``uvicorn --factory``, behind whatever decides who may reach it."""
    return openenv_app(["*"])
