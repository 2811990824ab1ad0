"""Plans of sets: how many incidents of each kind, and how hard they are drawn.

The named plans are ``prod_hard``, ``demo`` (as hard, and small enough to play in two minutes),
``onset_control`` and ``classic``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from heldout.errors import UsageError
from heldout.simulate.fault import nearest
from heldout.simulate.knobs import checked
from heldout.truth import KINDS
from heldout.truth.specs import Kind

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Draw:
    """How the knobs of trap incidents are drawn.

    ``days`` and ``hours`` bound the age of the cause in days; one in ``hours_every`` is only hours
    old. Days are drawn evenly, up to nearly the length of a history: were young causes likelier,
    age alone would rank them above most changes of their type. ``hops`` and ``routes`` are drawn
    evenly from their lists, all other spans evenly within. ``traps`` are the least and most traps
    of an incident, ``latent_cause`` included.
    """

    days: Span = (1.5, 13.0)
    hours: Span = (0.15, 0.9)
    hours_every: int = 9
    traps: tuple[int, int] = (2, 5)
    hops: tuple[int, ...] = (0, 1, 1, 2, 2, 2, 3, 3, 4, 4)
    routes: tuple[int, ...] = (1, 1, 1, 2, 2, 2, 2, 3, 3, 3)
    decoys: tuple[int, int] = (1, 3)
    noise: Span = (1.0, 3.0)
    fleet_share: Span = (0.1, 0.7)
    alerts: tuple[int, int] = (3, 25)
    pr_coverage: Span = (0.6, 0.95)
    drift: Span = (0.35, 0.94)
    log_coverage: Span = (0.85, 1.0)


EASY = Draw(
    hours_every=1,
    traps=(1, 1),
    hops=(1,),
    routes=(3,),
    alerts=(3, 8),
    pr_coverage=(0.85, 0.95),
    drift=(0.35, 0.6),
    log_coverage=(1.0, 1.0),
)
"""Recent, near and loud causes, and nothing that misleads."""


@dataclass(frozen=True, slots=True)
class SetPlan:
    """What a set should hold, by kind of incident.

    ``spare`` is the size of the pool over that of the set: what the validity gate discards must be
    made up for, and the sides are chosen from what is left. ``scale``, ``events`` and ``log_lines``
    shrink worlds; ``events`` 0 draws as many as a real history has.
    """

    name: str
    seed: int = 1
    traps: int = 0
    onset_controls: int = 0
    no_change: int = 0
    no_fault: int = 0
    unanswerable: int = 0
    draw: Draw = field(default_factory=Draw)
    spare: float = 1.4
    scale: float = 1.0
    log_lines: int = 100_000
    events: int = 0

    @property
    def wanted(self) -> Mapping[Kind, int]:
        """How many incidents of each kind the set shall hold."""
        counts = (self.traps, self.onset_controls, self.no_change, self.no_fault, self.unanswerable)
        return dict(zip(KINDS, counts, strict=True))

    @property
    def total(self) -> int:
        """How many incidents the set holds."""
        return sum(self.wanted.values())

    def pooled(self, kind: Kind) -> int:
        """How many drafts of a kind the pool holds."""
        return math.ceil(self.wanted[kind] * self.spare)

    def check(self) -> None:
        """Raise :class:`UsageError` on a plan that cannot be split in two or made that small."""
        if min(self.wanted.values()) < 0 or self.total < 2:
            raise UsageError(
                "a set needs at least two incidents", where=self.name, mend="Ask for more"
            )
        if self.spare < 1:
            raise UsageError(
                f"a pool of {self.spare:g} times the set is smaller than the set",
                where=self.name, mend="Choose a spare of 1 or more",
            )  # fmt: skip
        checked({"scale": self.scale, "log_lines": self.log_lines, "events": self.events or 100})


PLANS: Mapping[str, SetPlan] = {
    plan.name: plan
    for plan in (
        SetPlan(
            "prod_hard", traps=74, onset_controls=10, no_change=6, no_fault=6, unanswerable=4
        ),
        SetPlan(
            "demo", seed=2, traps=18, onset_controls=2, no_change=2, no_fault=1, unanswerable=1
        ),
        SetPlan("onset_control", onset_controls=24),
        SetPlan("classic", traps=18, onset_controls=6, no_change=4, no_fault=2, draw=EASY),
    )
}  # fmt: skip
"""The sets that ship, by name."""


def plan_for(
    name: str,
    shape: str = "",
    *,
    seed: int = 1,
    traps: int | None = None,
    controls: int | None = None,
    scale: float = 1.0,
) -> SetPlan:
    """The plan of a set called ``name``.

    ``shape`` names a plan; by default it is the plan of the set's own name, else that of
    ``prod_hard``. ``traps`` replaces the number of trap incidents; ``controls`` is shared out over
    the kinds of control as the plan does. Where one of the two is given the other keeps the plan's
    proportion. An unknown plan is a :class:`UsageError` with near names.
    """
    if shape and shape not in PLANS:
        raise UsageError(f"there is no plan '{shape[:60]}'", mend=nearest(shape, PLANS))
    base = PLANS[shape or (name if name in PLANS else "prod_hard")]
    plan = replace(
        base, name=name, seed=seed, scale=scale, log_lines=max(500, round(base.log_lines * scale))
    )
    if traps is None and controls is None:
        return plan
    given = base.total - base.traps
    if traps is None:
        assert controls is not None
        traps = round(base.traps * controls / given)
    if controls is None:
        controls = round(given * traps / base.traps) if base.traps else given
    shared = _shared({kind: base.wanted[kind] for kind in KINDS[1:]}, controls)
    return replace(
        plan, traps=traps, onset_controls=shared["onset_control"], no_change=shared["no_change"],
        no_fault=shared["no_fault"], unanswerable=shared["unanswerable"],
    )  # fmt: skip


def _shared(counts: Mapping[Kind, int], total: int) -> Mapping[Kind, int]:
    """``total`` in the proportions of ``counts``, largest remainder first."""
    whole = sum(counts.values())
    exact = {kind: total * count / whole for kind, count in counts.items()}
    shared = {kind: int(value) for kind, value in exact.items()}
    order = sorted(exact, key=lambda kind: (shared[kind] - exact[kind], KINDS.index(kind)))
    for kind in order[: total - sum(shared.values())]:
        shared[kind] += 1
    return shared
