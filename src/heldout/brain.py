"""The brain: a directory of Markdown with a manifest for load order. It is what is tuned.

``brain.toml``::

    load = ["method.md", "skills/reading-logs/SKILL.md", "prompts/submit.md"]
    on_demand = ["skills/fleet-comparison/SKILL.md"]   # offered by name, read with a tool
    frozen = ["site.md"]                               # loaded and hashed, never tuned

Overlays under ``overlays/models/<model>/`` and ``overlays/interfaces/<name>/`` hold files of the
same relative names. A file whose first line is ``<!-- overlay: append -->`` is appended to the base
file, any other replaces it; one without a base file is loaded after all others.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import tomlkit
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import BrainError

MANIFEST = "brain.toml"
APPEND = "<!-- overlay: append -->"
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n?", re.DOTALL)


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    load: list[str]
    on_demand: list[str] = []
    frozen: list[str] = []


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill offered by name and description and read on demand."""

    name: str
    description: str
    path: str


@dataclass(frozen=True, slots=True)
class Brain:
    """A brain in memory: normalised text by relative path, in load order."""

    files: Mapping[str, str]
    load: tuple[str, ...]
    on_demand: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    """Overlay files (``overlays/...``) by relative path."""

    @property
    def hash(self) -> str:
        """sha256 over names and normalised content of every file, overlays included, in order."""
        digest = hashlib.sha256()
        everything = {**self.files, **self.extra}
        order = [*self.load, *self.on_demand, *sorted(self.extra)]
        for name in order:
            digest.update(name.encode() + b"\0" + everything[name].encode() + b"\0")
        digest.update(repr((self.load, self.on_demand, self.frozen)).encode())
        return digest.hexdigest()

    def editable(self, name: str) -> bool:
        """True for files that an edit may touch."""
        return name not in self.frozen and name != MANIFEST

    def all_files(self) -> dict[str, str]:
        """Every file with its text: load order, then on demand, then overlays."""
        ordered = {name: self.files[name] for name in (*self.load, *self.on_demand)}
        return {**ordered, **{name: self.extra[name] for name in sorted(self.extra)}}

    def with_file(self, name: str, text: str) -> Brain:
        """A copy in which one file has other text (a new overlay file may be added)."""
        if name.startswith("overlays/"):
            return replace(self, extra={**self.extra, name: normalise(text)})
        if name not in self.files:
            raise BrainError(f"the brain has no file '{name}'", mend="Add it to brain.toml first")
        return replace(self, files={**self.files, name: normalise(text)})

    def rendered(self, model: str = "", interface: str = "") -> dict[str, str]:
        """Inline files in load order with the overlays of this model and interface applied."""
        result = {name: self.files[name] for name in self.load}
        for prefix in (f"overlays/interfaces/{interface}/", f"overlays/models/{slug(model)}/"):
            for name in sorted(self.extra):
                if name.startswith(prefix) and not prefix.endswith("//"):
                    base = name.removeprefix(prefix)
                    if base not in self.on_demand:
                        result[base] = _overlaid(result.get(base, ""), self.extra[name])
        return result

    def skill(self, name: str, model: str = "", interface: str = "") -> str | None:
        """The text of an on-demand skill by its name, overlays applied; ``None`` when unknown."""
        for known in self.skills():
            if known.name == name:
                text = self.files[known.path]
                for folder in (f"interfaces/{interface}", f"models/{slug(model)}"):
                    over = self.extra.get(f"overlays/{folder}/{known.path}")
                    text = text if over is None else _overlaid(text, over)
                return text
        return None

    def prompt(self, model: str = "", interface: str = "") -> str:
        """The system prompt: every inline file, then the list of skills to read on demand."""
        parts = [
            _FRONT_MATTER.sub("", text).strip() for text in self.rendered(model, interface).values()
        ]
        skills = self.skills()
        if skills:
            lines = [f"- {skill.name}: {skill.description}" for skill in skills]
            parts.append("# Skills you can read with read_skill\n\n" + "\n".join(lines))
        return "\n\n".join(part for part in parts if part)

    def skills(self) -> tuple[Skill, ...]:
        """The skills read on demand."""
        return tuple(_skill(name, self.files[name]) for name in self.on_demand)

    def lines(self) -> int:
        """Number of non-empty lines of what may be tuned."""
        return sum(
            1
            for name, text in self.all_files().items()
            if self.editable(name)
            for line in text.splitlines()
            if line.strip()
        )


def _overlaid(base: str, overlay: str) -> str:
    if overlay.startswith(APPEND):
        return base + "\n" + overlay.removeprefix(APPEND).lstrip("\n")
    return overlay


