"""Test suites that an agent can run: what they say is computed by running the code, as always.

They see less than the hidden probes: other seeds, shorter windows, and each only its own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

from heldout.errors import UsageError
from heldout.repair.codebase import SERVICES
from heldout.repair.comparing import QUIET, Check, alive, answers, pace, privacy, rows, trial
from heldout.repair.instance import Instance, State
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tree import Tree

Suite = Literal["unit", "integration", "load", "security"]
SUITES: tuple[str, ...] = get_args(Suite)

Runner = Callable[[Sandbox, Instance, Tree, State, Sequence[str]], list[Check]]

_SEED = 77_000


def run_suite(
    sandbox: Sandbox, instance: Instance, tree: Tree, state: State, suite: str, service: str = ""
) -> tuple[Check, ...]:
    """Run one suite, of one service or of all."""
    if suite not in _RUNNERS:
        raise UsageError(f"there is no suite '{suite[:40]}'", mend=f"Say {', '.join(SUITES)}")
    if service and service not in SERVICES:
        raise UsageError(f"there is no service '{service[:40]}'", mend=f"Say {', '.join(SERVICES)}")
    services = (service,) if service else SERVICES
    return tuple(_RUNNERS[suite](sandbox, instance, tree, state, services))


def rendered(suite: str, checks: Sequence[Check]) -> str:
    """The outcome as a test runner prints it."""
    lines = []
    for one in checks:
        name = one.name.replace(" ", "_").replace(":", "")
        path = f"tests/{suite}/test_{one.service or 'platform'}.py::test_{name}"
        lines.append(f"{'PASSED' if one.passed else 'FAILED'} {path}")
        if not one.passed:
            lines.append(f"    {one.seen[:400]}")
    failed = sum(not one.passed for one in checks)
    lines.append(f"{failed} failed, {len(checks) - failed} passed")
    return "\n".join(lines)


def _unit(
    sandbox: Sandbox, instance: Instance, tree: Tree, state: State, services: Sequence[str]
) -> list[Check]:
    """Endpoints one by one, a few requests each, twice, so that the second finds a warm cache."""
    calm = replace(QUIET, rate=1.5, clean_at=None)
    found = trial(sandbox, instance, tree, state, seed=_SEED, profile=calm, seconds=30.0)
    return [alive(found), *answers(found, services)]


def _integration(
    sandbox: Sandbox, instance: Instance, tree: Tree, state: State, services: Sequence[str]
) -> list[Check]:
    """Traffic across services, and what reports say afterwards."""
    profile = instance.template.profile
    busy = replace(QUIET, shares={**profile.shares, "purchases": 2.0, "sent": 2.0}, clean_at=20.0)
    found = trial(sandbox, instance, tree, state, seed=_SEED + 1, profile=busy)
    return [alive(found), *answers(found, services), rows(found)]


def _load(
    sandbox: Sandbox, instance: Instance, tree: Tree, state: State, services: Sequence[str]
) -> list[Check]:
    """The peak of the alert's window."""
    profile = instance.template.profile
    found = trial(sandbox, instance, tree, state, seed=_SEED + 2, profile=profile)
    return [alive(found), *pace(found, services)]


def _security(
    sandbox: Sandbox, instance: Instance, tree: Tree, state: State, services: Sequence[str]
) -> list[Check]:
    """Whether anything private is in answers or logs."""
    profile = replace(QUIET, shares=instance.template.profile.shares, unknown=0.15)
    found = trial(sandbox, instance, tree, state, seed=_SEED + 3, profile=profile)
    return [alive(found), *privacy(found, instance, services)]


_RUNNERS: dict[str, Runner] = {
    "unit": _unit,
    "integration": _integration,
    "load": _load,
    "security": _security,
}
