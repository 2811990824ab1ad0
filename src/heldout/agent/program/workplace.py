"""What a program finds when it starts: files, environment, and where it may report its cost."""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.agent.prompt import system_prompt
from heldout.brain import Brain, write_brain
from heldout.incident import Incident

_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
_LONGEST_USAGE = 65_536
_MOST = 10**12


@dataclass(frozen=True, slots=True)
class Usage:
    """What a program says it used. ``usd`` is ``None`` where it does not say."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    model: str = ""
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder of one investigation; ``work`` is the program's to write in, the rest read only."""

    root: Path

    @classmethod
    def make(cls, incident: Incident, brain: Brain, model: str, interface: str) -> Workplace:
        """Lay out brain, prompt and alert in a folder that only this user can open."""
        place = cls(Path(tempfile.mkdtemp(prefix="heldout-agent-")))
        for folder in (place.work, place.work / "home", place.work / "tmp", place.brain):
            folder.mkdir()
        write_brain(brain, place.brain)
        prompt = system_prompt(brain.prompt(model, interface))
        place.prompt.write_text(prompt, encoding="utf-8")
        place.alert.write_text(incident.alert, encoding="utf-8")
        for path in (*place.brain.rglob("*"), place.brain, place.prompt, place.alert):
            path.chmod(0o555 if path.is_dir() else 0o444)
        return place

    @property
    def brain(self) -> Path:
        """A copy of the brain's files."""
        return self.root / "brain"

    @property
    def prompt(self) -> Path:
        """The system prompt that our own loop would send."""
        return self.root / "prompt.md"

    @property
    def alert(self) -> Path:
        """The alert."""
        return self.root / "alert.md"

    @property
    def config(self) -> Path:
        """The server's address in the form that many clients take."""
        return self.root / "mcp.json"

    def write_config(self, url: str) -> None:
        """Write :attr:`config`."""
        servers = {"heldout": {"type": "http", "url": url}}
        self.config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        self.config.chmod(0o444)

    @property
    def work(self) -> Path:
        """The program's working directory."""
        return self.root / "work"

    @property
    def usage_file(self) -> Path:
        """Where the program may report what it used."""
        return self.work / "usage.json"

    def environment(self, passed: Sequence[str], told: Mapping[str, object]) -> dict[str, str]:
        """The program's environment: the variables passed by name, and what it is told."""
        kept = {name: os.environ[name] for name in (*_PASSED, *passed) if name in os.environ}
        return {
            "HOME": str(self.work / "home"),
            **kept,
            "TMPDIR": str(self.work / "tmp"),
            "HELDOUT_BRAIN": str(self.brain),
            "HELDOUT_PROMPT": str(self.prompt),
            "HELDOUT_ALERT": str(self.alert),
            "HELDOUT_SCRATCH": str(self.work),
            "HELDOUT_USAGE": str(self.usage_file),
            **{name: str(value) for name, value in told.items()},
        }

    def usage(self) -> Usage:
        """What the program reported; a file that is missing, no file or malformed says nothing."""
        try:
            handle = os.open(self.usage_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    return Usage()
                given = json.loads(file.read(_LONGEST_USAGE))
        except (OSError, ValueError, RecursionError):
            return Usage()
        return _usage(given) if isinstance(given, dict) else Usage()

    def remove(self) -> None:
        """Take the folder away, whatever the program made of it."""
        for folder, _, _ in os.walk(self.root):
            with suppress(OSError):
                Path(folder).chmod(0o700)
        shutil.rmtree(self.root, ignore_errors=True)


def _usage(given: Mapping[str, Any]) -> Usage:
    return Usage(
        calls=_count(given.get("calls")),
        input_tokens=_count(given.get("input_tokens")),
        cached_tokens=_count(given.get("cached_tokens")),
        output_tokens=_count(given.get("output_tokens")),
        usd=_price(given.get("usd")),
        model=str(given.get("model") or "")[:200],
        reported=True,
    )


def _price(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= _MOST else None


def _count(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
    return int(value) if whole else 0
