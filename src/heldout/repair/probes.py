"""Hidden probes: what decides whether a repair is one. Never served, drawn anew for each task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from heldout.repair.codebase import SERVICES
from heldout.repair.comparing import QUIET, Check, alive, answers, lines, pace, privacy, rows, trial
from heldout.repair.instance import Instance, State
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tree import Tree

SOAK_SECONDS = 150.0
"""The hidden soak is longer than the alert's window: what only slows a leak down does not pass."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What was checked of a tree: ``at_fault`` decides the gate, ``elsewhere`` the regressions."""

    checks: tuple[Check, ...]
    service: str

    @property
    def at_fault(self) -> tuple[Check, ...]:
        """Checks of the service at fault, of the process and of the rows."""
        wide = self.service not in SERVICES
        return tuple(one for one in self.checks if wide or one.service in ("", self.service))

    @property
    def elsewhere(self) -> tuple[Check, ...]:
        """Checks of everything else."""
        there = set(self.at_fault)
        return tuple(one for one in self.checks if one not in there)


def probe(sandbox: Sandbox, instance: Instance, tree: Tree, state: State) -> Probes:
    """Probe a tree on its present state: quiet traffic, a long peak, private data."""
    checks: list[Check] = []
    profile = instance.template.profile
    quietly = replace(QUIET, shares=profile.shares, unknown=profile.unknown)
    quiet = trial(sandbox, instance, tree, state, seed=_hidden(instance, "quiet"), profile=quietly)
    checks += [alive(quiet), *answers(quiet, SERVICES), rows(quiet)]
    checks += privacy(quiet, instance, SERVICES)
    checks += lines(quiet, SERVICES)
    soak = trial(
        sandbox, instance, tree, state, seed=_hidden(instance, "soak"), profile=profile,
        seconds=SOAK_SECONDS,
    )  # fmt: skip
    checks += [_named("soak", one) for one in (alive(soak), *pace(soak, SERVICES))]
    return Probes(tuple(checks), instance.truth.service)


def _named(prefix: str, one: Check) -> Check:
    return replace(one, name=f"{prefix}: {one.name}")


def _hidden(instance: Instance, what: str) -> int:
    text = f"probe\0{instance.template.name}\0{instance.seed}\0{what}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Those that do not hold."""
    return tuple(one for one in checks if not one.passed)
