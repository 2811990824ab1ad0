"""Okapi BM25, for the floor that ranks changes by the words of the alert."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(text: str) -> list[str]:
    """Lower-cased words; identifiers are taken apart at case, underscores, dots and dashes."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def rank(query: str, documents: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> list[float]:
    """One score per document. Source: Robertson & Zaragoza (2009), "The Probabilistic Relevance
    Framework", with idf = ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    counts = [Counter(words(document)) for document in documents]
    lengths = [sum(count.values()) for count in counts]
    mean = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
    scores = [0.0] * len(documents)
    for term in sorted(set(words(query))):
        holding = sum(term in count for count in counts)
        if not holding:
            continue
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for index, count in enumerate(counts):
            found = count[term]
            if found:
                norm = k1 * (1 - b + b * lengths[index] / mean)
                scores[index] += idf * found * (k1 + 1) / (found + norm)
    return scores
