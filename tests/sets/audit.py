"""Is the answer in the prompt? What an alert, a tool or an answer of one may not give away.

Each function returns sentences about one incident; an empty list is a good one. The points of the
validity gate are called, not repeated.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.agent import prompt
from heldout.agent.investigation import investigate
from heldout.agent.prompt import READ_SKILL
from heldout.behaviour.closed_book import AlertOnly
from heldout.behaviour.naming import Naming
from heldout.brain import Brain
from heldout.build.validity import Subject
from heldout.build.validity.p05_oracle import check as reached
from heldout.build.validity.p06_alert import check as told_by_alert
from heldout.build.validity.p10_leaks import WORDS
from heldout.build.validity.p10_leaks import check as told_by_world
from heldout.build.validity.probes import hits
from heldout.build.worlds import make
from heldout.floors import FLOORS, points_at_cause
from heldout.floors import investigate as play
from heldout.gate.shingles import PHRASE, shingles
from heldout.graph import WorldInterface, write_world
from heldout.graph.session import WorldSession
from heldout.graph.tools.page import iso
from heldout.incident import Incident
from heldout.llm import open_client
from heldout.run.plan import Limits
from heldout.split import Case, read_split
from heldout.truth import Spec

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
LEAN = 600
"""Log lines of a remade world: what is audited does not hang on how many there are."""
_ASKED = re.compile(r"root.cause")
"""What the harness asks for, so its own texts may say it."""
PAGES = 12
"""Default pages within which the cause must stand among the changes of its entity."""
MODEL = "sim/anchored@low"


def known_sets() -> list[str]:
    """The frozen sets that this repository ships."""
    return sorted(path.parent.name for path in DATASETS.glob("*/split.toml"))


def incidents_of(name: str) -> list[str]:
    """Every incident of one of them."""
    split = read_split(DATASETS / name)
    return sorted((*split.train, *split.test))


def remade(spec: Spec, directory: Path, folder: Path) -> Subject:
    """The incident made again from its spec, with few log lines, its world below ``folder``."""
    made = make(replace(spec, knobs={**spec.knobs, "log_lines": LEAN}), directory)
    world = folder / spec.id
    write_world(made.tables, world)
    return Subject(spec, made, folder=world)


def alert_findings(subject: Subject) -> list[str]:
    """What the alert holds of the cause: words of its key, values, ids, people, the truth's words."""
    alert, truth = subject.made.alert, subject.truth
    found = list(told_by_alert(subject))
    found += [f"the alert holds '{one}' of the cause" for one in _cause_texts(subject)
              if re.search(rf"(?<![\w.]){re.escape(one)}(?!\.?\w)", alert)]  # fmt: skip
    said = shingles(alert, PHRASE)
    telling = (truth.mechanism, truth.trigger, truth.recommended_fix, *truth.chain)
    found += ["the alert shares five words with the truth" for text in telling
              if said & shingles(text, PHRASE)]  # fmt: skip
    found += [f"the alert says '{hit.group(0)}'" for hit in WORDS.finditer(alert)]
    return found


def _cause_texts(subject: Subject) -> list[str]:
    """Change ids, entity ids and telling values of the cause, as they are written."""
    truth, texts = subject.truth, []
    for row in subject.view.rows("change_diff"):
        if row["event_id"] == truth.culprit_change and row["field"] == truth.culprit_field:
            values = [json.loads(row[side]) for side in ("old_json", "new_json") if row[side]]
            texts += [str(one) for one in values if _telling(one)]
    ids = (truth.culprit_change, truth.culprit_entity, *truth.accepted_changes)
    return sorted({*texts, *ids, *truth.accepted_entities} - {"", "none"})


def _telling(value: object) -> bool:
    """True for values that nobody writes by chance: long words, numbers above a hundred."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return abs(value) > 100
    return isinstance(value, str) and len(value) > 4


def world_findings(subject: Subject) -> list[str]:
    """What texts, ids, file names and errors of the world give away of how it was made."""
    spec, view = subject.spec, subject.view
    found = list(told_by_world(subject))
    ids = [*view.kind, *(row["id"] for row in view.rows("change_event"))]
    ids += [row["external_id"] for row in view.rows("entity")]
    own = spec.id.rpartition("-")[2]
    found += [f"an id holds the incident's: {one}" for one in ids if len(own) > 5 and own in one]
    found += [f"an id says '{hit.group(0)}'" for one in ids if (hit := WORDS.search(one))]
    return found[:8]


def harness_texts() -> dict[str, str]:
    """Everything that tools and harness say of themselves, by where it stands."""
    texts = {f"tool {one.name}": json.dumps(one.wire()) for one in WorldInterface().tool_specs()}
    texts["read_skill"] = json.dumps(READ_SKILL.wire())
    said = {name: one for name, one in vars(prompt).items() if name.isupper()}
    texts.update({name: one for name, one in said.items() if isinstance(one, str)})
    return texts


def error_texts(subject: Subject) -> dict[str, str]:
    """What every tool answers to wrong ids, wrong arguments and none."""
    given: list[Mapping[str, Any]] = [{}, {"nonsense": 1}]
    given += [dict.fromkeys(("id", "entity", "src", "dst"), "e-00000000")]
    given += [{"id": "c-00000000"}, {"query": "nothing like it"}, {"cursor": "0-00000000"}]
    texts = {}
    with opened(subject) as session:
        for spec in WorldInterface().tool_specs():
            required = spec.parameters["required"]
            for number, args in enumerate(given):
                window = {"since": iso(subject.plot.start), "until": iso(subject.plot.now)}
                more = {name: window[name] for name in required if name in window}
                texts[f"{spec.name} {number}"] = session.call(spec.name, {**more, **args}).text
    return texts


def told(texts: Mapping[str, str], *secrets: str) -> list[str]:
    """Which of the texts say a word of the generator, or one of the secrets."""
    found = []
    for where, text in texts.items():
        hit = WORDS.search(_ASKED.sub("", text))
        if hit:
            found.append(f"{where} says '{hit.group(0)}'")
        found += [f"{where} says '{one}'" for one in secrets if one and one in text]
    return found


@contextmanager
def opened(subject: Subject) -> Iterator[WorldSession]:
    """A session on the incident's world."""
    session = WorldSession(subject.world)
    try:
        yield session
    finally:
        session.close()


