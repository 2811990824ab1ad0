"""The rivals of a tuned brain: what each is made from, what it shows, and when there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heldout.brain import Brain
from heldout.errors import SplitViolation, UsageError
from heldout.gate.report import Finding, GateReport
from heldout.interface import ToolAnswer
from heldout.llm import ModelReply, ModelRequest
from heldout.score import ScoreRequest
from heldout.score.arms import ARMS, Brains, Supplies, line_up
from heldout.score.arms.evidence import MOST, findings
from heldout.score.arms.memory import recollection, solved
from heldout.settings import AgentSettings
from heldout.split import Case
from heldout.store import remember_brain
from heldout.truth import Decoy, read_truth, write_truth

PASSED = GateReport(True, (), 2, "7", "inv", "voc", "chk", 0.1)
FINDING = Finding("incident-value", "reject", "checklist.md", 1, 1, 9, "41 s")


@dataclass
class Books:
    """Worlds whose answers name the call; changes have a diff."""

    name: str = "books"
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    long: int = 0

    def tool_specs(self) -> tuple[Any, ...]:
        """None: these are no tools of an agent."""
        return ()

    def open(self, task_ref: str, seed: int) -> Books:
        """One world is as good as another."""
        return self

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """One answer."""
        self.calls.append((tool, dict(args)))
        rows: list[dict[str, Any]] = [{"id": "e-seen", "pad": "x" * self.long}]
        if tool == "search_entities":
            rows = [{"id": "e-victim", "kind": "Service", "name": args["query"]}]
        if tool == "list_changes":
            rows = [{"id": f"c-near-{n}"} for n in range(9)]
        if tool == "get_change":
            diff = {"entity": "e-good", "field": "limit", "old": 5, "new": 1}
            rows = [{"id": args["id"], "ts": "2026-02-23T12:00:00Z", "type": "config",
                     "summary": "Update it", "diffs": [diff]}]  # fmt: skip
        return ToolAnswer(json.dumps({"rows": rows}))

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class Gate:
    """Finds something in every brain, or nothing."""

    finds: bool = False
    asked: list[Brain] = field(default_factory=list)

    def check(self, before: Brain, after: Brain) -> GateReport:
        """One answer; only a checklist is refused."""
        self.asked.append(after)
        if self.finds and "checklist.md" in after.files:
            return replace(PASSED, passed=False, findings=(FINDING,))
        return PASSED


def train_case(new_case: Any, root: Path, name: str, words: str) -> Case:
    """A solved incident of the train half, with an alert of its own words."""
    case: Case = new_case(root, name, "trap")
    alert = f"# Rule\nFired at 2026-03-04T12:00:00Z\nService: {name}\n{words}"
    return replace(case, side="train", incident=replace(case.incident, alert=alert))


def supplies(bench: Any, brains: tuple[Brain, Brain], **more: Any) -> Supplies:
    """What arms are made from, in a small project."""
    given: dict[str, Any] = {"worlds": Books(), "train": lambda: (), "gate": None}
    request = bench.request(**{k: v for k, v in more.items() if k not in given})
    given |= {k: v for k, v in more.items() if k in given}
    return Supplies(
        settings=bench.settings, request=request, brains=Brains(*brains),
        cases=bench.cases, ledger=bench.ledger, **given,
    )  # fmt: skip


# Case memory


def test_memory_remembers_the_nearest_alerts_of_train(bench: Any, new_case: Any):
    """By the words of the alert, as many as asked for, with cause, age, field and mending."""
    root = bench.settings.root
    past = [
        train_case(new_case, root, "one", "the certificate of the mesh expired"),
        train_case(new_case, root, "two", "disk of the database is full"),
        train_case(new_case, root, "three", "mesh handshakes fail, certificate unknown"),
    ]
    found = solved(past, Books())
    page = recollection("certificate trouble in the mesh", found, 2)
    assert page.count("## Record") == 2
    assert "disk of the database" not in page
    assert "What it was: the limit was lowered" in page
    assert "config 'Update it' (limit from 5 to 1), 9 days before the alert" in page
    assert page == recollection("certificate trouble in the mesh", found[::-1], 2)


def test_memory_never_takes_from_the_held_out_half(bench: Any):
    """A held-out incident among the remembered ones is refused, not quietly used."""
    with pytest.raises(SplitViolation, match="held-out"):
        solved(bench.cases[:1], Books())


def test_memory_leaves_out_what_has_no_answer(bench: Any, new_case: Any, brains: Any):
    """Unanswerable incidents are no records, and without a record there is no arm."""
    case = replace(train_case(new_case, bench.settings.root, "one", "a b"), kind="unanswerable")
    assert solved([case], Books()) == []
    with pytest.raises(UsageError, match="no solved incident"):
        ARMS["memory"].make(supplies(bench, brains, train=lambda: [case]))


@dataclass
class Readers:
    """Keeps what each first request showed."""

    actor: Any
    seen: list[tuple[str, str, list[str]]] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """As the actor does."""
        system, user = (str(one["content"]) for one in request.messages[:2])
        self.seen.append((system, user, [tool["function"]["name"] for tool in request.tools]))
        reply: ModelReply = await self.actor.complete(request)
        return reply

    async def aclose(self) -> None:
        """Nothing is held."""


def test_memory_and_evidence_are_played_beside_the_paired_arms(
    bench: Any, make_actor: Any, new_case: Any
):
    """Same seeds, one run: memory after the brain with all tools, evidence without any."""
    train = [train_case(new_case, bench.settings.root, "one", "a certificate expired")]
    reader = Readers(make_actor(lambda *_: True))
    done = bench.score(reader, arms=("memory", "evidence"), nearest=1, given={"train": train})
    remembering = [one for one in reader.seen if "## Record 1" in one[0]]
    shown = [one for one in reader.seen if "# What an investigation showed" in one[1]]
    assert len(remembering) == len(shown) == len(bench.cases)
    assert {len(tools) for _, _, tools in remembering} == {2}
    assert {tuple(tools) for _, _, tools in shown} == {("submit_diagnosis",)}
    assert all("## Record" not in system for system, _, _ in shown)
    assert len(done.runs) == 1
    assert set(done.arms) == {"memory", "evidence"}
    assert done.endpoint["arms"]["memory"] == done.before_hash
    further = done.endpoint["further"]
    assert further["memory"]["facts"]
    assert further["evidence"]["facts"]
    assert further["memory"]["shown"] != further["evidence"]["shown"]
    assert done.endpoint["primary"].endswith("after against before")
    assert (done.traps.before.name, done.traps.after.name) == ("before", "after")


def test_a_killed_score_with_additions_is_gone_on_with(bench: Any, make_actor: Any, new_case: Any):
    """The same arms give the same endpoint, so a resumed score asks only what was left."""
    from heldout.errors import ProviderRefused, ProviderUnavailable
    from heldout.store import queries

    train = [train_case(new_case, bench.settings.root, "one", "a certificate expired")]
    wanted: dict[str, Any] = {"arms": ("memory",), "nearest": 1, "given": {"train": train}}
    broken = make_actor(lambda *_: True, fail=lambda incident, hinted: ProviderRefused("401"))
    with pytest.raises(ProviderUnavailable, match="refused"):
        bench.score(broken, **wanted)
    name = queries.scores(bench.ledger)[0].score
    done = bench.score(make_actor(lambda *_: True), **wanted, resume=name)
    assert done.score == name
    assert done.sides["memory"].coverage == 1
    other = train_case(new_case, bench.settings.root, "two", "another one")
    with pytest.raises(UsageError):
        bench.score(broken, **(wanted | {"given": {"train": [*train, other]}}), resume=name)


# All evidence at once


def with_decoys(case: Case) -> Case:
    """The case with two decoys and an affected entity in its truth."""
    truth = replace(
        read_truth(case.truth_file),
        decoys=(Decoy("c-aaa", "e-decoy", "no"), Decoy("c-zzz", "e-other", "no")),
        affected=("e-hit",),
    )
    return replace(case, truth_digest=write_truth(truth, case.truth_file))


def test_evidence_shows_cause_decoys_and_bystanders_alike(bench: Any):
    """Every suspect change in full, in the order of ids, so that the order names no cause."""
    books = Books()
    text = findings(with_decoys(bench.cases[0]), books)
    full = [args["id"] for tool, args in books.calls if tool == "get_change"]
    assert {"c-old", "c-aaa", "c-zzz", "c-near-0"} <= set(full)
    assert full == sorted(full)
    assert len(full) == 3 + 6
    logs = {args["entity"] for tool, args in books.calls if tool == "log_patterns"}
    assert {"e-victim", "e-good", "e-decoy", "e-hit"} <= logs
    assert text.count("## get_change") == len(full)
    assert "the limit was lowered" not in text
    assert "canary" not in text


def test_evidence_that_is_too_long_loses_the_least_first(bench: Any):
    """Suspect changes stay; surroundings go; the whole is never above its limit."""
    text = findings(with_decoys(bench.cases[0]), Books(long=20_000))
    assert len(text) < MOST + 1_000
    assert text.count("## get_change") == 9
    assert text.count("## log_patterns") < 5


def test_evidence_needs_a_model_that_reads_it(bench: Any, brains: Any):
    """A simulated model or a program of one's own has no such arm; nobody is shown a zero."""
    with pytest.raises(UsageError, match="simulated"):
        ARMS["evidence"].make(supplies(bench, brains, model="sim/anchored@low"))
    own = replace(bench.settings, agent=AgentSettings(command="true"))
    with pytest.raises(UsageError, match="program"):
        ARMS["evidence"].make(replace(supplies(bench, brains), settings=own))


