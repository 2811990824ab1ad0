"""Small worlds for tests: a third of the estate, a tenth of the history."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.fault import fault_named
from heldout.truth import Spec

SMALL = {"scale": 0.35, "events": 700, "log_lines": 3000, "latency_days": 4.0, "hops": 2}


def small_spec(fault: str = "pool_ceiling", seed: int = 5, **more: object) -> Spec:
    """A trap incident on a small estate; keyword arguments replace fields, ``knobs`` are merged."""
    record = fault_named(fault)
    knobs = {**SMALL, **dict(more.pop("knobs", {}))}  # type: ignore[call-overload]
    spec = Spec(
        id="inc-0a1b2c",
        kind="trap",
        domain=record.domain,
        family=record.family,
        fault=fault,
        traps=("change_noise", "latent_cause", "onset_decoy"),
        group=fault,
        generator="1",
        seed=seed,
        canary="c0ffee" * 4,
        knobs=knobs,
    )
    return replace(spec, **more)


FLEET = ("change_noise", "latent_cause", "onset_decoy", "partial_fleet")
