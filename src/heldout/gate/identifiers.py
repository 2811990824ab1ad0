"""Names as written, in any case, spacing and disguise that a view undoes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from heldout.gate.hits import Context, Hit, name_hit
from heldout.gate.names import Name
from heldout.gate.pages import BLANK, BREAK, SOFT, Place, Text
from heldout.gate.report import Severity
from heldout.gate.vocabulary import MODIFIERS, Vocabulary

RULE = "incident-identifier"
GLUED = 11
"""A name this long is found inside other words too."""
LOOSE = 8
"""A name shorter than this may not be pieced together from words with blanks between them."""

_WORKLOAD = (
    r"services?|svc|apis?|pods?|deployments?|statefulsets?|daemonsets?|cronjobs?|namespaces?|"
    r"workloads?|replicas?"
)
_NOUN = (
    rf"(?:{_WORKLOAD}|jobs?|clusters?|topics?|queues?|databases?|db|tables?|buckets?|hosts?|teams?|"
    r"repos?|repository|charts?|images?|containers?|config ?maps?|secrets?|flags?)"
)
_AFTER = re.compile(rf"^[`'\"*]*[ -](?P<noun>{_NOUN})\b", re.IGNORECASE)
_RUNS = re.compile(_WORKLOAD, re.IGNORECASE)
_BEFORE_NOUN = re.compile(
    rf"\b(?P<noun>{_NOUN})\s+(?P<named>named\s+|called\s+)?[`'\"*]*$", re.IGNORECASE
)
_DETERMINER = re.compile(r"\b(?:the|our|your|their|a|an|this)\s+[`'\"*]*$", re.IGNORECASE)
_QUOTES = "`'\"‘’“”«»"


@dataclass(frozen=True, slots=True)
class Form:
    """How a match is written."""

    quoted: bool
    joined: bool
    """With underscores, dots, slashes, camelCase or a glob: as code, never as prose."""
    hyphened: bool
    glob: bool
    noun: bool
    """Before a word such as service, pods, queue, as in "the … pods"; or called so."""
    runs: bool
    """Likewise, and that word is one for something that runs."""
    titled: str
    """The word of that sort right before it, as in "service …"; empty for none."""

    @property
    def code(self) -> bool:
        """Written as a name rather than as prose."""
        return self.quoted or self.joined or self.noun or bool(self.titled)


def form_of(place: Place, edges: bytes) -> Form:
    """Look at a match and at what stands around it."""
    source = place.source
    before, after = place.around
    quoted = (
        bool(before and after) and before[-1] in _QUOTES and after[0] in _QUOTES
    ) or _inside_code(before, after)
    glob = after[:2] in {"-*", ".*", "/*", "_*"} or before[-2:] in {"*-", "*.", "*/"}
    path = after[:1] in {"/", "="} or before[-1:] in {"/", "@"}
    joined = bool(re.search(r"\w[_./]\w", source)) or SOFT in edges[1:] or glob or path
    title = _BEFORE_NOUN.search(before)
    named = bool(title and title["named"])
    follows = _AFTER.search(after)
    if follows and not (_DETERMINER.search(before) or "-" in source):
        follows = None
    runs = named or bool(follows and _RUNS.fullmatch(follows["noun"]))
    titled = title["noun"].lower() if title else ""
    hyphened = bool(re.search(r"\w[-‐‑]\w", source))
    return Form(quoted, joined, hyphened, glob, named or bool(follows), runs, titled)


def _inside_code(before: str, after: str) -> bool:
    return before.count("`") % 2 == 1 and "`" in after


def check(context: Context) -> Iterator[Hit]:
    """Every name of the inventory in the squashed text, and in the text without markup."""
    seen: set[tuple[str, str, int, int]] = set()
    for text in (context.scan.squashed, context.scan.unmarked):
        if text is None:
            continue
        for name, place, edges in matches(context, text):
            key = (name.key, place.page.file, place.line, place.column)
            if key in seen:
                continue
            seen.add(key)
            severity = severity_of(name, place, edges, context.inventory.vocabulary)
            if severity is not None:
                yield name_hit(RULE, severity, place, name, strong=_strong(name, place, edges))


def matches(context: Context, text: Text) -> Iterator[tuple[Name, Place, bytes]]:
    """Matches that stand as a name of their own; longest first where several start together."""
    if not text.text:
        return
    found = context.inventory.automaton.find_matches_as_indexes(text.text, overlapping=True)
    taken: list[tuple[int, int]] = []
    for number, first, last in sorted(found, key=lambda m: (m[1], -m[2])):
        key = context.inventory.keys[number]
        name = context.inventory.names[key]
        if any(a <= first and last <= b and (a, b) != (first, last) for a, b in taken[-4:]):
            continue
        edges = text.edges[first:last]
        if not (text.bounded(first, last) and _whole(name, text.text[first:last], edges)) and not (
            name.tier in {"T1", "T2"} and len(key) >= GLUED and max(edges[1:]) <= SOFT
        ):
            continue
        taken.append((first, last))
        yield name, text.place(first, last), edges


def _whole(name: Name, text: str, edges: bytes) -> bool:
    """False where a short name is only pieced together from other words."""
    inner = edges[1:]
    if not inner or max(inner) <= SOFT:
        return True
    own = _own_edges(name)
    strange = [edge for at, edge in enumerate(inner, 1) if edge > SOFT and at not in own]
    if not strange:
        return BREAK not in inner or len(text) >= LOOSE
    if sum(edge > SOFT for edge in inner) >= len(inner) * 0.8:
        return len(text) >= 5
    if len(text) < LOOSE:
        return False
    if name.tier in {"T3", "T5"}:
        return False
    return len(strange) <= 2 and (BLANK not in strange or len(text) >= GLUED)


def _own_edges(name: Name) -> set[int]:
    """Where the words of a name begin in its key."""
    at = 0
    starts = set()
    for word in name.words:
        starts.add(at)
        at += len(word)
    return starts


def severity_of(name: Name, place: Place, edges: bytes, vocabulary: Vocabulary) -> Severity | None:
    """What a match is worth by its tier, its form, and what it names; ``None`` for nothing."""
    if name.tier == "T1":
        return "reject"
    form = form_of(place, edges)
    key = all(carrier.kind == "key" for carrier in name.carriers)
    if name.tier == "T2":
        return "reject" if form.code or form.hyphened or not key else "warn"
    if name.tier == "T3":
        if form.joined or form.quoted or ((form.noun or form.titled) and not key):
            return "reject"
        return "info" if key or form.hyphened else None
    if key:
        return "reject" if form.quoted or form.joined else None
    return "reject" if _singled_out(name, form, vocabulary) and not _verb(place) else "info"


def _singled_out(name: Name, form: Form, vocabulary: Vocabulary) -> bool:
    """True where one plain word is written as the name of something.

    A word of public schemas (``user``, ``account``) stands in code spans for other reasons too, and
    "service account" is no service of that name.
    """
    telling = [word for word in name.words if word not in MODIFIERS] or list(name.words)
    if all(vocabulary.is_generic(word) for word in telling):
        return form.glob or form.runs or (form.quoted and bool(form.titled))
    titled = bool(form.titled) and not vocabulary.is_pair(form.titled, telling[0])
    return form.quoted or form.joined or form.noun or titled


def _verb(place: Place) -> bool:
    """True where a plain word opens its sentence, as an imperative does."""
    before, after = place.around
    if after[:1] and after[0] in _QUOTES:
        return False
    return bool(re.fullmatch(r"\s*(?:[-*+>]|\d+[.)]|#+)?\s*", before))


def _strong(name: Name, place: Place, edges: bytes) -> bool:
    """Nobody writes an unknown name by chance, nor a rare pair as code."""
    if name.carrier.kind in {"log", "key", "value", "alert"}:
        return False
    if name.tier == "T1":
        return len(name.key) >= 6 and any(len(w) >= 4 for w in name.words)
    form = form_of(place, edges)
    return name.tier == "T2" and (form.quoted or form.joined or form.hyphened)
