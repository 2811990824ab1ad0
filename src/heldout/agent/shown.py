"""Which ids a model was shown, and whether an answer names others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import process

NAMED = ("root_cause_entity", "root_cause_change", "evidence_ids")
"""Arguments of the submitting tool that hold ids."""
REFUSALS = 3
"""So many submissions are refused for ids that were never shown; the next is taken as it is, since
an honest wrong answer is one too."""
_NONE = frozenset({"", "none", "null", "n/a", "no change", "nothing", "unknown"})
_ID = re.compile(r"(?<![\w-])(?:[a-z]{1,3}-[0-9a-f]{6,16}|l-\d+)(?![\w-])")


@dataclass(slots=True)
class Shown:
    """Ids and words of the alert and of every answer that was no error."""

    alert: str
    ids: dict[str, None] = field(default_factory=dict)
    """In the order in which they were first shown."""
    _texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.add(self.alert)

    def add(self, answer: str, ids: Iterable[str] = (), *, is_error: bool = False) -> None:
        """An answer; of an error (which may repeat what was asked) only the ids it offers count."""
        self.ids.update(dict.fromkeys(ids))
        if not is_error:
            self.ids.update(dict.fromkeys(_ID.findall(answer)))
            self._texts.append(answer)

    def unknown(self, args: Mapping[str, Any]) -> str:
        """The first id in a submission that was never shown; empty when there is none."""
        for name in NAMED:
            given = args.get(name)
            for value in given if isinstance(given, list) else [given]:
                if isinstance(value, str) and not self._known(value.strip()):
                    return value.strip()[:100]
        return ""

    def near(self, value: str, count: int = 5) -> tuple[str, ...]:
        """Shown ids that resemble one; of its own kind where there are such."""
        kind = value[:2]
        alike = [one for one in self.ids if one.startswith(kind)] or list(self.ids)
        return tuple(str(one[0]) for one in process.extract(value, alike, limit=count))

    def _known(self, value: str) -> bool:
        if value.casefold() in _NONE or value in self.ids:
            return True
        inside = _ID.findall(value)
        if inside:
            return all(one in self.ids for one in inside)
        word = re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")
        return any(word.search(text) for text in self._texts)
