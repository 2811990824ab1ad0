"""The docs say what the code does: generated pages are fresh, commands run, links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\(([^)#:]+)(?:#[^)]*)?\)")


def builder() -> ModuleType:
    """The script that writes docs/reference.md."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/build_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_code_says():
    """Help texts, keys, errors and exit codes in docs/reference.md are the code's own."""
    fresh = builder().render()
    kept = (ROOT / "docs" / "reference.md").read_text()
    assert kept == fresh, "run: python docs/build_reference.py"


def test_every_verb_is_explained_somewhere_else_too():
    """Each command appears in a page that a person wrote."""
    prose = "\n".join(p.read_text() for p in PAGES if p.name != "reference.md")
    for verb in builder().verbs():
        assert f"heldout {verb}" in prose, verb


def test_local_links_lead_somewhere():
    """No page links to a file that is not there."""
    for page in PAGES:
        for target in LINK.findall(page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def commands() -> list[tuple[str, list[str]]]:
    """The runnable shell blocks of each page, in order; ``norun`` blocks spend time or money."""
    found = []
    for page in PAGES:
        lines: list[str] = []
        for language, rest, body in BLOCK.findall(page.read_text()):
            if language == "sh" and "norun" not in rest:
                lines += [line for line in body.splitlines() if line.strip()]
        if lines:
            found.append((page.relative_to(ROOT).as_posix(), lines))
    return found


@pytest.mark.parametrize(("page", "lines"), commands(), ids=lambda value: str(value)[:40])
def test_the_commands_of_a_page_run(page: str, lines: list[str], tmp_path: Path):
    """The commands that a page tells to type run one after the other without an error."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = "set -e\n" + "\n".join(lines)
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page}\n{done.stdout[-800:]}\n{done.stderr[-800:]}"


def test_the_block_runner_notices_a_broken_command(tmp_path: Path):
    """A documented command that does not exist would fail the test above."""
    with pytest.raises(AssertionError):
        test_the_commands_of_a_page_run("made up", ["heldout nonesuch"], tmp_path)


def test_architecture_fits_on_a_page():
    """ARCHITECTURE.md stays short enough to be read, and names only what exists."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert len(text.splitlines()) <= 80
    for path in re.findall(r"`((?:src|brain|checkers|datasets|flows)/[^`]*?)`", text):
        assert (ROOT / path).exists(), path
