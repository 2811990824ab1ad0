"""Identifiers out of texts before a proposer sees them: typed, stable placeholders in their place.

What the tools showed in an investigation (names, ids, values, fields, people) is learnt from their
answers and replaced wherever it turns up. What they did not show, a judge may still name; so
anything that is *shaped* like an identifier, a date or a quantity is replaced as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

_KEYS = {
    "name": "", "entity_name": "", "external_id": "", "cluster": "cluster", "actor": "person",
    "repo": "repository", "pr": "pr", "commit": "commit", "rule": "rule", "series": "series",
    "value": "value", "old": "value", "new": "value", "left": "value", "right": "value",
    "field": "field",
}  # fmt: skip
"""Keys of a tool's answer whose text is an identifier, and the placeholder's type."""

_ID_TYPES = {"e": "entity", "c": "change", "a": "alert", "m": "series", "l": "log"}
_PLAIN = frozenset(
    {
        "none", "null", "true", "false", "unknown", "info", "warn", "error", "debug", "critical",
        "warning", "open", "closed", "resolved", "active", "healthy", "unhealthy", "running",
        "failed", "pending", "ready", "default", "enabled", "disabled", "yes", "no", "the", "and",
        "all", "low", "medium", "high",
    }
)  # fmt: skip
_HYPHENATED = frozenset(
    {
        "near-miss", "root-cause", "read-only", "long-lived", "short-lived", "fleet-wide",
        "cross-check", "follow-up", "on-call", "run-time", "real-time", "well-known", "so-called",
        "re-run", "up-to-date", "out-of-date", "time-out", "back-pressure", "non-zero", "one-off",
    }
)  # fmt: skip

_ID = re.compile(r"(?<![\w-])([ecam])-[0-9a-f]{6,16}(?![\w-])|(?<![\w-])(l)-\d+(?![\w-])")
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "address",
        re.compile(r"\b[a-z][a-z0-9+.-]*://\S*[\w/]|\barn:\S*[\w/]|[\w.+-]+@[\w-]+\.[\w.]*\w"),
    ),
    (
        "date",
        re.compile(
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
            r"|\b\d{1,2}:\d\d(?::\d\d)?\b"
            r"|\b(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:January|February|March|April|May|June|July"
            r"|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov"
            r"|Dec)\.?\s+\d{1,4}(?:st|nd|rd|th)?\b(?:,?\s+\d{4})?"
        ),
    ),
    ("pr", re.compile(r"(?<![\w<])(?:PR|MR|pull request)\s*[#!]?\d+|(?<![\w<&])[#!]\d+", re.I)),
    ("ticket", re.compile(r"\b[A-Z]{2,10}-\d+\b")),
    ("address", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d+)?\b")),
    ("hash", re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")),
    ("name", re.compile(r"(?<![\w<-])(?=\S*[A-Za-z_])\w+(?:[-_./:]+\w+)+(?![\w>])")),
    ("name", re.compile(r"\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z]+\d\w*)\b")),
    (
        "value",
        re.compile(
            r"(?<![\w<-])[-+]?\d+(?:[.,]\d+)*"
            r"(?:\s?(?:%|(?:[kKMGTPE]i?[Bb]?|B|[mnµu]?s|sec|min|h|d|x|rps|qps)\b))?"
        ),
    ),
)  # fmt: skip
_PLACEHOLDER = re.compile(r"<[a-z]+-\d+>")


class Redactor:
    """Replaces what was learnt and what is shaped like an identifier; one per investigation.

    The same surface always gets the same placeholder, an entity's id and its name share one.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._shaped: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def learn(self, surface: str, kind: str) -> str:
        """Give a surface its placeholder; too short or plain a word gets none."""
        surface = surface.strip()
        key = surface.casefold()
        if key in self._known:
            return self._known[key]
        if len(surface) < 2 or key in _PLAIN or _PLACEHOLDER.fullmatch(surface):
            return surface
        return self._remember(key, self._next(kind))

    def _next(self, kind: str) -> str:
        kind = re.sub(r"[^a-z]+", "", kind.casefold()) or "entity"
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"<{kind}-{self._counts[kind]}>"

    def _remember(self, key: str, placeholder: str) -> str:
        self._known[key] = placeholder
        self.__dict__.pop("_pattern", None)
        return placeholder

    def learn_answer(self, text: str) -> None:
        """Learn each name, id, field and value of one tool answer (JSON); skip other text."""
        try:
            data = json.loads(text)
        except ValueError:
            return
        self._walk(data)

    def learn_alert(self, alert: str) -> None:
        """Learn the alert's heading and its ``Key: value`` lines that name something."""
        for line in alert.splitlines():
            key, colon, value = line.strip().lstrip("*- ").partition(":")
            name = key.strip("* ").casefold()
            value = value.strip("* `")
            if colon and value and name in {"service", "cluster", "namespace", "entity", "host"}:
                self.learn(value, name)

    def _walk(self, data: Any) -> None:
        if isinstance(data, Mapping):
            self._row(data)
            for value in data.values():
                self._walk(value)
        elif isinstance(data, list):
            for value in data:
                self._walk(value)

    def _row(self, row: Mapping[str, Any]) -> None:
        identity = row.get("id")
        kind = str(row.get("kind") or row.get("type") or "")
        if isinstance(identity, str) and _ID.fullmatch(identity):
            kind = "change" if identity.startswith("c-") else kind
            name = row.get("name")
            same = self._known.get(name.strip().casefold()) if isinstance(name, str) else None
            if same is not None and identity.casefold() not in self._known:
                self._remember(identity.casefold(), same)
            placeholder = self.learn(identity, kind or _ID_TYPES.get(identity[0], "entity"))
            if isinstance(name, str) and len(name) > 1 and name.casefold() not in self._known:
                self._remember(name.strip().casefold(), placeholder)
        entity, entity_name = row.get("entity"), row.get("entity_name")
        if isinstance(entity, str) and isinstance(entity_name, str) and len(entity_name) > 1:
            placeholder = self.learn(entity, "entity")
            if placeholder != entity and entity_name.casefold() not in self._known:
                self._remember(entity_name.strip().casefold(), placeholder)
        for key, value in row.items():
            if key in _KEYS and isinstance(value, str):
                self._surface(value, _KEYS[key] or kind or "entity")
            elif key == "fields":
                for field in value if isinstance(value, list | Mapping) else ():
                    self._field(str(field))

    def _surface(self, text: str, kind: str) -> None:
        if kind == "field":
            self._field(text)
        elif kind == "value":
            self._value(text)
        elif len(text) >= 3:
            self.learn(text, kind)

    def _value(self, text: str) -> None:
        inner = text.strip().strip('"')
        if not inner.isdigit() and len(inner) >= 3 and not re.fullmatch(r"[a-z]+", inner):
            self.learn(inner[:400], "value")

    def _field(self, path: str) -> None:
        """Fields that are more than one plain word, with their leaf, under one placeholder."""
        leaf = re.split(r"[./\]]", path.rstrip("]"))[-1] or path
        forms = [form for form in (path, leaf) if not re.fullmatch(r"[a-z]+", form)]
        if not forms:
            return
        words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", leaf).lower().replace("-", "_")
        placeholder = self.learn(forms[0], "field")
        if "_" in words:
            joined = words.replace("_", "")
            forms += [words, words.replace("_", "-"), words.replace("_", " "), joined]
        for form in forms[1:]:
            if len(form) > 2 and form.casefold() not in self._known:
                self._remember(form.casefold(), placeholder)

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        surfaces = sorted(self._known, key=lambda item: (-len(item), item))
        if not surfaces:
            return None
        body = "|".join(re.escape(surface) for surface in surfaces)
        return re.compile(rf"(?<![A-Za-z0-9<])(?:{body})(?![A-Za-z0-9>])", re.IGNORECASE)

    def surfaces(self) -> tuple[str, ...]:
        """Everything that was learnt, case-folded, for tests and audits."""
        return tuple(self._known)

    def text(self, text: str, limit: int = 0) -> str:
        """The text with placeholders; cut to ``limit`` characters *after* replacement."""
        pattern = self._pattern
        if pattern is not None:
            text = pattern.sub(lambda match: self._known[match.group(0).casefold()], text)
        text = _ID.sub(lambda m: self.learn(m.group(0), _ID_TYPES[m.group(1) or m.group(2)]), text)
        for kind, shape in _SHAPES:
            text = self._outside(text, shape, kind)
        text = " ".join(text.split())
        return text if not limit or len(text) <= limit else text[: limit - 1].rstrip() + "…"

    def _outside(self, text: str, shape: re.Pattern[str], kind: str) -> str:
        """Replace a shape's matches outside placeholders."""
        parts: list[str] = []
        at = 0
        for hole in _PLACEHOLDER.finditer(text):
            parts += [self._sub(text[at : hole.start()], shape, kind), hole.group(0)]
            at = hole.end()
        return "".join([*parts, self._sub(text[at:], shape, kind)])

    def _sub(self, text: str, shape: re.Pattern[str], kind: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            found = match.group(0)
            core = found.strip()
            if core.casefold() in _HYPHENATED or (kind == "value" and re.fullmatch(r"\d", core)):
                return found
            key = core.casefold()
            placeholder = self._known.get(key) or self._shaped.get(key)
            if placeholder is None:
                placeholder = self._shaped[key] = self._next(kind)
            return found.replace(core, placeholder)

        return shape.sub(replaced, text)


def redactor_for(alert: str, answers: Iterable[str]) -> Redactor:
    """A redactor that knows an alert and every tool answer of one investigation."""
    redactor = Redactor()
    redactor.learn_alert(alert)
    for answer in answers:
        redactor.learn_answer(answer)
    return redactor
