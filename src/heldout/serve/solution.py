"""A diagnosis in prose, read as the arguments of ``submit_diagnosis``."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from heldout.graph import read_table
from heldout.graph.tools.page import ids_in
from heldout.serve.sitting import Sitting

_LONGEST = 4_000
_NAMED = re.compile(r"\b([A-Za-z][A-Za-z0-9]{1,40})/([a-z0-9][a-z0-9._-]{0,120})")


def read_solution(sitting: Sitting, text: str) -> dict[str, Any]:
    """The arguments that a text comes to.

    A JSON object with ``root_cause_entity`` is taken as it is. Else the first entity id and the
    first change id in the text are the answer; without an entity id, the first ``Kind/name`` that
    exactly one entity bears. The whole text is the mechanism.
    """
    text = text.strip()
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict) and "root_cause_entity" in given:
        return given
    ids = ids_in(text)
    entities = [one for one in ids if one.startswith("e-")]
    changes = [one for one in ids if one.startswith("c-")]
    return {
        "root_cause_entity": entities[0] if entities else _named(sitting, text),
        "root_cause_change": changes[0] if changes else "none",
        "mechanism": text[:_LONGEST],
        "evidence_ids": list(ids[:20]),
    }


def _named(sitting: Sitting, text: str) -> str:
    known = _names(sitting.assignment.world)
    for kind, name in _NAMED.findall(text):
        found = known.get((kind.lower(), name.rstrip(".")), ())
        if len(found) == 1:
            return found[0]
    return "none"


@cache
def _names(world: str) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in read_table(Path(world), "entity"):
        kinds = {row["kind"].lower(), row["kind"].lower().removeprefix("k8s")}
        for kind in kinds:
            key = (kind, row["name"])
            found[key] = (*found.get(key, ()), row["id"])
    return found
