"""What the fault tests compare with: a run that nobody disturbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_killed import CALLS, finish, rows, start
from run_server import Server


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Its rows, all but times."""
    root: Path = tmp_path_factory.mktemp("undisturbed")
    with Server(delay=0) as server:
        code, run, err = finish(start(root, server.url, "play"))
        assert code == 0, err
        assert server.total == CALLS
    return rows(root, run)