def reach_findings(subject: Subject) -> list[str]:
    """The cause can be walked to, and default pages neither hide it nor hand it out."""
    found = list(reached(subject))
    truth = subject.truth
    if not truth.culprit_change or subject.spec.kind == "unanswerable":
        return found
    plot = subject.plot
    # Where something was placed to mislead; in easy incidents the cause may well be the newest.
    hard = subject.spec.kind == "trap" and len(subject.spec.traps) > 1
    with opened(subject) as session:
        everywhere = {"since": iso(plot.start), "until": iso(plot.now)}
        first = _listed(session, everywhere)
        if hard and truth.culprit_change in [row["id"] for row in first["rows"]]:
            found.append("the first page of one generic search holds the cause")
        if not first["truncated"] or first["cursor"] is None:
            found.append("a default page does not say that there is more")
        own = {**everywhere, "entity_ids": [truth.culprit_entity]}
        if not _paged(session, own, truth.culprit_change):
            found.append(f"{PAGES} default pages of its entity's changes do not hold the cause")
        day = {**own, "since": iso(plot.now - 3_600_000_000)}
        if hard and not _listed(session, day)["outside_window"]:
            found.append("a short window does not count what stands outside of it")
    return found


def _listed(session: WorldSession, args: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(session.call("list_changes", args).text)
    assert "error" not in answer, answer
    return answer


def _paged(session: WorldSession, args: Mapping[str, Any], wanted: str) -> bool:
    more: dict[str, Any] = {}
    for _ in range(PAGES):
        page = _listed(session, {**args, **more})
        if any(row["id"] == wanted for row in page["rows"]):
            return True
        if page["cursor"] is None:
            return False
        more = {"cursor": page["cursor"]}
    return False


@dataclass(frozen=True)
class Tried:
    """One incident tried without thinking: by each rule, and by a model with the alert alone.

    ``lone`` says that its entity's changes are the cause and nothing else.
    """

    kind: str
    right: Mapping[str, bool]
    closed_book: bool
    lone: bool


ONE_CALL = ("one search, first row", "newest change")
"""The rules that call one tool once and take its first row."""


def tried(subject: Subject, brain: Brain, folder: Path) -> Tried:
    """Every rule without a model, and the simulated model with the alert alone.

    ``folder`` is where the incident's world is written.
    """
    truth, alert = subject.truth, subject.made.alert
    right = dict(hits(subject))
    for name, rule in FLOORS.items():
        with opened(subject) as session:
            right[name] = points_at_cause(play(rule, alert, session), truth)
    with opened(subject) as session:
        window = {"since": iso(subject.plot.start), "until": iso(subject.plot.now)}
        own = {**window, "entity_ids": [truth.culprit_entity]} if truth.culprit_change else {}
        lone = bool(own) and len(_listed(session, own)["rows"]) == 1
    named = asyncio.run(_names_the_cause(subject, alert, brain, folder))
    return Tried(subject.spec.kind, right, named, lone)


async def _names_the_cause(subject: Subject, alert: str, brain: Brain, world: Path) -> bool:
    spec = subject.spec
    incident = Incident(spec.id, "audit", alert, world, spec.world_digest)
    case = Case(
        incident, "train", spec.kind, spec.domain, spec.family, spec.traps, spec.group, spec.origin,
        world, spec.truth_digest,
    )  # fmt: skip
    client = open_client(MODEL)
    try:
        trace = await investigate(
            incident, brain, client, AlertOnly(WorldInterface()),
            model=MODEL, limits=Limits(max_steps=2), seed=spec.seed,
        )  # fmt: skip
    finally:
        await client.aclose()
    return Naming([case])(trace.submission, subject.truth).result == "pass"


def most(share: float, count: int) -> int:
    """How many of ``count`` may be right by chance; one always may."""
    return max(1, int(share * count))


Check = Callable[[Subject], list[str]]
CHECKS: Mapping[str, Check] = {
    "alert": alert_findings, "world": world_findings, "reach": reach_findings,
}  # fmt: skip


def audited(subject: Subject) -> list[str]:
    """Everything that is wrong with one incident."""
    found = [f"{name}: {one}" for name, check in CHECKS.items() for one in check(subject)]
    secrets = (subject.spec.id, subject.spec.canary)
    return found + [f"errors: {one}" for one in told(error_texts(subject), *secrets)]
