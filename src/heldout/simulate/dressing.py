"""The surface of a change: who, through what, with which PR and words.

Causes, decoys and noise are all dressed here, from a row of uniform numbers, so that nothing on
the surface tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.simulate.catalog import COUNTERS, VERSIONED, types_for
from heldout.simulate.ground import Change, Edit, Ground
from heldout.simulate.landscape import Landscape
from heldout.simulate.names import major_version
from heldout.simulate.rhythm import HOUR, MINUTE

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
_UNREVIEWED: Mapping[str, tuple[str, ...]] = {
    "config": (
        "Edit {kind} {name} in place", "{name}: set {leaf} by hand", "Patch {name}",
        "Edit {name}", "Quick edit of {name}",
    ),
    "iac_apply": (
        "Apply {name} from a workstation", "{name}: targeted apply", "Local apply of {name}",
        "Apply {n} from a branch: {name}",
    ),
}  # fmt: skip
_PROMOTIONS = (
    "Release {name} {value} to {stage}", "Promote {name} {value} to {stage}",
    "{stage}: {name} {value}", "Deploy {value} of {name} to {stage}",
)  # fmt: skip
BY_HAND: Mapping[str, str] = {"config": "k8s", "iac_apply": "iac"}
"""Types that are reviewed or made by hand, and the channel of those made by hand."""
_BOT_SHARE = {"secret": 0.5, "deploy": 0.6, "pr_merge": 0.35, "iac_apply": 0.12, "config": 0.1}
_PR_SHARE = {"pr_merge": 1.0, "deploy": 0.7, "secret": 0.1, "certificate": 0.5, "flag": 0.1,
             "cloud_api": 0.0}  # fmt: skip


def image_at(ground: Ground, entity: int, ts: int, start: int) -> str:
    """A container image whose version grows with time; copies of a service share versions."""
    had = ground.base.get((entity, "image"))
    stem = had.rsplit(":", 1)[0] if isinstance(had, str) and had else ground.name(entity)
    hours = max(0, (ts - start) // HOUR)
    return f"{stem}:v{major_version(ground.seed, stem)}.{20 + hours // 12}.{hours % 12}"


def other_edit(land: Landscape, entity: int, draw: float, taken: Sequence[str]) -> Edit | None:
    """An edit of some catalog field of ``entity`` that is not in ``taken``."""
    base = land.ground.base
    free = [
        (spec, field)
        for spec, field in land.fields(land.ground.entities[entity].kind)
        if spec.field not in VERSIONED
        and spec.field not in COUNTERS
        and field not in taken
        and (entity, field) in base
    ]
    if not free:
        return None
    spec, field = free[int(draw * len(free))]
    n = len(spec.values)
    at = int(draw * 7919) % n
    return Edit(entity, field, spec.values[at], spec.values[(at + 1) % n])


def padding(
    land: Landscape, first: Edit, u: Sequence[float], *, type_: str = ""
) -> tuple[Edit, ...]:
    """The edit with as many others as changes usually hold: 60 % none, 30 % one to three, a tail.

    Others are of the same entity while it has fields left, then of its like, as in a large apply;
    never of the first one's field. A bot changes one field. The tail ends at 40 fields.
    """
    if _actor(land, type_ or type_of(land, first.entity, (first,), u), u)[1] == "bot":
        return (first,)
    size = _size(u[6])
    edits = [first]
    taken = [first.field]
    like = land.alike(first.entity) if size > 1 else ()
    offset = int(u[7] * len(like))
    for step in range(1, 3 * size):
        if len(edits) == size:
            break
        draw = (u[7] + 0.37 * step) % 1.0
        entity = first.entity
        extra = other_edit(land, entity, draw, taken) if step < size and step < 6 else None
        if extra is None and size > 4:
            entity = like[(offset + step) % len(like)]
            extra = other_edit(land, entity, draw, taken[:1])
            if entity == first.entity:
                continue
        if extra is None:
            break
        edits.append(extra)
        if entity == first.entity:
            taken.append(extra.field)
    return tuple(edits)


def _size(draw: float) -> int:
    """How many fields a change touches, from a draw in [0, 1)."""
    if draw < 0.59:
        return 1
    if draw < 0.9:
        return 2 if draw < 0.75 else 3 if draw < 0.85 else 4
    return min(40, round(5 * 8 ** (((draw - 0.9) * 10) ** 2)))


def type_of(
    land: Landscape, entity: int, edits: Sequence[Edit], u: Sequence[float]
) -> str:  # fmt: skip
    """The type of a change of ``entity``: one of those that touch its kind.

    What no stack declares is never applied from one.
    """
    if any(edit.field in VERSIONED for edit in edits):
        return "deploy"
    choices = types_for(land.ground.entities[entity].kind)
    if "iac_apply" in choices and not land.in_stack(entity):
        choices = tuple(name for name in choices if name != "iac_apply") or ("cloud_api",)
    return choices[int(u[0] * len(choices))]


def _reviewed(land: Landscape, type_: str, u: Sequence[float]) -> bool:
    """Whether a change went through a pull request."""
    if type_ in BY_HAND:
        return u[4] < land.habits.pr_coverage
    return u[4] < _PR_SHARE[type_]


def _actor(land: Landscape, type_: str, u: Sequence[float]) -> tuple[str, str]:
    """(who, what they are). A setting that was changed past review was changed by a person."""
    by_hand = type_ in BY_HAND and not _reviewed(land, type_, u)
    if u[1] < _BOT_SHARE.get(type_, 0.04) and not by_hand:
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
    kind = ground.entities[lead].kind
    type_ = type_ or type_of(land, lead, edits, u)
    actor, actor_kind = _actor(land, type_, u)
    reviewed = _reviewed(land, type_, u)
    repo = land.repo_of.get(lead, "") or land.shared_repository
    pr = f"{repo}#{300 + ts // (20 * MINUTE) % 4096}" if reviewed else ""
    commit = f"{int(u[10] * 2**40):010x}" if pr or type_ == "deploy" else ""
    channel = _CHANNEL[type_]
    if type_ in BY_HAND and not reviewed:
        channel = BY_HAND[type_]
    return Change(
        ts, key, type_, ground.cloud_of(lead) if channel == "cloud" else channel, actor,
        actor_kind, pr, repo if pr or commit else "", commit,
        _summary(ground, type_, kind, lead, edits, u, reviewed=reviewed),
        targets or tuple(dict.fromkeys(edit.entity for edit in edits)), edits,
    )  # fmt: skip


def _summary(
    ground: Ground,
    type_: str,
    kind: str,
    lead: int,
    edits: Sequence[Edit],
    u: Sequence[float],
    *,
    reviewed: bool,
) -> str:
    words = _SUMMARIES[type_]
    stage = ""
    if kind == "Pipeline" and type_ == "deploy":
        words, stage = _PROMOTIONS, edits[0].field.partition(".")[0]
    elif type_ in BY_HAND and not reviewed:
        words = _UNREVIEWED[type_]
    return words[int(u[3] * len(words))].format(
        name=ground.name(lead).removesuffix("-release") if stage else ground.name(lead),
        kind=kind, n=len(edits), stage=stage,
        value=str(edits[0].value).rsplit(":", 1)[-1] if edits else "",
        leaf=_leaf(edits[0].field) if edits else "head",
    )  # fmt: skip
