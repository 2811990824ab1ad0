"""A further incident joins the side of its group; one that would cross the sides is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.build.small import project
from tests.simulate.small import small_spec
from tests.simulate.test_grafting import estate

import heldout.build.admission as admission_module
import heldout.split as split_module
from heldout.build import append_incident
from heldout.build.admission import tried
from heldout.build.grafts import GraftPlan, graft_faults
from heldout.build.placing import Standing, place, refuse_crossing, relatives, standing
from heldout.build.similarity import portrait
from heldout.errors import SpecError, WorldError
from heldout.settings import Settings
from heldout.simulate import generate, graft
from heldout.split import HeldoutAccess, read_specs, read_split
from heldout.truth import Spec

LEAN = {"scale": 0.2, "events": 300, "log_lines": 600}
PLAN = GraftPlan("mixed", "imported world shop", knobs={"events": 300, "log_lines": 600})


@pytest.fixture(autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


def stood(fault: str, side: str, number: int = 1, **more: object) -> Standing:
    """A simulated incident of a set."""
    spec = replace(small_spec(fault, seed=number, id=f"inc-00000{number}"), **more)
    return Standing(spec, side, portrait(spec))  # type: ignore[arg-type]


def fresh(fault: str, **more: object) -> Spec:
    """An incident that stands nowhere yet."""
    return small_spec(fault, seed=99, id="inc-ffffff", **more)


@pytest.mark.parametrize("side", ["train", "test"])
def test_the_group_decides_the_side(side: str):
    """A fault whose sibling stands on a side joins that side and its group, and says why."""
    others = [stood("memory_quota", side, 1, group="quotas"), stood("record_ttl", "train", 2)]
    found = place("s", portrait(fresh("memory_quota")), "trap", others)
    assert (found.side, found.group, found.bound) == (side, "quotas", True)
    assert "fault memory_quota" in found.why
    assert "inc-000001" in found.why


def test_a_grafted_fault_is_a_sibling_of_the_simulated_one():
    """What an incident was grafted on does not hide whose fault it is, and is no kinship itself."""
    others = [stood("memory_quota", "train", 1)]
    grafted = {"origin": "overlay", "source": "imported world shop"}
    assert place("s", portrait(fresh("memory_quota", **grafted)), "trap", others).side == "train"
    two = stood("record_ttl", "test", 2, **grafted)
    assert relatives(portrait(fresh("pool_ceiling", **grafted)), [two]) == []


def test_what_was_recorded_is_akin_by_group_and_report_alone():
    """Incidents without a fault and a seed of ours do not belong together for that."""
    plain = {"origin": "recorded", "fault": "", "seed": 0, "family": "", "domain": "cloud"}
    held = replace(small_spec("memory_quota"), **plain, group="a", source="report a")
    one = Standing(held, "train", portrait(held))
    two = replace(fresh("memory_quota"), **plain, group="b", source="report b")
    assert relatives(portrait(two), [one]) == []
    assert relatives(portrait(replace(two, source="report a")), [one])
    assert relatives(portrait(replace(two, group="a")), [one])


def test_another_side_than_the_group_s_is_refused():
    """Negative control: a wish does not split a group."""
    others = [stood("memory_quota", "train", 1)]
    with pytest.raises(SpecError, match="stands on the train side, not on test"):
        place("s", portrait(fresh("memory_quota")), "trap", others, "test")


def test_relatives_on_both_sides_leave_no_place():
    """An incident that resembles both sides joins neither."""
    others = [stood("memory_quota", "train", 1), stood("record_ttl", "test", 2, seed=99)]
    with pytest.raises(SpecError, match="both sides"):
        place("s", portrait(fresh("memory_quota")), "trap", others)


def test_a_new_group_joins_the_smaller_side_or_the_one_asked_for():
    """Nobody chooses the side where nothing decides it, unless it is said."""
    others = [stood("memory_quota", "train", 1), stood("record_ttl", "test", 2),
              stood("token_age", "test", 3)]  # fmt: skip
    own = portrait(fresh("policy_detach"))
    assert place("s", own, "trap", others).side == "train"
    assert place("s", own, "trap", others, "test").side == "test"
    assert not place("s", own, "trap", others).bound


def test_a_shared_name_of_a_cause_may_not_cross():
    """Two causes at one place of an imported estate stand on one side."""
    one = portrait(fresh("record_ttl"), None, "", ["e-00000001"])
    other = stood("memory_quota", "train", 1)
    held = other._replace(portrait=replace(other.portrait, identifiers=frozenset({"e-00000001"})))
    refuse_crossing("s", one, "train", [held])
    with pytest.raises(SpecError, match="share the name"):
        refuse_crossing("s", one, "test", [held])


@pytest.fixture
def mixed(tmp_path: Path) -> Settings:
    """A set with one simulated incident, of memory_ceiling, in train."""
    own = project(tmp_path)
    spec = small_spec("memory_ceiling", knobs=LEAN)
    append_incident(own, "mixed", spec, generate(spec), "train", HeldoutAccess())
    return own


def test_appending_refuses_what_crosses_and_writes_nothing(mixed: Settings):
    """Negative control: a sibling on the other side is an error and the set stays as it was."""
    spec = replace(small_spec("memory_ceiling", seed=8, id="inc-0b0b0b", knobs={"events": 300}),
                   origin="overlay")  # fmt: skip
    before = sorted(path.name for path in mixed.set_dir("mixed").rglob("*"))
    with pytest.raises(SpecError, match="stand on different sides and share"):
        append_incident(mixed, "mixed", spec, graft(estate(), spec), "test", HeldoutAccess())
    assert sorted(path.name for path in mixed.set_dir("mixed").rglob("*")) == before
    append_incident(mixed, "mixed", spec, graft(estate(), spec), "train", HeldoutAccess())
    assert set(read_split(mixed.set_dir("mixed")).train) == {"inc-0a1b2c", "inc-0b0b0b"}


def test_grafts_go_to_their_siblings_side_and_what_does_not_fit_is_told(mixed: Settings):
    """Faults of a list are grafted one by one; those without a place on this estate are named."""
    plan = replace(PLAN, faults=("memory_ceiling", "evict_any"))
    done = graft_faults(mixed, estate(), plan, HeldoutAccess())
    ((spec, placement),) = done.made
    assert (spec.fault, spec.origin, spec.material, placement.side) == (
        "memory_ceiling", "overlay", "grafted", "train",
    )  # fmt: skip
    assert spec.knobs["bank"] == 0
    assert "finds no place" in done.refused["evict_any"]
    assert {one.origin for one in read_specs(mixed.set_dir("mixed"), "train")} == {
        "simulated", "overlay",
    }  # fmt: skip
    assert [one.side for one in standing(mixed, mixed.set_dir("mixed"), HeldoutAccess())] == [
        "train", "train",
    ]  # fmt: skip


def test_a_graft_on_the_wrong_side_is_left_out(mixed: Settings):
    """Negative control: --side cannot carry a fault across from its simulated sibling."""
    plan = replace(PLAN, faults=("memory_ceiling",), side="test")
    done = graft_faults(mixed, estate(), plan, HeldoutAccess())
    assert done.made == []
    assert "stands on the train side" in done.refused["memory_ceiling"]


def test_a_world_that_cannot_be_written_is_a_discard_and_a_full_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One broken world does not end the making of a pool; a broken disk does."""
    own, spec = project(tmp_path), small_spec("memory_ceiling", knobs=LEAN)

    def broken(*_: object) -> None:
        raise WorldError("a diff does not replay")

    def full(*_: object) -> None:
        raise WorldError("no room") from OSError(28, "No space left on device")

    monkeypatch.setattr(admission_module, "store_incident", broken)
    (result,) = tried(own, [[spec, spec]], 1)
    assert (result.admitted, result.discards) == (None, ("replay", "replay"))
    monkeypatch.setattr(admission_module, "store_incident", full)
    with pytest.raises(WorldError, match="no room"):
        tried(own, [[spec]], 1)
