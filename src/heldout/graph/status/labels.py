"""Which labels a selector picks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def label_match(selector: Any, labels: Any) -> bool:
    """Whether a label selector picks ``labels``; an empty selector picks everything.

    Takes a plain map, or ``matchLabels`` / ``matchExpressions`` (also in snake case).
    """
    have = _texts(labels)
    if not isinstance(selector, Mapping):
        return selector is None
    pairs = selector.get("matchLabels", selector.get("match_labels"))
    rules = selector.get("matchExpressions", selector.get("match_expressions"))
    if pairs is None and rules is None:
        pairs = selector
    if any(have.get(key) != value for key, value in _texts(pairs).items()):
        return False
    # A list is what it should be; of anything else nothing is known to be picked.
    if rules is not None and not isinstance(rules, list | tuple):
        return False
    return all(_expression(rule, have) for rule in rules or () if isinstance(rule, Mapping))


def _texts(labels: Any) -> dict[str, str]:
    if not isinstance(labels, Mapping):
        return {}
    return {str(key): str(value) for key, value in labels.items()}


def _expression(rule: Mapping[str, Any], have: Mapping[str, str]) -> bool:
    key = str(rule.get("key", ""))
    operator = rule.get("operator")
    given = rule.get("values")
    values = [str(value) for value in given] if isinstance(given, list | tuple) else []
    if operator == "In":
        return have.get(key) in values
    if operator == "NotIn":
        return have.get(key) not in values
    if operator == "Exists":
        return key in have
    if operator == "DoesNotExist":
        return key not in have
    return False
