"""Other words for the same code: what a seed changes so that nothing can be known by its name.

Renaming is over whole words and the same everywhere, in code, repairs and truth alike, so that two
variants of a template differ in what they say and not in what they do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.tree import Tree

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "FeatureRecord": ("FeatureRecord", "UserFeatures", "Profile", "Traits"),
    "Candidate": ("Candidate", "Option", "Placeable", "Slot"),
    "Template": ("Template", "Wording", "Pattern", "Letter"),
    "from_plain": ("from_plain", "parse", "of_row", "decoded"),
    "freshness": ("freshness", "recency_factor", "nearness", "decay"),
    "SEGMENT_BONUS": ("SEGMENT_BONUS", "MATCH_FACTOR", "AFFINITY", "LIFT"),
    "LIFETIME_SECONDS": ("LIFETIME_SECONDS", "KEEP_SECONDS", "TTL", "CACHED_FOR"),
    "best": ("best", "choose", "pick", "top"),
    "hashed": ("hashed", "digest_of", "pseudonym", "fingerprint"),
    "masked": ("masked", "blurred", "shortened", "starred"),
    "fresh": ("fresh", "unseen", "only_new", "first_time"),
    "permits": ("permits", "slots", "tokens", "lanes"),
    "connections": ("connections", "handles", "links", "lines"),
    "hours_ago": ("hours_ago", "before_hours", "back", "earlier"),
    "sent_since": ("sent_since", "count_since", "how_many_since", "sent_after"),
    "reasons": ("reasons", "why", "parts", "breakdown"),
    "required": ("required", "field", "must_have", "given"),
}
"""Words and what may stand in their place; the first is the word itself."""


def words(seed: int) -> dict[str, str]:
    """Which word stands for which in the variant of a seed; seed 0 changes nothing."""
    if seed == 0:
        return {}
    draw = random.Random(f"words\0{seed}")
    return {word: draw.choice(choices) for word, choices in _CHOICES.items()}


def renamed(text: str, chosen: Mapping[str, str]) -> str:
    """A text with its words replaced, whole words alone."""
    if not chosen:
        return text
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, chosen)) + r")\b")
    return pattern.sub(lambda found: chosen[found[1]], text)


def tree_of(tree: Tree, chosen: Mapping[str, str]) -> Tree:
    """A tree in a variant's words; SQL is left as it is."""
    return Tree(
        {
            path: renamed(text, chosen) if path.endswith(".py") else text
            for path, text in tree.files.items()
        }
    )


def repair_of(repair: Repair, chosen: Mapping[str, str]) -> Repair:
    """A repair in a variant's words."""
    changes = tuple(
        Change(one.path, renamed(one.old, chosen), renamed(one.new, chosen))
        if one.path.endswith(".py")
        else one
        for one in repair.changes
    )
    return replace(repair, changes=changes)


def truth_of(template: Template, chosen: Mapping[str, str]) -> Truth:
    """The truth in a variant's words."""
    return replace(template.truth, symbol=renamed(template.truth.symbol, chosen))
