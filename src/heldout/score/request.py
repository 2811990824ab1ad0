"""What a score is asked for, and the endpoint that is fixed before any model is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

import heldout
from heldout.errors import UsageError
from heldout.run.plan import Plan
from heldout.settings import Settings
from heldout.split import Case
from heldout.stats import minimum_detectable_gain

ExtraArm = Literal["noop", "placebo", "format", "blind", "checklist", "memory", "evidence"]

PRIMARY = "share of trap incidents of the test half that are solved, after against before"
REDUCER = "majority of valid repeats; a tie is unsolved; fewer than two thirds valid is unpaired"
EXPLORATORY = (
    "controls", "runs", "faults", "traps", "seen in train", "fresh incidents", "floors",
    "behaviour", "cost", "further arms",
)  # fmt: skip
ALPHA = 0.05


class ScoreRequest(BaseModel):
    """One opening of the held-out half. Crosses the process boundary as JSON.

    ``before`` and ``after`` are hashes of brains that the ledger keeps, and so are the values of
    ``brains``: further arms by their names, gated like ``after``. ``pins`` are further hashes
    to record beside those of gate and judge. ``resume`` goes on with a score that was killed: same
    look, same endpoint, nothing finished is paid for again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    before: str
    after: str
    set: str = ""
    arms: tuple[ExtraArm, ...] = ("noop",)
    where_possible: bool = False
    """Leave out an arm that lacks what it is made from instead of refusing; recorded with why."""
    blind: str = ""
    """The brain of a blind tuning job, by its hash; empty is the newest of the same budget."""
    checklist: str = ""
    """Markdown that a person wrote."""
    nearest: int = Field(default=3, ge=1, le=20)
    """How many solved train incidents case memory puts into the prompt."""
    brains: dict[str, str] = Field(default_factory=dict)
    job: str = ""
    base_url: str = ""
    pins: dict[str, str] = Field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    skip_exhausted: bool = False
    """Leave out incidents without looks left instead of refusing; recorded as exclusions."""
    floors: bool = True
    max_usd: float | None = Field(default=None, gt=0)
    resume: str = ""

    @field_validator("brains")
    @classmethod
    def _own_names(cls, brains: dict[str, str]) -> dict[str, str]:
        taken = {"before", "after", *get_args(ExtraArm)} & set(brains)
        if taken:
            raise ValueError(f"'{min(taken)}' is the name of another arm")
        return brains


def page_text(path: Path | None) -> str:
    """A person's checklist as text, empty without one; one that cannot be read is a UsageError."""
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the checklist cannot be read ({type(error).__name__})",
            where=str(path),
            mend="Name a Markdown file in UTF-8",
        ) from error


def wished(names: Sequence[str], *, blind: str = "", checklist: str = "") -> dict[str, Any]:
    """The request's fields for arms as people name them.

    ``all`` is every arm that can be made; what is given for an arm asks for it too.
    """
    given = {"blind": blind, "checklist": checklist}
    asked = [name for name in names if name != "all"]
    asked += [name for name, one in given.items() if one and name not in asked]
    every = "all" in names
    if every:
        asked += [name for name in get_args(ExtraArm) if name not in asked]
    return {"arms": tuple(dict.fromkeys(asked)), "where_possible": every, **given}


def endpoint(
    settings: Settings,
    request: ScoreRequest,
    cases: Sequence[Case],
    plans: Sequence[Plan],
    excluded: dict[str, str],
) -> dict[str, Any]:
    """Everything that decides the result, as plain data; hashed before the first model call."""
    first = plans[0]
    return {
        "primary": PRIMARY,
        "test": "exact two-sided McNemar over paired incidents",
        "alpha": ALPHA,
        "reducer": REDUCER,
        "repeats": first.repeats,
        "set": first.set,
        "model": request.model,
        "detectable": minimum_detectable_gain(sum(c.is_trap for c in cases)).sentence(),
        "traps": [c.incident.id for c in cases if c.is_trap],
        "controls": [c.incident.id for c in cases if not c.is_trap],
        "excluded": dict(sorted(excluded.items())),
        "arms": {arm.name: arm.brain.hash for plan in plans for arm in plan.arms},
        "seeds": {arm.name: plan.seed for plan in plans for arm in plan.arms},
        "plans": [plan.key() for plan in plans],
        "limits": first.manifest()["limits"],
        "min_coverage": settings.score.min_coverage,
        "harm_margin": settings.score.harm_margin,
        "look_budget": settings.score.looks,
        "adjustment": "Bonferroni over looks at these incidents for this model",
        "exploratory": list(EXPLORATORY),
        "pins": dict(first.pins),
        "settings": settings.digest(),
        "heldout": heldout.__version__,
        "max_usd": request.max_usd,
    }


def asked_of(request: ScoreRequest) -> dict[str, Any]:
    """What a score was asked for, to be kept beside its endpoint so that it can be gone on with."""
    return request.model_dump(mode="json", exclude={"resume"})


def endpoint_hash(plain: dict[str, Any]) -> str:
    """sha256 over canonical JSON of all but ``asked``, which decides nothing by itself."""
    plain = {name: value for name, value in plain.items() if name != "asked"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
