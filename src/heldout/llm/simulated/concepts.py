"""What a sentence of method asks for: +1 asks, -1 forbids, 0 says nothing about it.

One function per behaviour. Each looks for a combination of word classes and takes the sign from
the words that carry the request, so that a paraphrase counts and a negation turns it round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from heldout.llm.simulated.language import Sentence, lengths, stem, stems
from heldout.llm.simulated.precautions import (
    abstain,
    alerts,
    bigdiff,
    gap,
    hint,
    identity,
    reaction,
    symptom,
    unchanged,
    undone,
    unproven,
)
from heldout.llm.simulated.view import View

_NOT = stem("not")
_BEFORE = stems("before prior ahead back ago earlier backwards previously old")
_LAST = stems("last past previous preceding prior")
_WELL = stems("well long days weeks far")
_TIMES = stems("time day timeline")


def _past(view: View) -> list[int]:
    """Positions of what points back in time by a day or more."""
    places = view.at("back")
    words = view.words
    for length in lengths(view.sentence):
        around = words[max(0, length.at - 4) : length.at + 4]
        if length.days >= 1 and (
            any(word in _BEFORE or word in _LAST for word in around) or view.any("extend", "window")
        ):
            places.append(length.at)
    for place, word in enumerate(words):
        near = words[max(0, place - 2) : place]
        if word == stem("before") and any(other in _WELL for other in near):
            places.append(place)
    events = set(view.at("event"))
    beyond = [at for at, word in enumerate(words) if word == "beyond"]
    places += [at for at in beyond if events & set(range(at, at + 5))]
    return sorted(places)


def window(view: View) -> int:
    """Look for changes before the day of the incident."""
    past = _past(view)
    topic = (
        view.any("change", "window")
        or any(word in _TIMES for word in view.words)
        or (view.has("event") and view.word("further", "beyond"))
    )
    if past and topic and view.any("look", "extend", "window", "check"):
        return view.sign_at(past)
    if view.has("sameday"):
        if view.has("too", "narrowword"):
            return view.sign("narrowword")
        if view.has("restrict") and view.any("change", "window", "look"):
            return -view.sign("restrict")
    return 0


def origin(view: View) -> int:
    """Ask when a value became what it is and what changed it."""
    if "get_field_history" in view.words:
        return view.sign_at(
            [at for at, word in enumerate(view.words) if word == "get_field_history"]
        )
    if not view.has("value"):
        return 0
    asked = _asked(view)
    if asked and view.has("set"):
        return view.sign_at(asked)
    if view.has("history") and view.any("look", "check"):
        return view.sign("history")
    past = _past(view)
    if past and view.has("look", "set"):
        return view.sign_at(past)
    if view.has("trace") and view.any("back", "change", "set") and view.word("back", "to"):
        return view.sign("trace") if view.has("set") or view.has("back") else 0
    return 0


_NOUNS = stems("moment origin provenance")


def _asked(view: View) -> list[int]:
    """Positions of when/who/which that are really asked, not conjunctions."""
    looks = view.at("look", "check")
    result = []
    for place in view.at("asktime"):
        nearby = any(0 < place - look <= 4 for look in looks)
        if view.sentence.question or nearby or (view.words[place] in _NOUNS and looks):
            result.append(place)
    return result


def proximity(view: View) -> int:
    """Closeness in time proves nothing; the diff must touch the mechanism."""
    touching = _touching(view)
    if touching:
        return touching
    if not view.has("near") or alerts(view) or reaction(view):
        return 0
    if view.has("chance"):
        return view.sign("chance")
    if view.has("enough"):
        return -view.sign("enough")
    if not view.any("change", "candidate") and not view.word("timing", "proximity", "correlation"):
        return 0
    if view.has("blame") and (view.sign("blame") < 0 or not view.has("cause")):
        return -view.sign("blame")
    if view.has("cause") and not _past(view):
        return -view.sign("cause")
    return 0


def _touching(view: View) -> int:
    """The sign of "only a change that touches the mechanism", 0 when it is not the subject."""
    if not view.has("touch", "mechanism") or not view.any("change", "diff", "candidate", "cause"):
        return 0
    touch = view.at("touch")
    if view.has("reject"):
        return 1 if not all(view.affirmed(place) for place in touch) else 0
    if view.has("check"):
        return view.sign("check")
    if view.has("blame") and (view.word("only") or view.required("touch")):
        return view.sign_at(touch)
    if view.has("near") and view.any("cause", "candidate"):
        return view.sign_at(touch)
    return 0


def fleet(view: View) -> int:
    """Compare members of a fleet that fail with members that do not."""
    if view.has("compare") and not bigdiff(view):
        sign = view.sign("compare")
        groups = sum(view.has(name) for name in ("healthy", "failing", "fleet"))
        if groups >= 2 or (view.has("healthy") and view.has("value")):
            return sign
        if sign < 0 and groups:
            return sign
    if view.has("why", "healthy") and view.any("fleet", "failing"):
        return view.sign("why")
    if view.has("override", "look") and view.any("fleet", "failing"):
        return view.sign("override")
    return 0


def narrow(view: View) -> int:
    """Filter long change lists, or read them to the end."""
    pages = view.at("page")
    if pages and any(place not in pages for place in view.at("list", "truncated", "change")):
        return view.sign_at(pages)
    if view.has("filter", "change") and view.any("filterby", "noise"):
        return view.sign("filter")
    if view.has("firstpage"):
        if view.sign("firstpage") < 0:
            return 1
        if view.has("enough"):
            return -view.sign("enough")
    return 0


_FIRM = stems("dependency downstream hop chain callee path upstream along dependent graph")


def downstream(view: View) -> int:
    """Follow errors beyond the service that raised the alert."""
    if alerts(view):
        return 0
    if not view.has("follow", "dependency", "beyond"):
        if view.has("follow", "dependency") and view.sign("follow") < 0:
            return -1
        return 0
    if len({*view.at("follow", "dependency", "beyond")}) < 2:
        return 0
    firm = any(word in _FIRM for word in view.words)
    if not firm and not (view.has("victim") or view.word("error", "mention")):
        return 0
    steps = [place for place in view.at("follow") if place not in view.at("dependency")]
    return view.sign_at(steps)


def diff(view: View) -> int:
    """Read what a change did before naming it."""
    subject = view.any("change", "candidate", "cause")
    if view.has("opening", "diff") and (subject or view.word("diff", "get_change")):
        return view.sign("opening")
    if view.required("opening") and view.has("blame") and subject:
        return 1
    return 0


def none(view: View) -> int:
    """Say so when no change explains the failure or nothing can be proven."""
    given = unchanged(view)
    if given:
        return given
    if undone(view) or hint(view):
        return 0
    subject = view.any("change", "nofit", "cause")
    if not subject:
        return 0
    if view.has("nofit", "blame") and not view.has("noneword") and view.sign("blame") < 0:
        return 1
    if view.has("noneword", "say"):
        return view.sign("say")
    if view.has("unproven") and view.any("say", "honest"):
        return view.sign("say", "honest")
    if view.has("guess") and view.any("change", "cause"):
        return -view.sign("guess")
    if view.has("nofit") and view.word("no") and view.word("say", "state", "report", "admit"):
        return view.sign("say")
    return 0


_NEVER = stems("never cannot always every all must no")
_HEDGES = stems("just merely simply because unless until without if sometimes usually alone solely")


def overcorrection(view: View) -> int:
    """Blame old changes, or clear fresh ones, without looking."""
    if not view.any("change", "cause") or any(word in _HEDGES for word in view.words):
        return 0
    if view.any("diff", "undone") or reaction(view):
        return 0
    words = view.words
    if any(a == _NOT and b == stem("always") for a, b in pairwise(words)):
        return 0
    if view.has("oldest") and view.has("blame") and view.has("change"):
        return 1 if view.sign("blame") > 0 else 0
    absolute = any(word in _NEVER for word in words) or _can_not(words)
    if view.has("oldest", "cause") and absolute:
        return 1 if view.sign("cause") > 0 else 0
    if not view.has("recentchange"):
        return 0
    return _clears_recent(view, absolute)


def _can_not(words: tuple[str, ...]) -> bool:
    return any(a == "can" and b == _NOT for a, b in pairwise(words))


def _clears_recent(view: View, absolute: bool) -> int:
    refusal = view.at("reject")
    if refusal and view.has("change") and (absolute or view.word("disregard", "ignore", "discard")):
        head = view.words[refusal[0]]
        turned = head in stems("ignore disregard")
        return 1 if view.affirmed(refusal[0]) != turned else 0
    if absolute and view.has("chance"):
        return 1 if view.sign("chance") > 0 else 0
    if absolute and view.has("cause") and not view.has("blame"):
        return 1 if view.sign("cause") < 0 else 0
    if absolute and view.has("blame", "change"):
        return 1 if view.sign("blame") < 0 else 0
    return 0


CONCEPTS: Mapping[str, Callable[[View], int]] = {
    "window": window,
    "origin": origin,
    "proximity": proximity,
    "fleet": fleet,
    "narrow": narrow,
    "downstream": downstream,
    "diff": diff,
    "none": none,
    "overcorrection": overcorrection,
    "symptom": symptom,
    "bigdiff": bigdiff,
    "reaction": reaction,
    "gap": gap,
    "hint": hint,
    "identity": identity,
    "undone": undone,
    "alerts": alerts,
    "unproven": unproven,
    "abstain": abstain,
}
"""Every behaviour that a brain can change, by name."""


def days_back(sentence: Sentence) -> float | None:
    """How many days a sentence about the window gives, ``None`` when it gives no number."""
    found = [length.days for length in lengths(sentence) if length.days >= 1]
    return max(found) if found else None
