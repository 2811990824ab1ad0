"""An incident of no system, planted in every inventory: what each rule must catch at start."""

from __future__ import annotations

import json
from typing import Any

from heldout.gate.extract import Extractor
from heldout.gate.inventory import Held, Inventory, Owner
from heldout.gate.material import all_rows
from heldout.gate.names import Name
from heldout.gate.vocabulary import Vocabulary
from heldout.truth import Truth

SELF_TEST = "self-test"
RARE = "quoxelvane-brindleworth"
PAIR = "walrus-accordion"
PLAIN = "marzipan"
KEY = "zwiebelkraft_bound_limit"
SENTENCE = (
    "purple walruses quietly repaired seventeen broken accordions underneath marzipan bridges"
)
ALERT = "Copper lanterns hummed above velvet harbours while seven otters catalogued raindrops"
TITLE = "polish crooked lanterns beside sleepy harbour cranes with borrowed velvet"
CANARY = "heldout-canary-5f1d7c60b2"

CLEAN = (
    "# Method",
    "",
    "- Start from the alert and name the service that users see failing.",
    "- When a value looks wrong, ask when it became what it is and which change set it.",
    "- Search changes at least 14 days back before you settle on one at onset.",
    "- Compare a failing member of a fleet with a healthy sibling, field by field.",
    "",
)


def planted(vocabulary: Vocabulary) -> Held:
    """The planted incident, made by the same extractor as every other."""
    entities = [
        _entity("e-00000001", "Service", RARE),
        _entity("e-00000002", "Service", PAIR),
        _entity("e-00000003", "Service", PLAIN),
    ]
    change: dict[str, Any] = {
        "id": "c-00000001", "ts": 0, "observed_at": 0, "type": "config", "actor": "z.umbrellaphant",
        "actor_kind": "person", "source": "git", "pr": "", "repo": "", "commit": "",
        "summary": TITLE,
    }  # fmt: skip
    diff = {
        "event_id": "c-00000001", "entity_id": "e-00000001", "field": f"data.{KEY}",
        "old_json": json.dumps("2371s"), "new_json": json.dumps("437s"), "redacted": False,
    }  # fmt: skip
    rows = all_rows({"entity": entities, "change_event": [change], "change_diff": [diff]})
    truth = Truth(
        incident=SELF_TEST,
        culprit_entity="e-00000001",
        culprit_change="c-00000001",
        culprit_field=f"data.{KEY}",
        accepted_entities=("e-00000001",),
        accepted_changes=("c-00000001",),
        mechanism=SENTENCE,
        mechanism_terms=(),
        trigger="",
        affected=(),
        unaffected=(),
        chain=(),
        decoys=(),
        near_misses=(),
        recommended_fix="",
        canary=CANARY,
    )
    extract = Extractor(vocabulary).extract(rows, ALERT, truth, (CANARY,))
    return Held(Owner(SELF_TEST, "train"), extract)


def _entity(number: str, kind: str, name: str) -> dict[str, Any]:
    return {"id": number, "kind": kind, "name": name, "external_id": "", "cluster": ""}


def real_names(inventory: Inventory, tier: str, limit: int = 2) -> list[Name]:
    """A few names of real incidents of one tier, the longest first; planted ones stand back."""
    names = [
        name
        for name in inventory.names.values()
        if name.tier == tier
        and any(c.kind == "resource" and c.incident != SELF_TEST for c in name.carriers)
    ]
    return sorted(names, key=lambda n: (-len(n.key), n.key))[:limit]
