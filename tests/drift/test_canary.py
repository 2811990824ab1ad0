"""The canary: what it plays, what it is compared with, and what it calls a change."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.score.conftest import AFTER

from heldout.brain import write_brain
from heldout.drift import canaries, canary_rows, canary_text
from heldout.errors import CapReached, ProviderUnavailable, UsageError
from heldout.pipeline.canary import Watched
from heldout.settings import MonthSettings
from heldout.store import Ledger, queries


def runs(weeks: Any) -> list[queries.RunRow]:
    """The canary's runs, oldest first."""
    with Ledger.open(weeks.settings.ledger, read_only=True) as ledger:
        return queries.runs(ledger, purpose="canary")


def test_the_first_has_nothing_to_compare_with_and_the_next_has(weeks: Any, make_provider: Any):
    """The same provider is steady; each week is a run of its own over the same investigations."""
    first, second = weeks.play(), weeks.play()
    assert (first.word, first.number, first.p) == ("first", 1, None)
    assert (second.word, second.number, second.p) == ("steady", 2, 1.0)
    assert (second.planned, second.valid, second.earlier_valid) == (20, 20, 20)
    assert second.passed == second.earlier_passed
    one, two = runs(weeks)
    assert one.run != two.run
    assert [c["incident"] for c in one.cases] == [c["incident"] for c in two.cases]
    assert {c["side"] for c in one.cases} == {"train"}
    assert 2 <= sum(c["kind"] == "trap" for c in one.cases) < 10


def test_the_brain_is_frozen(weeks: Any, make_provider: Any):
    """A brain tuned meanwhile does not move the canary; asking for a new series takes it."""
    first = weeks.play()
    write_brain(AFTER, weeks.settings.brain)
    provider = make_provider(lambda *_: True)
    assert weeks.play(provider).brain == first.brain
    assert not any(hinted for _, hinted, _ in provider.asked)
    fresh = weeks.play(restart=True)
    assert (fresh.word, fresh.brain, fresh.begins) == ("first", AFTER.hash, "asked for")


def test_another_model_behind_the_same_name_is_a_change(weeks: Any, make_provider: Any):
    """Both names are told, however good the answers are."""
    weeks.play()
    said = weeks.play(make_provider(weeks_mixed, served="actor-2"))
    assert said.word == "changed"
    assert said.alarms == ("another model answers: actor-2, not actor-1",)


def test_a_pass_rate_that_moves_is_a_change_either_way(weeks: Any, make_provider: Any):
    """A model that got better is another one, too."""
    weeks.play()
    weeks.play()
    worse = weeks.play(make_provider(lambda *_: False))
    assert worse.word == "changed"
    assert "the pass rate fell from" in worse.alarms[0]
    assert worse.p is not None
    assert worse.p < 0.001
    better = weeks.play(make_provider(lambda *_: True), restart=True)
    assert better.word == "first"
    assert weeks.play(make_provider(lambda *_: False)).alarms[0].endswith("from 100% to 0%")


def test_a_lucky_week_is_not_a_change(weeks: Any, make_provider: Any):
    """One investigation more or less is what noise looks like; the power is said beside it."""
    weeks.play()
    spared: list[str] = []

    def luckier(incident: str, hinted: bool, seed: int) -> bool:
        if not weeks_mixed(incident, hinted, seed) and len(spared) < 2:
            spared.append(incident)
            return True
        return weeks_mixed(incident, hinted, seed)

    said = weeks.play(make_provider(luckier))
    assert said.passed == said.earlier_passed + 2
    assert said.word == "steady"
    assert said.noticeable is not None
    assert 0.1 < said.noticeable < 0.6
    assert "would be noticed in 8 of 10 runs" in canary_text(said)


def test_tokens_that_move_on_the_same_incidents_are_a_change(weeks: Any, make_provider: Any):
    """A tenth more words in every incident is noticed, a trifle is not."""
    weeks.play()
    assert weeks.play(make_provider(weeks_mixed, words=10)).alarms == ()
    said = weeks.play(make_provider(weeks_mixed, words=14))
    assert said.alarms == ("output tokens moved by +40% on the same incidents",)


def test_slower_calls_are_noted_only(weeks: Any, make_provider: Any):
    """The hour of day can do that, so it is no alarm."""
    weeks.play()
    slow = make_provider(weeks_mixed)
    slow.seconds = 2.0
    said = weeks.play(slow)
    assert said.word == "steady"
    assert "times slower than before; the hour of day" in said.notes[0]
    assert "note: a call takes" in canary_text(said)


def test_too_little_valid_says_so_and_compares_nothing(weeks: Any, make_provider: Any):
    """A provider that was away has not changed the model."""
    weeks.play()
    down = make_provider(weeks_mixed, fail=lambda *_: ProviderUnavailable("503"))
    said = weeks.play(down)
    assert (said.word, said.valid) == ("indecisive", 0)
    mute = lambda incident, hinted: ProviderUnavailable("503") if incident > "trap-02" else None
    few = weeks.play(make_provider(lambda *_: False, fail=mute))
    assert (few.word, few.alarms) == ("indecisive", ())
    renamed = weeks.play(make_provider(weeks_mixed, fail=mute, served="actor-2"))
    assert renamed.alarms == ("another model answers: actor-2, not actor-1",)
    assert weeks.play().earlier_valid == 20