# A person's checklist


def test_a_checklist_with_facts_is_played_and_told_apart(bench: Any, make_actor: Any, brains: Any):
    """What a person wrote is no reason to refuse a score, and no row among the clean ones."""
    for finds in (True, False):
        gate = Gate(finds=finds)
        actor = make_actor(lambda incident, hinted, seed: hinted)
        done = bench.score(
            actor, arms=("checklist",), checklist="- The answer is 41 s.\n", given={"gate": gate}
        )
        said = done.endpoint["further"]["checklist"]
        assert said["facts"] is finds
        assert ("1 finding(s) against it (incident-value)" in said["remark"]) is finds
        assert done.clearance is not None
        assert "checklist.md" in gate.asked[-1].files
        assert done.endpoint["arms"]["checklist"] not in {done.before_hash, done.after_hash}


def test_a_checklist_is_part_of_the_endpoint(bench: Any, brains: Any):
    """Another word is another arm, by hash."""
    made = [
        ARMS["checklist"].make(supplies(bench, brains, checklist=text)).arm.plain()
        for text in ("- Look twice.", "- Look once.")
    ]
    assert made[0]["brain"] != made[1]["brain"]
    with pytest.raises(UsageError, match="no checklist"):
        ARMS["checklist"].make(supplies(bench, brains))


