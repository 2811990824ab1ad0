"""``sim/anchored``: walks to the mechanism with skill, and then stops too early.

Left to itself it looks for changes on the day of the incident only, reads the first page, believes
the change nearest to the onset, takes what the alert suggests and what it is shown at first sight
for the truth, and neither asks when the wrong value became what it is nor compares with members of
the fleet that are well. Each of these is a behaviour that a brain's text can move.
"""

from __future__ import annotations

from heldout.llm.simulated.blaming import blame_nothing, find_culprit
from heldout.llm.simulated.desk import Desk, Steps
from heldout.llm.simulated.evidence import Thing, text, things, words
from heldout.llm.simulated.locating import candidates, locate, quote
from heldout.llm.simulated.mind import Temper
from heldout.llm.simulated.opening import check_symptom, see_alerts, take_hint
from heldout.llm.simulated.transcript import Transcript

TEMPER = Temper(
    habit={
        "window": 0.23, "origin": 0.30, "proximity": 0.28, "fleet": 0.15, "narrow": 0.35,
        "downstream": 0.93, "diff": 0.35, "none": 0.20, "overcorrection": 0.0, "symptom": 0.15,
        "bigdiff": 0.30, "reaction": 0.40, "gap": 0.60, "hint": 0.50, "identity": 0.55,
        "undone": 0.50, "alerts": 0.70, "unproven": 0.15, "abstain": 0.0,
    },
    best=0.985,
    heeds=1.0,
    wavers=0.18,
    slip=0.02,
)  # fmt: skip


def investigate(desk: Desk, transcript: Transcript) -> Steps[None]:
    """The whole investigation; what it found stands on the desk when it ends."""
    yield from desk.read_skills(transcript)
    yield from desk.find_victim()
    if desk.victim is None:
        return
    over = yield from check_symptom(desk)
    if not over:
        yield from see_alerts(desk)
        yield from take_hint(desk)
    hops = 5 if desk.mind.does("downstream") else 1
    yield from desk.follow(hops=0 if over == "quiet" else hops)
    yield from quote(desk)
    if over or desk.mind.follows("abstain"):
        own = desk.trouble.get(desk.path[-1].id, ())
        desk.told = sorted(candidates(desk), key=lambda sign: (sign not in own, -sign.count))
        desk.mechanism = next(iter(desk.told), None)
        blame_nothing(desk)
        return
    yield from locate(desk, reads=3 if desk.mind.slips("impatient") else 12)
    yield from compare_fleet(desk)
    yield from find_culprit(desk)
    yield from desk.see_trigger()


def compare_fleet(desk: Desk) -> Steps[None]:
    """Hold the suspected setting against the same thing elsewhere in the fleet."""
    if desk.fact is None or not desk.mind.does("fleet"):
        return
    carrier = desk.fact.entity
    siblings = yield from find_siblings(desk, carrier)
    for sibling in siblings[:2]:
        answer = yield from desk.ask(
            "compare_state",
            f"I compare {carrier.name} with {sibling.name}.",
            entity=carrier.id,
            entity_b=sibling.id,
        )
        if any(text(row, "field") == desk.fact.field for row in answer.rows):
            desk.cite(sibling.id)
            return


def find_siblings(desk: Desk, thing: Thing) -> Steps[list[Thing]]:
    """Things of the same kind whose names differ in one part, or which live in another cluster."""
    parts = words(thing.name)
    query = "-".join(parts[:2]) if len(parts) > 2 else thing.name
    answer = yield from desk.ask(
        "search_entities",
        f"I look for siblings of {thing.name}.",
        query=query,
        kinds=[thing.kind],
    )
    return [
        other
        for other in things(answer.rows)
        if other.id != thing.id and len(set(words(other.name)) & set(parts)) >= len(parts) - 1
    ]
