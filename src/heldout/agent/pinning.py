"""What pins the harness's own words, in every mode."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from heldout.agent import loops, prompt, shown
from heldout.agent.modes import NotebookOptions
from heldout.agent.modes.notebook import Notebook
from heldout.agent.prompt import READ_SKILL
from heldout.agent.sheet import tool_sheet
from heldout.agent.steps import step_schema
from heldout.agent.trace import Step


def prompt_hash() -> str:
    """Hash over every text that the harness itself says to a model, and over its layouts."""
    texts = {name: value for name, value in vars(prompt).items() if name.isupper()}
    texts["READ_SKILL"] = json.dumps(READ_SKILL.wire())
    bounds = {
        f"{module.__name__}.{name}": value
        for module in (loops, shown)
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_")
    }
    page = Notebook(NotebookOptions())
    page.add(Step(0, "look", {"at": "x"}, '{"rows":[1]}', False, ("e-1",)), "a thought")
    layout = [
        tool_sheet((READ_SKILL,)),
        json.dumps(step_schema(("look",))),
        page.page(29, 30),
        json.dumps(asdict(NotebookOptions())),
    ]
    said = json.dumps([sorted(texts.items()), sorted(bounds.items()), layout])
    return hashlib.sha256(said.encode()).hexdigest()
