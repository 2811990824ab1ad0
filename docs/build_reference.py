"""Write docs/reference.md from the code: ``python docs/build_reference.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pydantic import BaseModel

from heldout import errors, settings

HERE = Path(__file__).parent
EXIT_CODES = """\
| code | meaning |
|---|---|
| 0 | done |
| 1 | tool error: something could not be read, written or reached |
| 2 | usage: the words of the command do not fit |
| 3 | not passed: the gate refused, a score found harm or is indecisive, no look is left |
"""


def verbs() -> list[str]:
    """The names of all verbs, in the order of the help."""
    return listed(help_of())


def listed(text: str) -> list[str]:
    """The names of the commands in a help text."""
    listing = text.split("Commands:")[1]
    lines = [line for line in listing.splitlines() if line[:2] == "  " and line[2:3].strip()]
    return [line.split()[0] for line in lines]


def help_of(*words: str) -> str:
    """The help text of the command or of one verb, at a fixed width."""
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words, "--help"],
        env={**os.environ, "COLUMNS": "96", "TERMINAL_WIDTH": "96"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = done.stdout.replace("python -m heldout.cli.main", "heldout").replace(
        "main.py", "heldout"
    )
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def keys() -> list[str]:
    """A table row per key of heldout.toml."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    rows += ["| `name` | `'heldout'` | the project's name |"]
    rows += ["| `set` | `'prod_hard'` | the set that verbs use unless --set names another |"]
    parts: dict[str, type[BaseModel]] = {
        "models": settings.Models,
        "agent": settings.AgentSettings,
        "limits": settings.LimitSettings,
        "run": settings.RunSettings,
        "judge": settings.JudgeSettings,
        "tune": settings.TuneSettings,
        "score": settings.ScoreSettings,
        "gate": settings.GateSettings,
        "behaviour": settings.BehaviourSettings,
        "review": settings.ReviewSettings,
        "month": settings.MonthSettings,
        "canary": settings.CanarySettings,
        "intake": settings.IntakeSettings,
    }
    for part, model in parts.items():
        for name, field in model.model_fields.items():
            default = "none" if field.default is None else repr(field.default)
            rows.append(f"| `{part}.{name}` | `{default}` | {field.description} |")
    return rows


def render() -> str:
    """The whole page."""
    tree = (errors.__doc__ or "").split("::\n\n")[1].split("\n\nA message")[0]
    parts = ["# Reference", "Written by `python docs/build_reference.py`; do not edit by hand."]
    parts += ["## Exit codes", EXIT_CODES.strip(), "## heldout.toml", "\n".join(keys())]
    parts += ["## Errors", f"```text\n{tree.rstrip()}\n```", "## Commands"]
    parts += [f"```text\n{help_of()}\n```"]
    for verb in verbs():
        text = help_of(verb)
        parts += [f"### heldout {verb}", f"```text\n{text}\n```"]
        for word in listed(text) if "Commands:" in text else ():
            parts += [f"#### heldout {verb} {word}", f"```text\n{help_of(verb, word)}\n```"]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (HERE / "reference.md").write_text(render(), encoding="utf-8")
