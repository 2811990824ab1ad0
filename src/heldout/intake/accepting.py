"""A person's word on a draft: it joins its set, or it goes."""

from __future__ import annotations

from dataclasses import replace

from heldout.build.append import Addition, append_incidents
from heldout.build.freezing import forget
from heldout.build.placing import place, standing
from heldout.build.similarity import portrait
from heldout.build.worlds import make
from heldout.errors import SpecError, UsageError
from heldout.intake.drafts import (
    Draft,
    DraftState,
    forget_draft,
    read_draft,
    state_of,
    write_state,
)
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Split, read_split
from heldout.store import now_us


def accept(settings: Settings, name: str, access: HeldoutAccess) -> DraftState:
    """Append a draft's incidents to its set, all or none, on the side that their group stands on.

    The side is decided anew, since the set may have grown: where it is another one now, or the
    generator changed, that is a :class:`SpecError` and the draft stays. Its contents are taken away
    once they are part of the set. A draft that does not wait is a :class:`UsageError`.
    """
    state = state_of(settings, name)
    _require_waiting(state)
    draft = read_draft(settings, state.draft, access)
    if not _joined(settings, draft):
        _append(settings, draft, access)
    ids = tuple(spec.id for spec in draft.specs)
    done = replace(state, word="accepted", at=now_us(), incidents=ids)
    write_state(settings, done)
    forget_draft(settings, state.draft, access)
    return done


def drop(settings: Settings, name: str, access: HeldoutAccess) -> DraftState:
    """Take a draft's contents and worlds away; that it was dropped stays known."""
    state = state_of(settings, name)
    if state.word not in ("drafted", "no fault"):
        raise UsageError(
            f"draft {state.draft} is {state.word} already", mend="Only what waits can be dropped"
        )
    draft = read_draft(settings, state.draft, access)
    if not _joined(settings, draft):
        forget(settings, draft.specs)
    done = replace(state, word="dropped", at=now_us())
    write_state(settings, done)
    forget_draft(settings, state.draft, access)
    return done


def _require_waiting(state: DraftState) -> None:
    if state.word == "no fault":
        raise UsageError(
            f"draft {state.draft} holds no incident: no existing fault can express its report",
            mend="Add a fault (docs/how-to/faults.md), drop the draft, and draft the report again",
        )
    if state.word != "drafted":
        raise UsageError(
            f"draft {state.draft} is {state.word} already", mend="'heldout intake --list' shows all"
        )


def _joined(settings: Settings, draft: Draft) -> bool:
    """True where a process died after the split was written and before that was noted."""
    directory = settings.set_path(draft.set)
    if not draft.specs or not (directory / "split.toml").is_file():
        return False
    split: Split = read_split(directory)
    return {spec.id for spec in draft.specs} <= {*split.train, *split.test}


def _append(settings: Settings, draft: Draft, access: HeldoutAccess) -> None:
    assert draft.side is not None
    directory = settings.set_path(draft.set)
    first = draft.specs[0]
    others = standing(settings, directory, access)
    placement = place(draft.set, portrait(first), first.kind, others)
    if placement.bound and placement.side != draft.side:
        raise SpecError(
            f"since it was drafted for the {draft.side} side the set has grown: {placement.why}",
            where=f"draft {draft.id}",
            mend="Drop it and draft the report again",
        )
    additions = [Addition(spec, make(spec, directory)) for spec in draft.specs]
    pinned = append_incidents(settings, draft.set, additions, draft.side, access)
    assert tuple(pinned) == draft.specs, "a generator that changes is refused by its digests"
