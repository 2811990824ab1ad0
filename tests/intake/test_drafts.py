"""From a reading to a draft, and from a draft to incidents of a set, or to nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.simulate.small import small_spec

import heldout.build.append as append_module
import heldout.intake.accepting as accepting_module
import heldout.split as split_module
from heldout.build import build_everything
from heldout.errors import IngestError, SpecError, SplitViolation, UsageError
from heldout.intake import (
    Drafting,
    Material,
    accept,
    checked_reading,
    draft_incident,
    drop,
    dropped,
    states,
)
from heldout.intake.drafts import drafts_dir, read_draft
from heldout.intake.making import shaped
from heldout.intake.reading import Reading
from heldout.intake.telling import draft_lines, waiting_lines
from heldout.settings import Settings
from heldout.split import HeldoutAccess, read_specs, read_split

HandIn = Callable[[str, str], Material]
HOW = Drafting("tiny", variants=2, scale=0.12)
QUOTA = Reading("memory_quota", cause_days=4.0, trigger="load", decoys=1)
TTL = Reading("record_ttl", cause_days=3.0)


def test_a_draft_is_validated_and_placed_by_its_group(
    own: Settings, hand_in: HandIn, access: HeldoutAccess
):
    """Two valid incidents of the report's making, on the side of their group, and nothing joins."""
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access)
    assert (draft.side, draft.group, len(draft.specs)) == ("train", "quotas", 2)
    assert "shares fault memory_quota" in draft.why
    assert any("inc-0a1b2c" in one for one in draft.near)
    for spec in draft.specs:
        assert (spec.kind, spec.fault, spec.knobs["latency_days"], spec.knobs["decoys"]) == (
            "trap", "memory_quota", 4.0, 1,
        )  # fmt: skip
        assert {"latent_cause", "onset_decoy"} <= set(spec.traps)
        assert spec.knobs["bank"] == 0
    assert draft.specs[0].seed != draft.specs[1].seed
    assert read_split(own.set_dir("tiny")).train == ("inc-0a1b2c",)
    assert [one.word for one in states(own)] == ["drafted"]
    assert any("shares fault" in line for line in draft_lines(draft))


def test_a_person_accepts_and_the_set_is_still_valid(
    own: Settings, hand_in: HandIn, access: HeldoutAccess
):
    """The incidents join their side, the draft's contents go, and the gate is content."""
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access)
    done = accept(own, draft.id[:5], access)
    assert (done.word, done.side, len(done.incidents)) == ("accepted", "train", 2)
    assert set(read_split(own.set_dir("tiny")).train) == {"inc-0a1b2c", *done.incidents}
    assert {one.group for one in read_specs(own.set_dir("tiny"), "train")} == {"quotas"}
    with pytest.raises(IngestError):
        read_draft(own, draft.id, access)
    with pytest.raises(UsageError, match="accepted already"):
        accept(own, draft.id, access)
    with pytest.raises(UsageError, match="accepted already"):
        draft_incident(own, hand_in("again.md", "a quota"), QUOTA, HOW, access)
    split_module._role = "build"
    built = build_everything(own, "tiny", workers=1, validate=True)
    assert built.findings == []


def test_a_dropped_draft_leaves_no_world(own: Settings, hand_in: HandIn, access: HeldoutAccess):
    """Worlds and truths go, the report may be drafted again."""
    before = set(own.worlds.iterdir())
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access)
    assert set(own.worlds.iterdir()) > before
    assert drop(own, draft.id, access).word == "dropped"
    assert set(own.worlds.iterdir()) == before
    with pytest.raises(UsageError, match="dropped already"):
        accept(own, draft.id, access)
    assert draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access).specs


def test_what_no_fault_can_express_is_said_and_not_bent(
    own: Settings, hand_in: HandIn, access: HeldoutAccess
):
    """No incident is made; the nearest faults are named and the draft cannot be accepted."""
    text = "An expired licence file of a vendor's appliance; the quota page was a red herring"
    for name, reading in (
        ("a.md", Reading("none", fits="no", near=("partner_plan",))),
        ("b.md", Reading("memory_quota", fits="family")),
    ):
        draft = draft_incident(own, hand_in(name, f"{text} {name}"), reading, HOW, access)
        assert draft.specs == ()
        assert draft.near[0] in ("partner_plan", "memory_quota")
        assert "no existing fault can express" in draft_lines(draft)[0]
        with pytest.raises(UsageError, match="no existing fault"):
            accept(own, draft.id, access)
    assert [one.word for one in states(own)] == ["no fault", "no fault"]


def test_what_a_tuning_process_may_know_of_a_draft(
    own: Settings, hand_in: HandIn, access: HeldoutAccess, monkeypatch: pytest.MonkeyPatch
):
    """Its state names nothing of the incident; its contents do not open without the role."""
    draft = draft_incident(own, hand_in("t.md", "a record's lifetime"), TTL, HOW, access)
    assert draft.side == "test"
    state = next((drafts_dir(own) / "states").iterdir()).read_text()
    spec = draft.specs[0]
    for secret in (spec.fault, spec.family, spec.canary, str(spec.seed), *spec.traps):
        assert secret not in state
    assert spec.canary in next((drafts_dir(own) / "drafts").iterdir()).read_text()
    monkeypatch.setattr(split_module, "_role", "tune")
    with pytest.raises(SplitViolation):
        read_draft(own, draft.id, HeldoutAccess())


def test_a_process_that_dies_before_the_split_leaves_the_set_as_it_was(
    own: Settings, hand_in: HandIn, access: HeldoutAccess, monkeypatch: pytest.MonkeyPatch
):
    """The draft still waits, and accepting it again completes it."""
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access)
    before = read_split(own.set_dir("tiny"))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(append_module, "write_split", die)
        with pytest.raises(KeyboardInterrupt):
            accept(own, draft.id, access)
    assert read_split(own.set_dir("tiny")) == before
    assert [one.word for one in states(own)] == ["drafted"]
    assert len(accept(own, draft.id, access).incidents) == 2


