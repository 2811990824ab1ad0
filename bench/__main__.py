"""Run the benches: ``python -m bench`` runs all, ``python -m bench NAME ...`` some.

``python -m bench figures`` plays the main job on ``prod_hard`` and writes its figures to README.md.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BY_DEFAULT = {
    "acceptance",
    "canaries",
    "drivers",
    "efficiency",
    "evidence",
    "figures",
    "ingest",
    "performance",
    "real",
    "recall",
    "second_model",
}
"""These rewrite pages or serve another bench, so they run only when they are named."""


def benches() -> list[str]:
    """The names of every bench module that can be run."""
    files = [*HERE.glob("[!_]*.py"), *HERE.glob("*/__init__.py")]
    return sorted(
        path.parent.name if path.stem == "__init__" else path.stem
        for path in files
        if "def main(" in path.read_text(encoding="utf-8")
    )


def run(names: list[str]) -> int:
    """Run the named benches, all but the writing ones when none is named."""
    known = benches()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"error: no bench '{unknown[0]}'; known: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or [name for name in known if name not in NOT_BY_DEFAULT]:
        print(f"== {name}", flush=True)
        importlib.import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
