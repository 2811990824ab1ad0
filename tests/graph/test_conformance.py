"""The conformance suite on hand-made and simulated worlds; imported ones are tested with ingest."""

from __future__ import annotations

from pathlib import Path

from tests.graph.conformance import check_conformance

from heldout.graph import write_world
from heldout.simulate.fault import faults
from heldout.simulate.world import generate
from heldout.truth import Spec


def test_a_hand_made_world_conforms(small_dir: Path):
    """Shapes, paging, errors, determinism and submission hold of the small world."""
    check_conformance(small_dir)


def test_a_simulated_world_of_full_size_conforms(tmp_path: Path):
    """The same suite holds of a world as the simulator makes it."""
    fault = next(iter(faults().values()))
    spec = Spec(
        id="sim-0001", kind="trap", domain=fault.domain, family=fault.family, fault=fault.name,
        traps=(), group="g", generator="1", seed=11, canary="c" * 20,
    )  # fmt: skip
    write_world(generate(spec).tables, tmp_path / "w")
    check_conformance(tmp_path / "w")
