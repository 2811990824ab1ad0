"""Candidate against healthy code: the same traffic, and what of the answers differs.

Nothing here knows which defect there is. What is right is what the healthy code answers, with the
same rows, at the same moment; how slow is too slow is measured on it as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from heldout.repair.estate import people
from heldout.repair.instance import WINDOW_SECONDS, Instance, State, play
from heldout.repair.platform.records import Request, Window
from heldout.repair.sandbox.runner import Sandbox, SandboxError
from heldout.repair.telemetry import percentile
from heldout.repair.traffic import Profile
from heldout.repair.tree import Tree

QUIET = Profile(rate=3.0, clean_at=40.0)
"""So little traffic that nothing waits for anything: answers must be equal, byte for byte."""

MAX_SHOWN = 5

MOST_PLAYED = 24
"""Windows of healthy code that are kept: they are the same whenever they are played."""

_PLAYED: dict[tuple[str, int, int, str, float], tuple[Window, tuple[str, ...]]] = {}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked: whether it holds, and what was seen where it does not."""

    name: str
    service: str
    passed: bool
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A window of the candidate and of the healthy code, with the rows afterwards."""

    candidate: Window
    healthy: Window
    rows: tuple[str, ...]
    healthy_rows: tuple[str, ...]


def trial(
    sandbox: Sandbox,
    instance: Instance,
    tree: Tree,
    state: State,
    *,
    seed: int,
    profile: Profile,
    seconds: float = WINDOW_SECONDS,
) -> Trial:
    """Play one window with both; ``state`` is the candidate's and is left as it was.

    The healthy code is the control of the machine as well: where that does not run to its end
    either, nothing was learned of the candidate, and it is a :class:`SandboxError`.
    """
    own = State(state.database.copy(), dict(state.cache), state.environment)
    window = play(sandbox, instance, tree, own, seed=seed, profile=profile, seconds=seconds)
    expected, rows_ = _expected(sandbox, instance.twin, seed, profile, seconds)
    found = Trial(window, expected, own.database.dump(), rows_)
    own.database.close()
    return found


def _expected(
    sandbox: Sandbox, twin: Instance, seed: int, profile: Profile, seconds: float
) -> tuple[Window, tuple[str, ...]]:
    """What the healthy code does in a window, and the rows that it leaves; played once."""
    key = (twin.template.name, twin.seed, seed, repr(profile), seconds)
    if key not in _PLAYED:
        calm = replace(twin, template=replace(twin.template, environment={}))
        reference = State(twin.database())
        window = play(
            sandbox, calm, twin.tree(), reference, seed=seed, profile=profile, seconds=seconds
        )
        found = window, reference.database.dump()
        reference.database.close()
        if window.broke or window.import_failures:
            raise SandboxError(
                f"the healthy code did not run to its end ({window.broke or 'import failed'})",
                mend="Play again on a machine that is less busy",
            )
        while len(_PLAYED) >= MOST_PLAYED:
            _PLAYED.pop(next(iter(_PLAYED)))
        _PLAYED[key] = found
    return _PLAYED[key]


def answers(found: Trial, services: Iterable[str]) -> tuple[Check, ...]:
    """For each service and route: every answer equals the healthy code's."""
    checks: list[Check] = []
    pairs = _pairs(found.candidate.requests, found.healthy.requests)
    for service in services:
        routes = sorted({one.target for one, _ in pairs if one.service == service})
        for route in routes:
            mine = [
                (one, two) for one, two in pairs if (one.service, one.target) == (service, route)
            ]
            wrong = [
                f"{_shown(one)} instead of {_shown(two)}"
                for one, two in mine
                if _said(one) != _said(two)
            ]
            name = route.split(":")[-1]
            checks.append(
                Check(f"answers of {name}", service, not wrong, "; ".join(wrong[:MAX_SHOWN]))
            )
    return tuple(checks)


