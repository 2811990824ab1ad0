"""How many trap and control incidents a score would open: counts, and nothing else of them.

A plan names the smallest gain that a held-out half can show, and only its specs say which incidents
are traps. So they are counted in a process of the role that may open them; no look is used up.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from heldout.errors import HeldoutError
from heldout.settings import Settings, load_settings
from heldout.split import HeldoutAccess, declare_process, read_specs

ROLE = "score"


@dataclass(frozen=True, slots=True)
class Size:
    """Incidents of a held-out half."""

    traps: int
    controls: int

    @property
    def incidents(self) -> int:
        """All of them."""
        return self.traps + self.controls


def size_of_half(settings: Settings, name: str = "", exclude: Sequence[str] = ()) -> Size:
    """Count the held-out half of a set (by default the project's), without some incidents."""
    command = [sys.executable, "-m", "heldout.score.size", "--project", str(settings.root)]
    command += ["--set", name or settings.set]
    for one in exclude:
        command += ["--exclude", one]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1:] or [f"code {done.returncode}"]
        raise HeldoutError(f"the held-out half cannot be counted ({said[0][:300]})")
    return Size(**json.loads(done.stdout))


def main(argv: Sequence[str] | None = None) -> int:
    """The child: declare the role, count, print one JSON object. Exit code of the error, or 0."""
    parser = argparse.ArgumentParser(prog="python -m heldout.score.size", description=__doc__)
    parser.add_argument("--project", type=Path, default=None)
    parser.add_argument("--set", default="")
    parser.add_argument("--exclude", action="append", default=[])
    args = parser.parse_args(argv)
    try:
        declare_process(ROLE)
        settings = load_settings(args.project)
        specs = read_specs(settings.set_dir(args.set or None), "test", HeldoutAccess())
    except HeldoutError as error:
        print(error.sentence(), file=sys.stderr)
        return error.exit_code
    kept = [spec for spec in specs if spec.id not in set(args.exclude)]
    traps = sum(spec.kind == "trap" for spec in kept)
    print(json.dumps(asdict(Size(traps, len(kept) - traps))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
