"""The conformance suite on a hand-made world."""

from __future__ import annotations

from pathlib import Path

from tests.graph.conformance import check_conformance


def test_a_hand_made_world_conforms(small_dir: Path):
    """Shapes, paging, errors, determinism and submission hold of the small world."""
    check_conformance(small_dir)
