"""Canaries: strings of specs and truths that stand nowhere else, unless something leaks.

Every spec and its truth carry one. It must never turn up in a prompt, a trace, a proposer's prompt
or a brain. The process that tunes may not read the held-out half, so it is given hashes: a child
process with the gate's role reads the specs (``python -m heldout.canaries``), and whoever watches
can recognise a canary that it sees without knowing any. Worlds carry none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.errors import CanaryFound, GateError, HeldoutError
from heldout.settings import Settings, load_settings
from heldout.split import HeldoutAccess, Side, declare_process, read_specs

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


def read_watch(settings: Settings) -> Watch:
    """The watch over every set of a project, read by a child process.

    A child that cannot read them is a :class:`GateError`: nothing may run unwatched.
    """
    command = [sys.executable, "-P", "-m", "heldout.canaries", "--project", str(settings.root)]
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
    folders = [one for one in settings.set_folders() if (one / "split.toml").is_file()]
    for side in order:
        for folder in folders:
            for spec in read_specs(folder, side, access):
                sides[canary_hash(spec.canary)] = side
    return sides


def main() -> int:
    """Print the hashes as JSON; an unreadable spec ends with the error's own code."""
    parser = argparse.ArgumentParser(prog="python -m heldout.canaries")
    parser.add_argument("--project", type=Path, default=None)
    args = parser.parse_args()
    declare_process("gate")
    try:
        sides = canary_hashes(load_settings(args.project), HeldoutAccess())
    except HeldoutError as error:
        print(error.sentence(), file=sys.stderr)
        return error.exit_code
    print(json.dumps(sides))
    return 0


if __name__ == "__main__":
    sys.exit(main())
