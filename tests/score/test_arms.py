"""The arms: what is paired, what shows noise, and controls that carry nothing of the change."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from heldout.brain import APPEND, Brain
from heldout.score.arms import format_only, noop_seed, placebo

BASE = Brain(
    files={
        "method.md": "# Method\n\n- Read the alert.\n- Look at logs.\n",
        "skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\n# A\n\n- Step one.\n",
    },
    load=("method.md", "skills/a/SKILL.md"),
)
ADDED = "- Ask when the value became what it is and which change made it so."


def words(text: str) -> set[str]:
    """Words of three letters and more."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def test_a_placebo_adds_as_many_lines_of_other_text():
    """Same number of lines in the same file, about as long, and none of the change's own words."""
    after = BASE.with_file("method.md", BASE.files["method.md"] + f"{ADDED}\n{ADDED[:40]}\n")
    fake = placebo(BASE, after)
    old, new = BASE.files["method.md"], fake.files["method.md"]
    assert new.startswith(old)
    extra = new.removeprefix(old).splitlines()
    assert len(extra) == 2
    assert all(line.startswith("- ") for line in extra)
    assert abs(len(extra[0]) - len(ADDED)) < 15
    assert not words(" ".join(extra)) & words(ADDED)


def test_a_placebo_of_an_overlay_still_appends():
    """A new overlay keeps its marker, so the base file is not replaced by filler."""
    name = "overlays/models/sim-anchored-low/method.md"
    after = BASE.with_file(name, f"{APPEND}\n{ADDED}\n")
    fake = placebo(BASE, after)
    assert fake.extra[name].startswith(APPEND)
    prompt = fake.prompt("sim/anchored@low")
    assert "Read the alert." in prompt
    assert ADDED not in prompt
    assert len(prompt.splitlines()) == len(after.prompt("sim/anchored@low").splitlines())


def test_a_placebo_of_a_replacing_overlay_keeps_the_base():
    """An overlay that replaces a file becomes that file with filler, not filler alone."""
    name = "overlays/models/sim-anchored-low/method.md"
    after = BASE.with_file(name, BASE.files["method.md"] + ADDED + "\n")
    fake = placebo(BASE, after)
    assert "Read the alert." in fake.extra[name]
    assert ADDED not in fake.extra[name]


def test_a_brain_without_change_has_no_placebo():
    """Nothing changed, nothing added."""
    assert placebo(BASE, BASE) == BASE


def test_format_only_keeps_every_word():
    """List marks and heading levels change, words and front matter do not."""
    other = format_only(BASE)
    assert other.hash != BASE.hash
    assert "* Read the alert." in other.files["method.md"]
    assert other.skills() == BASE.skills()
    for name, text in BASE.files.items():
        assert re.findall(r"\w+", other.files[name]) == re.findall(r"\w+", text)


@given(st.integers(0, 2**31))
def test_the_noop_seed_is_fixed_and_never_the_plans_own(seed: int):
    """Another seed than the paired arms', the same on every machine."""
    assert noop_seed(seed) != seed
    assert noop_seed(seed) == noop_seed(seed)
    assert 0 <= noop_seed(seed) <= 2**31


def test_the_noop_seed_is_written_down():
    """A change of the rule would silently change what old endpoints meant."""
    assert noop_seed(1) == 1969131464
