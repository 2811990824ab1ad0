"""Attributes as states of version 3 wrote them: ``ingress.#``, ``ingress.12.self``, ``tags.%``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_KEYS = 50_000
MAX_DEPTH = 30

Tree = dict[str, Any]


def unflatten(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The nested form. Members of sets come in the order of their keys; counts are left out.

    A key that is both a value and a branch keeps the branch. What is deeper than the bound, or
    more than the bound of keys, is left out.
    """
    tree: Tree = {}
    for key, value in sorted(flat.items(), key=lambda one: str(one[0]))[:MAX_KEYS]:
        _put(tree, str(key).split("."), value)
    found = _settle(tree)
    return found if isinstance(found, dict) else {}


def _put(tree: Tree, steps: list[str], value: Any) -> None:
    if len(steps) > MAX_DEPTH:
        return
    for step in steps[:-1]:
        inner = tree.get(step)
        if not isinstance(inner, dict):
            inner = tree[step] = {}
        tree = inner
    if not isinstance(tree.get(steps[-1]), dict):
        tree[steps[-1]] = value


def _settle(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    members = {key: _settle(inner) for key, inner in node.items() if key not in ("#", "%")}
    if "#" in node:
        return [members[key] for key in sorted(members, key=_by_number)]
    return members


def _by_number(key: str) -> tuple[int, int, str]:
    return (0, int(key), "") if key.isascii() and key.isdigit() and len(key) < 20 else (1, 0, key)