def test_a_series_ends_where_the_harness_changed(weeks: Any, make_provider: Any):
    """Other limits begin a new series and say why; concurrency, caps and settings do not."""
    weeks.play()
    calm = replace(
        weeks.settings,
        run=weeks.settings.run.model_copy(update={"concurrency": 2}),
        tune=weeks.settings.tune.model_copy(update={"max_rounds": 3}),
        canary=weeks.settings.canary.model_copy(update={"repeats": 1}),
    )
    assert weeks.play(settings=calm).number == 2
    limits = weeks.settings.limits.model_copy(update={"max_steps": 5})
    other = weeks.play(settings=replace(weeks.settings, limits=limits))
    assert (other.word, other.begins) == ("first", "changed since the earlier series: limits")
    gone = weeks.play(cases=weeks.cases[:2])
    assert gone.begins == "an incident of the earlier series is no longer on the train side"


def test_appended_incidents_leave_the_canary_as_it_is(weeks: Any):
    """The subset was fixed when the series began."""
    weeks.cases, more = weeks.cases[2:], weeks.cases
    first = weeks.play()
    weeks.cases = more
    assert weeks.play().number == 2
    assert weeks.told[-1].incidents == first.incidents
    one, two = runs(weeks)
    assert one.cases == two.cases


def test_a_stopped_canary_is_gone_on_with_for_a_day(weeks: Any, make_provider: Any):
    """The month's cap stops it; the same command finishes the same run, and never mixes weeks."""
    tight = replace(weeks.settings, month=MonthSettings(max_tokens=500))
    with pytest.raises(CapReached, match="within a day"):
        weeks.play(settings=tight)
    with pytest.raises(CapReached, match="next month"):
        weeks.play(settings=tight)
    stopped = runs(weeks)[0]
    assert stopped.status == "capped"
    rest = make_provider(weeks_mixed)
    done = weeks.play(rest, at=stopped.started + 3_600_000_000)
    assert done.run == stopped.run
    assert 0 < len(rest.asked) < 20
    with Ledger.open(weeks.settings.ledger) as ledger:
        ledger.append("run_events", [{"run": done.run, "status": "capped", "detail_json": {}}])
    later = weeks.play(at=stopped.started + 3 * 86_400_000_000)
    assert later.run != stopped.run


def test_only_train_incidents_are_played(weeks: Any):
    """An incident of the held-out half among them is refused."""
    with pytest.raises(UsageError, match="only those"):
        weeks.play(cases=(replace(weeks.cases[0], side="test"), *weeks.cases[1:]))


def test_what_was_said_is_kept_and_shown(weeks: Any, make_provider: Any):
    """Status shows the newest of each model; a failing exit is asked for, and names the way on."""
    weeks.play()
    said = weeks.play(make_provider(weeks_mixed, served="actor-2"))
    with Ledger.open(weeks.settings.ledger, read_only=True) as ledger:
        kept = canaries(ledger, model="openai/actor@low")
        assert canaries(ledger, model="openai/other@low") == []
    assert kept == [said, weeks.told[0]]
    head, row, first = canary_rows(kept)
    assert (head[0], first[2]) == ("canary", "-")
    assert row[0].endswith("(2nd)")
    assert row[3] == "actor-2"
    assert row[-1] == "changed; another model answers: actor-2, not actor-1"
    assert "CHANGED: another model answers" in canary_text(said)
    with pytest.raises(Exception, match="--restart"):
        Watched("", said).require()
    Watched("", kept[1]).require()


def weeks_mixed(incident: str, hinted: bool, seed: int) -> bool:
    """As the usual provider answers."""
    from tests.drift.conftest import mixed

    return mixed(incident, hinted, seed)


CLOSED = """
import sys
from pathlib import Path
from heldout.errors import SplitViolation
from heldout.pipeline import Watching, watch_provider
from heldout.settings import load_settings
from heldout.split import HeldoutAccess
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
print(watch_provider(load_settings(Path(sys.argv[1])), Watching()).text)
try:
    HeldoutAccess()
except SplitViolation:
    print("closed")
test = sys.argv[2].split(",")
print("opened", [one for one in opened if any(name in one for name in test)])
"""


@pytest.mark.slow
def test_the_command_never_opens_the_held_out_half(tmp_path: Path):
    """A whole run in a real project: no file of a test incident is opened, no access can be had."""
    from tests.e2e.conftest import cut, heldout

    from heldout.split import read_split

    project = cut(tmp_path / "project")
    split = read_split(project / "datasets" / "incidents")
    command = [sys.executable, "-c", CLOSED, str(project), ",".join(split.test)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "closed" in done.stdout
    assert "opened []" in done.stdout
    command[-1] = ",".join(split.train)
    assert "opened []" not in subprocess.run(command, capture_output=True, text=True).stdout
    said = heldout(project, "canary", "--quiet", "--fail-on-drift").stdout
    assert "steady" in said
    assert "3rd of its series" in said
    assert "A simulated model" in said
