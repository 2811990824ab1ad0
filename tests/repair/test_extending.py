"""Another family and another service, added as the guide says, by files alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import heldout
from heldout.repair import families as package
from heldout.repair.canaries import CANARIES, ORACLE, ORACLE_FLOOR, worth
from heldout.repair.defect import Template
from heldout.repair.families import families
from heldout.repair.instance import Instance, State
from heldout.repair.probes import failed, probe
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import tasks

FAMILY = '''
"""A number that is one beside what it should be."""

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth


@dataclass(frozen=True, slots=True)
class OffByOne:
    name: str = "off_by_one"

    def templates(self):
        return (
            _one("limit-below", "ad_ranking", "ad_ranking/service.py", "rank",
                 '"limit", 3)), MAX_ADS)', '"limit", 3)), MAX_ADS) - 1 or 1'),
            _one("kept-beside", "capi_pipeline", "capi_pipeline/service.py", "ingest",
                 '{"kept": kept,', '{"kept": kept - 1,'),
            _one("number-beside", "whatsapp_sync", "whatsapp_sync/service.py", "send",
                 '{"message_id": number,', '{"message_id": number - 1,'),
        )


def _one(name, service, path, symbol, good, bad):
    defect = Change(path, good, bad)
    return Template(
        name=name,
        title=f"partners see figures of {service} that are one beside",
        defect=(defect,),
        truth=Truth(service, path, symbol, "off_by_one", (service,)),
        fix=Repair("as before", (Change(path, bad, good),)),
        wrong=(Repair("beside the other way", (Change(path, bad, bad.replace("- ", "+ ")),)),),
        suite="unit",
    )


FAMILY = OffByOne()
'''


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Template, ...]]:
    """One more file among the families."""
    (tmp_path / "off_by_one.py").write_text(FAMILY, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    for one in (families, tasks):
        one.cache_clear()
    yield families()["off_by_one"].templates()
    monkeypatch.undo()
    sys.modules.pop("heldout.repair.families.off_by_one", None)
    for one in (families, tasks):
        one.cache_clear()


def test_a_family_is_one_file(added: tuple[Template, ...]):
    """Its tasks stand in both halves, and its first right repair is worth all."""
    mine = [one for one in tasks().values() if one.family == "off_by_one"]
    assert len(mine) == 15
    assert {one.half for one in mine} == {"train", "test"}
    score = worth(ORACLE, added[0]).score
    assert score is not None
    assert score >= ORACLE_FLOOR


@pytest.mark.slow
def test_probes_and_canaries_fit_a_new_family(added: tuple[Template, ...]):
    """Nobody told them of it: right and wrong repairs are told apart, and a cheat is held."""
    with Sandbox() as sandbox:
        for template in added:
            instance = Instance(template, 0)
            for tree, passes in (
                (instance.tree(), False),
                (instance.repaired(template.fix), True),
                (instance.repaired(template.wrong[0]), False),
            ):
                found = probe(sandbox, instance, tree, State(instance.database()))
                assert (failed(found.at_fault) == ()) is passes, template.name
    caught = next(one for one in CANARIES if one.name == "every error is caught")
    held = worth(caught, added[0]).score
    assert held is not None
    assert held <= caught.ceiling


SERVICE = '''"""Endpoints of billing."""

from shared.api import endpoint, required
from shared.db import pool


@endpoint("billing")
async def budget(request: dict) -> dict:
    """What a campaign may still spend."""
    async with pool("billing").connection() as connection:
        rows = await connection.query(
            "select budget_cents from campaigns where id = ?",
            required(request, "campaign_id", int),
        )
    return {"cents": rows[0]["budget_cents"] if rows else 0}
'''
PLAYED = """
import json
from heldout.repair.episode import Episode
from heldout.repair.families import families
from heldout.repair.instance import Instance, State, play
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.suites import run_suite

template = families()["cached_type"].templates()[0]
with Sandbox() as sandbox:
    twin = Instance(template, 0).twin
    window = play(sandbox, twin, twin.tree(), State(twin.database()), seed=1)
    mine = [one for one in window.requests if one.service == "billing"]
    suite = run_suite(sandbox, twin, twin.tree(), State(twin.database()), "unit", "billing")
    shown = Episode(twin, sandbox).observation()
    print(json.dumps({
        "asked": len(mine),
        "answered": sum(one.status == 200 for one in mine),
        "checked": [one.passed for one in suite],
        "alerts": shown["alerts"],
        "health": shown["services"]["billing"]["health"],
    }))
"""


def test_a_service_is_a_folder_its_name_and_a_route(tmp_path: Path):
    """In a copy of the package with a fourth service: traffic reaches it, suites and metrics see it."""
    home = tmp_path / "heldout"
    shutil.copytree(
        Path(heldout.__file__).parent, home, ignore=shutil.ignore_patterns("__pycache__")
    )
    there = home / "repair" / "codebase" / "tree" / "billing"
    there.mkdir()
    (there / "__init__.py").write_text('"""Money."""\n', encoding="utf-8")
    (there / "service.py").write_text(SERVICE, encoding="utf-8")
    for path, old, new in (
        ("codebase/__init__.py", '"ad_ranking", ', '"ad_ranking", "billing", '),
        ("traffic.py", '    "sent": ("wh', '    "budget": ("billing", _Sender.spend),\n    "sent": ("wh'),
        ("traffic.py", '"spend": 1.5, ', '"spend": 1.5, "budget": 2.0, '),
    ):  # fmt: skip
        file = home / "repair" / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PLAYED],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    found = json.loads(done.stdout)
    assert found["asked"] > 20
    assert found["answered"] == found["asked"]
    assert found["checked"]
    assert all(found["checked"])
    assert found["alerts"] == []
    assert found["health"] == "healthy"
