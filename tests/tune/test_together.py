"""One edit for several clusters of failures: what it answers, and what it saves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.tune.test_job import GOOD, NEAR, OPTIONS, OVERLAY, go, line

from heldout.edit import Edit, Op
from heldout.propose import Cluster, Failure, companions, merged
from heldout.signatures import Diagnosis
from heldout.store.queries import edit_events, proposals
from heldout.tune.together import joined

LEAK = "- For example, restart it."


def narrow(parts: Any, other: str = NEAR) -> Any:
    """A proposer that answers each cluster with one line: the history with GOOD, the rest else."""

    class Narrow(parts.proposer):  # type: ignore[misc, name-defined]
        async def complete(self, request: Any) -> Any:
            answer = await super().complete(request)
            text = self.bodies[-1]["messages"][-1]["content"]
            if "[[ ## cluster ## ]]" not in text:
                return answer
            key = text.split("[[ ## cluster ## ]]\n")[1].partition(":")[0]
            written = GOOD if key == "short_history" else other
            return replace(answer, text=json.dumps({"edits": [line(written)]}))

    return Narrow()


def played(runs: Any) -> int:
    """Investigations until train was saturated."""
    return sum(
        len(plan.cases) * plan.repeats * len(plan.arms)
        for plan in runs.plans
        if plan.purpose in {"train", "screen"}
    )


def test_one_edit_answers_several_clusters_and_pays_for_its_tests_once(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both lines are accepted in one round, with fewer investigations than one after the other."""
    spent = {}
    for clusters in (1, 3):
        runs, gate = parts.runs(project.needs), parts.gate()
        options = replace(OPTIONS, job=f"tune-{clusters}", clusters=clusters, recall=False)
        done = go(project, parts, monkeypatch, runs=runs, gate=gate, proposer=narrow(parts),
                  options=options)  # fmt: skip
        assert (done.status, done.train) == ("saturated", (12, 12))
        assert GOOD in done.after.extra[OVERLAY]
        assert NEAR in done.after.extra[OVERLAY]
        spent[clusters] = (done.rounds, len(done.accepted), played(runs))
    assert (spent[1][:2], spent[3][:2]) == ((2, 2), (1, 1))
    assert spent[3][2] < spent[1][2]
    with project.ledger() as ledger:
        (row,) = proposals(ledger, job="tune-3")
    assert len(row.edits[0]["edit"]["ops"]) == 2
    assert row.edits[0]["target"]["fixed_incidents"] > 5


def test_a_cluster_whose_draft_leaks_is_left_for_a_later_round(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the gate refuses is not in the edit; the rest of the round goes on as any other."""
    options = replace(OPTIONS, clusters=3, gate_tries=1, max_rounds=1)
    done = go(project, parts, monkeypatch, proposer=narrow(parts, f"{NEAR}\n{LEAK}"),
              options=options)  # fmt: skip
    (one,) = done.accepted
    assert one.edit.added_lines() == (GOOD,)
    assert done.rejected["gate"] >= 1


def test_a_part_that_harms_takes_the_whole_down_and_the_round_keeps_the_rest(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The candidate for the first cluster stands beside the whole, and is what is left."""
    runs = parts.runs(project.needs, breaks="is not proof")
    options = replace(OPTIONS, clusters=3, max_rounds=1)
    done = go(project, parts, monkeypatch, runs=runs, proposer=narrow(parts), options=options)
    assert [one.edit.added_lines() for one in done.accepted] == [(GOOD,)]
    with project.ledger() as ledger:
        fell = [e.detail for e in edit_events(ledger) if e.event == "rejected"]
    assert [one["by"] for one in fell] == ["screen"]
    assert "broke passing incidents" in fell[0]["reason"]


@pytest.mark.parametrize("kill", [2, 4])
def test_a_killed_round_is_the_same_when_resumed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, kill: int
) -> None:
    """Drafts on top of drafts are stored steps too."""
    options = replace(OPTIONS, clusters=3)
    whole = go(project, parts, monkeypatch, proposer=narrow(parts), options=options)
    with project.ledger() as ledger:
        wanted = [(e.edit, e.event, e.detail) for e in edit_events(ledger)]
    project.settings.ledger.unlink()
    runs, proposer = parts.runs(project.needs), narrow(parts)
    runs.kill_at = kill
    with pytest.raises(parts.killed):
        go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
    runs.kill_at = None
    again = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
    assert again.after.hash == whole.after.hash
    with project.ledger() as ledger:
        assert [(e.edit, e.event, e.detail) for e in edit_events(ledger)] == wanted


def seen(key: str, *incidents: str) -> Cluster:
    """A cluster by its key and incidents."""
    read = Diagnosis("", (), 0.0, False, key, (key,))
    return Cluster(key, tuple(Failure(one, read) for one in incidents), len(incidents))


def test_companions_are_open_and_untried() -> None:
    """The largest others first; what was answered, or tried without success, waits its turn."""
    one, two, three = seen("noise", "a"), seen("fleet", "b"), seen("namesake", "c")
    every = (one, two, three)
    assert companions(every, one, answered=(), tried={}, most=1) == (two,)
    assert companions(every, one, answered=("fleet",), tried={}, most=2) == (three,)
    assert companions(every, one, answered=(), tried={"namesake": 1}, most=2) == (two,)
    assert companions(every, one, answered=(), tried={}, most=0) == ()


def test_merged_clusters_hold_each_incident_once() -> None:
    """Under the first one's key, in order, as it was read where it stands first."""
    whole = merged((seen("noise", "a", "b"), seen("fleet", "b", "c")))
    assert (whole.key, whole.incidents, whole.core) == ("noise", ("a", "b", "c"), 3)
    assert [one.diagnosis.primary for one in whole.failures] == ["noise", "noise", "fleet"]


def test_steps_join_to_one_edit() -> None:
    """Their operations stay in order, what was said of each is kept once; one step stays itself."""
    first = Edit((Op(OVERLAY, "append", "", "- A."),), "why A", "noise", "good", "bad", "gepa")
    second = Edit((Op(OVERLAY, "replace", "- A.", "- B."),), "why B", "fleet", "good", "", "gepa")
    both = joined((first, second), "gepa")
    assert both.ops == (*first.ops, *second.ops)
    assert (both.reason, both.expected_effect, both.feared_harm) == ("why A why B", "good", "bad")
    assert (both.cluster, both.author) == ("noise", "gepa")
    assert joined((first,), "gepa") is first