def test_a_checklist_that_cannot_be_read_is_said_before_anything_is_built(
    bench: Any, tmp_path: Path
):
    """A missing file, a folder and bytes that are no text are usage errors without a traceback."""
    from heldout.pipeline import Scoring, score_now

    odd = tmp_path / "odd.md"
    odd.write_bytes(b"\xff\xfe\xfa")
    told: list[str] = []
    for path in (tmp_path / "none.md", tmp_path, odd):
        with pytest.raises(UsageError, match="cannot be read") as caught:
            score_now(bench.settings, Scoring(checklist=path), told.append)
        assert caught.value.exit_code == 2
    assert told == []


# The brain of a blind job


def job(bench: Any, name: str, strategy: str, before: Brain, after: Brain | None, **more: Any):
    """A tuning job in the ledger, as one leaves it."""
    options = {"job": name, "strategy": strategy, "seed": 1, "max_rounds": 8, **more}
    row = {
        "job": name, "kind": "tune", "model": "openai/actor@low", "set": "small",
        "before_hash": before.hash,
    }  # fmt: skip
    bench.ledger.append(
        "jobs",
        [row | {"status": "started", "detail_json": {"options": options}},
         row | {"status": "budget", "detail_json": {"reason": "rounds"}}],
    )  # fmt: skip
    if after is not None:
        remember_brain(bench.ledger, after)
        bench.ledger.append(
            "proposals",
            [{"proposal": f"p-{name}", "job": name, "model": "openai/actor@low", "set": "small",
              "before_hash": before.hash, "after_hash": after.hash, "diff": "", "diff_hash": "d",
              "edits_json": [], "evidence_json": {}}],
        )  # fmt: skip
    bench.ledger.flush()


