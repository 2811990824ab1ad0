"""What a careful investigator is told to do: the readers of lines about evidence and its traps.

As in :mod:`.concepts`: +1 asks for the behaviour, -1 forbids it, 0 says nothing about it.
"""

from __future__ import annotations

from heldout.llm.simulated.language import lengths, stem, stems
from heldout.llm.simulated.view import View

_ONLY = stems("only must qualify")
_EVERY = stems("every all any always each")


def symptom(view: View) -> int:
    """Confirm that the trouble is real, and still there, before looking for a cause."""
    if view.has("impact", "confirm", "falsealarm"):
        return view.sign("confirm")
    if view.has("falsealarm"):
        if view.any("confirm", "say") or (view.has("caution") and not _sweeping(view)):
            return view.sign("confirm", "say", "caution")
        if view.rejects() > 0 or not _sweeping(view):
            return 1 if view.any("reject", "trouble") and not _assumed(view) else 0
        return 0
    if view.has("genuine", "trouble") and _assumed(view):
        return -1
    if view.has("doubt", "trouble") and view.sign("doubt") < 0:
        return -1
    if view.has("ended", "trouble") and view.sentence.question:
        return 1
    if view.any("ended", "genuine") and view.has("trouble", "confirm"):
        return view.sign("confirm")
    if view.has("ended", "trouble", "look") and view.sign("look") < 0 and view.has("cause"):
        return 1
    if view.has("recovered") and view.any("say", "confirm"):
        return view.sign("say", "confirm")
    if view.has("confirm", "impact") and not view.has("touch", "mechanism", "change"):
        return view.sign("confirm")
    claims = view.has("claim", "alarm", "signal", "confirm")
    return view.sign("confirm") if claims else 0


def _assumed(view: View) -> bool:
    return view.word("assume", "treat", "consider", "presume", "take")


def _sweeping(view: View) -> bool:
    """True for "every alert", "always", where a caution would be an order to give up."""
    return any(word in _EVERY for word in view.words)


def bigdiff(view: View) -> int:
    """Read a change that touches very much to its end."""
    if not view.has("big") or not view.any("bulk", "altered"):
        return 0
    if view.has("halt") and view.sign("halt") < 0 and not view.has("fullread"):
        return 1
    told = view.word("inside", "into") or (view.word("more") and view.word("fields"))
    if view.has("fullread") and (view.has("whole") or told):
        return view.sign("fullread")
    return -1 if view.has("bulk") and view.rejects() > 0 else 0


def reaction(view: View) -> int:
    """What was changed after the trouble began is an answer to it, not its cause."""
    if not view.has("onset"):
        return 0
    if view.has("after"):
        if view.has("response"):
            return view.sign("response") if not view.word("late") else 1
        if view.word("late") or (view.has("earlier") and view.word("landed", "precede")):
            return 1
        if view.has("reject"):
            return view.rejects()
        if view.any("cause", "blame"):
            guilty = [at for at in view.at("cause", "blame") if not _named_so(view, at)]
            return -1 if any(view.affirmed(at) for at in guilty) else 1
    if lengths(view.sentence) or view.any("undone", "window"):
        return 0
    earlier = view.any("earlier") and view.any("change", "candidate", "cause")
    told = any(word in _ONLY for word in view.words) or view.word("landed", "land", "older")
    if earlier and told:
        return view.sign("earlier")
    return 0


_SUBJECTS = stems("cause culprit follow")


def _named_so(view: View, at: int) -> bool:
    """True for "effects follow causes", which accuses nobody."""
    return view.words[at] in _SUBJECTS and view.word("effects") and at < 4


def gap(view: View) -> int:
    """Where telemetry is missing, take another source and say so; silence clears nobody."""
    if not view.has("lacking", "telemetry"):
        return 0
    if view.has("reject") and view.word("gap", "missing") and not view.has("another"):
        return -1 if view.rejects() > 0 else 1
    if view.has("noproof"):
        return 1
    if view.has("another", "fallback"):
        return view.sign("fallback")
    if view.has("fine") and not view.has("fallback"):
        return -view.sign("fine")
    told = view.has("say") and view.word("source", "telemetry", "unavailable")
    return view.sign("say") if told else 0


def hint(view: View) -> int:
    """What an alert suggests as the cause is a guess to be tested."""
    if alerts(view) or not view.any("alarm", "guessed") or view.any("lackproof"):
        return 0
    if view.has("guessed", "trusted", "alarm") and view.required("tested"):
        return 1
    named = view.has("guessed") and view.any("alarm", "cause", "claim")
    suspected = view.has("alarm") and view.any("claim") and view.any("candidate", "cause")
    if not named and not suspected:
        return 0
    if view.has("trusted") and view.sign("trusted") < 0:
        return 1
    if view.word("rather", "instead") and view.sign("guessed") < 0:
        return 1
    if view.any("tested", "wrong"):
        return view.sign("tested", "wrong")
    if view.has("trusted"):
        return -view.sign("trusted")
    if view.has("guessed") and view.word("treat", "beyond"):
        return 1
    return 0


