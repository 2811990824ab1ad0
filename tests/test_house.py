"""The house: folders, guards and contracts that hold whatever the rooms contain."""

from __future__ import annotations

import importlib.util
import socket
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_a_socket_off_loopback_is_refused():
    """The guard in conftest stops a connection that would leave this machine."""
    with pytest.raises(RuntimeError, match="opened a socket"):
        socket.create_connection(("192.0.2.1", 80), timeout=0.1)


@pytest.mark.parametrize("folder", ["flows", "brain", "datasets", "checkers"])
def test_top_level_folders_are_not_packages(folder: str):
    """An importable top-level ``datasets`` would break other libraries, so none is a package."""
    assert (ROOT / folder).is_dir()
    assert not (ROOT / folder / "__init__.py").exists()


def test_no_flow_or_checker_shadows_a_module():
    """Prefect puts flows/ first on sys.path, so no file there may carry a known module's name."""
    stems = [p.stem for folder in ("flows", "checkers") for p in (ROOT / folder).glob("*.py")]
    assert stems
    for stem in stems:
        assert stem not in sys.stdlib_module_names
        spec = importlib.util.find_spec(stem)
        assert spec is None or "site-packages" not in str(spec.origin)
