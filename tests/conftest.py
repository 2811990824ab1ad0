"""Guards that hold for every test: no socket off loopback, no key, no state outside tmp."""

from __future__ import annotations

import ipaddress
import os
import socket
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["DO_NOT_TRACK"] = "1"
for _name in [n for n in os.environ if n.endswith("_API_KEY") or n == "OPENAI_BASE_URL"]:
    del os.environ[_name]

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


class OffLoopbackError(RuntimeError):
    """A test tried to leave this machine."""


def _check(address: Any) -> None:
    if not isinstance(address, tuple):
        return
    host = str(address[0])
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = host in {"localhost", ""}
    if not inside:
        raise OffLoopbackError(f"a test opened a socket to {host}")


def _guarded_connect(self: socket.socket, address: Any) -> None:
    _check(address)
    _connect(self, address)


def _guarded_connect_ex(self: socket.socket, address: Any) -> int:
    _check(address)
    return _connect_ex(self, address)


def _guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    if host is not None:
        name = host.decode() if isinstance(host, bytes) else str(host)
        _check((name, 0))
    return _getaddrinfo(host, *args, **kwargs)


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Replace the socket calls for the whole session."""
    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", _guarded_connect)
    patch.setattr(socket.socket, "connect_ex", _guarded_connect_ex)
    patch.setattr(socket, "getaddrinfo", _guarded_getaddrinfo)
    yield
    patch.undo()


SAMPLE = 24
"""Of the tests marked ``slow`` one in so many runs each time, always the same ones."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--slow`` runs every slow test instead of a sample."""
    parser.addoption("--slow", action="store_true", help="run all slow tests, not a sample")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what costs money always, and most of what is slow unless it was asked for."""
    chosen = bool(config.getoption("--slow")) or bool(config.getoption("-m"))
    kept, left = [], []
    for item in items:
        sampled = zlib.crc32(item.nodeid.encode()) % SAMPLE == 0
        sampled = sampled and item.get_closest_marker("long") is None
        slow = item.get_closest_marker("slow") is not None and not (chosen or sampled)
        live = item.get_closest_marker("live") is not None and not config.getoption("-m")
        (left if slow or live else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
