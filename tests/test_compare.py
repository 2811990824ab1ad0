"""Comparing two arms: pairing, the main seed's figures, worst case, behaviour, exit semantics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.agent.trace import Step, Trace
from heldout.compare import (
    behaviour,
    compare_runs,
    compare_stored,
    final_outcomes,
    footprint,
    render_comparison,
    require,
)
from heldout.errors import ComparisonFailed, UsageError
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.store import Ledger

ALERT = "# HighErrorRate\nFired at 2026-03-04T12:00:00Z\nService: harbor"


def trace(
    *,
    steps: tuple[Step, ...] = (),
    submission: Submission | None = None,
    usd: float | None = 0.01,
    served: str = "sim",
    alert: str = ALERT,
) -> Trace:
    """A finished investigation with figures that are easy to add up."""
    return Trace(
        messages=(
            {"role": "system", "content": "brain"},
            {"role": "user", "content": alert},
        ),
        steps=steps,
        submission=submission or Submission(),
        stop_reason="submitted",
        calls=3,
        input_tokens=900,
        cached_tokens=0,
        output_tokens=100,
        usd=usd,
        seconds=2.0,
        served_model=served,
    )


@dataclass(frozen=True)
class Outcome:
    """Stands in for a run's outcome."""

    incident: str
    verdict: Verdict
    trace: Trace | None = field(default_factory=trace)
    reason: str = ""


def outcomes(results: dict[str, str], **kwargs: Any) -> list[Outcome]:
    """``{"i1": "ppf"}``: pass, pass, fail; x is invalid."""
    words = {"p": "pass", "f": "fail", "x": "invalid"}
    return [
        Outcome(
            name,
            Verdict(words[letter], "", "exact"),  # type: ignore[arg-type]
            trace=None if letter == "x" else trace(**kwargs),
            reason="provider" if letter == "x" else "",
        )
        for name, letters in results.items()
        for letter in letters
    ]


def test_the_main_seed_comes_out():
    """50 incidents x 3, 32 to 46 solved with 15 fixed and 1 broken: p = 0.00052, +28 points."""
    names = [f"i{n:02}" for n in range(50)]
    before = {name: "ppp" if n < 32 else "fff" for n, name in enumerate(names)}
    after = {name: "fff" if n == 0 or n >= 47 else "ppf" for n, name in enumerate(names)}
    result = compare_runs(outcomes(before), outcomes(after), names, 3)
    assert (result.before.solved_count, result.after.solved_count) == (32, 46)
    assert [result.count(c) for c in ("fixed", "broken", "both", "neither")] == [15, 1, 31, 3]
    assert result.p == pytest.approx(0.00052, abs=5e-6)
    assert result.difference is not None
    assert result.difference.value == pytest.approx(0.28)
    assert result.named("broken") == ("i00",)
    assert result.outcome() == "gain"
    require(result)


def test_reversed_arms_are_harm_and_stop_a_pipeline():
    """Swapping the arms turns the gain into harm, with exit code 3 and the broken ones named."""
    names = [f"i{n:02}" for n in range(20)]
    good, bad = dict.fromkeys(names, "ppp"), dict.fromkeys(names, "fff")
    result = compare_runs(outcomes(good), outcomes(bad), names, 3)
    assert result.outcome() == "harm"
    with pytest.raises(ComparisonFailed, match=r"20 incidents broken.*i00") as caught:
        require(result)
    assert caught.value.exit_code == 3


def test_max_broken_is_stricter_than_significance():
    """One broken incident is no significant harm; a pipeline may still refuse it."""
    names = ["a", "b", "c"]
    result = compare_runs(
        outcomes(dict.fromkeys(names, "p")), outcomes({"a": "p", "b": "p", "c": "f"}), names, 1
    )
    require(result)
    with pytest.raises(ComparisonFailed):
        require(result, max_broken=0)


def test_too_few_valid_repeats_are_unpaired_and_named():
    """One valid of three is neither solved nor unsolved; two of three still count."""
    result = compare_runs(
        outcomes({"a": "pxx", "b": "ppx"}), outcomes({"a": "ppp", "b": "ffx"}), ["a", "b"], 3
    )
    assert result.named("unpaired") == ("a",)
    assert result.named("broken") == ("b",)
    assert result.before.invalid == {"provider": 3}
    assert result.coverage == pytest.approx(0.5)
    assert result.outcome() == "indecisive"
    with pytest.raises(ComparisonFailed, match="indecisive"):
        require(result)


