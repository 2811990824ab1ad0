"""Keys and passwords of this process's environment never reach a file that heldout writes."""

from __future__ import annotations

import json
import os
import re

_NAMES = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|ACCESS_KEY)$", re.I)
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


def scrub(text: str, secrets: tuple[tuple[str, str], ...]) -> str:
    """``text`` with every secret's value replaced by the name of its variable."""
    for name, value in secrets:
        if value in text:
            text = text.replace(value, f"[secret {name}]")
    return text


def scrub_text(text: str) -> str:
    """``text`` without the secrets of the environment, also where they stand within JSON."""
    secrets = environment_secrets()
    quoted = tuple((name, json.dumps(value)[1:-1]) for name, value in secrets)
    return scrub(scrub(text, secrets), quoted)
