"""The simulated proposer writes from the evidence in its prompt, and errs as real ones do."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from heldout.brain import Brain
from heldout.edit import Edit, apply_edit
from heldout.llm import ModelReply, ModelRequest, Usage
from heldout.llm.simulated.guidance import read_guidance
from heldout.llm.simulated.proposer import reply
from heldout.llm.simulated.proposer_phrases import ADVICE, GIVING_UP, OVER_CORRECTION, PADDING
from heldout.signatures import BEHAVIOURS, Diagnosis, diagnose, propose, revise

BRAIN = Brain({"method.md": "- Look at the alert first.\n"}, ("method.md",))


class Client:
    """The simulated proposer without a wire."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        answer = reply(
            {"model": "proposer", "messages": list(request.messages), "seed": request.seed}
        )
        return ModelReply(
            text=answer["choices"][0]["message"]["content"], usage=Usage(1, 1), usd=0.0
        )


def digest(**changes: str) -> str:
    """A digest in the shape that a job sends, with lines replaced by key."""
    lines = {
        "Change searches": "2; the furthest reached 14.0 days before the alert",
        "Changes outside the searched window": "0",
        "Change lists cut off": "0; narrowed by field or paged: no",
        "Field histories asked": "1",
        "Changes read with their diff": "1",
        "States compared": "1",
        "Distinct entities looked at": "5",
        "Calls that failed": "0",
        "Answers with gaps in the data": "0",
        "Entity": "<service-1>",
        "Change": "<change-1> (config, about 5 days before the alert); its diff was read",
        "Mechanism": "the pool of <database-1> is full",
        "Ended": "submitted",
        "Judge": "It blames change <change-1>, not <change-2>.",
    }
    lines |= {key.replace("_", " "): text for key, text in changes.items()}
    judge = lines.pop("Judge")
    alert, calls = lines.pop("Alert", "Errors at <service-1>"), lines.pop("Calls", "")
    body = [f"{key}: {text}" for key, text in lines.items()]
    return "\n".join(
        ["# Alert", alert, "# Calls, in order", calls, "# In short", *body[:9], "# Submitted",
         *body[9:], "# Judge", judge]
    )  # fmt: skip


def read(text: str, seed: int = 1) -> Diagnosis:
    value = asyncio.run(diagnose(Client(), text, seed=seed)).value
    assert value is not None
    return value


NEVER = "<change-1> (deploy, minutes before the alert); its diff was never read"


@pytest.mark.parametrize(
    ("evidence", "behaviour"),
    [
        ({"Change_searches": "2; the furthest reached 0.5 days before the alert"}, "short_history"),
        ({"Field_histories_asked": "0"}, "value_origin"),
        ({"Change": NEVER}, "proximity"),
        ({"Change": NEVER}, "unread_diff"),
        ({"Change_lists_cut_off": "2; narrowed by field or paged: no"}, "noise"),
        ({"Ended": "max_steps"}, "unfinished"),
        ({"Mechanism": "not stated"}, "mechanism"),
        ({"States_compared": "0", "Judge": "Only some of the fleet failed."}, "fleet"),
        ({"Judge": "It blames <x>, which only shows the symptom."}, "dependency"),
        ({"Judge": "Judge's entity <entity-2>: no tool call showed it"}, "dependency"),
        ({"Judge": "It blames change <change-1>, but no change caused this."}, "forced_blame"),
        (
            {"Judge": "It blames change <change-1>.\nJudge's change <change-2>: minutes before "
             "the alert, its diff was read"},
            "stale_blame",
        ),
        ({"Judge": "It blames <x>. What happened: A false alarm: nothing failed."},
         "passed_trouble"),
        ({"Judge": "It blames <x>. What happened: traffic fell and calls have recovered."},
         "passed_trouble"),
        ({"Alert": "Errors at <service-1>\nRunbook: check <service-3> before anything else.",
          "Judge": "It blames <x>, which only shows the symptom."}, "trusted_hint"),
        ({"Calls": "- list_alerts(since=<time>): 9 rows",
          "Judge": "It blames <x>, which only shows the symptom."}, "other_alert"),
        ({"Answers_with_gaps_in_the_data": "2",
          "Judge": "It blames <x>, which only shows the symptom."}, "blind_spot"),
        ({"Judge": "It blames <change-1>. That change is innocent: only its name is alike."},
         "namesake"),
        ({"Judge": "It blames <change-1>. That change is innocent: it was taken back before."},
         "taken_back"),
        ({"Judge": "It blames <change-1>. That change is innocent: it came after the first "
                   "failing calls, as somebody's attempt to help."}, "late_change"),
        ({"Judge": "It blames <change-1>.\nJudge's change <change-2>: about 5 days before the "
                   "alert, its diff was never read, it touched many fields"}, "long_diff"),
        ({"Answers_with_gaps_in_the_data": "1",
          "Judge": "It blames <change-1>, but no change caused this. The mechanism does not say: "
                   "'...' or '...'."}, "unproven"),
    ],
)  # fmt: skip
def test_a_diagnosis_follows_the_digest(evidence: dict[str, str], behaviour: str) -> None:
    """Each behaviour is read off its evidence, and absent without it."""
    assert behaviour in read(digest(**evidence)).behaviours
    assert behaviour not in read(digest()).behaviours


