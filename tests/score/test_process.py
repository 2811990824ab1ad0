"""The score's own process: who may open the held-out half, what it leaves, what a kill costs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from heldout.brain import Brain, load_brain
from heldout.build import rehash
from heldout.build.worlds import read_alert
from heldout.errors import LedgerBusy, LooksExhausted, SplitViolation, StoreError, UsageError
from heldout.pipeline import Scoring, score_now
from heldout.report import gather, render_text, write_report
from heldout.score import Progress, ScoreRequest, read_score, start, wished
from heldout.settings import ScoreSettings, Settings, load_settings
from heldout.split import HeldoutAccess, Split, declare_process, read_split, write_split
from heldout.store import Ledger, queries, remember_brain
from heldout.store.contents import blobs_after

ROOT = Path(__file__).resolve().parents[2]
MODEL = "sim/anchored@low"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A project with the shipped brain and three held-out incidents."""
    root = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "heldout.toml", root)
    shutil.copytree(ROOT / "brain", root / "brain")
    shutil.copytree(ROOT / "checkers", root / "checkers")
    whole = read_split(ROOT / "datasets" / "prod_hard")
    small = root / "datasets" / "prod_hard"
    shutil.copytree(ROOT / "datasets" / "prod_hard", small)
    traps = [
        one
        for one in whole.test
        if 'kind = "trap"' in (small / "specs" / f"{one}.toml").read_text()
    ]
    calm = [one for one in whole.test if one not in traps]
    write_split(Split("prod_hard", whole.train[:1], (*traps[:2], calm[0])), small)
    settings = load_settings(root)
    with pytest.MonkeyPatch.context() as patch:
        # Worlds are made by this very generator, whatever the shipped digests say meanwhile.
        patch.setattr("heldout.split._role", "build")
        rehash(settings, "prod_hard", HeldoutAccess())
    return replace(settings, score=ScoreSettings(repeats=1, looks=2))


@pytest.fixture
def brains(project: Settings) -> tuple[Brain, Brain]:
    """The shipped brain and one with a line more, in a fresh ledger."""
    before = load_brain(project.brain)
    name = before.load[0]
    after = before.with_file(
        name, before.files[name] + "\n- Ask when the value became what it is.\n"
    )
    project.ledger.unlink(missing_ok=True)
    with Ledger.open(project.ledger) as ledger:
        remember_brain(ledger, before)
        remember_brain(ledger, after)
    return before, after


def request(brains: tuple[Brain, Brain], **more: object) -> ScoreRequest:
    """Before against after, with a no-op arm."""
    plain = {"model": MODEL, "before": brains[0].hash, "after": brains[1].hash, **more}
    return ScoreRequest.model_validate(plain)


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Content and time of every file."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_score_runs_in_its_own_process_and_never_writes_to_a_brain(
    project: Settings, brains: tuple[Brain, Brain]
):
    """Real worlds, a simulated model: a result in the ledger, a report, and an untouched brain."""
    before = fingerprint(project.brain)
    told: list[Progress] = []
    result = start(project, request(brains), on_progress=told.append)
    assert fingerprint(project.brain) == before
    assert {one.stage for one in told} == {"worlds", "floors", "play", "done"}
    assert result.outcome in ("mechanism shown", "no gain shown", "harm")
    assert result.evidence.startswith("Mechanism test")
    with Ledger.open(project.ledger) as ledger:
        row = queries.score(ledger, result.score)
        score = read_score(row.result)
        assert set(queries.looks(ledger, MODEL).values()) == {1}
        text = render_text(gather(ledger, project))
        page = write_report(project, ledger).read_text()
        alerts = [run.cases[0]["alert"] for run in queries.runs(ledger, purpose="score")]
    assert score.sides["after"].coverage == 1
    assert {floor.traps for floor in score.floors} == {2}
    assert score.traps.before.behaviour.entities_exist is not None
    assert text.startswith("Mechanism test")
    for alert in alerts:
        symptom = max(alert.splitlines(), key=len)
        assert symptom not in page
        assert symptom not in text


