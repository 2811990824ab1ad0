"""Values that a document marks as sensitive, replaced at their paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MAX_PATHS = 5_000
MAX_STEPS = 30
Path = tuple[str | int, ...]
Hide = Callable[[Any], str]
"""From a secret value to its placeholder; the same value gives the same placeholder."""


def marked_paths(mask: Any) -> list[Path]:
    """The paths at which a mask of the same shape as the values says ``true``."""
    found: list[Path] = []

    def walk(node: Any, path: Path) -> None:
        if len(found) >= MAX_PATHS or len(path) > MAX_STEPS:
            return
        if node is True:
            found.append(path)
        elif isinstance(node, Mapping):
            for key, inner in node.items():
                walk(inner, (*path, str(key)))
        elif isinstance(node, list):
            for at, inner in enumerate(node):
                walk(inner, (*path, at))

    walk(mask, ())
    return found


def without(values: Mapping[str, Any], paths: Iterable[Path], hide: Hide) -> Mapping[str, Any]:
    """The values with a placeholder at each path. The empty path marks all of it: nothing is left.

    A path may leave out the place in a list: it then holds for each member.
    """
    found: Any = values
    for path in paths:
        if not path:
            return {}
        found = _hidden(found, path, hide)
    return found if isinstance(found, Mapping) else {}


def _hidden(node: Any, path: Sequence[str | int], hide: Hide) -> Any:
    if not path:
        return node if node in (None, "") else hide(node)
    step, rest = path[0], path[1:]
    if isinstance(node, Mapping):
        return {**node, step: _hidden(node[step], rest, hide)} if step in node else node
    if isinstance(node, list) and isinstance(step, int):
        if 0 <= step < len(node):
            return [*node[:step], _hidden(node[step], rest, hide), *node[step + 1 :]]
        return node
    if isinstance(node, list):
        return [_hidden(one, path, hide) for one in node]
    return node
