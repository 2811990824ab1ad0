"""Columns of tables as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = np.ndarray[Any, Any]
"""One column in stored order; texts as objects."""


def runs(keys: Column) -> dict[str, slice]:
    """Where each key's rows stand in a column that is stored by key."""
    if not len(keys):
        return {}
    starts = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist()]
    names = keys[starts].tolist()
    return dict(zip(names, map(slice, starts, [*starts[1:], len(keys)]), strict=True))


def among(keys: Column, chosen: set[str] | dict[str, int] | frozenset[str]) -> Column:
    """Which rows have one of the chosen keys."""
    return np.fromiter((key in chosen for key in keys.tolist()), dtype=np.bool_, count=len(keys))
