"""Nothing that an agent can see speaks of how the world was made, or of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heldout.build.validity import Point, Subject

WORDS = re.compile(
    r"(?<![a-z])(scenario|fault|faulty|inject\w*|culprit|decoy|root.?cause|ground.?truth|synthetic"
    r"|simulat\w*|heldout|held.?out|canary|trap)(?![a-z])",
    re.IGNORECASE,
)


def check(subject: Subject) -> Sequence[str]:
    """Search every text of the world and the alert for tell-tale words, canary and spec id."""
    spec, truth = subject.spec, subject.truth
    texts = dict.fromkeys(_texts(subject))
    found = []
    for text in texts:
        hit = WORDS.search(text)
        if hit:
            found.append(f"a visible text holds '{hit.group(0)}': {text[:60]!r}")
        if spec.canary in text or spec.id in text or truth.mechanism in text:
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
    ):
        for column in columns:
            texts += view.tables.columns[table][column]
    for block in view.tables.logs:
        texts += block.templates
    return [str(text) for text in texts]


POINT = Point("leaks", check)
