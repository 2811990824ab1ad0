"""Clusters, their order, memory, and what a draft must be."""

from __future__ import annotations

import pytest

from heldout.brain import Brain
from heldout.edit import Edit, Op
from heldout.errors import EditError, UsageError
from heldout.propose import (
    Failure,
    apply_draft,
    cluster,
    next_cluster,
    readable_files,
    remembered,
    strategy,
    target_file,
)
from heldout.propose.memory import recent
from heldout.signatures import Diagnosis

MODEL = "sim/anchored@low"
FILE = target_file(MODEL, "overlay")
BRAIN = Brain(
    {"method.md": "- Base.\n", "site.md": "- quillmere-orbit is ours.\n"},
    ("method.md", "site.md"),
    frozen=("site.md",),
    extra={"overlays/models/other/method.md": "- Other.\n"},
)


def failure(name: str, primary: str, *beside: str) -> Failure:
    return Failure(name, Diagnosis("", (), 0.5, False, primary, (primary, *beside)))


FAILURES = [
    failure("a", "short_history", "noise"),
    failure("b", "short_history"),
    failure("c", "noise", "short_history"),
    failure("d", "fleet"),
]


def test_failures_are_grouped_and_the_largest_comes_first() -> None:
    """A cluster holds its decisive failures first, then those that show it beside another."""
    first, *_ = clusters = cluster(FAILURES)
    assert [one.key for one in clusters] == ["short_history", "noise", "fleet"]
    assert first.incidents == ("a", "b", "c")
    assert first.core == 2
    assert "noise (2 of 3)" in first.describe()


def test_unanswered_clusters_come_before_answered_ones() -> None:
    """What an accepted edit answers waits; what was tried in vain too often is left alone."""
    clusters = cluster(FAILURES)
    none: dict[str, int] = {}

    def key(answered: set[str], tried: dict[str, int]) -> str | None:
        found = next_cluster(clusters, answered=answered, tried=tried, max_tries=2)
        return found.key if found else None

    assert key(set(), none) == "short_history"
    assert key({"short_history"}, none) == "noise"
    assert key({"short_history"}, {"noise": 1}) == "fleet"
    assert key({"short_history"}, {"noise": 2, "fleet": 2}) == "short_history"
    assert key(set(), {"short_history": 2, "noise": 2, "fleet": 2}) is None
    assert cluster([]) == ()


def test_memory_shows_the_clusters_own_first_and_blanks_marked_spans() -> None:
    """A refused leak is remembered without the words that made it one."""
    edit = Edit((Op(FILE, "append", "", "- Look at quillmere-orbit."),), "why", "noise")
    memory = [remembered(edit, "refused", ["quillmere-orbit"])]
    memory += [
        remembered(Edit((Op(FILE, "append", "", f"- {i}"),), "", "fleet"), "x") for i in range(20)
    ]
    shown = recent(memory, "noise")
    assert len(shown) == 12
    assert shown[0].text == "- Look at [...]."


def test_frozen_and_foreign_files_are_not_shown() -> None:
    """A team's own files and other models' overlays never reach a proposer."""
    shown = dict(readable_files(BRAIN, FILE, MODEL, "world"))
    assert list(shown) == ["method.md"]


@pytest.mark.parametrize(
    ("op", "why"),
    [
        (Op("method.md", "append", "", "- x"), "outside the model's overlay"),
        (Op("overlays/models/other/method.md", "append", "", "- x"), "outside the model's overlay"),
        (Op(FILE, "append", "", "- See <service-1>."), "placeholder"),
        (
            Op(FILE, "append", "", "- Say more about the change to [...] and the agent."),
            "placeholder",
        ),
        (Op(FILE, "append", "", "- Search since <time>."), "placeholder"),
        (Op(FILE, "append", "", "\n".join(f"- {i}" for i in range(9))), "adds 9 lines"),
        (Op(FILE, "delete", "- none"), "has no lines yet"),
    ],
)
def test_a_draft_that_may_not_be_tried_is_refused(op: Op, why: str) -> None:
    """Out of its file, out of bounds, with a placeholder, or not applicable."""
    with pytest.raises(EditError, match=why):
        apply_draft(BRAIN, Edit((op,), ""), model=MODEL, target="overlay", max_lines=8)


def test_a_fit_draft_is_applied() -> None:
    """Negative control: a small overlay edit passes, and for the base the base file does."""
    edit = Edit((Op(FILE, "append", "", "- Look back."),), "")
    after = apply_draft(BRAIN, edit, model=MODEL, target="overlay", max_lines=8)
    assert "- Look back." in after.prompt(MODEL)
    base = Edit((Op("method.md", "append", "", "- Look back."),), "")
    assert apply_draft(BRAIN, base, model=MODEL, target="base", max_lines=8).hash != BRAIN.hash
    frozen = Edit((Op("site.md", "append", "", "- x"),), "")
    with pytest.raises(EditError, match="frozen"):
        apply_draft(BRAIN, frozen, model=MODEL, target="base", max_lines=8)


def test_an_unknown_strategy_names_the_known_ones() -> None:
    """A wrong name is a usage error with a way out."""
    assert strategy("reflect").name == "reflect"
    with pytest.raises(UsageError, match="reflect"):
        strategy("magic")