def _pairs(
    candidate: Sequence[Request], healthy: Sequence[Request]
) -> list[tuple[Request, Request]]:
    """Requests of the traffic itself, paired in order; those between services are left out."""
    outside = [one for one in candidate if not one.origin]
    expected = [one for one in healthy if not one.origin]
    return list(zip(outside, expected, strict=True))


def _said(one: Request) -> str:
    return json.dumps([one.status, one.raised, one.value], sort_keys=True)


def _shown(one: Request) -> str:
    return (one.raised and f"{one.status} {one.raised}") or json.dumps(one.value)[:160]


def rows(found: Trial) -> Check:
    """The database holds the rows and the schema that the healthy code leaves."""
    missing = sorted(set(found.healthy_rows) - set(found.rows))
    added = sorted(set(found.rows) - set(found.healthy_rows))
    seen = [f"{len(missing)} rows are not there, {len(added)} are that should not"]
    seen += [f"not there: {one}" for one in missing[:2]] + [f"there: {one}" for one in added[:2]]
    return Check("rows in the database", "", not missing and not added, "; ".join(seen))


def pace(found: Trial, services: Iterable[str]) -> tuple[Check, ...]:
    """For each service: no more failures and not slower than the healthy code, nothing left open.

    A little is allowed for: two failures in a thousand, half as slow again and 50 ms.
    """
    checks: list[Check] = []
    for service in services:
        mine, good = found.candidate.of(service), found.healthy.of(service)
        failed, allowed = _failed(mine), _failed(good) + 0.002
        checks.append(
            Check("failures", service, failed <= allowed, f"{failed:.2%}, {allowed:.2%} allowed")
        )
        slow, limit = _p99(mine), 1.5 * _p99(good) + 0.05
        checks.append(
            Check(
                "p99", service, slow <= limit, f"{1000 * slow:.0f} ms, {1000 * limit:.0f} allowed"
            )
        )
        open_, bound = (
            window.left_open.get(service, 0) for window in (found.candidate, found.healthy)
        )
        checks.append(
            Check("connections", service, open_ <= bound + 3, f"{open_} open, {bound + 3} allowed")
        )
    return tuple(checks)


def _failed(requests: Sequence[Request]) -> float:
    return sum(one.status >= 500 for one in requests) / len(requests) if requests else 0.0


def _p99(requests: Sequence[Request]) -> float:
    return percentile([one.seconds or 0.0 for one in requests], 0.99)


def privacy(found: Trial, instance: Instance, services: Iterable[str]) -> tuple[Check, ...]:
    """For each service: nothing private of anybody is in an answer or a line of its log."""
    private = {one.email for one in people(instance.estate)}
    private |= {one.phone for one in people(instance.estate)}
    checks: list[Check] = []
    for service in services:
        said = [
            (one.target.split(":")[-1], json.dumps([one.value, one.message]))
            for one in found.candidate.of(service)
        ]
        said += [("log", line.message) for line in found.candidate.lines if line.service == service]
        leaks = sorted({where for where, text in said if any(one in text for one in private)})
        seen = f"private data in: {', '.join(leaks)}" if leaks else ""
        checks.append(Check("private data", service, not leaks, seen))
    return tuple(checks)


def lines(found: Trial, services: Iterable[str]) -> tuple[Check, ...]:
    """For each service: it still says of warnings and errors what the healthy code says."""
    checks: list[Check] = []
    for service in services:
        mine, good = (_loud(window, service) for window in (found.candidate, found.healthy))
        seen = f"{mine} lines of warnings and errors, {good} expected"
        checks.append(Check("log", service, mine >= good, seen))
    return tuple(checks)


def _loud(window: Window, service: str) -> int:
    return sum(one.service == service and one.level != "INFO" for one in window.lines)


def alive(found: Trial) -> Check:
    """The process ran to the end and loaded every module."""
    broke = found.candidate.broke
    failed = [f"{name}: {why}" for name, why in found.candidate.import_failures.items()]
    return Check(
        "the process", "", not broke and not failed, "; ".join([broke, *failed]).strip("; ")
    )