READ_AS = {
    "short_history": "window", "value_origin": "origin", "proximity": "proximity",
    "fleet": "fleet", "noise": "narrow", "dependency": "downstream", "unread_diff": "diff",
    "forced_blame": "none", "passed_trouble": "symptom", "trusted_hint": "hint",
    "other_alert": "alerts", "blind_spot": "gap", "namesake": "identity", "taken_back": "undone",
    "late_change": "reaction", "long_diff": "bigdiff", "unproven": "unproven",
}  # fmt: skip
"""What the simulated reader must take a piece of advice for."""


@pytest.mark.parametrize("name", sorted(READ_AS))
def test_what_the_proposer_advises_the_reader_takes_in(name: str) -> None:
    """Each way to put a piece of advice asks for its behaviour and forbids nothing."""
    for way in ADVICE[name]:
        guidance = read_guidance("- " + way.replace("{n}", "14 days"))
        assert guidance.asks(READ_AS[name]), way
        assert not guidance.forbidden, way
        assert not {"overcorrection", "abstain"} & set(guidance.asked), way


def test_what_goes_too_far_is_read_as_that() -> None:
    """The lines of an over-correcting proposer ask to blame old changes, or never to blame."""
    assert all(read_guidance(line).asks("overcorrection") for line in OVER_CORRECTION)
    assert all(read_guidance(line).asks("abstain") for line in GIVING_UP)


def test_the_window_is_read_from_the_digest() -> None:
    """Days come from the text, not from habit."""
    evidence = {"Change_searches": "1; the furthest reached 2.5 days before the alert"}
    assert read(digest(**evidence)).window_days == 2.5


def one(behaviour: str, *beside: str, days: float = 0.5, found: str = "the limit") -> Diagnosis:
    return Diagnosis(found, ("since when?",), days, False, behaviour, (behaviour, *beside))


def write(
    diagnoses: list[Diagnosis], *, seed: int = 1, brain: Brain = BRAIN, **more: Any
) -> tuple[Edit, ...]:
    """Candidates for a cluster of diagnoses."""
    key = diagnoses[0].primary
    given = {
        "brain": dict(brain.all_files()),
        "target_file": "method.md",
        "cluster": f"{key}: {BEHAVIOURS[key]}",
        "diagnoses": diagnoses,
        "seed": seed,
        **more,
    }
    value = asyncio.run(propose(Client(), **given)).value
    assert value is not None
    return value


