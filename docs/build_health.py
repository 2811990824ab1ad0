"""Write the list of checks in docs/how-to/health.md: ``python docs/build_health.py``."""

from __future__ import annotations

from pathlib import Path

from heldout.graph.health import described

PAGE = Path(__file__).parent / "how-to" / "health.md"
BEGIN = "<!-- checks: written by docs/build_health.py -->"
END = "<!-- end of checks -->"


def listing() -> str:
    """A table row for each check."""
    rows = ["| check | finds | silent when |", "|---|---|---|"]
    rows += [
        f"| `{check.name}` | {sentence.rstrip('.')} | {check.silent_when} |"
        for check, sentence in described()
    ]
    return "\n".join(
        [f"{len(described())} checks, one file each in `src/heldout/graph/health/`.", "", *rows]
    )


def render(page: str) -> str:
    """The page with a fresh list between its marks."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{listing()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
