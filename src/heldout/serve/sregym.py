"""The endpoints that clients of SREGym know: ``/get_app``, ``/status``, ``/submit``.

The stage is ``diagnosis`` until a solution was taken and ``done`` afterwards; there is nothing to
mitigate in a recorded world. An answer never says whether the solution is right.
"""

from __future__ import annotations

import json

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from heldout.serve.sitting import SUBMIT, Sitting
from heldout.serve.solution import read_solution

_LONGEST = 64_000
_HOW = (
    "\n\nState one root cause. Name the entity and the change at fault by their ids, as the tools "
    "show them (e-..., c-...)."
)


def routes(sitting: Sitting) -> list[Route]:
    """The three endpoints of one sitting."""

    async def get_app(request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "app_name": "production",
                "namespace": "all",
                "descriptions": sitting.assignment.alert + _HOW,
            }
        )

    async def status(request: Request) -> JSONResponse:
        return JSONResponse({"stage": "done" if sitting.submitted else "diagnosis"})

    async def submit(request: Request) -> JSONResponse:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST:
                return JSONResponse({"detail": "the solution is too long"}, 413)
        if sitting.submitted:
            return JSONResponse({"status": "done", "message": "Nothing more is to be submitted."})
        try:
            solution = json.loads(body)["solution"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return JSONResponse({"detail": "send a JSON object with 'solution'"}, 422)
        arguments = await run_in_threadpool(read_solution, sitting, str(solution))
        answer = await run_in_threadpool(sitting.call, SUBMIT, arguments)
        if answer.is_error:
            return JSONResponse({"detail": json.loads(answer.text)["error"]["message"]}, 400)
        return JSONResponse({"status": "200", "message": "Submission received"})

    return [
        Route("/get_app", get_app),
        Route("/status", status),
        Route("/submit", submit, methods=["POST"]),
    ]