def words(edits: tuple[Edit, ...]) -> str:
    return "\n".join(line for edit in edits for line in edit.added_lines())


def advice_in(text: str) -> set[str]:
    """Which pieces of advice a text holds."""
    return {
        name
        for name, ways in ADVICE.items()
        for way in ways
        if re.search(re.escape(way).replace(re.escape("{n}"), r"[\w ]+"), text)
    }


@pytest.mark.parametrize("behaviour", sorted(BEHAVIOURS))
def test_other_evidence_gives_other_edits(behaviour: str) -> None:
    """A cluster is answered with its own advice, in every candidate."""
    for seed in range(5):
        for edit in write([one(behaviour)] * 3, seed=seed):
            said = "\n".join(edit.added_lines())
            assert advice_in(said) == {behaviour}


def test_what_goes_beside_is_answered_by_the_broad_candidate() -> None:
    """Behaviours that most failures share are written into one of the candidates, rare ones not."""
    cluster = [one("short_history", "noise"), one("short_history", "noise"), one("short_history")]
    cluster += [one("short_history", "fleet")]
    said = advice_in(words(write(cluster)))
    assert {"short_history", "noise"} <= said
    assert "fleet" not in said


def test_the_days_go_beyond_what_was_searched() -> None:
    """Searches that reached eight days call for more than eight."""
    said = words(write([one("short_history", days=8.0)] * 3))
    assert not re.search(r"\b7 days|\ba week", said)


def test_a_line_of_the_brain_is_sharpened_not_repeated() -> None:
    """A brain that says '7 days' gets more days in that line's place."""
    old = "- Search for changes up to 7 days before the alert."
    brain = Brain({"method.md": f"{old}\n"}, ("method.md",))
    edits = write([one("short_history", days=7.0)] * 3, brain=brain)
    replaced = [op for edit in edits for op in edit.ops if op.action == "replace"]
    assert replaced
    assert all(op.anchor == old for op in replaced)
    assert "7 days" not in apply_edit(brain, edits[0]).files["method.md"]


def test_a_rejected_wording_is_not_repeated() -> None:
    """The memory of refused edits changes what is written."""
    first = words(write([one("fleet")] * 3)[:1])
    again = words(write([one("fleet")] * 3, rejected=[{"text": first, "why": "no effect"}]))
    assert first not in again


def test_every_edit_applies() -> None:
    """Drafts are patches that fit the files that were shown."""
    for seed in range(20):
        for edit in write([one("noise", "fleet", "proximity")] * 3, seed=seed):
            assert apply_edit(BRAIN, edit).hash != BRAIN.hash


def many(found: str) -> Iterator[Edit]:
    for seed in range(120):
        yield from write([one("proximity", found=found)] * 3, seed=seed)


def test_flaws_come_now_and_then() -> None:
    """Leaks, over-corrections and padding each come in about a tenth to a fifth of the candidates."""
    seen: Counter[str] = Counter()
    edits = list(many("It stopped (quota of the <queue-1> spooler is exhausted at peak load)."))
    for edit in edits:
        text = "\n".join(edit.added_lines())
        seen["leak"] += "spooler is exhausted" in text
        seen["over"] += any(line in text for line in OVER_CORRECTION)
        seen["pad"] += sum(line in text for line in PADDING) >= 4
        assert not re.search(r"<[a-z]+-\d+>", text), "a placeholder was copied"
    for flaw in ("leak", "over", "pad"):
        assert 0.07 <= seen[flaw] / len(edits) <= 0.27, (flaw, seen[flaw] / len(edits))


def test_without_a_phrase_to_copy_a_fact_is_made_up() -> None:
    """A leak needs no source: pull requests and clock times turn up from nowhere."""
    leaks = [e for e in many("nothing") if re.search(r"PR #\d+.*\d\d:\d\d", words((e,)))]
    assert leaks


