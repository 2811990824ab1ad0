"""Where the files of a brain belong, and what a skill begins with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import yaml

from heldout.brain import APPEND
from heldout.gate.hits import Context, Hit
from heldout.gate.pages import FILE_NAMES, Page, Place

RULE = "brain-format"
SKILL = "SKILL.md"
_FRONT = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,99}")
_SKILL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
"""Limits of the Agent Skills format."""


def check_files(context: Context) -> Iterator[Hit]:
    """The manifest's files one by one: name, place, and front matter where it is a skill."""
    brain = context.brain
    names = context.scan.pages[-1] if context.scan.pages else None
    pages = {page.file: page for page in context.scan.pages}
    if names is None or names.file != FILE_NAMES:
        names = pages.get(FILE_NAMES)
    if names is None:
        return
    for number, name in enumerate(names.lines, 1):
        why = _misplaced(name, on_demand=name in brain.on_demand)
        if why:
            yield _hit(names, number, name, why)
        page = pages.get(name)
        if page is not None and not why and PurePosixPath(name).name == SKILL:
            fault = _skill(name, page)
            if fault:
                yield _hit(page, 1, name, fault)


def _misplaced(name: str, *, on_demand: bool) -> str:
    """Empty for a name that a brain's file may have, else what to do."""
    parts = PurePosixPath(name).parts
    if not name.endswith(".md") or not all(_PART.fullmatch(part) for part in parts):
        return "Files are Markdown (.md) inside the brain, in letters, digits, '-', '_' and '.'"
    if parts[0] == "overlays" and (len(parts) < 4 or parts[1] not in {"models", "interfaces"}):
        return "Overlays stand in overlays/models/<model>/ or overlays/interfaces/<name>/"
    if on_demand and parts[-1] != SKILL:
        return "What is read on demand is a skill: skills/<name>/SKILL.md"
    if parts[-1] == SKILL and (len(parts) < 3 or "skills" not in parts[:-2]):
        return "A skill stands in a folder of its own: skills/<name>/SKILL.md"
    return ""


def _skill(name: str, page: Page) -> str:
    """Empty for a skill with front matter that fits its folder, else what to do."""
    text = "\n".join(page.lines)
    if text.startswith(APPEND):
        return ""
    match = _FRONT.match(text)
    try:
        front = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError:
        front = None
    if not isinstance(front, dict) or not front.get("name") or not front.get("description"):
        return "A skill begins with ---, name: ..., description: ..., ---"
    folder = PurePosixPath(name).parent.name
    called, said = str(front["name"]), str(front["description"])
    if called != folder:
        return f"A skill has the name of its folder: name: {folder}"
    if not _SKILL_NAME.fullmatch(called) or len(called) > _LONGEST_NAME:
        return f"A skill's name is lower-case words joined by '-', at most {_LONGEST_NAME} letters"
    if len(said) > _LONGEST_DESCRIPTION:
        return f"A skill's description has at most {_LONGEST_DESCRIPTION} characters"
    return ""


def _hit(page: Page, number: int, matched: str, hint: str) -> Hit:
    place = Place(page, number, 1, number, len(page.lines[number - 1]) + 1)
    return Hit(RULE, "reject", place, matched, "", "form", (), hint)
