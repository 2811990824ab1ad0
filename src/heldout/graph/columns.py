"""Columns of tables as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = np.ndarray[Any, Any]
"""One column in stored order; texts as objects."""


def rounded(values: Column) -> Column:
    """Keep 12 bits of each mantissa (3.6 decimal digits): portable, and small on disk.

    A gap, given as NaN, becomes the one NaN that is stored as NULL.
    """
    flat = np.ascontiguousarray(values, dtype="<f4").copy()
    gaps = np.isnan(flat)
    if gaps.any():
        flat[gaps] = np.nan  # The one NaN that the mask below leaves alone.
    bits = flat.view(np.uint32)
    bits += np.uint32(0x400)
    bits &= np.uint32(0xFFFFF800)
    return flat


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