def test_a_process_that_dies_after_the_split_is_completed(
    own: Settings, hand_in: HandIn, access: HeldoutAccess, monkeypatch: pytest.MonkeyPatch
):
    """Nothing is appended twice."""
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, HOW, access)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(accepting_module, "write_state", die)
        with pytest.raises(KeyboardInterrupt):
            accept(own, draft.id, access)
    assert accept(own, draft.id, access).word == "accepted"
    assert len(read_split(own.set_dir("tiny")).train) == 3


def test_a_group_that_moved_in_between_is_noticed(
    own: Settings, hand_in: HandIn, access: HeldoutAccess
):
    """Negative control: a sibling that joined the other side since then stops the acceptance."""
    from tests.intake.conftest import LEAN

    from heldout.build import append_incident
    from heldout.simulate import generate

    draft = draft_incident(own, hand_in("t.md", "a record"), TTL, HOW, access)
    assert draft.side == "test"
    spec = small_spec("record_ttl", id="inc-0c0c0c", seed=77, knobs=LEAN)
    append_incident(own, "tiny", spec, generate(spec), "train", access)
    with pytest.raises(SpecError, match="the set has grown"):
        accept(own, draft.id, access)
    assert [one.word for one in states(own)] == ["drafted"]


def test_three_dropped_threads_show_with_their_states(
    own: Settings, hand_in: HandIn, access: HeldoutAccess
):
    """One new, one drafted, one accepted; a file that is none is unreadable, a form no file."""
    thread = "# {0}\n## Answer\nthe deploy\n## Correction\nolder: {0}\n"
    hand_in("a.md", thread.format("new"))
    drafted = draft_incident(own, hand_in("b.md", thread.format("drafted")), QUOTA, HOW, access)
    one = replace(HOW, variants=1)
    draft = draft_incident(own, hand_in("c.md", thread.format("accepted")), TTL, one, access)
    accept(own, draft.id, access)
    (own.root / "intake" / "a.md.intake.toml").write_text("x = 1")
    found = [(one.name, one.sort, one.word, one.form) for one in dropped(own)]
    assert found == [
        ("a.md", "thread", "new", True),
        ("b.md", "thread", "drafted", False),
        ("c.md", "thread", "accepted", False),
    ]
    (own.root / "intake" / "d.json").write_text("{")
    assert dropped(own)[-1].word == "unreadable"
    lines = waiting_lines(own)
    assert lines[0] == "intake/: 4 dropped in, 1 new"
    assert any(f"--show {drafted.id}" in line for line in lines)


def test_a_renamed_file_keeps_its_state(own: Settings, hand_in: HandIn, access: HeldoutAccess):
    """A report is known by its contents."""
    material = hand_in("a.md", "a quota")
    draft_incident(own, material, QUOTA, replace(HOW, variants=1), access)
    material.path.rename(material.path.with_name("z.md"))
    assert [(one.name, one.word) for one in dropped(own)] == [("z.md", "drafted")]


def test_a_broken_draft_is_a_named_error(own: Settings, hand_in: HandIn, access: HeldoutAccess):
    """An altered file says what to do; an unknown name says what there is."""
    draft = draft_incident(own, hand_in("q.md", "a quota"), QUOTA, replace(HOW, variants=1), access)
    path = drafts_dir(own) / "drafts" / f"{draft.id}.json"
    path.write_text(json.dumps({"id": draft.id, "specs": [{}], "near": [], "notes": []}))
    with pytest.raises(IngestError, match="cannot be read"):
        read_draft(own, draft.id, access)
    with pytest.raises(UsageError, match="names no draft"):
        read_draft(own, "d-zzz", access)


def test_values_out_of_reach_are_cut_and_said_and_an_unfit_age_is_refused():
    """A cause older than a history is as old as one can be; one that bit at once is no trap."""
    drawn = small_spec("memory_quota")
    spec, notes = shaped(drawn, Reading("memory_quota", cause_days=90, decoys=7, hops=9))
    assert [spec.knobs[name] for name in ("latency_days", "decoys", "hops")] == [13, 3, 4]
    assert len(notes) == 3
    with pytest.raises(IngestError, match="did not lie dormant"):
        shaped(drawn, Reading("memory_quota", cause_days=0.01))


def test_the_affected_part_of_a_fleet_is_taken_over():
    """A fault with a scope has its own part; another needs several clusters."""
    scoped, _ = shaped(small_spec("rotated_secret"), Reading("rotated_secret", affected=0.2))
    assert scoped.knobs["fleet_share"] == 0.2
    assert "partial_fleet" not in scoped.traps
    fleet, _ = shaped(small_spec("pool_ceiling"), Reading("pool_ceiling", affected=0.2))
    assert "partial_fleet" in fleet.traps
    assert fleet.knobs["archetype"] == "fleet"


def test_an_onset_control_hides_no_cause(own: Settings, hand_in: HandIn, access: HeldoutAccess):
    """Kind onset_control makes one whose newest change is to blame."""
    answer = {"fault": "header_block", "kind": "onset_control", "traps": ["partial_fleet"]}
    reading = checked_reading(answer, "")
    draft = draft_incident(own, hand_in("c.md", "waf"), reading, replace(HOW, variants=1), access)
    assert draft.specs[0].kind == "onset_control"
    assert "older_change" in draft.specs[0].traps
    assert "latent_cause" not in draft.specs[0].traps
    assert any("hides none" in one for one in draft.notes)