def test_every_arm_that_can_be_made_is_played_on_real_worlds(
    project: Settings, brains: tuple[Brain, Brain]
):
    """Train's records reach the prompt, a person's page is gated, and the rest is said, not faked."""
    asked = wished(
        ["all"], checklist="# On call\n\n- Look at what changed in the last two weeks.\n"
    )
    result = start(project, request(brains, floors=False, **asked))
    with Ledger.open(project.ledger) as ledger:
        data = gather(ledger, project, result.score)
        arms = {row["name"]: row for row in queries.runs(ledger, job="")[0].manifest["arms"]}
        texts = list(blobs_after(ledger, -1))
    assert data.score is not None
    assert data.arms is not None
    assert set(data.score.arms) == {"noop", "placebo", "format", "checklist", "memory"}
    assert all(row.invalid == row.absent == 0 for row in data.score.table)
    assert set(data.arms.left_out) == {"blind", "evidence"}
    assert (
        "the gate finds nothing against it" in data.score.endpoint["further"]["checklist"]["remark"]
    )
    assert len(arms["memory"]["additions"]) == 3
    record = [text for text in texts if "# Solved incidents of the past" in text]
    assert record
    train, test = read_split(project.set_dir()).train, read_split(project.set_dir()).test
    remembered = read_alert(project.set_dir(), train[0]).splitlines()[4]
    assert all(remembered in text for text in record if "## Record 1" in text)
    hidden = {read_alert(project.set_dir(), one).splitlines()[2].split()[-1] for one in test}
    added = [json.loads(text)["brain"] for text in record if text.startswith('{"alert"')]
    assert added
    assert not [name for name in hidden for text in added if name in text]


def test_the_budget_refuses_through_the_process(project: Settings, brains: tuple[Brain, Brain]):
    """An exhausted budget comes back as the same error with exit code 3."""
    names = read_split(project.set_dir()).test
    with Ledger.open(project.ledger) as ledger:
        rows = [
            {"score": f"s{n}", "incident": name, "model": MODEL} for n in range(2) for name in names
        ]
        ledger.append("looks", rows)
    with pytest.raises(LooksExhausted) as caught:
        start(project, request(brains))
    assert caught.value.exit_code == 3
    assert "Retire" in caught.value.mend


def test_errors_of_the_process_come_back_as_themselves(
    project: Settings, brains: tuple[Brain, Brain]
):
    """An unknown brain is a StoreError, a ledger in use LedgerBusy, a bad model a UsageError."""
    with pytest.raises(StoreError, match="names no stored brain"):
        start(project, request(brains, after="0" * 64))
    with pytest.raises(UsageError, match="not the name of a model"):
        start(project, request(brains, model="nonsense"))
    with Ledger.open(project.ledger), pytest.raises(LedgerBusy):
        start(project, request(brains))


def test_a_killed_score_goes_on_with_the_same_look(project: Settings, brains: tuple[Brain, Brain]):
    """SIGKILL in the middle, then --resume ID alone: one look, every slot once, none played twice."""
    message = {"settings": project.plain(), "request": request(brains).model_dump(mode="json")}
    command = [sys.executable, "-m", "heldout.score", "--project", str(project.root), "--stdin"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(message))
        child.stdin.close()
        for line in child.stdout:
            if json.loads(line).get("progress", {}).get("done", 0) >= 2:
                os.kill(child.pid, signal.SIGKILL)
                break
    with Ledger.open(project.ledger) as ledger:
        begun = queries.scores(ledger)[0]
    assert begun.outcome is None
    result = score_now(project, Scoring(resume=begun.score)).result
    assert result.score == begun.score
    with Ledger.open(project.ledger) as ledger:
        assert set(queries.looks(ledger, MODEL).values()) == {1}
        rows = [
            r
            for run in queries.runs(ledger, purpose="score")
            for r in queries.investigations(ledger, run.run)
        ]
    slots = [(row.incident, row.arm, row.repeat) for row in rows]
    assert len(slots) == len(set(slots)) == 9


def test_a_request_that_does_not_fit_is_a_usage_error(project: Settings):
    """Unknown words, broken JSON: one error line on standard output and exit code 2."""
    for text in ("not json", "{}", json.dumps({"settings": project.plain(), "request": {"x": 1}})):
        done = subprocess.run(
            [sys.executable, "-m", "heldout.score", "--project", str(project.root), "--stdin"],
            input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert json.loads(done.stdout.splitlines()[-1])["error"]["type"] == "UsageError"


@pytest.mark.parametrize("role", ["tune", "run", None])
def test_other_processes_cannot_make_the_key(monkeypatch: pytest.MonkeyPatch, role: str | None):
    """Without the access of a permitted role there is nothing to hand to run_score."""
    monkeypatch.setattr("heldout.split._role", None)
    if role:
        declare_process(role)
    with pytest.raises(SplitViolation):
        HeldoutAccess()


def test_a_model_that_is_none_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """No process is begun for it; the control is a name that is one, for which one would be."""
    begun: list[object] = []

    def process(*command: object, **_: object) -> None:
        begun.append(command)
        raise OSError("no process here")

    monkeypatch.setattr(subprocess, "Popen", process)
    settings = Settings(root=tmp_path)
    with pytest.raises(UsageError, match="no simulated model"):
        start(settings, ScoreRequest(model="sim/careful", before="a", after="b"))
    assert begun == []
    with pytest.raises(OSError):
        start(settings, ScoreRequest(model=MODEL, before="a", after="b"))
    assert len(begun) == 1
