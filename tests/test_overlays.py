"""What one model reads of a brain, and changes carried over to one that moved on elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heldout.brain import APPEND, Brain
from heldout.overlays import (
    alike,
    carried_over,
    changed,
    read_by,
    shared,
    sharer,
    tuned_for,
    with_overlay,
    worn,
)

ONE, TWO = "openai/one@low", "llama/two"
BASE = Brain(
    files={
        "method.md": "# Method\n",
        "skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\nx\n",
    },
    load=("method.md",),
    on_demand=("skills/a/SKILL.md",),
    extra={"overlays/interfaces/world/method.md": f"{APPEND}\n- For worlds.\n"},
)
OF_ONE = "overlays/models/openai-one-low/method.md"
OF_TWO = "overlays/models/llama-two/method.md"


def tuned(name: str, line: str, brain: Brain = BASE) -> Brain:
    """The brain with an overlay of one line."""
    return brain.with_file(name, f"{APPEND}\n\n- {line}\n")


def test_a_model_reads_the_shared_files_and_its_own_overlay():
    """Neither prompt nor hash of what one model reads knows of another's overlay."""
    both = tuned(OF_TWO, "Second.", tuned(OF_ONE, "First."))
    assert set(read_by(both, ONE).extra) == {"overlays/interfaces/world/method.md", OF_ONE}
    assert read_by(both, ONE).hash == tuned(OF_ONE, "First.").hash
    assert shared(both).hash == BASE.hash
    assert alike(both, tuned(OF_ONE, "First."), ONE)
    assert not alike(both, tuned(OF_ONE, "First."), TWO)
    assert tuned_for(both, TWO)
    assert not tuned_for(both, "llama/tw")


def test_a_model_without_overlay_starts_from_the_shared_brain():
    """A new model's prompt is the shared one, whatever others were tuned to."""
    both = tuned(OF_TWO, "Second.", tuned(OF_ONE, "First."))
    assert both.prompt("openai/new", "world") == BASE.prompt("openai/new", "world")


def test_a_worn_overlay_reads_as_it_does_for_its_owner():
    """Another model reads word for word what the owner reads, on-demand skills included."""
    own = tuned(
        "overlays/models/openai-one-low/skills/a/SKILL.md", "More.", tuned(OF_ONE, "First.")
    )
    brain = worn(tuned(OF_TWO, "Second.", own), ONE, TWO)
    assert brain.prompt(TWO, "world") == own.prompt(ONE, "world")
    assert brain.skill("a", TWO) == own.skill("a", ONE)
    assert "Second." not in brain.prompt(TWO, "world")
    assert worn(own, ONE, ONE).hash == own.hash


def test_a_change_is_carried_over_another_models_overlay():
    """What was measured holds for a brain that differs only where the model never reads."""
    after, moved_on = tuned(OF_ONE, "First."), tuned(OF_TWO, "Second.")
    made = carried_over(BASE, after, moved_on, ONE)
    assert made is not None
    assert made.hash == tuned(OF_TWO, "Second.", after).hash
    assert carried_over(after, BASE, made, ONE) == moved_on


@pytest.mark.parametrize(
    "moved_on",
    [
        BASE.with_file("method.md", "# Other\n"),
        BASE.with_file("overlays/interfaces/world/method.md", "other\n"),
        tuned(OF_ONE, "Mine."),
        replace(BASE, frozen=("method.md",)),
    ],
)
def test_a_change_is_not_carried_over_what_the_model_reads(moved_on: Brain):
    """Shared files, interfaces, the model's own overlay and the manifest all count as read."""
    assert carried_over(BASE, tuned(OF_ONE, "First."), moved_on, ONE) is None


def test_a_change_of_another_models_overlay_is_not_lost():
    """A change that touches a file that somebody else has changed since is not carried over."""
    assert carried_over(BASE, tuned(OF_TWO, "Mine."), tuned(OF_TWO, "Theirs."), ONE) is None


def test_a_change_of_the_shared_brain_leaves_overlays_alone():
    """A job that tunes the shared brain lands beside another model's new overlay."""
    after, moved_on = BASE.with_file("method.md", "# New\n"), tuned(OF_TWO, "Second.")
    made = carried_over(BASE, after, moved_on, ONE)
    assert made is not None
    assert (made.files["method.md"], made.extra[OF_TWO]) == ("# New\n", moved_on.extra[OF_TWO])
    assert changed(moved_on, made) == ("method.md",)


def test_one_models_overlay_goes_back_alone():
    """What another model has meanwhile stays, and an overlay that was not there is gone."""
    both = tuned(OF_TWO, "Second.", tuned(OF_ONE, "First."))
    assert with_overlay(both, BASE, ONE).hash == tuned(OF_TWO, "Second.").hash
    older = tuned(OF_ONE, "Older.")
    assert with_overlay(both, older, ONE).extra[OF_ONE] == older.extra[OF_ONE]
    assert with_overlay(both, older, ONE).extra[OF_TWO] == both.extra[OF_TWO]


def test_models_that_differ_in_signs_only_share_an_overlay():
    """The one is found for the other; a model does not clash with itself or with others."""
    assert sharer("openai/one-low", [ONE, TWO]) == ONE
    assert sharer(ONE, [ONE, TWO]) == ""
