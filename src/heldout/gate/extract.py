"""From one incident's world, alert and truth to what must not be said: names, runs, values, ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from heldout.gate.amounts import amounts, amounts_of_value
from heldout.gate.material import Rows
from heldout.gate.names import (
    MIN_NAME,
    MIN_PART,
    STRENGTH,
    Judged,
    Kind,
    Role,
    base_name,
    judge_name,
    unknown_parts,
)
from heldout.gate.shingles import PHRASE, TITLE, shingles
from heldout.gate.vocabulary import Vocabulary, tokens
from heldout.truth import Truth

EXTRACTOR_VERSION = "6"

_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-._/][A-Za-z0-9]+)+")
_NEITHER = re.compile(r"[^a-z0-9]+")
_SHAPED = re.compile(r"[A-Za-z0-9][\w.:/@-]{4,120}")
_PERSON_ACTORS = frozenset({"person"})
_SKIPPED_KINDS = frozenset({"Region", "AlertRule", "PullRequest"})
_QUANTITY_LIMIT = 40
_DIGITS = re.compile(r"\b\d+\b")

PHRASES: Mapping[str, int] = {"truth": PHRASE, "alert": PHRASE, "title": TITLE, "log": TITLE}
"""How many content words make a run, by where it was taken from."""


class Found(NamedTuple):
    """A judged name with its kind, its role in the incident, and where it stands in it.

    ``field`` reads ``entity.Service``, ``change.actor``, ``fact.field``, ``log.template``,
    ``truth.mechanism``.
    """

    judged: Judged
    kind: Kind
    role: Role
    field: str


class Value(NamedTuple):
    """A culprit's quantity and the words of the key that holds it."""

    dimension: str
    number: float
    key: tuple[str, ...]


@dataclass(slots=True)
class Extract:
    """What one incident adds to the inventory."""

    names: dict[tuple[str, Role], Found] = field(default_factory=dict)
    phrases: dict[str, Any] = field(default_factory=dict)
    """By source, see :data:`PHRASES`; a set of hashes while it is made, an array once it is read
    back."""
    values: list[Value] = field(default_factory=list)
    opaque: Any = field(default_factory=set)
    """Hashes of ids, commits and pull requests, for provenance only: shapes refuse them."""
    looked_at: set[tuple[str, Kind, Role]] = field(default_factory=set)
    """Surfaces that were judged already while it is made."""

    def add(self, found: Found) -> None:
        """Keep the strongest reading of a name."""
        key = (found.judged.key, found.role)
        old = self.names.get(key)
        if old is None or STRENGTH[found.judged.tier] < STRENGTH[old.judged.tier]:
            self.names[key] = found


def opaque_hash(text: str) -> int:
    """64-bit hash of an id, whatever its case and separators."""
    bare = _NEITHER.sub("", text.lower())
    return int.from_bytes(blake2b(bare.encode(), digest_size=8).digest(), "little")