def identity(view: View) -> int:
    """Names repeat: tell things apart by id and cluster."""
    if view.word("confuse", "mix") and view.has("namesake"):
        return 1
    if view.has("ident", "naming"):
        if view.has("apart"):
            return view.sign("apart")
        return view.sign("ident") if view.word("by", "go", "resolve", "rather") else 0
    if view.has("ident") and view.any("apart") and view.word("check", "match", "compare", "bother"):
        return view.sign("apart")
    if view.has("namesake", "ident", "look"):
        return view.sign("look")
    if view.has("namesake"):
        if view.any("apart", "caution", "wrong"):
            return view.sign("apart", "caution", "wrong")
        if view.word("another", "innocent", "different") and not view.word("as"):
            return 1
        return 0
    if view.has("place", "apart") and view.any("change", "candidate", "owned"):
        return view.sign("apart") if view.any("owned", "samething", "candidate") else 0
    return 0


def undone(view: View) -> int:
    """A change that was taken back explains nothing: see whether its value still holds."""
    subject = view.any("change", "candidate", "value", "cause") or view.word("trial")
    if not subject:
        return 0
    if view.has("undone"):
        if view.any("blame", "cause") and not view.any("verify", "explains"):
            blamed = view.at("blame", "cause")
            return 1 if not any(view.affirmed(at) for at in blamed) else -1
        if view.has("reject"):
            return view.rejects()
        if view.has("verify"):
            return view.sign("verify")
        if view.any("explains"):
            return 1 if view.word("nothing", "no") else -view.sign("explains")
        return 1 if view.any("innocence") else 0
    if not view.has("holding"):
        return 0
    if view.has("verify"):
        return view.sign("verify")
    if any(word in _ONLY for word in view.words):
        return view.sign("holding")
    return 0


def alerts(view: View) -> int:
    """Another alert of the hour belongs to this failure only where the errors lead to it."""
    if not view.has("alarm"):
        return 0
    if view.word("victim") and not view.any("aside", "herring", "elsewhere"):
        return 0
    if view.has("linking") and view.word("only", "count", "belong"):
        return view.sign("linking")
    if view.word("separate", "tell") and view.word("belong") and view.word("happen"):
        return 1
    if view.has("aside", "linking") and not view.any("elsewhere", "herring"):
        return view.rejects("aside")
    if not view.any("elsewhere", "herring"):
        return 0
    if view.has("chasing") and view.sign("chasing") < 0:
        return 1
    if view.has("aside"):
        return 1 if view.any("herring") and view.word("set") else view.rejects("aside")
    if view.has("linking") and view.any("keeping", "requiring"):
        return view.sign("keeping", "requiring")
    if view.any("herring") and (view.has("linking") or view.word("coincidence", "noise", "may")):
        return 1
    if view.word("your", "one") and view.sign("alarm") and _denied(view, "incident"):
        return 1
    return 1 if view.has("staying") and view.sign("staying") > 0 else 0


def _denied(view: View, word: str) -> bool:
    """True when a word stands negated."""
    wanted = stem(word)
    return any(place == wanted and not view.affirmed(at) for at, place in enumerate(view.words))


def unchanged(view: View) -> int:
    """That nothing of ours changed is an answer."""
    if view.has("external") and not view.any("nochange", "noneword"):
        named = view.word("failures", "failure") and view.word("outside") and view.sign("look") < 0
        return 1 if named or (view.word("own") and view.has("cause")) else 0
    if not view.any("nochange", "external"):
        return 0
    if view.word("deny"):
        return 1 if view.word("no") else -1
    places = [at for at in view.at("admitted") if view.words[at] != stem("right")]
    if places and not (view.words[0] in _LEADING and view.words[0] == view.words[places[0]]):
        return view.sign_at(places)
    return 1 if places or view.has("external") else 0


_LEADING = stems("nothing no")


def unproven(view: View) -> int:
    """Where the proof is missing, say that nothing can be proven."""
    if not view.any("unproven", "lackproof"):
        return 0
    if view.word("never", "avoid") and view.has("admitted") and view.sign("admitted") < 0:
        return -1
    places = view.at("admitted", "honest")
    return view.sign_at(places[:1]) if not view.word("acceptable") else view.sign("honest")


def abstain(view: View) -> int:
    """Refuse to name any cause, whatever is found."""
    words = view.words
    if view.any("conditional", "after", "undone", "namesake", "diff", "recentchange", "oldest"):
        return 0
    if any(token.required for token in view.sentence.tokens) or view.any("guess", "honest"):
        return 0
    if any(word in _HEDGED for word in words) or not any(word in _ABSOLUTE for word in words):
        return 0
    if view.any("falsealarm", "recovered", "ended") and _sweeping(view):
        given = view.sign("say", "admitted", "blame") or (1 if _assumed(view) else 0)
        named = view.any("falsealarm", "recovered") or view.word("itself")
        return given if named and given > 0 else 0
    if view.any("noneword", "nochange", "lackproof", "unproven"):
        if words[0] == stem("no") and view.any("blame", "cause") and view.word("ever"):
            return 1
        told = view.sign("say", "admitted")
        swept = [at for at, word in enumerate(words) if word in _SWEEPING]
        if not told:
            return 1 if view.word("always") and view.affirmed(swept[0]) else 0
        return 1 if told > 0 and swept and all(view.affirmed(at) for at in swept) else 0
    if words[0] == stem("refuse"):
        return 1 if view.any("blame", "cause") else 0
    plain = view.has("change", "blame") and words[0] == stem("never") and len(words) <= _SHORT
    return 1 if plain and view.sign("blame") < 0 else 0


_ABSOLUTE = stems("always every all never exception ever refuse no")
_SWEEPING = stems("always every all exception ever")
_HEDGED = stems("timing alone merely just only because rather than usually some sometimes")
_SHORT = 5
"""An order never to blame anything is short; longer ones say when not to."""