def slug(model: str) -> str:
    """A model's name as a folder name: ``openai/gpt-x@low`` becomes ``openai-gpt-x-low``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-")


def normalise(text: str) -> str:
    """Unicode NFC, LF line ends, no trailing blanks, exactly one newline at the end."""
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    body = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return body + "\n" if body else ""


def _skill(name: str, text: str) -> Skill:
    match = _FRONT_MATTER.match(text)
    try:
        front = yaml.safe_load(match.group(1)) if match else None
    except yaml.YAMLError:
        front = None
    if not isinstance(front, dict) or not front.get("name") or not front.get("description"):
        raise BrainError(
            "a skill needs front matter with 'name' and 'description'",
            where=name,
            mend="Begin the file with ---, name: ..., description: ..., ---",
        )
    return Skill(str(front["name"]), str(front["description"]), name)


def _inside(root: Path, name: str) -> Path:
    pure = PurePosixPath(name)
    path = (root / name).resolve()
    if pure.is_absolute() or ".." in pure.parts or not path.is_relative_to(root.resolve()):
        raise BrainError(
            f"'{name}' leads out of the brain",
            where=str(root / MANIFEST),
            mend="Use paths inside it",
        )
    return path


def _read(root: Path, name: str) -> str:
    path = _inside(root, name)
    try:
        return normalise(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BrainError(
            f"'{name}' is named in the manifest and missing",
            where=str(root),
            mend="Add the file or take it out of brain.toml",
        ) from error
    except (UnicodeDecodeError, OSError) as error:
        raise BrainError(
            f"'{name}' cannot be read as UTF-8 text", where=str(root), mend="Save it as UTF-8"
        ) from error


def load_brain(root: Path) -> Brain:
    """Read a brain directory; a broken manifest or a path outside it is a :class:`BrainError`."""
    path = root / MANIFEST
    try:
        manifest = _Manifest.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise BrainError(
            f"no {MANIFEST}", where=str(root), mend="Name a brain directory, or run 'heldout init'"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BrainError(f"not TOML ({error})", where=str(path), mend="Correct the line") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise BrainError(
            f"'{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=str(path),
            mend="It holds load, on_demand and frozen: lists of file names",
        ) from error
    named = [*manifest.load, *manifest.on_demand]
    twice = {name for name in named if named.count(name) > 1}
    unknown = set(manifest.frozen) - set(named)
    if twice or unknown:
        name = min(twice or unknown)
        what = f"'{name}' is listed twice" if twice else f"frozen '{name}' is not loaded"
        raise BrainError(what, where=str(path), mend="List each once; frozen ones too")
    overlays = sorted((root / "overlays").rglob("*.md")) if (root / "overlays").is_dir() else []
    brain = Brain(
        files={name: _read(root, name) for name in named},
        load=tuple(manifest.load),
        on_demand=tuple(manifest.on_demand),
        frozen=tuple(manifest.frozen),
        extra={
            relative: _read(root, relative)
            for relative in (path.relative_to(root).as_posix() for path in overlays)
        },
    )
    brain.skills()
    return brain


def write_brain(brain: Brain, root: Path) -> None:
    """Write a brain to a directory; an error before the last rename leaves the old one whole.

    Every file is written beside its name first, then renamed, the manifest last. Overlay files that
    the brain does not have are removed, so that an older brain can be put back.
    """
    parts: list[tuple[Path, Path]] = []
    try:
        for name, text in brain.all_files().items():
            path = _inside(root, name)
            if path.is_file() and normalise(path.read_text(encoding="utf-8")) == text:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(path.name + ".part")
            part.write_text(text, encoding="utf-8")
            parts.append((part, path))
        manifest = root / MANIFEST
        document = tomlkit.document()
        for key in ("load", "on_demand", "frozen"):
            values = list(getattr(brain, key))
            if values or key == "load":
                document.add(key, values)
        text = tomlkit.dumps(document)
        if not manifest.is_file():
            part = manifest.with_name(MANIFEST + ".part")
            part.write_text(text, encoding="utf-8")
            parts.append((part, manifest))
    except OSError as error:
        for part, _ in parts:
            part.unlink(missing_ok=True)
        raise BrainError(
            f"the brain could not be written ({error.strerror})", where=str(root), mend="Free space"
        ) from error
    for part, path in parts:
        part.replace(path)
    for path in (root / "overlays").rglob("*.md"):
        if path.relative_to(root).as_posix() not in brain.extra:
            path.unlink()
