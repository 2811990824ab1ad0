"""A real HTTP server on loopback that speaks the Chat Completions wire, and speaks it badly on demand.

::

    with WireServer(call("search_entities", query="x"), status(429, {"Retry-After": "0"}), text("done")) as server:
        client = open_client("openai/fake", base_url=server.url)

Each request takes the next of the replies; the last one is repeated. ``server.requests`` holds what
was asked.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler"], None]


@dataclass
class Asked:
    """One request as the server saw it; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)


class Handler(BaseHTTPRequestHandler):
    """Reads the request, then lets the next reply of the script write whatever it wants."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Headers and body are two packets: 40 ms otherwise.
    server: Any
    asked: Asked

    def do_POST(self) -> None:
        """One request."""
        length = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(length) or b"{}")
        owner: WireServer = self.server.owner
        self.asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        with owner.lock:
            owner.requests.append(self.asked)
            position = min(len(owner.requests) - 1, len(owner.replies) - 1)
            owner.in_flight += 1
            owner.peak = max(owner.peak, owner.in_flight)
        try:
            owner.replies[position](self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with owner.lock:
                owner.in_flight -= 1

    do_GET = do_POST

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def send_bytes(
        self, data: bytes, code: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A complete answer."""
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is expected here."""


class WireServer:
    """The server; ``url`` is its base URL."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Asked] = []
        self.lock = threading.Lock()
        self.in_flight = 0
        self.peak = 0
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.owner = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> WireServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


def completion(
    message: Mapping[str, Any], *, finish: str = "stop", model: str = "fake", usage: Any = USAGE
) -> dict[str, Any]:
    """A Chat Completions response."""
    data: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        ],
    }
    if usage is not None:
        data["usage"] = usage
    return data


def body(data: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Any bytes or JSON as the whole answer."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return lambda handler: handler.send_bytes(raw, code, headers)


def text(content: str, **kwargs: Any) -> Reply:
    """A reply in words."""
    return body(completion({"content": content}, **kwargs))


def calls(*wanted: tuple[str, str], **kwargs: Any) -> Reply:
    """A reply with tool calls: pairs of name and argument text."""
    items = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(wanted)
    ]
    return body(completion({"content": None, "tool_calls": items}, finish="tool_calls", **kwargs))


def call(name: str, /, **arguments: Any) -> Reply:
    """A reply with one tool call."""
    return calls((name, json.dumps(arguments)))


def status(
    code: int, headers: Mapping[str, str] | None = None, *, message: str = "no", kind: str = ""
) -> Reply:
    """An error answer."""
    return body({"error": {"message": message, "type": kind, "code": kind or None}}, code, headers)


def reset(handler: Handler) -> None:
    """Drop the connection with RST and no answer."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def half(handler: Handler) -> None:
    """Announce more bytes than are sent, then hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices":[')
    handler.close_connection = True


def drip(interval: float, chunk: bytes = b" ") -> Reply:
    """Send headers, then one chunk at a time for ever."""

    def write(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while not handler.server.owner.stopping.wait(interval):
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            handler.wfile.flush()

    return write


def silence(handler: Handler) -> None:
    """Read the request and never answer."""
    handler.server.owner.stopping.wait(30)
    handler.close_connection = True


def slow(seconds: float, then: Reply) -> Reply:
    """Wait, then answer."""

    def write(handler: Handler) -> None:
        time.sleep(seconds)
        then(handler)

    return write