class Extractor:
    """Walks one incident. ``rows`` reads a table of its world."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._judged: dict[tuple[str, Kind], Judged] = {}

    def extract(self, rows: Rows, alert: str, truth: Truth, canaries: Iterable[str]) -> Extract:
        """Everything of one incident that must not get into a brain."""
        found = Extract()
        for canary in canaries:
            if canary:
                judged = Judged(canary, tuple(tokens(canary)), "T1")
                found.add(Found(judged, "canary", "culprit", "canary"))
        entities = {row["id"]: row for row in rows("entity")}
        self._entities(found, entities, truth)
        self._changes(found, rows("change_event"), truth)
        self._fields(found, rows, truth)
        self._logs(found, rows("log_template"))
        for rule in sorted({row["rule"] for row in rows("alert")} | set(_titles(alert))):
            self._name(found, rule, "alert", "noise", "alert.rule")
        found.phrases.setdefault("alert", set()).update(
            shingles(alert, PHRASE, self._vocabulary.known)
        )
        self._truth(found, truth)
        self._ids(found, alert, "truth", "alert.text")
        for source, text in _truth_texts(truth):
            self._ids(found, text, "truth", source)
        return found

    def _name(self, found: Extract, surface: str, kind: Kind, role: Role, field: str) -> None:
        if (surface, kind, role) in found.looked_at:
            return
        found.looked_at.add((surface, kind, role))
        surface = base_name(surface.strip())
        if not MIN_NAME <= len(surface) <= 200:
            return
        judged = self._judge(surface, kind)
        if judged.tier == "T4" and kind == "key" and role == "culprit" and len(judged.words) > 1:
            judged = replace(judged, tier="T3")
        if judged.tier == "T4" or len(judged.key) < MIN_NAME:
            return
        if not self._counts(judged, kind, role):
            return
        found.add(Found(judged, kind, role, field))
        if judged.tier == "T1" and kind in {"resource", "person", "place"}:
            for part in unknown_parts(judged, self._vocabulary):
                found.add(Found(Judged(part, (part,), "T1"), "part", role, field))

    def _counts(self, judged: Judged, kind: Kind, role: Role) -> bool:
        """False for a key or a log word that had no part and is made of known words alone."""
        if kind not in {"key", "log"} or role == "culprit":
            return True
        if role == "decoy":
            return judged.tier in {"T1", "T2"}
        return judged.tier == "T1" and bool(unknown_parts(judged, self._vocabulary))

    def _judge(self, surface: str, kind: Kind) -> Judged:
        known = self._judged.get((surface, kind))
        if known is None:
            known = self._judged[surface, kind] = judge_name(surface, kind, self._vocabulary)
        return known

    def _entities(self, found: Extract, entities: dict[str, dict[str, Any]], truth: Truth) -> None:
        culprits = {truth.culprit_entity, *truth.accepted_entities}
        decoys = {decoy.entity for decoy in truth.decoys} | {m.entity for m in truth.near_misses}
        for entity_id, row in entities.items():
            role: Role = "noise"
            if entity_id in culprits:
                role = "culprit"
            elif entity_id in decoys:
                role = "decoy"
            found.opaque.add(opaque_hash(entity_id))
            if row["external_id"]:
                found.opaque.add(opaque_hash(row["external_id"]))
            if row["kind"] == "AlertRule":
                self._name(found, row["name"], "alert", "noise", "alert.rule")
            if row["kind"] in _SKIPPED_KINDS:
                continue
            kind: Kind = "person" if row["kind"] == "Person" else "resource"
            field = f"entity.{row['kind']}"
            self._name(found, row["name"], kind, role, field)
            for piece in re.split(r"[/@:]", row["name"]):
                if piece != row["name"]:
                    self._name(found, piece, kind, role, field)
            if row["cluster"]:
                self._name(found, row["cluster"], "place", "noise", "entity.cluster")

    def _changes(self, found: Extract, events: list[dict[str, Any]], truth: Truth) -> None:
        culprits = {truth.culprit_change, *truth.accepted_changes}
        decoys = {decoy.change for decoy in truth.decoys}
        titles: set[str] = set()
        for row in events:
            role: Role = "noise"
            if row["id"] in culprits:
                role = "culprit"
            elif row["id"] in decoys:
                role = "decoy"
            for column in ("id", "commit", "pr"):
                if row[column]:
                    found.opaque.add(opaque_hash(row[column]))
            if row["actor_kind"] in _PERSON_ACTORS:
                self._name(found, row["actor"], "person", role, "change.actor")
            for piece in (row["repo"] or "").split("/"):
                self._name(found, piece, "resource", role, "change.repo")
            titles.add(row["summary"] or "")
        runs = found.phrases.setdefault("title", set())
        for title in sorted(titles):
            runs |= shingles(title, TITLE, self._vocabulary.known)

    def _fields(self, found: Extract, rows: Rows, truth: Truth) -> None:
        """Configuration keys, string values that look like names, and the culprit's quantities."""
        seen: set[tuple[str, str]] = set()
        for row in rows("fact"):
            pair = (row["field"], row["value_json"])
            if pair not in seen:
                seen.add(pair)
                self._field(found, *pair, "fact")
        culprits = {truth.culprit_change, *truth.accepted_changes} - {""}
        decoys = {decoy.change for decoy in truth.decoys} - {""}
        for row in rows("change_diff"):
            if row["event_id"] in decoys:
                self._name(found, _leaf(row["field"]), "key", "decoy", "change.field")
            for value in (row["old_json"], row["new_json"]):
                pair = (row["field"], value or "")
                if pair not in seen:
                    seen.add(pair)
                    self._field(found, *pair, "change")
            if row["event_id"] in culprits:
                self._culprit_diff(found, row, truth)
        if truth.culprit_field:
            self._name(found, _leaf(truth.culprit_field), "key", "culprit", "truth.culprit_field")

    def _culprit_diff(self, found: Extract, row: dict[str, Any], truth: Truth) -> None:
        if truth.culprit_field and row["field"] != truth.culprit_field:
            return
        leaf = _leaf(row["field"])
        self._name(found, leaf, "key", "culprit", "change.field")
        key = tuple(tokens(leaf))
        for text in (row["old_json"], row["new_json"]):
            for amount in amounts_of_value(text or "", row["field"])[:_QUANTITY_LIMIT]:
                found.values.append(Value(amount.dimension, amount.value, key))
            for word in _strings(text or ""):
                self._name(found, word, "value", "culprit", "change.value")

    def _field(self, found: Extract, name: str, value_json: str, where: str) -> None:
        self._name(found, _leaf(name), "key", "noise", f"{where}.field")
        for text in _strings(value_json):
            for match in _SHAPED.finditer(text):
                surface = match.group()
                if re.search(r"[-._/]", surface):
                    self._shaped(found, surface, f"{where}.value")

    def _shaped(self, found: Extract, surface: str, field: str) -> None:
        """A value that looks like a name: kept only where its words give it away."""
        for piece in re.split(r"[/@:,=]", surface):
            judged = self._judge(base_name(piece), "value")
            telling = [w for w in judged.words if len(w) >= MIN_PART]
            if judged.tier == "T1" and any(not self._vocabulary.known(word) for word in telling):
                self._name(found, piece, "value", "noise", field)

    def _logs(self, found: Extract, templates: list[dict[str, Any]]) -> None:
        runs = found.phrases.setdefault("log", set())
        for text in sorted({row["template"] for row in templates}):
            self._ids(found, text, "noise", "log.template")
            runs |= shingles(_DIGITS.sub(" ", text), TITLE, self._vocabulary.known)

    def _ids(self, found: Extract, text: str, role: Role, field: str) -> None:
        for match in _ID.finditer(text):
            self._name(found, match.group(), "log", role, field)

    def _truth(self, found: Extract, truth: Truth) -> None:
        runs = found.phrases.setdefault("truth", set())
        for _, text in _truth_texts(truth):
            runs |= shingles(text, PHRASE, self._vocabulary.known)
            for amount in amounts(text)[:_QUANTITY_LIMIT]:
                if amount.dimension != "number":
                    key = tuple(tokens(_leaf(truth.culprit_field)))
                    found.values.append(Value(amount.dimension, amount.value, key))


