"""A brain is read whole or not at all, hashed over normalised text, and written file by file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.brain import Brain, load_brain, normalise, slug, write_brain
from heldout.errors import BrainError

SKILL = "---\nname: logs\ndescription: Read logs.\n---\nLook at errors first.\n"


def make(root: Path, **files: str) -> Path:
    """A brain directory with a method, one skill and whatever is named."""
    texts = {"brain.toml": 'load = ["method.md", "skills/logs/SKILL.md"]\n', "method.md": "# M\n"}
    texts["skills/logs/SKILL.md"] = SKILL
    texts.update(files)
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_prompt_follows_load_order_without_front_matter(tmp_path: Path):
    """The system prompt holds the inline files in order and no front matter."""
    prompt = load_brain(make(tmp_path)).prompt()
    assert prompt == "# M\n\nLook at errors first."


def test_hash_ignores_line_ends_and_trailing_blanks(tmp_path: Path):
    """Two brains that differ in line ends only are the same brain."""
    one = load_brain(make(tmp_path / "a", **{"method.md": "# M\nx\n"}))
    two = load_brain(make(tmp_path / "b", **{"method.md": "# M \r\nx\r\n\r\n"}))
    other = load_brain(make(tmp_path / "c", **{"method.md": "# M\ny\n"}))
    assert one.hash == two.hash
    assert one.hash != other.hash


def test_overlay_reaches_its_own_model_only(tmp_path: Path):
    """An overlay appends to or replaces a file for its model and for no other."""
    root = make(
        tmp_path,
        **{
            "overlays/models/openai-x-low/method.md": "<!-- overlay: append -->\nmore\n",
            "overlays/models/openai-y-low/method.md": "instead\n",
            "overlays/interfaces/world/method.md": "<!-- overlay: append -->\nfor worlds\n",
        },
    )
    brain = load_brain(root)
    assert brain.prompt("openai/x@low").startswith("# M\n\nmore")
    assert brain.prompt("openai/y@low").startswith("instead")
    assert brain.prompt("openai/z@low").startswith("# M\n\nLook")
    assert "for worlds" in brain.prompt("openai/z@low", "world")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"brain.toml": "load = ["}, "not TOML"),
        ({"brain.toml": "load = 3"}, "load"),
        ({"brain.toml": 'load = ["missing.md"]'}, "missing"),
        ({"brain.toml": 'load = ["../outside.md"]'}, "leads out"),
        ({"brain.toml": 'load = ["/etc/hostname"]'}, "leads out"),
        ({"brain.toml": 'load = ["method.md", "method.md"]'}, "twice"),
        ({"brain.toml": 'load = ["method.md"]\nfrozen = ["site.md"]'}, "not loaded"),
        ({"brain.toml": 'load = ["method.md"]\nextra = 1'}, "extra"),
        (
            {
                "brain.toml": 'load = ["method.md"]\non_demand = ["skills/x/SKILL.md"]',
                "skills/x/SKILL.md": "no front matter\n",
            },
            "front matter",
        ),
    ],
)
def test_a_broken_brain_is_named(tmp_path: Path, files: dict[str, str], message: str):
    """A broken manifest, a missing file or a path outside is one sentence, not a traceback."""
    (tmp_path / "outside.md").write_text("secret")
    with pytest.raises(BrainError, match=message):
        load_brain(make(tmp_path / "brain", **files))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path):
    """Bytes that are not UTF-8 never become a prompt."""
    root = make(tmp_path)
    (root / "method.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BrainError, match="UTF-8"):
        load_brain(root)


def test_write_then_load_is_the_same_brain(tmp_path: Path):
    """What is written reads back with the same hash, into an empty folder too."""
    brain = load_brain(make(tmp_path / "a"))
    changed = brain.with_file("method.md", "# M\nnew line\n")
    write_brain(changed, tmp_path / "a")
    write_brain(changed, tmp_path / "b")
    assert load_brain(tmp_path / "a").hash == changed.hash == load_brain(tmp_path / "b").hash
    assert not list(tmp_path.rglob("*.part"))


def test_a_skill_on_demand_is_offered_not_loaded(tmp_path: Path):
    """A skill on demand appears by name and description; its text does not."""
    root = make(
        tmp_path,
        **{"brain.toml": 'load = ["method.md"]\non_demand = ["skills/logs/SKILL.md"]\n'},
    )
    prompt = load_brain(root).prompt()
    assert "- logs: Read logs." in prompt
    assert "Look at errors first" not in prompt


@given(st.text())
def test_normalising_twice_changes_nothing(text: str):
    """Normalising is idempotent, whatever the text."""
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=1))
def test_slug_is_a_safe_folder_name(model: str):
    """No model name leads out of the overlays folder."""
    assert "/" not in slug(model)


def test_with_file_refuses_an_unknown_name():
    """A file that the manifest does not load cannot be written into a brain."""
    with pytest.raises(BrainError, match="no file"):
        Brain(files={"m.md": "x\n"}, load=("m.md",)).with_file("n.md", "y")


def test_putting_back_an_older_brain_removes_its_overlay(tmp_path: Path):
    """A brain without an overlay, written over one with it, leaves no overlay behind."""
    old = load_brain(make(tmp_path))
    name = "overlays/models/openai-x-low/method.md"
    write_brain(old.with_file(name, "more\n"), tmp_path)
    assert load_brain(tmp_path).hash != old.hash
    write_brain(old, tmp_path)
    assert load_brain(tmp_path).hash == old.hash


def test_an_overlay_of_a_skill_on_demand_is_read_on_demand(tmp_path: Path):
    """An overlay of a skill on demand changes what is read, and never lands in the prompt."""
    root = make(
        tmp_path,
        **{
            "brain.toml": 'load = ["method.md"]\non_demand = ["skills/logs/SKILL.md"]\n',
            "overlays/models/openai-x/skills/logs/SKILL.md": "<!-- overlay: append -->\nand more\n",
        },
    )
    brain = load_brain(root)
    assert "and more" not in brain.prompt("openai/x")
    assert "and more" in (brain.skill("logs", "openai/x") or "")
    assert "and more" not in (brain.skill("logs", "openai/y") or "")
    assert brain.skill("nonesuch") is None
