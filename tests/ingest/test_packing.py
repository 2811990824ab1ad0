"""Objects of a large file, packed: the same mapping, but for notes that nobody reads."""

from __future__ import annotations

from typing import Any

import pytest

from heldout.ingest.objects import K8sObject
from heldout.ingest.observations import observations
from heldout.ingest.packing import packed


def body(kind: str) -> dict[str, Any]:
    """An object with a note of who wrote its data, and when."""
    note = {"manager": "kubectl", "time": "2026-03-04T10:00:00Z", "fieldsV1": {"f:data": {}}}
    return {"kind": kind, "metadata": {"name": "x", "managedFields": [note]}, "data": {"a": "b"}}


def test_a_packed_secret_still_says_when_its_data_were_written():
    """The facts of a Secret are the same from a small file and from a large one."""
    whole, small = body("Secret"), packed(body("Secret"))
    facts = [observations(K8sObject("Secret", "v1", "shop", "x", one)) for one in (whole, small)]
    assert facts[0] == facts[1]
    assert facts[1]["data_written_at"] == "2026-03-04T10:00:00Z"


@pytest.mark.parametrize("kind", ["Pod", "ConfigMap"])
def test_of_other_objects_the_notes_are_left_out(kind: str):
    """Nothing else of them is."""
    found = packed(body(kind))
    assert dict(found["metadata"]) == {"name": "x"}
    assert found["data"] == {"a": "b"}
