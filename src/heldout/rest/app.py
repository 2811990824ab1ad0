"""The routes: start, step, state, grade, tools, tasks. Each answer is JSON, each error says why."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from heldout.errors import HeldoutError
from heldout.repair.tools import TOOLS
from heldout.rest.guards import SameOrigin
from heldout.rest.pages import add_page
from heldout.rest.sessions import Open, Refused, Sessions

_LOG = logging.getLogger(__name__)


class Start(BaseModel):
    """What a session is started with."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(max_length=40, description="id of a task, as GET /tasks lists it")]


class Call(BaseModel):
    """One step: a tool and its arguments."""

    model_config = ConfigDict(extra="forbid")

    tool: Annotated[str, Field(max_length=100)]
    args: dict[str, Any] = Field(default_factory=dict)


class End(BaseModel):
    """Whether an episode under way is to end by being graded."""

    model_config = ConfigDict(extra="forbid")

    end: bool = False


def repair_app(sessions: Sessions, hosts: list[str] | None = None) -> FastAPI:
    """The application over some sessions; ``hosts`` are the names that it answers to."""
    app = FastAPI(
        title="heldout repair environment",
        description="Episodes in which code is mended, one session for each.",
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["127.0.0.1", "localhost"])
    app.add_middleware(SameOrigin)
    _answers_to_errors(app)

    @app.get("/health")
    def health() -> dict[str, Any]:
        """Whether it serves, and how many sessions are open."""
        return {"status": "ok", "sessions": len(sessions)}

    @app.get("/tasks")
    def tasks() -> dict[str, Any]:
        """The tasks that are served, by ids that say nothing."""
        return {"tasks": sorted(sessions.allowed)}

    @app.get("/tools")
    def tools() -> dict[str, Any]:
        """The tools of every episode with JSON schemas of their arguments."""
        return {"tools": [tool.spec().wire() for tool in TOOLS.values()]}

    @app.post("/sessions", status_code=201)
    def start(wanted: Start) -> dict[str, Any]:
        """Start an episode. The key that is answered is the only way to it."""
        one = sessions.start(wanted.task)
        return {"session": one.key, **_seen(one)}

    @app.post("/sessions/{key}/step")
    def step(key: str, call: Call) -> dict[str, Any]:
        """Make one call; a call that does not fit is answered with an error and costs a step."""
        answer, one = sessions.step(key, call.tool, call.args)
        said = {"text": answer.text, "is_error": answer.is_error, "ids": list(answer.shown_ids)}
        return {"answer": said, **_counted(one)}

    @app.get("/sessions/{key}/state")
    def state(key: str) -> dict[str, Any]:
        """What dashboards show now."""
        with sessions.using(key) as one:
            return _seen(one)

    @app.post("/sessions/{key}/grade")
    def grade(key: str, wanted: End) -> dict[str, Any]:
        """What the episode was worth; runs the hidden probes, once."""
        return sessions.graded(key, end=wanted.end)

    @app.delete("/sessions/{key}")
    def stop(key: str) -> dict[str, Any]:
        """End a session."""
        sessions.stop(key)
        return {"ended": True}

    add_page(app)
    return app


def _counted(one: Open) -> dict[str, Any]:
    episode = one.session.episode
    return {
        "task": one.task,
        "step": len(episode.steps),
        "minute": round(episode.minute, 1),
        "done": bool(episode.ended),
        "ended": episode.ended,
    }


def _seen(one: Open) -> dict[str, Any]:
    return {"observation": one.session.episode.observation(), **_counted(one)}


def _answers_to_errors(app: FastAPI) -> None:
    """Errors in one shape. What was not foreseen is logged here and never told to a client."""

    @app.exception_handler(HeldoutError)
    async def ours(request: Request, error: HeldoutError) -> JSONResponse:
        status = error.status if isinstance(error, Refused) else 400
        return _told(status, error.what, error.mend)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return _told(422, f"{where}: {first['msg']}"[:300], "See /openapi.json")

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return _told(error.status_code, str(error.detail)[:200], "See /docs")

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        await run_in_threadpool(_LOG.error, "a request failed", exc_info=error)
        return _told(500, "the environment failed", "This is not the caller's doing; see its log")


def _told(status: int, what: str, mend: str) -> JSONResponse:
    return JSONResponse({"error": {"what": what, "mend": mend}}, status_code=status)
