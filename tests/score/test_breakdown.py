"""Groups of held-out traps: which there are, and what the train half had of them."""

from __future__ import annotations

from pathlib import Path

from heldout.compare import Pair, Tally
from heldout.incident import Incident
from heldout.score.views import Material, breakdown
from heldout.split import Case


def case(name: str, domain: str) -> Case:
    """One held-out trap of a domain."""
    incident = Incident(name, "s", "alert", Path("w"), "d")
    return Case(
        incident, "test", "trap", domain, "pool", ("decoy",), "g", "simulated", Path("t"), "d"
    )


def test_domains_are_counted_and_those_that_train_lacked_are_marked():
    """Each domain has its fixed and broken, and says whether anything of it was tuned on."""
    cases = [case("a", "network"), case("b", "network"), case("c", "storage")]
    solved, failed = Tally(3, 3, 3), Tally(0, 3, 3)
    pairs = [Pair("a", failed, solved), Pair("b", solved, solved), Pair("c", solved, failed)]
    material = Material(
        cases=cases, outcomes={"before": [], "after": []}, repeats=3,
        train_domains=frozenset({"network"}),
    )  # fmt: skip
    rows = {one.name: one for one in breakdown(material, pairs) if one.kind == "domain"}
    network, storage = rows["network"], rows["storage"]
    assert (network.incidents, network.before, network.after) == (2, 1, 2)
    assert (network.fixed, network.broken, network.seen_in_train) == (1, 0, True)
    assert (storage.fixed, storage.broken, storage.seen_in_train) == (0, 1, False)
