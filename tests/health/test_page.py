"""The page about health lists the checks that there are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from heldout.graph.health import registry

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_lists_every_check():
    """The table in docs/how-to/health.md is what the code says; a stale one would differ."""
    spec = importlib.util.spec_from_file_location("build_health", DOCS / "build_health.py")
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    kept = builder.PAGE.read_text(encoding="utf-8")
    assert kept == builder.render(kept), "run: python docs/build_health.py"
    for check in registry():
        assert f"| `{check.name}` |" in kept
    stale = kept.replace("| `dns-policy-none` |", "| `renamed` |")
    assert builder.render(stale) == kept
