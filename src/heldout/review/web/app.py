"""The addresses of the review page, and the server on the loopback device that answers them."""

from __future__ import annotations

import contextlib
import secrets
import socket
from dataclasses import dataclass
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from heldout.errors import HeldoutError, UsageError
from heldout.review.web.desk import Answer, Desk, Form, refusal
from heldout.review.web.guarding import LARGEST, Guard, Keys
from heldout.review.web.rendering import render, stylesheet
from heldout.settings import Settings

HOST = "127.0.0.1"
_LINGER = 3
_FIELDS = 1_000


@dataclass(frozen=True, slots=True)
class Open:
    """A desk that waits to be served: the address to open, and the server."""

    url: str
    desk: Desk
    server: uvicorn.Server
    listening: socket.socket

    def serve(self) -> None:
        """Answer until the process is told to stop; an interrupt is how a person ends it."""
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self.server.run(sockets=[self.listening])
        finally:
            self.desk.close()
            self.listening.close()


def open_desk(settings: Settings, *, port: int = 0, name: str = "", proposal: str = "") -> Open:
    """Take a port of the loopback device (0: any); ``proposal`` is where the address leads."""
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used ({error.strerror})", mend="Leave --port out, or free it"
        ) from error
    port = listening.getsockname()[1]
    keys = Keys(secrets.token_urlsafe(24), secrets.token_bytes(32))
    desk = Desk(settings, keys, name)
    config = uvicorn.Config(
        _application(desk, port),
        log_level="error",
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_LINGER,
    )
    url = f"http://{HOST}:{port}/{keys.key}/{proposal}"
    return Open(url, desk, uvicorn.Server(config), listening)


def _application(desk: Desk, port: int) -> Starlette:
    pages = _Pages(desk)
    root = f"/{desk.keys.key}"
    hosts = (f"{HOST}:{port}", f"localhost:{port}")
    return Starlette(
        routes=[
            Route(f"{root}/", pages.listing),
            Route(f"{root}/review.css", pages.style),
            Route(f"{root}/{{proposal}}", pages.proposal),
            Route(f"{root}/{{proposal}}/decision", pages.decision, methods=["POST"]),
            Route(f"{root}/{{proposal}}/amend", pages.editor),
            Route(f"{root}/{{proposal}}/amendment", pages.amendment, methods=["GET", "POST"]),
        ],
        middleware=[Middleware(Guard, keys=desk.keys, hosts=hosts)],
    )


class _Pages:
    """One method for each address."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._root = f"/{desk.keys.key}"

    def style(self, request: Request) -> Response:
        return Response(stylesheet(), media_type="text/css")

    def listing(self, request: Request) -> Response:
        try:
            return self._page("listing", rows=self._desk.listed())
        except HeldoutError as error:
            return self._said(refusal(error))

    def proposal(self, request: Request) -> Response:
        """The one screen; a changed diff is refused with a page that says so."""
        name = str(request.path_params["proposal"])
        try:
            if not self._desk.known(name):
                return self._said(_unknown())
            shown = self._desk.sheet(name)
        except HeldoutError as error:
            return self._said(refusal(error, name))
        token = self._desk.keys.token(shown.proposal, shown.diff_hash)
        return self._page("proposal", s=shown, token=token, who=self._desk.name)

    def editor(self, request: Request) -> Response:
        name = str(request.path_params["proposal"])
        try:
            if not self._desk.known(name):
                return self._said(_unknown())
            shown, files = self._desk.sheet(name), self._desk.files(name)
        except HeldoutError as error:
            return self._said(refusal(error, name))
        token = self._desk.keys.token(shown.proposal, shown.diff_hash)
        return self._page("amend", s=shown, files=files, token=token, who=self._desk.name)

    async def decision(self, request: Request) -> Response:
        form = await _form(request)
        if form is None:
            return self._said(Answer(413, "This form is too large, or no form"))
        name = str(request.path_params["proposal"])
        return self._said(await run_in_threadpool(self._desk.decide, name, form))

    async def amendment(self, request: Request) -> Response:
        """Start one, or show where it stands."""
        name = str(request.path_params["proposal"])
        if request.method == "POST":
            form = await _form(request)
            if form is None:
                return self._said(Answer(413, "This form is too large, or no form"))
            answer = await run_in_threadpool(self._desk.amend, name, form)
            if answer.status != 202:
                return self._said(answer)
            return RedirectResponse(f"{self._root}/{name}/amendment", status_code=303)
        running = self._desk.amendment
        if running is None or running.proposal != name:
            return self._said(Answer(404, "No amendment of this proposal is being measured"))
        return self._page("amendment", proposal=name, state=running.state, said=running.said())

    def _said(self, answer: Answer) -> Response:
        return self._page("answer", status=answer.status, answer=answer)

    def _page(self, template: str, *, status: int = 200, **values: object) -> Response:
        return HTMLResponse(render(template, root=self._root, **values), status_code=status)


def _unknown() -> Answer:
    return Answer(404, "There is no such proposal")


async def _form(request: Request) -> Form | None:
    """The fields of a form; ``None`` for one that is too large, or no form at all."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            return None
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        return None
    return Form(fields)