@pytest.fixture
def blind_brain(brains: tuple[Brain, Brain]) -> Brain:
    """What a blind job came to."""
    return brains[0].with_file("method.md", "# Method\n\n- Be careful.\n")


def test_blind_is_the_brain_of_a_blind_job_of_the_same_budget(
    bench: Any, brains: Any, blind_brain: Brain
):
    """Found by itself, whatever its seed; the remark names both jobs."""
    job(bench, "t1", "reflect", *brains)
    job(bench, "b1", "blind", brains[0], blind_brain, seed=7)
    made = ARMS["blind"].make(supplies(bench, brains))
    assert made.arm.brain == blind_brain
    assert "job b1" in made.remark
    assert "job t1" in made.remark
    named = supplies(bench, brains, blind=blind_brain.hash[:12])
    assert ARMS["blind"].make(named).arm.brain == blind_brain


def test_blind_is_never_made_up(bench: Any, brains: Any, blind_brain: Brain):
    """No tuned job, no blind job, another budget, another base, a brain that no blind job made."""
    make = ARMS["blind"].make
    with pytest.raises(UsageError, match="no tuning job"):
        make(supplies(bench, brains))
    job(bench, "t1", "reflect", *brains)
    with pytest.raises(UsageError, match="no blind tuning job"):
        make(supplies(bench, brains))
    job(bench, "b1", "blind", brains[0], blind_brain, max_rounds=2)
    with pytest.raises(UsageError, match="differs in max_rounds"):
        make(supplies(bench, brains))
    job(bench, "b2", "blind", brains[1], blind_brain)
    with pytest.raises(UsageError, match="no blind tuning job"):
        make(supplies(bench, brains))
    job(bench, "b3", "blind", brains[0], blind_brain)
    with pytest.raises(UsageError, match="is no brain of a blind"):
        make(supplies(bench, brains, blind=brains[1].hash))
    assert make(supplies(bench, brains)).arm.brain == blind_brain


def test_a_blind_job_that_kept_nothing_is_said(bench: Any, brains: Any):
    """Its brain is the one before, and the row says so."""
    job(bench, "t1", "reflect", *brains)
    job(bench, "b1", "blind", brains[0], None)
    made = ARMS["blind"].make(supplies(bench, brains))
    assert made.arm.brain == brains[0]
    assert "kept no edit" in made.remark


# Which arms are played


def test_every_possible_arm_is_played_and_the_rest_said(bench: Any, make_actor: Any):
    """``all`` leaves out what cannot be made, with why; a named one that cannot be is refused."""
    from heldout.score import wished

    asked = wished(["all"])
    assert asked["arms"] == tuple(ARMS)
    done = bench.score(make_actor(lambda *_: True), **asked)
    assert set(done.arms) == {"noop", "placebo", "format", "evidence"}
    assert set(done.endpoint["left_out"]) == {"blind", "checklist", "memory"}
    with pytest.raises(UsageError, match="no checklist"):
        bench.score(make_actor(lambda *_: True), arms=("checklist",))


def test_what_is_given_for_an_arm_asks_for_it():
    """A checklist or a blind brain needs no second word."""
    from heldout.score import wished

    asked = wished(["noop"], blind="abc", checklist="- Look.")
    assert asked["arms"] == ("noop", "blind", "checklist")
    assert not asked["where_possible"]
    request = ScoreRequest.model_validate({"model": "m/m", "before": "b", "after": "a", **asked})
    assert ScoreRequest.model_validate_json(request.model_dump_json()) == request


def test_arms_stand_in_one_order_whatever_was_asked_first(bench: Any, brains: Any):
    """The order of the table is fixed, so tables can be laid beside each other."""
    both = supplies(bench, brains, arms=("format", "noop"))
    assert [one.arm.name for one in line_up(both, ARMS).made] == ["noop", "format"]
