"""A brain as one model reads it: the shared files and that model's own overlay, nobody else's.

Several models are tuned beside one another in one brain, each in ``overlays/models/<model>/``. What
one of them does there is nothing to the others: no prompt of theirs changes. So brains are compared
here by what a model reads, and a change can be carried over to a brain that moved on elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from heldout.brain import Brain, slug

_MODELS = "overlays/models/"


def folder(model: str) -> str:
    """Where the overlay of one model stands in a brain, with a slash at the end."""
    return f"{_MODELS}{slug(model)}/"


def shared(brain: Brain) -> Brain:
    """The brain without any model's overlay: what a model reads that was never tuned for."""
    return replace(brain, extra=_kept(brain, ()))


def read_by(brain: Brain, model: str) -> Brain:
    """The brain without the overlays of other models."""
    return replace(brain, extra=_kept(brain, [folder(model)]))


def tuned_for(brain: Brain, model: str) -> bool:
    """True when the brain holds an overlay of this model."""
    return any(name.startswith(folder(model)) for name in brain.extra)


def worn(brain: Brain, owner: str, wearer: str) -> Brain:
    """The shared brain with the overlay of ``owner`` standing where ``wearer`` reads its own.

    The text that ``wearer`` reads is, word for word, what ``owner`` reads of ``brain``.
    """
    bare = shared(brain)
    moved = {
        folder(wearer) + name.removeprefix(folder(owner)): text
        for name, text in brain.extra.items()
        if name.startswith(folder(owner))
    }
    return replace(bare, extra={**bare.extra, **moved})


def with_overlay(brain: Brain, source: Brain, model: str) -> Brain:
    """The brain with one model's overlay as it is in another one, which may be none."""
    others = {
        name: text for name, text in brain.extra.items() if not name.startswith(folder(model))
    }
    own = {name: text for name, text in source.extra.items() if name.startswith(folder(model))}
    return replace(brain, extra={**others, **own})


def sharer(model: str, others: Iterable[str]) -> str:
    """Another model whose overlay stands in the same folder, since only signs differ; empty."""
    return next((one for one in others if one != model and folder(one) == folder(model)), "")


def alike(one: Brain, other: Brain, model: str) -> bool:
    """True when a model cannot tell two brains apart."""
    return one.hash == other.hash or read_by(one, model).hash == read_by(other, model).hash


def changed(before: Brain, after: Brain) -> tuple[str, ...]:
    """The files in which two brains differ, also those that only one of them has."""
    old, new = before.all_files(), after.all_files()
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


def carried_over(before: Brain, after: Brain, onto: Brain, model: str) -> Brain | None:
    """The change from ``before`` to ``after``, measured with ``model``, made to another brain.

    ``None`` when ``onto`` differs from ``before`` in anything that the model reads or the change
    touches: what was measured would not hold for it, or somebody's work would be lost.
    """
    if not alike(before, onto, model):
        return None
    touched = set(changed(before, after))
    if touched & set(changed(before, onto)):
        return None
    shape = (after.load, after.on_demand, after.frozen)
    if shape != (before.load, before.on_demand, before.frozen):
        return None
    files = {name: (after if name in touched else onto).files[name] for name in onto.files}
    others = {name: text for name, text in onto.extra.items() if name not in touched}
    made = {name: text for name, text in after.extra.items() if name in touched}
    return replace(onto, files=files, extra={**others, **made})


def _kept(brain: Brain, own: Iterable[str]) -> dict[str, str]:
    prefixes = tuple(own)
    return {
        name: text
        for name, text in brain.extra.items()
        if not name.startswith(_MODELS) or name.startswith(prefixes)
    }
