"""A loopback HTTP server that answers JSON with JSON, quietly."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that was killed hangs up."""


def send(request: BaseHTTPRequestHandler, status: int, payload: bytes) -> None:
    """Send a whole body of JSON."""
    request.send_response(status)
    request.send_header("content-type", "application/json")
    request.send_header("content-length", str(len(payload)))
    request.end_headers()
    request.wfile.write(payload)


class JsonServer(ABC):
    """Runs while it is entered; what it says is :meth:`answer`'s business."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.respond(self, body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def respond(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Send what is answered; to be overridden by a server that misbehaves."""
        status, data = self.answer(body)
        send(request, status, json.dumps(data).encode())

    @abstractmethod
    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the body of the reply to one request."""