def test_the_worst_case_books_what_is_missing_against_the_change():
    """Missing runs pass for the old brain and fail for the new one, also inside paired incidents."""
    names = [f"i{n}" for n in range(8)]
    before = dict.fromkeys(names, "fff")
    after = dict.fromkeys(names, "ppp") | {"i0": "ppx", "i1": "pfx", "i2": "xxx"}
    result = compare_runs(outcomes(before), outcomes(after), names, 3)
    assert (result.count("fixed"), result.count("unpaired")) == (6, 1)
    assert (result.worst.fixed, result.worst.broken) == (6, 0)
    shaky = compare_runs(outcomes(before | {"i2": "ppp"}), outcomes(after), names, 3)
    assert (shaky.worst.fixed, shaky.worst.broken) == (6, 1)
    assert shaky.worst.p > shaky.p


def test_absent_runs_are_counted_apart_from_invalid_ones():
    """What a cap left unstarted lowers coverage and is no invalid."""
    result = compare_runs(outcomes({"a": "pp"}), outcomes({"a": "ppp"}), ["a", "b"], 3)
    assert result.before.absent == 4
    assert result.before.invalid == {}
    assert result.named("unpaired") == ("b",)


def test_more_verdicts_than_slots_are_refused():
    """Two verdicts for one slot would count twice, so they are an error."""
    with pytest.raises(UsageError, match="4 valid verdicts for 3"):
        compare_runs(outcomes({"a": "pppp"}), outcomes({"a": "ppp"}), ["a"], 3)


def test_an_unknown_price_makes_the_cost_unknown():
    """One unpriced run makes the mean unknown, never lower."""
    runs = [*outcomes({"a": "pp"}), *outcomes({"a": "p"}, usd=None)]
    result = compare_runs(runs, outcomes({"a": "ppp"}), ["a"], 3)
    assert result.before.cost.usd is None
    assert result.after.cost.usd == pytest.approx(0.01)
    assert "unknown" in render_comparison(result)


def test_another_served_model_is_indecisive():
    """When the provider answers with another model in one arm, nothing is decided."""
    names = [f"i{n}" for n in range(10)]
    result = compare_runs(
        outcomes(dict.fromkeys(names, "f"), served="m-1"),
        outcomes(dict.fromkeys(names, "p"), served="m-2"),
        names,
        1,
    )
    assert result.outcome() == "indecisive"
    assert "served models differ: m-1, m-2" in render_comparison(result)


def step(tool: str, shown: tuple[str, ...] = (), **args: Any) -> Step:
    """One tool call."""
    return Step(0, tool, args, "{}", False, shown)


def test_behaviour_is_counted_over_calls():
    """Early searches, redundant calls, shown evidence and existing entities, by hand."""
    early = step("list_changes", ("c-1",), since="2026-02-20T00:00:00Z", until="2026-03-04")
    same_day = step("list_changes", since="2026-03-04T00:00:00Z", until="2026-03-04T12:00:00Z")
    history = step("get_field_history", entity="e-1", field="x")
    bounded = step("get_field_history", entity="e-1", field="x", since="2026-03-04T01:00:00Z")
    broken = step("list_changes", since="last week")
    one = trace(
        steps=(early, same_day, same_day, history, bounded, broken),
        submission=Submission(
            root_cause_entity="e-1", affected=("e-2", "ghost"), evidence_ids=("c-1", "c-9")
        ),
    )
    measured = behaviour([footprint(one, frozenset({"e-1", "e-2"}))])
    assert measured.early_searches == pytest.approx(2 / 6)
    assert measured.redundant == pytest.approx(1 / 6)
    assert measured.evidence_shown == pytest.approx(1 / 2)
    assert measured.entities_exist == pytest.approx(2 / 3)


def test_a_window_told_from_the_present_is_read_from_the_answer():
    """``now-7d`` is no date, but the answer says which window it was."""
    answer = (
        '{"rows":[],"window_used":{"since":"2026-02-25T12:00:00Z","until":"2026-03-04T12:00:00Z"}}'
    )
    relative = Step(0, "list_changes", {"since": "now-7d", "until": "now"}, answer, False, ())
    today = Step(
        1, "list_changes", {"since": "now-2h"}, answer.replace("02-25", "03-04"), False, ()
    )
    measured = behaviour([footprint(trace(steps=(relative, today)))])
    assert (measured.change_searches, measured.early_searches) == (2, 0.5)


def test_nothing_to_count_is_undefined():
    """No calls, no citations, no world to look in: undefined, never 1."""
    measured = behaviour([footprint(trace(alert="no date"))])
    assert measured.early_searches is None
    assert measured.redundant is None
    assert measured.evidence_shown is None
    assert measured.entities_exist is None
    assert behaviour([]).limits is None


