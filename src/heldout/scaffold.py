"""A fresh project: brain, checkers, flows, a set, settings, schedules.

The template is the checkout itself in an editable install, and ``heldout/_project`` in a wheel.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from heldout.brain import MANIFEST, Brain, load_brain, normalise, write_brain
from heldout.errors import BrainError, UsageError
from heldout.settings import FILE
from heldout.split import Split, write_split

SETTINGS = """\
name = "{name}"
set = "{set}"

[models]
agent = "sim/anchored@low"
proposer = "sim/proposer"
"""

IGNORED = """\
.heldout/
.prefect/
__pycache__/
"""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """What ``heldout init`` made: the folder, and which brain files it froze."""

    root: Path
    brain: Brain
    frozen: tuple[str, ...]


def template_root() -> Path:
    """Where the template's folders stand."""
    package = Path(__file__).resolve().parent
    packaged = package / "_project"
    return packaged if packaged.is_dir() else package.parents[1]


def make_project(root: Path, *, brain: Path | None = None, with_set: str | None = None) -> Scaffold:
    """Write a project to ``root``, which must be absent or empty; a failure leaves nothing.

    ``brain`` takes over an existing directory of Markdown: with a ``brain.toml`` it is copied as it
    is; without one, every file is loaded in name order and all but the template's own names are
    frozen, since a team's files name its own services. ``with_set`` copies one of the template's
    sets; otherwise the set ``incidents`` is made, empty.
    """
    root = root.absolute()  # '.' has no name of its own.
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError("the folder is not empty", where=str(root), mend="Name a new folder")
    template = template_root()
    if with_set is not None and not (template / "datasets" / with_set).is_dir():
        known = sorted(p.name for p in (template / "datasets").glob("*") if p.is_dir())
        raise UsageError(f"there is no set '{with_set}'", mend=f"Known: {', '.join(known)}")
    existed = root.exists()
    part = root.with_name(root.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        for folder in ("checkers", "flows"):
            shutil.copytree(
                template / folder, part / folder, ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
        for name in ("prefect.yaml", "prefect.toml"):
            shutil.copy(template / name, part / name)
        taken, frozen = _take_brain(brain or template / "brain", template / "brain")
        write_brain(taken, part / "brain")
        _write_set(part, template, with_set)
        name = with_set or "incidents"
        (part / FILE).write_text(SETTINGS.format(name=root.name, set=name), encoding="utf-8")
        (part / ".gitignore").write_text(IGNORED, encoding="utf-8")
        if existed:
            # The folder itself stays: somebody may stand in it.
            for made in list(part.iterdir()):
                made.replace(root / made.name)
        else:
            part.replace(root)
    except OSError as error:
        raise UsageError(
            f"the project could not be written ({error.strerror})",
            where=str(root),
            mend="Check the disk and the permissions",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Scaffold(root, taken, frozen)


def _write_set(part: Path, template: Path, with_set: str | None) -> None:
    if with_set is not None:
        shutil.copytree(template / "datasets" / with_set, part / "datasets" / with_set)
        return
    folder = part / "datasets" / "incidents"
    (folder / "specs").mkdir(parents=True)
    (folder / "alerts").mkdir()
    write_split(Split("incidents", (), ()), folder)


def _take_brain(source: Path, template: Path) -> tuple[Brain, tuple[str, ...]]:
    if not source.is_dir():
        raise BrainError("no such folder", where=str(source), mend="Name a brain directory")
    if (source / MANIFEST).is_file():
        brain = load_brain(source)
        return brain, brain.frozen
    texts: dict[str, str] = {}
    for path in sorted(source.rglob("*.md")):
        try:
            texts[path.relative_to(source).as_posix()] = normalise(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise BrainError(
                "cannot be read as UTF-8 text", where=str(path), mend="Save it as UTF-8"
            ) from error
    if not texts:
        raise BrainError("no Markdown file", where=str(source), mend="Name a brain directory")
    # A site's own files are kept word for word; tuning writes to the method beside them.
    base = load_brain(template)
    method = {name: base.files[name] for name in base.load if name not in texts}
    frozen = tuple(texts)
    return (
        Brain(files={**texts, **method}, load=(*texts, *method), frozen=frozen),
        frozen,
    )
