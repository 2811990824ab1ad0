"""Keys and passwords of this process's environment never reach a file that heldout writes."""

from __future__ import annotations

import json
import os
import re

_NAMES = re.compile(
    r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|ACCESS_KEY|WEBHOOK(_URL)?)$", re.I
)
_SHORTEST = 8
"""A shorter value ("none", "test") is no secret, and replacing it would spoil ordinary words."""


def environment_secrets() -> tuple[tuple[str, str], ...]:
    """(variable's name, value) of everything in the environment that looks like a secret.

    Longest value first, so that one secret within another is not left half-standing.
    """
    found = [
        (name, value.strip())
        for name, value in os.environ.items()
        if _NAMES.search(name) and len(value.strip()) >= _SHORTEST
    ]
    return tuple(sorted(found, key=lambda pair: (-len(pair[1]), pair[0])))


class Scrubber:
    """Takes the secrets that the environment held when it was made out of texts.

    Each value is replaced by the name of its variable, also where it stands quoted within JSON.
    """

    def __init__(self) -> None:
        pairs = [(value, f"[secret {name}]") for name, value in environment_secrets()]
        quoted = [(json.dumps(value)[1:-1], name) for value, name in pairs]
        self._pairs = tuple(dict.fromkeys(pairs + quoted))

    def __call__(self, text: str) -> str:
        """``text`` without secrets."""
        for value, name in self._pairs:
            if value in text:
                text = text.replace(value, name)
        return text
