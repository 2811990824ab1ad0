"""The form: a TOML file beside a report that a person fills where no model reads it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from heldout.errors import IngestError
from heldout.intake.material import Material
from heldout.intake.reading import FITS, Reading, checked_reading
from heldout.intake.vocabulary import KIND_TEXTS, NONE, TRIGGERS, nearest, trap_texts
from heldout.split import HeldoutAccess
from heldout.terminal import visible

SUFFIX = ".intake.toml"
OFFERED = 8
"""How many faults a form offers."""
WIDTH = 92


def form_path(report: Path) -> Path:
    """Where the form of a report lies."""
    return report.with_name(report.name + SUFFIX)


def write_form(material: Material, access: HeldoutAccess, filled: Reading | None = None) -> Path:
    """Write a form beside the report: an empty one, or what a model ``filled`` in.

    An empty one never replaces a form that lies there already. A form says what an incident will be
    made of, so whoever writes or reads one needs the role for it.
    """
    assert access.role
    path = form_path(material.path)
    if filled is not None or not path.exists():
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_text(_text(material, filled), encoding="utf-8")
            part.replace(path)
        except OSError as error:
            raise IngestError(
                f"the form cannot be written ({error.strerror or type(error).__name__})",
                where=str(path), mend="Copy the report to a folder that can be written to",
            ) from error  # fmt: skip
        finally:
            part.unlink(missing_ok=True)
    return path


def read_form(material: Material, access: HeldoutAccess) -> Reading | None:
    """What a person filled in; ``None`` where there is no form, or no fault is named yet.

    A form of another report, or one with a word outside the vocabulary, is an :class:`IngestError`.
    """
    assert access.role
    path = form_path(material.path)
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise IngestError(
            f"the form is not TOML ({error})", where=str(path), mend="Correct the line"
        ) from error
    if raw.pop("report", "") != material.digest:
        raise IngestError(
            "the form belongs to another report, or to an older text of this one",
            where=str(path),
            mend="Delete it to get a new one, or set report to the digest that a new one has",
        )
    if not raw.get("fault"):
        return None
    return checked_reading({key: value for key, value in raw.items() if value != ""}, str(path))


def _text(material: Material, filled: Reading | None) -> str:
    """The form, with everything that may be written into it as comments."""
    said = {} if filled is None else filled.plain()
    lines = [
        "# What incident is this? Fill in and run the same command again.",
        "# This file tells a cause, so it is as secret as the report.",
        f'report = "{material.digest}"',
        "",
        f'# The fault that breaks the same way, or "{NONE}" where none does. The nearest by words:',
        *_offered(material),
        "# 'heldout intake --words fault' lists all of them.",
        f'fault = "{said.get("fault", "")}"',
        "",
        "# How well it fits; only mechanism makes an incident.",
        *_choices(FITS),
        f'fits = "{said.get("fits", "mechanism")}"',
        "",
        "# What kind of incident it is.",
        *_choices(KIND_TEXTS),
        f'kind = "{said.get("kind", "trap")}"',
        "",
        "# Days from the cause to the alert (0.5 is half a day).",
        _number("cause_days", said, "3.0"),
        "",
        "# What woke the cause.",
        *_choices(TRIGGERS),
        f'trigger = "{said.get("trigger", "unknown")}"',
        "",
        "# Innocent changes that stood at the onset and looked like the cause.",
        _number("decoys", said, "1"),
        "",
        "# Share of the fleet or population that failed, 0 to 1.",
        _number("affected", said, "0.3"),
        "",
        "# Dependency edges from the alerted service to where the trouble was.",
        _number("hops", said, "2"),
        "",
        "# What else misled whoever looked; names of this list.",
        *_choices(trap_texts()),
        f"traps = {json.dumps(said.get('traps', []))}",
        *_by_model(filled),
    ]
    return "\n".join(lines) + "\n"


def _by_model(filled: Reading | None) -> list[str]:
    """What only a model says: the faults that come near, and a note for whoever compares."""
    if filled is None:
        return []
    note = json.dumps(visible(filled.note), ensure_ascii=False)
    return [
        "",
        "# A model filled this in: compare it with the report.",
        f"near = {json.dumps(list(filled.near))}",
        f"note = {note}",
    ]


def _number(name: str, said: Mapping[str, Any], example: str) -> str:
    """A number that may be left out; until somebody says it a comment with an example."""
    value = said.get(name)
    return f"#{name} = {example}" if value is None else f"{name} = {value}"


def _offered(material: Material) -> list[str]:
    return _choices({one.fault: one.mechanism for one in nearest(material.text, OFFERED)})


def _choices(words: Mapping[Any, str]) -> list[str]:
    """One comment for each word, wrapped."""
    return [
        line
        for name, text in words.items()
        for line in wrap(
            f"{name}: {text}", WIDTH, initial_indent="#   ", subsequent_indent="#     "
        )
    ]
