"""opensre's synthetic suites as incidents: evidence, truth, and what the agent must not see."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.ingest.cases.suite import DATABASE, alert, suite, write
from tests.real import real

from heldout.graph import read_tables, world_meta
from heldout.ingest.cases.case import Recorded, Skipped, case_importer
from heldout.ingest.importer import ImportOptions
from heldout.truth.truths import NONE

OPTIONS = ImportOptions()


def cases(root: Path) -> dict[str, Recorded | Skipped]:
    """Every case of a suite by its key."""
    return {one.key: one for one in case_importer("opensre").cases(root, OPTIONS)}


def incident(root: Path, key: str) -> Recorded:
    """One case that became an incident."""
    found = cases(root)[key]
    assert isinstance(found, Recorded)
    return found


def test_a_case_takes_what_it_lacks_from_its_base(tmp_path: Path):
    """Nodes, lines and monitors come from the base, pods and events from the case itself."""
    one = incident(suite(tmp_path), "eks/001-squalid-anchor")
    draft = one.draft
    assert len(draft.find(kind="Node")) == 2
    assert len(draft.find(kind="AlertRule")) == 1
    (pod,) = draft.find(kind="Pod")
    assert draft.value(pod, "container_states")["tickets"]["reason"] == "CrashLoopBackOff"
    assert list(draft.changes()) == ["BackOff: back-off (x3)"]
    assert (one.kind, one.group, one.truth.culprit_entity) == (
        "trap", "opensre/eks", draft.find(kind="Deployment", name="tickets")[0],
    )  # fmt: skip


def test_a_database_case_has_series_provider_events_and_statements(tmp_path: Path):
    """A configuration event is a change of the provider; load and top statements are kept."""
    one = incident(suite(tmp_path), "rds/002-lost-quay")
    world = tmp_path / "world"
    one.draft.write(world)
    assert world_meta(world).counts["metric_series"] == 2
    rows = read_tables(world, {"change_event": ("type", "actor_kind", "source", "summary")})
    assert rows["change_event"] == [
        {"type": "config", "actor_kind": "provider", "source": "aws",
         "summary": "Parameter group applied."}
    ]  # fmt: skip
    (primary,) = one.draft.find(kind="DbInstance", name="manifest-db")
    assert one.draft.value(primary, "top_sql")[0]["db_load_avg"] == 5.0
    assert len(one.truth.accepted_entities) == 2


def test_a_case_without_a_fault_is_a_control(tmp_path: Path):
    """Its answer may name no entity, and has to say that nothing is wrong."""
    one = incident(suite(tmp_path), "eks/000-base")
    assert (one.kind, one.truth.culprit_entity) == ("no_fault", "")
    assert NONE in one.truth.accepted_entities
    assert any("healthy" in group for group in one.truth.mechanism_terms)


@pytest.mark.parametrize("key", ["eks/001-squalid-anchor", "rds/002-lost-quay"])
def test_nothing_the_agent_sees_names_the_cause(tmp_path: Path, key: str):
    """Neither the label with the failure mode nor the suite's mark nor the folder's name."""
    root = suite(tmp_path)
    one = incident(root, key)
    mode = one.family
    raw = (root / key / "alert.json").read_text(encoding="utf-8")
    assert mode in raw
    assert "synthetic" in raw
    world = tmp_path / "world"
    one.draft.write(world)
    shown = one.alert + "".join(
        path.read_bytes().decode("utf-8", "replace") for path in world.rglob("*") if path.is_file()
    )
    said = (mode, mode.replace("_", "-"), "synthetic", "failure_mode", "ROOT_CAUSE", Path(key).name)
    assert [word for word in said if word in shown] == []


def test_a_missing_base_is_one_named_problem(tmp_path: Path):
    """The other cases are read all the same."""
    root = suite(tmp_path)
    write(
        root / "rds" / "003-orphan",
        scenario={"base": "000-gone", "failure_mode": "x"},
        answer={"root_cause_category": "x"},
        alert=alert("Orphan"),
    )
    found = cases(root)
    assert found["rds/003-orphan"] == Skipped("rds/003-orphan", "its base '000-gone' is missing")
    assert sum(isinstance(one, Recorded) for one in found.values()) == 3


@pytest.mark.parametrize("base", ["../../etc", "002-lost-quay/../002-lost-quay", "/"])
def test_a_base_never_leads_out_of_the_suite(tmp_path: Path, base: str):
    """A name with a way in it is a missing base."""
    root = suite(tmp_path)
    write(
        root / "rds" / "003-way-out",
        scenario={**DATABASE, "base": base},
        answer={"root_cause_category": "x"},
        alert=alert("Way out"),
    )
    found = cases(root)["rds/003-way-out"]
    assert isinstance(found, Skipped)
    assert "is missing" in found.reason


def test_a_base_of_a_base_is_refused(tmp_path: Path):
    """As the suites' own loader refuses it."""
    root = suite(tmp_path)
    write(
        root / "eks" / "009-chain",
        scenario={"base": "001-squalid-anchor"},
        answer={"root_cause_category": "x"},
        alert=alert("Chain"),
    )
    found = cases(root)["eks/009-chain"]
    assert isinstance(found, Skipped)
    assert "has a base itself" in found.reason


@pytest.mark.real
def test_every_case_of_the_published_suites_becomes_an_incident(tmp_path: Path):
    """Twenty of twenty, with every pod, event, line and point that was counted in them by hand."""
    counted: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for key, one in cases(real("opensre_synthetic")).items():
        assert isinstance(one, Recorded), one
        kinds[one.kind] += 1
        world = tmp_path / key.replace("/", "-")
        for kind in ("Pod", "Deployment", "Node", "AlertRule"):
            counted[kind] += len(one.draft.find(kind=kind))
        one.draft.write(world)
        for table in ("change_event", "log", "metric_series", "metric_value"):
            counted[table] += world_meta(world).counts[table]
        assert "_failure_mode" not in one.alert
        assert "synthetic" not in one.alert
    assert kinds == {"trap": 13, "no_fault": 7}
    # 20 events and 37 of the provider; 31 records and 16 lines of pods; 182 series and 9 of load.
    assert counted == {
        "Pod": 29, "Deployment": 10, "Node": 21, "AlertRule": 23, "change_event": 57, "log": 47,
        "metric_series": 191, "metric_value": 3040 + 170,
    }  # fmt: skip


@pytest.mark.real
def test_no_world_holds_the_reference_answers(tmp_path: Path):
    """No sentence of an answer key stands in a world or an alert."""
    root = real("opensre_synthetic")
    for key, one in cases(root).items():
        assert isinstance(one, Recorded)
        world = tmp_path / key.replace("/", "-")
        one.draft.write(world)
        shown = one.alert + "".join(
            path.read_bytes().decode("utf-8", "replace")
            for path in world.rglob("*")
            if path.is_file()
        )
        answer = (root / key / "answer.yml").read_text(encoding="utf-8")
        sentences = [
            part.strip() for part in answer.replace("\n", " ").split(". ") if len(part) > 60
        ]
        assert [one for one in sentences if one in shown] == []


def test_the_help_names_every_source_of_incidents():
    """The command's help and the registry say the same."""
    from heldout.cli.ingest import CASES
    from heldout.ingest.cases.case import case_importers

    assert ", ".join(case_importers()) == CASES
