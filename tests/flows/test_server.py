"""The project on a real Prefect server: schedules, pages beside a run, a reviewer's form, the canary."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from heldout.split import read_split
from heldout.store import Ledger
from heldout.store.queries import decisions, jobs, proposals, runs

pytestmark = [pytest.mark.slow, pytest.mark.prefect]
MODEL = "sim-anchored-low"
ROOT = Path(__file__).resolve().parents[2]


def ledger(served: Any) -> Ledger:
    """The project's ledger, to read."""
    return Ledger.open(served.project / ".heldout" / "ledger.duckdb", read_only=True)


@pytest.fixture(scope="module")
def scheduled(served: Any) -> Any:
    """The schedule at work until a job tuned, a later one found nothing new, and a form waits."""
    served.wait("tune", {"Completed"}, count=2)
    served.prefect("deployment", "schedule", "clear", "--accept-yes", "tune/tune-sim-anchored")
    served.wait("review", {"Suspended"})
    busy = {"Running", "Pending", "Submitting"}
    while any(run["state"]["name"] in busy for run in served.runs("tune")):
        served.wait("tune", {"Completed"}, count=2)
    return served


@pytest.mark.long
def test_a_scheduled_job_tunes_and_the_next_one_spends_nothing(scheduled: Any):
    """Both came from the schedule; the second says that nothing is new and plays nothing."""
    done = [run for run in scheduled.runs("tune") if run["state"]["name"] == "Completed"]
    assert all(run["auto_scheduled"] for run in done)
    with ledger(scheduled) as opened:
        tuned = jobs(opened, kind="tune")
        assert len(tuned) == 1
        assert len(proposals(opened, waiting=True)) == 1
        checked = jobs(opened, kind="check")
        assert {row.detail["like"] for row in checked} == {tuned[0].job}
        assert len(checked) == len(done) - 1
        assert {row.job for row in runs(opened)} == {tuned[0].job}
    said = scheduled.artifact(f"run-report-{MODEL}")
    assert "Nothing new since job" in said
    assert "Nothing was spent." in said


@pytest.mark.long
def test_pages_stand_beside_the_run(scheduled: Any):
    """A table of what was measured on train, and the proposal with its diff."""
    table = json.loads(scheduled.artifact(f"train-{MODEL}"))
    assert {"job", "evidence", "traps", "controls"} <= {row["measured"] for row in table}
    diff = scheduled.artifact(f"brain-diff-{MODEL}")
    assert "```diff" in diff
    assert "heldout review p-" in diff


@pytest.mark.long
def test_events_hold_names_and_counts_and_no_fact(scheduled: Any):
    """What a notification is made of names no incident and quotes no line of the brain."""
    asked = {"filter": {"event": {"prefix": ["heldout."]}}, "limit": 50}
    events = scheduled.post("/events/filter", asked)["events"]
    assert events
    text = json.dumps([[one["payload"], one["resource"]] for one in events])
    split = read_split(scheduled.project / "datasets" / "incidents")
    with ledger(scheduled) as opened:
        row = proposals(opened)[0]
    lines = [line[1:].strip(" -") for line in row.diff.splitlines() if line.startswith("+")]
    secrets = [*split.train, *split.test, *(line for line in lines if len(line) > 12)]
    assert not [secret for secret in secrets if secret in text]
    assert {one["payload"]["waits"] for one in events} == {True}
    assert row.proposal in text


@pytest.mark.long
def test_the_notification_of_the_docs_is_taken_by_the_server(served: Any):
    """The automation in docs/how-to/schedule.md is one; a trigger that there is not is refused."""
    text = (ROOT / "docs" / "how-to" / "schedule.md").read_text()
    asked = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    made = served.post("/automations/", asked)
    assert set(made["trigger"]["expect"]) == {"heldout.tune.ended", "heldout.canary.ended"}
    asked["trigger"]["type"] = "nonesuch"
    assert served.post("/automations/", asked)["status"] == 422


@pytest.mark.long
def test_parameters_are_checked_before_a_run_exists(scheduled: Any):
    """A number of repeats that no job may have is refused when it is submitted."""
    found = scheduled.post("/deployments/filter", {})
    tune = next(one for one in found if one["name"] == "tune-sim-anchored")
    path, job = f"/deployments/{tune['id']}/create_flow_run", {"job": {"repeats": 99}}
    refused = scheduled.post(path, {"parameters": job, "enforce_parameter_schema": True})
    assert refused["status"] == 409
    assert "99" in refused["said"]


@pytest.mark.long
def test_a_reviewer_decides_in_the_form(scheduled: Any):
    """No answer and half an answer are refused; a whole one writes the brain, once and by name."""
    run = scheduled.wait("review", {"Suspended"})[0]
    path = f"/flow_runs/{run['id']}/resume"
    method = scheduled.project / "brain" / "method.md"
    before = method.read_bytes()
    word = {"decision": "accept", "name": "Ida Reviewer", "reason": "the diff is method only"}
    for wrong in ({}, {**word, "decision": "yes"}, {**word, "name": ""}, {"decision": "accept"}):
        answer = scheduled.post(path, {"run_input": wrong})
        assert answer["status"] == "REJECT", (wrong, answer)
    assert method.read_bytes() == before
    assert scheduled.post(path, {"run_input": word})["status"] == "ACCEPT"
    scheduled.wait("review", {"Completed"})
    assert method.read_bytes() != before
    with ledger(scheduled) as opened:
        decided = decisions(opened)
        assert [(one.action, one.name) for one in decided] == [("accept", "Ida Reviewer")]
        assert decided[0].diff_hash == proposals(opened)[0].diff_hash
        assert not proposals(opened, waiting=True)


@pytest.mark.long
def test_the_canary_is_a_deployment_of_its_own(scheduled: Any):
    """Run twice it is steady, on train incidents only, and its page says so."""
    for count in (1, 2):
        scheduled.prefect("deployment", "run", "canary/canary-sim-anchored")
        scheduled.wait("canary", {"Completed"}, count=count)
    said = scheduled.artifact(f"canary-{MODEL}")
    assert "2nd of its series" in said
    assert "steady:" in said
    split = read_split(scheduled.project / "datasets" / "incidents")
    with ledger(scheduled) as opened:
        played = runs(opened, purpose="canary")
    assert {case["incident"] for row in played for case in row.cases} == set(split.train)


@pytest.mark.chromium
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.long
def test_the_page_of_a_run_shows_what_it_left(scheduled: Any, tmp_path: Path):
    """Headless Chromium draws the page of the proposal from the server on loopback."""
    found = scheduled.post(
        "/artifacts/filter", {"artifacts": {"key": {"any_": [f"brain-diff-{MODEL}"]}}}
    )
    page = f"{scheduled.url}/artifacts/artifact/{found[0]['id']}"
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
         "--virtual-time-budget=30000", "--dump-dom", page],
        capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip
    assert "Brain proposal" in done.stdout
    assert "silence applies nothing" in done.stdout