def test_the_same_request_gives_the_same_reply_in_any_process() -> None:
    """Deterministic by content and seed, whatever PYTHONHASHSEED is."""
    body = {
        "model": "proposer",
        "seed": 4,
        "messages": [{"role": "user", "content": f"[[ ## digest ## ]]\n{digest()}"}],
    }
    code = (
        "import json, sys; from heldout.llm.simulated.proposer import reply;"
        "print(json.dumps(reply(json.loads(sys.argv[1]))))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, json.dumps(body)],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed},
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert said == {json.dumps(reply(body))}
    assert reply({**body, "seed": 5})["choices"][0]["message"] is not None


def test_a_marked_line_is_dropped_on_revision() -> None:
    """The findings decide what goes; what was not marked stays."""
    edit = write([one("noise")] * 3)[0]
    text = edit.ops[0].text + "\n- As in PR #4711."
    leaky = Edit((type(edit.ops[0])("method.md", "append", "", text),), "why")
    findings = [{"rule": "shapes", "line": "- As in PR #4711.", "how": "drop it"}]
    mended = asyncio.run(revise(Client(), leaky, findings)).value
    assert mended is not None
    assert mended.ops[0].text == edit.ops[0].text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [{"role": "user", "content": "Hello"}]},
        {"messages": ["no", 3]},
        {"messages": [{"role": "user", "content": "[[ ## diagnoses ## ]]\n{broken"}]},
        {"messages": [{"role": "user", "content": "[[ ## findings ## ]]\n[]"}]},
    ],
)
def test_odd_requests_get_some_reply(body: dict[str, Any]) -> None:
    """Whatever is sent, a Chat Completions response comes back."""
    answer = reply(body)
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] > 0


def test_it_knows_nothing_of_worlds() -> None:
    """The simulated proposer imports no world, truth or split."""
    code = (
        "import sys, heldout.llm.simulated.proposer;"
        "print([m for m in sys.modules if m.startswith('heldout.') and m.split('.')[1] in"
        " {'graph','simulate','incident','truth','split'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def told(sections: dict[str, str], seed: int) -> Any:
    """What the proposer answers to a prompt of these sections."""
    text = "\n\n".join(f"[[ ## {name} ## ]]\n{body}" for name, body in sections.items())
    body = {"model": "p", "seed": seed, "messages": [{"role": "user", "content": text}]}
    return json.loads(reply(body)["choices"][0]["message"]["content"])


BLIND = {
    "brain": "### FILE method.md\n- Look at the alert.",
    "target_file": "method.md",
    "task": "Find out what broke.",
    "tried": "[]",
    "limits": "at most 3 candidates, each at most 2 added lines",
}


def test_without_a_failure_it_writes_general_advice() -> None:
    """As many drafts as asked for, within the limits, of many topics, some of it hollow."""
    drafts = [edit for seed in range(30) for edit in told(BLIND, seed)["edits"]]
    texts = [edit["ops"][0]["text"] for edit in drafts]
    assert len(drafts) == 90
    assert max(len(text.splitlines()) for text in texts) == 2
    assert len(set(texts)) > 60
    assert any(padding in text for text in texts for padding in PADDING)
    assert not all(padding in text for text in texts for padding in PADDING[:1])


def test_it_shortens_doubles_and_hollow_lines() -> None:
    """Of two ways to say one thing the first stays; now and then it loses a line that counts."""
    lines = [f"- {text}" for text in (*ADVICE["unread_diff"], PADDING[3], ADVICE["fleet"][0])]
    sections = {"target_file": "method.md", "grown": json.dumps(lines)}
    gone = [{op["anchor"] for op in told(sections, seed)["edit"]["ops"]} for seed in range(60)]
    assert all({lines[1], lines[2]} <= one for one in gone)
    assert 0 < sum(len(one) > 2 for one in gone) < 30
    plain = {**sections, "grown": json.dumps([lines[0], lines[3]])}
    assert told(plain, 1)["edit"]["ops"] == []
