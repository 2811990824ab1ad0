"""The form: a TOML file beside a report that a person fills where no model reads it."""

from __future__ import annotations

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

SUFFIX = ".intake.toml"
OFFERED = 8
"""How many faults a form offers."""
WIDTH = 92


def form_path(report: Path) -> Path:
    """Where the form of a report lies."""
    return report.with_name(report.name + SUFFIX)


def write_form(material: Material, access: HeldoutAccess) -> Path:
    """Write an empty form beside the report; one that lies there already is left as it is.

    A form says what an incident will be made of, so whoever writes or reads one needs the role for
    it.
    """
    assert access.role
    path = form_path(material.path)
    if not path.exists():
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_text(_text(material), encoding="utf-8")
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


def _text(material: Material) -> str:
    """The empty form, with everything that may be written into it as comments."""
    lines = [
        "# What incident is this? Fill in and run the same command again.",
        "# This file tells a cause, so it is as secret as the report.",
        f'report = "{material.digest}"',
        "",
        f'# The fault that breaks the same way, or "{NONE}" where none does. The nearest by words:',
        *_offered(material),
        "# 'heldout intake --words fault' lists all of them.",
        'fault = ""',
        "",
        "# How well it fits; only mechanism makes an incident.",
        *_choices(FITS),
        'fits = "mechanism"',
        "",
        "# What kind of incident it is.",
        *_choices(KIND_TEXTS),
        'kind = "trap"',
        "",
        "# Days from the cause to the alert (0.5 is half a day).",
        "#cause_days = 3.0",
        "",
        "# What woke the cause.",
        *_choices(TRIGGERS),
        'trigger = "unknown"',
        "",
        "# Innocent changes that stood at the onset and looked like the cause.",
        "#decoys = 1",
        "",
        "# Share of the fleet or population that failed, 0 to 1.",
        "#affected = 0.3",
        "",
        "# Dependency edges from the alerted service to where the trouble was.",
        "#hops = 2",
        "",
        "# What else misled whoever looked; names of this list.",
        *_choices(trap_texts()),
        "traps = []",
    ]
    return "\n".join(lines) + "\n"


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
