"""What counts as naming a cause with the alert alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heldout.behaviour import naming
from heldout.behaviour.naming import Naming
from heldout.incident import Incident
from heldout.interface import Submission
from heldout.split import Case
from heldout.truth import NONE, NearMiss, Truth

TRUTH = Truth(
    incident="inc-1",
    culprit_entity="e-00000001",
    culprit_change="c-00000001",
    culprit_field="data.pool_ceiling",
    accepted_entities=("e-00000001", "e-00000002"),
    accepted_changes=("c-00000001",),
    mechanism="the pool was made smaller",
    mechanism_terms=(("pool",), ("smaller", "lowered")),
    trigger="",
    affected=(),
    unaffected=(),
    chain=(),
    decoys=(),
    near_misses=(NearMiss("e-00000003", "", "it only shows the symptom"),),
    recommended_fix="",
    canary="c" * 32,
)  # fmt: skip
ALERT = "# Errors\n\nFired at 2026-03-04T12:00:00Z\nService: tarn-orbit\n\n12 % of calls fail."


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Naming:
    """The judge over one incident whose world names three entities."""
    rows = [
        {"id": "e-00000001", "name": "quillmere-config"},
        {"id": "e-00000002", "name": "tarn-orbit-db"},
        {"id": "e-00000003", "name": "other-thing"},
    ]
    naming._names.cache_clear()
    monkeypatch.setattr(naming, "read_table", lambda world, table: rows)
    incident = Incident("inc-1", "set", ALERT, tmp_path, "d")
    case = Case(incident, "train", "trap", "d", "f", (), "g", "simulated", tmp_path, "t")
    return Naming([case])


def named(judge: Naming, truth: Truth = TRUTH, **said: str) -> list[str]:
    """The facets that an answer names."""
    criteria = judge(Submission(**said), truth).criteria
    return [name for name, held in criteria.items() if held]


@pytest.mark.parametrize(
    ("said", "facets"),
    [
        ({"mechanism": "its pool was lowered"}, ["mechanism"]),
        ({"mechanism": "something about a pool"}, []),
        ({"mechanism": "either a disk is full or the pool was lowered"}, []),
        ({"root_cause_entity": "e-00000001"}, ["entity", "certain"]),
        ({"root_cause_entity": "quillmere config"}, ["entity"]),
        ({"mechanism": "look at quillmere-config"}, ["entity"]),
        ({"recommended_fix": "restore quillmere-config"}, ["entity"]),
        ({"root_cause_entity": "e-00000003"}, []),
        ({"root_cause_entity": "other-thing"}, []),
        ({"root_cause_change": "c-00000001"}, ["change", "certain"]),
        ({"mechanism": "poolCeiling is too low"}, ["change"]),
        ({"root_cause_change": "c-00000009"}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_ids_names_fields_and_mechanisms_count(
    judge: Naming, said: dict[str, str], facets: list[str]
) -> None:
    """Each facet by itself; a hedge, a near answer and silence name nothing."""
    assert named(judge, **said) == facets


def test_what_the_alert_says_is_no_news(judge: Naming) -> None:
    """Repeating the alert's own service names nothing, whatever the truth is."""
    truth = replace(TRUTH, accepted_entities=("e-00000002",))
    assert named(judge, truth, root_cause_entity="tarn-orbit-db") == ["entity"]
    case = judge._cases["inc-1"]
    alert = ALERT.replace("tarn-orbit", "tarn-orbit-db")
    again = Naming([replace(case, incident=replace(case.incident, alert=alert))])
    assert named(again, truth, root_cause_entity="tarn-orbit-db") == []
    assert named(again, truth, root_cause_entity="e-00000002") == ["entity", "certain"]


def test_none_is_never_a_name(judge: Naming) -> None:
    """Where nothing is to blame, blaming nothing is no knowledge."""
    truth = replace(TRUTH, accepted_entities=(NONE, "e-00000001"), accepted_changes=(),
                    mechanism_terms=())  # fmt: skip
    assert named(judge, truth, mechanism="it cannot be proven") == []
    assert named(judge, truth, root_cause_entity="e-00000001") == []


def test_the_verdict_says_no_more_than_facets(judge: Naming) -> None:
    """Its text could reach a reviewer, so it holds nothing of the truth."""
    verdict = judge(Submission(root_cause_change="c-00000001"), TRUTH)
    assert (verdict.result, verdict.reasoning) == ("pass", "names change")
