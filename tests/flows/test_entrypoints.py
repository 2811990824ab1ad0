"""Every flow of the project loads for real, and the schedules name flows that exist."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FLOWS = sorted(path.stem for path in (ROOT / "flows").glob("*.py"))

LOAD = """
import sys
from heldout.pipeline import prefect_environment
prefect_environment()
from prefect.flows import load_flow_from_entrypoint
flow = load_flow_from_entrypoint(sys.argv[1], use_placeholder_flow=False)
print(flow.name, sorted(flow.parameters.properties))
"""


def load(entrypoint: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Load one entrypoint in a process of its own, as a worker does."""
    return subprocess.run(
        [sys.executable, "-c", LOAD, entrypoint],
        cwd=ROOT,
        env={**os.environ, "PREFECT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", FLOWS)
def test_every_entrypoint_loads_without_a_placeholder(name: str, tmp_path: Path):
    """A flow file whose import fails is noticed here and not at five on Monday morning."""
    done = load(f"flows/{name}.py:{name}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{name} ")


def test_a_broken_flow_file_is_noticed(tmp_path: Path):
    """The load that the test above relies on does fail on a broken import."""
    (tmp_path / "broken.py").write_text(
        "import nonesuch_module\nfrom prefect import flow\n@flow\ndef broken(): ...\n"
    )
    assert load(f"{tmp_path}/broken.py:broken", tmp_path).returncode != 0


def test_flows_hold_no_logic_and_no_classes():
    """Branches, loops and classes belong in the package, where tests need no Prefect."""
    banned = (ast.ClassDef, ast.For, ast.While, ast.Try, ast.With)
    for name in FLOWS:
        tree = ast.parse((ROOT / "flows" / f"{name}.py").read_text())
        assert not [node for node in ast.walk(tree) if isinstance(node, banned)], name


def test_schedules_name_one_deployment_per_model():
    """prefect.yaml: a tuning job and a canary for each model, each on a schedule and one at once."""
    from heldout.pipeline import Job

    text = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    tuned, watched = [], []
    for deployment in text["deployments"]:
        if deployment["entrypoint"] == "flows/review.py:review":
            # Started by a job; a run that is suspended may hold no slot of a limit.
            assert not deployment.keys() & {"schedules", "concurrency_limit"}
            continue
        assert deployment["schedules"]
        assert deployment["concurrency_limit"]["limit"] == 1
        parameters = deployment["parameters"]
        if deployment["entrypoint"] == "flows/tune.py:tune":
            job = Job.model_validate(parameters["job"])
            assert job.review == "wait"
            tuned.append(job.model)
        else:
            assert deployment["entrypoint"] == "flows/canary.py:canary"
            assert parameters["fail_on_drift"] is True
            watched.append(parameters["model"])
    assert len(tuned) == len(set(tuned)) > 0
    assert watched == tuned


def test_prefects_settings_are_the_same_for_flows_and_for_its_own_commands():
    """What flows set in the environment is in prefect.toml, so that a server started by hand has it."""
    import tomllib

    from heldout.pipeline.environment import PREFECT_DEFAULTS

    held = tomllib.loads((ROOT / "prefect.toml").read_text())
    assert held["server"]["ui"]["api_url"] == "/api"
    assert held["server"]["analytics_enabled"] is False
    assert held["home"] == "./.prefect"
    only_flows = {"DO_NOT_TRACK", "PREFECT_LOGGING_SERVER_LEVEL"}
    for name, value in PREFECT_DEFAULTS.items():
        if name in only_flows:
            continue
        table: Any = held
        rest = name.removeprefix("PREFECT_").lower()
        while isinstance(table, dict):
            key = next(one for one in table if rest == one or rest.startswith(f"{one}_"))
            table, rest = table[key], rest[len(key) + 1 :]
        assert str(table).lower() == value.lower(), name