def _truth_texts(truth: Truth) -> tuple[tuple[str, str], ...]:
    """Every sentence of a truth, each with its place in it."""
    return (
        ("truth.mechanism", truth.mechanism),
        ("truth.trigger", truth.trigger),
        ("truth.recommended_fix", truth.recommended_fix),
        *(("truth.chain", step) for step in truth.chain),
        *(("truth.decoys", decoy.why_innocent) for decoy in truth.decoys),
        *(("truth.near_misses", miss.why_wrong) for miss in truth.near_misses),
    )


def _titles(alert: str) -> list[str]:
    """The heading of an alert: the name of the rule that fired."""
    return re.findall(r"^#+ *(.+?) *$", alert, re.MULTILINE)[:1]


def _leaf(name: str) -> str:
    """The last step of a field's path, without an index."""
    return re.split(r"[./\[]", re.sub(r"\[[^\]]*\]$", "", name))[-1].strip("]\"' ")


def _strings(value_json: str, depth: int = 0) -> Iterator[str]:
    """The strings of a JSON value; text that is no JSON counts as one."""
    if not value_json or len(value_json) > 20_000:
        return
    try:
        value = json.loads(value_json)
    except ValueError:
        value = value_json
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend([*item.values(), *item.keys()])
        elif isinstance(item, list):
            stack.extend(item)
