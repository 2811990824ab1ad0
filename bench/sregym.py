"""SREGym-lite, reconstructed: what rules without a model make of each fault, in every variant.

A cell holds the letters of the variants in which a rule points at the cause: g, l, m by what was
captured (graph, logs, metrics), capital where under the suite's own names and under others alike,
small under one of them alone. Deterministic; CPU only.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from heldout.build.recorded import record_set
from heldout.build.worlds import cases
from heldout.floors import FLOORS, generous_judge, submit
from heldout.graph.session import WorldInterface
from heldout.ingest.cases.sregym.fault import TIERS, faults
from heldout.ingest.cases.sregym.suite import NAMES, SregymLite
from heldout.ingest.importer import ImportOptions
from heldout.settings import Settings
from heldout.split import Case, HeldoutAccess, declare_process, read_specs
from heldout.truth import read_truth

FOUND = "a health check is at the cause"
"""Whatever else it finds; of a healthy state: it finds nothing."""
Hits = Counter[tuple[str, str, str]]


def main() -> None:
    """Print the table of faults and the floors' sums."""
    declare_process("build")
    hits: Hits = Counter()
    calm: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="heldout-sregym-") as folder:
        for tier in TIERS:
            for names in NAMES:
                for fault, rule, right in _played(Path(folder), tier, names):
                    if fault.startswith("no fault"):
                        calm[rule] += right
                    else:
                        hits[fault, rule, tier] += right
    rules = [*FLOORS, FOUND]
    print(f"| # | fault | first channel | {' | '.join(rules)} |")
    print(f"|---|---|---|{'---|' * len(rules)}")
    for fault in faults().values():
        cells = [_cell(hits, fault.name, rule) for rule in rules]
        print(f"| {fault.number} | {fault.name} | {fault.channel} | {' | '.join(cells)} |")
    for tier in TIERS:
        sums = [sum(hits[one, rule, tier] == len(NAMES) for one in faults()) for rule in rules]
        print(f"| | **of 21, {tier}** | | {' | '.join(map(str, sums))} |")
    total = len(TIERS) * len(NAMES) * 3
    print(
        f"| | **healthy states of {total}** | | {' | '.join(str(calm[rule]) for rule in rules)} |"
    )


def _cell(hits: Hits, fault: str, rule: str) -> str:
    letters = [
        (tier[0].upper() if hits[fault, rule, tier] == len(NAMES) else tier[0])
        for tier in TIERS
        if hits[fault, rule, tier]
    ]
    return "".join(letters) or "-"


def _played(folder: Path, tier: str, names: str) -> Iterator[tuple[str, str, bool]]:
    settings = Settings(root=folder, set="x")
    name = f"{names}-{tier}"
    suite = SregymLite(tier, names)  # type: ignore[arg-type]
    record_set(settings, name, suite, Path(), ImportOptions(), HeldoutAccess())
    specs = read_specs(settings.set_dir(name), "test", HeldoutAccess())
    source = {spec.id: spec.source.rpartition("/")[2] for spec in specs}
    interface = WorldInterface()
    for case in cases(settings, name, "test", HeldoutAccess()):
        for rule in FLOORS:
            yield source[case.incident.id], rule, _right(rule, case, interface)
        yield source[case.incident.id], FOUND, _found(case, interface)


def _right(rule: str, case: Case, interface: WorldInterface) -> bool:
    return generous_judge(submit(FLOORS[rule], case, interface), case)


def _found(case: Case, interface: WorldInterface) -> bool:
    truth = read_truth(case.truth_file, digest=case.truth_digest)
    session = interface.open(str(case.incident.world), 0)
    try:
        found = json.loads(session.call("check_health", {"scope": "all"}).text)["rows"]
    finally:
        session.close()
    at = {str(row["entity"]) for row in found}
    return bool(at & set(truth.accepted_entities)) if case.is_trap else not at
