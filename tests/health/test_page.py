"""The page about health lists the checks and the rules of status that there are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from heldout.graph.health import registry
from heldout.graph.status import RULES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_lists_every_check_and_rule():
    """The tables in docs/how-to/health.md are what the code says; a stale one would differ."""
    spec = importlib.util.spec_from_file_location("build_health", DOCS / "build_health.py")
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    kept = builder.PAGE.read_text(encoding="utf-8")
    assert kept == builder.render(kept), "run: python docs/build_health.py"
    for check in registry():
        assert f"| `{check.name}` |" in kept
    for rule in RULES:
        assert f"| `{rule.name}` |" in kept
    for name in ("dns-policy-none", "finalizers"):
        assert builder.render(kept.replace(f"| `{name}` |", "| `renamed` |")) == kept
