"""The two variants of every name: as the benchmark has it, or another that tells nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class Naming:
    """Puts other names for some, in every text of a value, also as a variable's name.

    A benchmark's names are in models' training text, and some tell the fault. An empty mapping
    leaves everything as it is.
    """

    def __init__(self, others: Mapping[str, str]) -> None:
        self._others = {}
        for one, other in others.items():
            self._others[one] = other
            self._others[_variable(one)] = _variable(other)
        ranked = sorted(self._others, key=lambda one: (-len(one), one))
        inner = "|".join(re.escape(one) for one in ranked)
        # Not within a word, but within a variable or a name of several words.
        self._pattern = (
            re.compile(rf"(?<![A-Za-z0-9])(?:{inner})(?![A-Za-z0-9])") if inner else None
        )

    def text(self, text: str) -> str:
        """A text with the other names."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._others[found[0]], text)

    def value(self, value: Any) -> Any:
        """A value of any shape with the other names, in keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return value


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")
