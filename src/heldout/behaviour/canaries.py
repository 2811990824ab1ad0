"""Canaries: strings of specs and truths that stand nowhere else, unless something leaks.

Every spec and its truth carry one. It must never turn up in a prompt, a trace, a proposer's prompt
or a brain. The process that tunes may not read the held-out half, so it is given hashes: a child
process with the gate's role reads the specs, and whoever watches can recognise a canary that it
sees without knowing any. Worlds carry none.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.brain import Brain
from heldout.errors import CanaryFound, GateError
from heldout.llm import ModelReply, ModelRequest
from heldout.settings import Settings
from heldout.signatures import Client
from heldout.split import HeldoutAccess, Side, read_specs
from heldout.store import Ledger
from heldout.store.contents import blobs_after, columns_of_text, last_blob

SECONDS = 120.0
"""How long the child may take to read every spec of a project."""
_LENGTH = 32
"""Digits of a canary that the generator draws; others are found as whole words only."""
_WORD = re.compile(r"[0-9a-z_-]{16,}")
_HEX = re.compile(rf"[0-9a-f]{{{_LENGTH},}}")


def canary_hash(canary: str) -> str:
    """What a watcher is told of a canary."""
    return hashlib.sha256(b"canary\0" + canary.casefold().encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Watch:
    """Recognises canaries by their hashes; ``sides`` says which half each belongs to."""

    sides: Mapping[str, Side] = field(default_factory=dict)

    def found(self, text: str) -> tuple[Side, ...]:
        """The halves whose canaries stand in a text; empty for a clean one."""
        if not self.sides:
            return ()
        held = {self.sides.get(canary_hash(word)) for word in _candidates(text.casefold())}
        return tuple(sorted(side for side in held if side is not None))

    def require_clean(self, text: str, where: str) -> None:
        """Raise :class:`CanaryFound` where a text holds one; the message never repeats it."""
        sides = self.found(text)
        if sides:
            raise leak(sides, where)

    def require_clean_brain(self, brain: Brain) -> None:
        """:meth:`require_clean` for every file of a brain."""
        for name, text in brain.all_files().items():
            self.require_clean(f"{name}\n{text}", f"brain, {name}")


def leak(sides: Iterable[Side], where: str) -> CanaryFound:
    """The error for a canary that was found."""
    half = "held-out half" if "test" in sides else "train half"
    return CanaryFound(
        f"the canary of a spec or truth of the {half} stands where none may",
        where=where,
        mend="Something reads specs or truths that must not: find it before anything is run again",
    )


def _candidates(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        yield word
        yield word.strip("_-")
        for run in _HEX.finditer(word):
            digits = run.group()
            for at in range(len(digits) - _LENGTH + 1):
                yield digits[at : at + _LENGTH]


class RunWatch:
    """Looks through what a ledger gained since it was last asked: cheap enough for every run."""

    def __init__(self, watch: Watch, ledger: Ledger) -> None:
        self.watch = watch
        self._ledger = ledger
        self._seen = last_blob(ledger)

    def check(self, run: str) -> None:
        """Raise :class:`CanaryFound` if anything that a run left holds a canary."""
        newest = last_blob(self._ledger)
        for text in blobs_after(self._ledger, self._seen):
            self.watch.require_clean(text, f"run {run}")
        self._seen = newest


class WatchedClient:
    """A proposer's client whose prompts are looked at before they are sent."""

    def __init__(self, client: Client, watch: Watch) -> None:
        self._client = client
        self._watch = watch

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask, unless the prompt holds a canary."""
        for message in request.messages:
            self._watch.require_clean(str(message.get("content") or ""), "the proposer's prompt")
        reply: ModelReply = await self._client.complete(request)
        return reply


def search(settings: Settings, watch: Watch, ledger: Ledger | None, brain: Brain) -> list[str]:
    """Where canaries stand in a project: brain, ledger, landing files, journals, reports.

    A line per place; empty when all is clean.
    """
    found: dict[str, None] = {}

    def look(text: str, where: str) -> None:
        for side in watch.found(text):
            found.setdefault(f"{where}: a canary of the {side} half")

    for name, text in brain.all_files().items():
        look(f"{name}\n{text}", f"brain, {name}")
    if ledger is not None:
        for text in blobs_after(ledger, -1):
            look(text, "ledger, prompts and traces")
        for table, text in columns_of_text(ledger):
            look(text, f"ledger, table {table}")
    for folder in ("landing", "journal", "reports"):
        for path in sorted((settings.state / folder).rglob("*")):
            if path.is_file():
                look(path.read_text(encoding="utf-8", errors="replace"), _shown(settings, path))
    return list(found)


def _shown(settings: Settings, path: Path) -> str:
    return str(path.relative_to(settings.root))


def read_watch(settings: Settings) -> Watch:
    """The watch over every set of a project, read by a child process.

    A child that cannot read them is a :class:`GateError`: nothing may run unwatched.
    """
    command = [sys.executable, "-P", "-m", "heldout.behaviour", "--project", str(settings.root)]
    mend = "Run 'heldout build'; it names the spec that cannot be read"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS, cwd=settings.root
        )
        plain = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GateError(f"no watch for canaries ({type(error).__name__})", mend=mend) from error
    if not isinstance(plain, dict):
        why = done.stderr.strip()[-200:] or f"code {done.returncode}"
        raise GateError(f"the specs' canaries cannot be read ({why})", mend=mend)
    return Watch(plain)


def canary_hashes(settings: Settings, access: HeldoutAccess) -> dict[str, Side]:
    """The hash of every canary with its half; one that stands in both counts as train."""
    sides: dict[str, Side] = {}
    order: tuple[Side, ...] = ("test", "train")
    folders = sorted(path.parent for path in settings.datasets.glob("*/split.toml"))
    for side in order:
        for folder in folders:
            for spec in read_specs(folder, side, access):
                sides[canary_hash(spec.canary)] = side
    return sides
