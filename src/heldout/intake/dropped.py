"""The folder that reports and corrected threads are dropped into, and how far each has come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heldout.errors import IngestError
from heldout.intake.drafts import states
from heldout.intake.forms import SUFFIX, form_path
from heldout.intake.material import SUFFIXES, digest_of, read_material
from heldout.settings import Settings
from heldout.terminal import visible


@dataclass(frozen=True, slots=True)
class Dropped:
    """One file of the folder: its name, whether it is a report or a thread, and its state.

    ``word`` is ``new``, ``drafted``, ``accepted``, ``dropped``, ``no fault`` or ``unreadable``;
    ``form`` says that a form lies beside a new one, ``draft`` which draft it became.
    """

    name: str
    sort: str
    word: str
    draft: str = ""
    form: bool = False


def intake_dir(settings: Settings) -> Path:
    """The folder; relative to the project unless the settings name another place."""
    return settings.root / settings.intake.folder


def files_of(settings: Settings) -> list[Path]:
    """Every report and thread in the folder, by name. Forms and hidden files are none."""
    folder = intake_dir(settings)
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES
        and not path.name.startswith(".")
        and not path.name.endswith(SUFFIX)
        and path.name.lower() != "readme.md"
        and path.is_file()
    )


def dropped(settings: Settings) -> list[Dropped]:
    """What lies in the folder, by name. A file is known by its contents, so it may be renamed."""
    latest = {one.digest: one for one in reversed(states(settings))}
    found = []
    for path in files_of(settings):
        name = visible(path.name, 80)
        try:
            sort, state = read_material(path).sort, latest.get(digest_of(path))
        except IngestError:
            found.append(Dropped(name, "file", "unreadable"))
            continue
        word = state.word if state else "new"
        form = word == "new" and form_path(path).is_file()
        found.append(Dropped(name, sort, word, state.draft if state else "", form))
    return found


def untouched(settings: Settings) -> list[Path]:
    """The files of the folder that became no draft yet."""
    known = {one.digest for one in states(settings)}
    return [path for path in files_of(settings) if digest_of(path) not in known]
