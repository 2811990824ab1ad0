"""The kinds of defects, one file each with its templates."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from heldout.repair.defect import Family


@cache
def families() -> dict[str, Family]:
    """Every family of this package, by name."""
    found: dict[str, Family] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        family = getattr(import_module(f"{__name__}.{info.name}"), "FAMILY", None)
        if family is not None:
            found[family.name] = family
    return found
