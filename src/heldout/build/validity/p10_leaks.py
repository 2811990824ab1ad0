"""Nothing that an agent can see speaks of how the world was made, or of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject

WORDS = re.compile(
    r"(?<![a-z])(scenario|fault|faulty|inject\w*|culprit|decoy|root.?cause|ground.?truth|synthetic"
    r"|simulat\w*|heldout|held.?out|canary|trap)(?![a-z])",
    re.IGNORECASE,
)


_BLANKS = re.compile(r"\{(?:said|new|old|holder|seat|name|next|why|kind|leaf|value|peer)\}")


def check(subject: Subject) -> Sequence[str]:
    """Search every text of the world and the alert for tell-tale words, blanks that were not
    filled in, canary, spec id and the words of the truth.
    """
    spec, truth = subject.spec, subject.truth
    secret = [one for one in (spec.canary, spec.id, truth.mechanism) if one]
    found = []
    for text in dict.fromkeys(_texts(subject)):
        hit = WORDS.search(text) or _BLANKS.search(text)
        if hit:
            found.append(f"a visible text holds '{hit.group(0)}': {text[:60]!r}")
        elif any(one in text for one in secret):
            found.append(f"a visible text holds the canary, the id or the truth: {text[:60]!r}")
    return found[:5]


def _texts(subject: Subject) -> list[str]:
    view = subject.view
    texts = [subject.made.alert, *view.name.values()]
    for table, columns in (
        ("change_event", ("actor", "pr", "repo", "summary")),
        ("change_diff", ("field", "old_json", "new_json")),
        ("alert", ("rule", "text")),
        ("fact", ("field", "value_json")),
        ("metric_series", ("name", "unit")),
        ("data_gap", ("source", "note")),
    ):
        for column in columns:
            texts += view.tables.columns[table][column]
    texts += [line[3] for line in view.tables.lines]
    for block in view.tables.logs:
        texts += block.templates
    return [str(text) for text in texts]


POINT = Point("leaks", check)
