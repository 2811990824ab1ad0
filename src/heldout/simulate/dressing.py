"""The surface of a change: who, through what, with which PR and words.

Causes, decoys and noise are all dressed here, from a row of uniform numbers, so that nothing on
the surface tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.simulate.catalog import COUNTERS, VERSIONED, fields_of, types_for
from heldout.simulate.ground import Change, Edit, Ground
from heldout.simulate.landscape import Landscape, spell
from heldout.simulate.rhythm import HOUR
from heldout.simulate.streams import share

DRAWS = 12
"""How many uniform numbers dress one change."""

INC = "\x00inc"
"""As an edit's value: the present number plus one."""

_SUMMARIES: Mapping[str, tuple[str, ...]] = {
    "config": (
        "Tune {name}", "Adjust settings of {name}", "{name}: small follow-up", "Update {name}",
        "Align {name} with the review", "{name}: {leaf}", "Clean up {name}",
        "Apply review notes to {name}", "{name}: set {leaf}", "Housekeeping in {name}",
    ),
    "iac_apply": (
        "Apply {name}: {n} changed", "Plan applied for {name}", "{name}: apply from main",
        "Apply reviewed plan ({n} to change)", "{name}: {leaf}", "Reconcile {name}",
    ),
    "cloud_api": (
        "Modify {kind} {name}", "Update {kind} {name}", "{kind} {name}: set {leaf}",
        "Console edit of {name}", "Modify {name}",
    ),
    "secret": (
        "Put new value of {name}", "Update {name}", "{name}: scheduled rotation",
        "Update metadata of {name}",
    ),
    "certificate": ("Update {name}", "{name}: {leaf}", "Edit certificate {name}"),
    "flag": ("Edit {name}", "{name}: {leaf}", "Change targeting of {name}", "Update {name}"),
    "deploy": (
        "Release {name} {value}", "Roll out {name} {value}", "{name} {value}",
        "Promote {name} {value}", "Deploy {value} of {name}",
    ),
    "pr_merge": (
        "Merge: {name} follow-up", "Merge: tidy tests in {name}", "Merge: bump dependencies",
        "Merge: docs of {name}", "Merge: refactor handlers of {name}", "Merge: {name} fixes",
    ),
}  # fmt: skip
_CHANNEL = {
    "config": "git", "iac_apply": "iac", "cloud_api": "cloud", "secret": "cloud",
    "certificate": "k8s", "flag": "human", "deploy": "cicd", "pr_merge": "git",
}  # fmt: skip
_BOT_SHARE = {"secret": 0.5, "deploy": 0.6, "pr_merge": 0.35, "iac_apply": 0.12, "config": 0.1}
_PR_SHARE = {"config": 0.85, "iac_apply": 0.85, "pr_merge": 1.0, "deploy": 0.7, "secret": 0.1,
             "certificate": 0.5, "flag": 0.1, "cloud_api": 0.05}  # fmt: skip


def image_at(ground: Ground, entity: int, ts: int, start: int) -> str:
    """A container image whose version grows with time."""
    had = ground.base.get((entity, "image"))
    stem = had.rsplit(":", 1)[0] if isinstance(had, str) and had else ground.name(entity)
    major = 1 + int(share(ground.seed, "major", ground.id(entity)) * 8)
    hours = max(0, (ts - start) // HOUR)
    return f"{stem}:v{major}.{20 + hours // 12}.{hours % 12}"


def other_edit(land: Landscape, entity: int, draw: float, taken: Sequence[str]) -> Edit | None:
    """An edit of some catalog field of ``entity`` that is not in ``taken``."""
    specs = fields_of(land.ground.entities[entity].kind)
    base = land.ground.base
    free = [
        s
        for s in specs
        if s.field not in VERSIONED
        and s.field not in COUNTERS
        and spell(s.field, land.style) not in taken
        and (entity, spell(s.field, land.style)) in base
    ]
    if not free:
        return None
    spec = free[int(draw * len(free))]
    n = len(spec.values)
    at = int(draw * 7919) % n
    return Edit(entity, spell(spec.field, land.style), spec.values[at], spec.values[(at + 1) % n])


def padding(land: Landscape, first: Edit, u: Sequence[float]) -> tuple[Edit, ...]:
    """The edit with as many others of the same entity as changes usually hold (60 % none)."""
    size = 1 if u[6] < 0.62 else 2 if u[6] < 0.84 else 3 if u[6] < 0.94 else 5
    edits = [first]
    for step in range(1, size):
        extra = other_edit(
            land, first.entity, (u[7] + 0.37 * step) % 1.0, [edit.field for edit in edits]
        )
        if extra is not None:
            edits.append(extra)
    return tuple(edits)


def _actor(land: Landscape, type_: str, u: Sequence[float]) -> tuple[str, str]:
    if u[1] < _BOT_SHARE.get(type_, 0.04):
        return land.bots[int(u[2] * len(land.bots))], "bot"
    # Squared: a few people make most of the changes.
    return land.people[int(len(land.people) * u[2] ** 1.7)], "person"


def _leaf(field: str) -> str:
    return field.rsplit(".", 1)[-1]


def dress(
    land: Landscape,
    key: str,
    ts: int,
    edits: tuple[Edit, ...],
    u: Sequence[float],
    *,
    type_: str = "",
    targets: tuple[int, ...] = (),
) -> Change:
    """A change of ``edits`` at ``ts`` with a surface drawn from ``u``."""
    ground = land.ground
    lead = edits[0].entity if edits else targets[0]
    kind, name = ground.entities[lead].kind, ground.name(lead)
    if not type_:
        choices = types_for(kind)
        type_ = choices[int(u[0] * len(choices))]
        if any(edit.field in VERSIONED for edit in edits):
            type_ = "deploy"
    actor, actor_kind = _actor(land, type_, u)
    words = _SUMMARIES[type_]
    value = str(edits[0].value).rsplit(":", 1)[-1] if edits else ""
    summary = words[int(u[3] * len(words))].format(
        name=name, kind=kind, n=len(edits), value=value,
        leaf=_leaf(edits[0].field) if edits else "head",
    )  # fmt: skip
    repo = land.repo_of.get(lead, "") or f"{land.bots[0].split('-')[0]}-infra"
    pr = ""
    if u[4] < _PR_SHARE[type_] and type_ != "cloud_api":
        pr = f"{repo}#{300 + ts // (20 * 60 * 1_000_000) % 4096}"
    commit = f"{int(u[10] * 2**40):010x}" if pr or type_ == "deploy" else ""
    channel = _CHANNEL[type_]
    return Change(
        ts, key, type_, ground.cloud if channel == "cloud" else channel, actor, actor_kind, pr,
        repo if pr or commit else "", commit, summary,
        targets or tuple(dict.fromkeys(edit.entity for edit in edits)), edits,
    )  # fmt: skip