letters = st.text("pfx", min_size=3, max_size=3)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(letters, letters), min_size=1))
def test_every_incident_stands_in_one_cell_and_the_worst_case_never_flatters(
    table: dict[str, tuple[str, str]],
):
    """Cells partition the incidents; booking what is missing against the change never helps it."""
    before = outcomes({name: pair[0] for name, pair in table.items()})
    after = outcomes({name: pair[1] for name, pair in table.items()})
    result = compare_runs(before, after, list(table), 3)
    named = sorted(name for ids in result.cells.values() for name in ids)
    assert named == sorted(table)
    net = result.count("fixed") - result.count("broken")
    assert result.worst.fixed - result.worst.broken <= net + result.count("unpaired")
    full = all("x" not in pair[0] + pair[1] for pair in table.values())
    if full:
        assert (result.worst.fixed, result.worst.broken) == (
            result.count("fixed"),
            result.count("broken"),
        )
    assert render_comparison(result)


def stored(ledger: Ledger, run: str, results: dict[str, str], **more: Any) -> None:
    """Put a run's manifest into a ledger."""
    manifest = {
        "repeats": more.get("repeats", 3),
        "arms": [{"name": name, "brain": "b"} for name in more.get("arms", ["only"])],
        "cases": [{"incident": name, "world": more.get("world", "w")} for name in results],
    }
    row = {"run": run, "purpose": "train", "set": "s", "model": more.get("model", "sim/anchored")}
    ledger.append("runs", [row | {"manifest_json": manifest, "cases_json": []}])


@dataclass(frozen=True)
class Attempt(Outcome):
    """An outcome with its slot."""

    arm: str = "only"
    repeat: int = 0
    attempt: int = 0


def attempts(results: dict[str, str], arm: str = "only") -> list[Attempt]:
    """As :func:`outcomes`, one repeat each."""
    result = []
    for one in outcomes(results):
        repeat = sum(o.incident == one.incident for o in result)
        result.append(Attempt(one.incident, one.verdict, one.trace, one.reason, arm, repeat))
    return result


def test_stored_runs_are_found_paired_and_labelled(tmp_path: Path):
    """Two runs of a ledger by the beginnings of their ids; incidents of only one are unpaired."""
    played = {"aaaa1111": {"a": "fff", "b": "ppp"}, "bbbb2222": {"b": "ppp", "a": "ppp", "c": "p"}}
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        for run, results in played.items():
            stored(ledger, run, results, repeats=3)
        result = compare_stored(ledger, "aaaa", "bbbb", lambda _, run: attempts(played[run]))
    assert result.named("fixed") == ("a",)
    assert result.named("unpaired") == ("c",)
    assert result.before.name == "aaaa1111:only"


def test_stored_runs_that_cannot_be_compared_are_refused(tmp_path: Path):
    """Several arms and none named, an unknown arm, other worlds, nothing in common: usage errors."""
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        stored(ledger, "aaaa", {"a": "p"}, arms=["before", "after"])
        stored(ledger, "bbbb", {"a": "p"}, world="other")
        stored(ledger, "cccc", {"z": "p"})
        for first, second, why in [
            ("aaaa", "bbbb", "several arms"),
            ("aaaa:noop", "bbbb", "no arm 'noop'"),
            ("aaaa:after", "bbbb", "another world"),
            ("bbbb", "cccc", "share no incident"),
            ("dddd", "cccc", "names no run"),
        ]:
            with pytest.raises(UsageError, match=why):
                compare_stored(ledger, first, second, lambda *_: [])


def test_a_slot_counts_once():
    """The first valid attempt is final; only a slot without one keeps its last invalid."""
    invalid = Attempt("a", Verdict("invalid", "", "exact"), None, "provider")
    passed = Attempt("a", Verdict("pass", "", "exact"), attempt=1)
    later = Attempt("a", Verdict("fail", "", "exact"), attempt=2)
    assert final_outcomes([later, invalid, passed]) == {"only": [passed]}
    again = Attempt("a", Verdict("invalid", "", "exact"), None, "store", attempt=1)
    assert final_outcomes([again, invalid]) == {"only": [again]}


def test_two_models_may_be_compared_on_purpose():
    """Served models that differ because two models were asked decide nothing against it."""
    names = [f"i{n}" for n in range(10)]
    old = outcomes(dict.fromkeys(names, "f"), served="m-1")
    new = outcomes(dict.fromkeys(names, "p"), served="m-2")
    assert compare_runs(old, new, names, 1, across_models=True).outcome() == "gain"
