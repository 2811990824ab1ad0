"""Randomness by name: every component draws from a PCG64 stream of its own.

Seeds are hashes of names, never Python's ``hash()``, so a world is the same in every process, and
leaving one change out shifts nobody else's noise. That is what makes twins possible.
"""

from __future__ import annotations

import hashlib

import numpy as np

_SEPARATOR = "\x1f"


def seed_of(*parts: object) -> int:
    """A stable 128-bit integer for a path of names."""
    text = _SEPARATOR.join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big")


def stream(*parts: object) -> np.random.Generator:
    """A PCG64 generator for a path of names, e.g. ``stream(seed, "timeline", "deploys")``."""
    return np.random.Generator(np.random.PCG64(seed_of(*parts)))


def token(*parts: object, digits: int = 8) -> str:
    """A stable hexadecimal token for a path of names."""
    text = _SEPARATOR.join(map(str, parts))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()[:digits]


def share(*parts: object) -> float:
    """A stable number in [0, 1) for a path of names, cheaper than a stream for a single draw."""
    return int(token(*parts, digits=12), 16) / 16**12
