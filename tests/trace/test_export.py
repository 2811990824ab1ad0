"""Exports: rows with provenance, train only, whole or not at all, without secrets or canaries."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.graph.worlds import HOSTILE
from tests.trace.conftest import Project, case, end_score, heldout, played

import heldout as package
from heldout.canaries import Watch, canary_hash, read_watch
from heldout.errors import CanaryFound, ConfigError, SplitViolation, StoreError, UsageError
from heldout.export import FORMATS, Order, export
from heldout.export.chat import spoken
from heldout.settings import Settings
from heldout.split import Split, read_split, write_split
from heldout.store import Ledger
from heldout.store.parquet import write_parquet

OF_WORLDS = tuple(one for one in FORMATS if one != "trajectory")
"""Formats that a run of worlds can be written in."""

REQUIRED: dict[str, Any] = {
    "version": int,
    "status": str,
    "eval": {"created": str, "task": str, "dataset": {"name": str}, "model": str, "config": dict},
    "plan": dict,
    "results": {"total_samples": int, "completed_samples": int, "scores": list},
    "stats": {"started_at": str, "completed_at": str, "model_usage": dict},
    "samples": list,
}
"""What Inspect 0.3 needs of a log to read it, and what its viewer shows first."""
SAMPLE: dict[str, Any] = {
    "id": str,
    "epoch": int,
    "input": str,
    "target": str,
    "messages": list,
    "output": {"model": str, "choices": list, "usage": dict},
    "scores": dict,
    "metadata": dict,
}


def exported(project: Project, ledger: Ledger, out: Path, kind: str, **more: Any) -> int:
    """Export the run over train."""
    order = Order(kind, more.pop("runs", (project.train,)), out, **more)
    return export(project.settings, ledger, order, Watch())


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def fits(value: Any, wanted: Any, where: str = "log") -> None:
    """Assert that a value has the keys and types that are wanted."""
    if isinstance(wanted, dict):
        for key, inner in wanted.items():
            assert key in value, f"{where}.{key}"
            fits(value[key], inner, f"{where}.{key}")
    else:
        assert isinstance(value, wanted), where


def test_chat_holds_what_passed_as_it_was_said(project: Project, ledger: Ledger, tmp_path: Path):
    """Messages and tools of the passing investigations; with ``everything`` the failed ones too."""
    assert exported(project, ledger, tmp_path / "c.jsonl", "chat") == 2
    row = lines(tmp_path / "c.jsonl")[0]
    assert [one["role"] for one in row["messages"][:4]] == ["system", "user", "assistant", "tool"]
    assert row["messages"][2]["tool_calls"][0]["function"]["name"] == "search_entities"
    assert [one["function"]["name"] for one in row["tools"]][-1] == "submit_diagnosis"
    said = row["provenance"]
    assert (said["run"], said["incident"], said["arm"]) == (project.train, "inc-one", "after")
    assert (said["verdict"], said["judge"], said["side"]) == ("pass", "exact", "train")
    assert said["heldout"] == package.__version__
    assert all(said[key] for key in ("brain", "model", "world", "tools"))
    assert exported(project, ledger, tmp_path / "a.jsonl", "chat", everything=True) == 4


def test_a_conversation_needs_somebody_who_speaks():
    """A program that played the agent leaves its calls and no words: nothing to learn to say."""
    assert not spoken([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])
    assert not spoken([])
    assert spoken([{"role": "user", "content": "u"}, {"role": "assistant", "content": None}])


def test_rewards_are_made_of_the_judges_criteria(project: Project, ledger: Ledger, tmp_path: Path):
    """Prompt and completion make the conversation; reward and components say how good it was."""
    assert exported(project, ledger, tmp_path / "r.jsonl", "rl") == 4
    rows = lines(tmp_path / "r.jsonl")
    assert sorted(row["reward"] for row in rows) == [0.0, 0.0, 1.0, 1.0]
    good = next(row for row in rows if row["reward"] == 1.0)
    bad = next(row for row in rows if row["reward"] == 0.0)
    assert set(good["components"].values()) == {1.0}
    assert (bad["components"]["entity"], bad["components"]["answered"]) == (0.0, 1.0)
    assert [one["role"] for one in good["prompt"]] == ["system", "user"]
    assert good["completion"][0]["role"] == "assistant"
    assert good["steps"] == 7
    assert good["tokens"] == {"prompt": 7000, "cached": 2800, "completion": 70}


def test_a_log_of_inspect_has_what_its_reader_needs(
    project: Project, ledger: Ledger, tmp_path: Path
):
    """Required fields of log and samples, a score each, arguments that were no JSON as well."""
    assert exported(project, ledger, tmp_path / "i.json", "inspect") == 4
    log = json.loads((tmp_path / "i.json").read_text())
    fits(log, REQUIRED)
    for sample in log["samples"]:
        fits(sample, SAMPLE, "sample")
    assert {one["id"] for one in log["samples"]} == {
        f"inc-{name}:{arm}" for name in ("one", "two") for arm in ("before", "after")
    }
    values = [one["scores"]["heldout"]["value"] for one in log["samples"]]
    assert sorted(values) == ["C", "C", "I", "I"]
    assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 0.5
    calls = [c for s in log["samples"] for m in s["messages"] for c in m.get("tool_calls", [])]
    assert {c.get("parse_error") for c in calls} == {None, "not JSON"}


def test_inspect_itself_reads_the_log(project: Project, ledger: Ledger, tmp_path: Path):
    """Where Inspect is installed its own reader takes the file."""
    log = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    exported(project, ledger, tmp_path / "i.json", "inspect")
    read = log.read_eval_log(str(tmp_path / "i.json"))
    assert (read.status, len(read.samples)) == ("success", 4)


def test_parquet_holds_what_was_played(project: Project, ledger: Ledger, tmp_path: Path):
    """Five tables that join; the run over the held-out half is in none of them."""
    assert exported(project, ledger, tmp_path / "all", "parquet", runs=()) == 5
    with duckdb.connect() as con:
        names = ("runs", "cases", "investigations", "verdicts", "steps")
        for name in names:
            con.execute(f"create view {name} as from '{tmp_path}/all/{name}.parquet'")
        counts = [con.execute(f"select count(*) from {name}").fetchone()[0] for name in names]
        assert counts == [2, 3, 5, 5, 44]
        assert con.execute("select distinct side from cases").fetchall() == [("train",)]
        failed = con.execute(
            "select tool, args_json from steps join verdicts using (run, incident, arm, repeat)"
            " where result = 'fail' and is_error and step = 5"
        ).fetchall()
        assert {tool for tool, _ in failed} == {"list_changes"}
        assert "quay-core" in failed[0][1]
    assert sorted(path.suffix for path in (tmp_path / "all").iterdir()) == [".parquet"] * 5


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_over_the_held_out_half_is_refused(project: Project, tmp_path: Path, kind: str):
    """Nothing of it is written, also after its score has ended: it must never train a model."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    settings = Settings(root=home, set="small")
    with Ledger.open(settings.ledger) as ledger:
        end_score(ledger, project.test)
        for runs in ((project.test,), (project.train, project.test)):
            with pytest.raises(SplitViolation, match="held-out half"):
                export(settings, ledger, Order(kind, runs, tmp_path / "out"), Watch())
    assert not (tmp_path / "out").exists()


def test_a_run_of_both_sides_and_one_that_changed_sides_are_refused(
    project: Project, tmp_path: Path
):
    """One held-out incident closes a run; so does a set that holds its incident out now."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    settings = Settings(root=home, set="small")
    with Ledger.open(settings.ledger) as ledger, pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.split._role", "score")
        cases = [case(settings, "inc-one"), case(settings, "inc-test", "test")]
        mixed = played(ledger, settings, cases, seed=5)
        with pytest.raises(SplitViolation, match="1 incident"):
            export(settings, ledger, Order("rl", (mixed,), tmp_path / "out"), Watch())
        assert export(settings, ledger, Order("rl", (project.train,), tmp_path / "ok"), Watch())
        write_split(Split("other", (), ("inc-two",)), home / "datasets" / "other")
        assert "inc-two" in read_split(home / "datasets" / "small").train
        with pytest.raises(SplitViolation, match="1 incident"):
            export(settings, ledger, Order("rl", (project.train,), tmp_path / "out"), Watch())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", OF_WORLDS)
def test_a_canary_stops_an_export(project: Project, ledger: Ledger, tmp_path: Path, kind: str):
    """A spec's canary in what would be written ends it, and nothing is left."""
    watch = Watch({canary_hash("x" * 32): "train"})
    assert export(project.settings, ledger, Order(kind, (project.train,), tmp_path / "out"), watch)
    # A word that every row holds, taken for a canary.
    caught = Watch({canary_hash(project.train): "test"})
    with pytest.raises(CanaryFound):
        export(project.settings, ledger, Order(kind, (project.train,), tmp_path / "no"), caught)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("kind", OF_WORLDS)
def test_secrets_of_the_environment_stay_out(
    project: Project, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
):
    """A key that stands in a stored answer is replaced by its variable's name."""
    monkeypatch.setenv("SOME_API_KEY", "harbor-api")
    exported(
        project, ledger, tmp_path / "out", kind, **({"everything": True} if kind == "chat" else {})
    )
    if kind == "parquet":
        with duckdb.connect() as con:
            rows = con.execute(f"select answer from '{tmp_path}/out/steps.parquet'").fetchall()
        text = "".join(row[0] for row in rows)
    else:
        text = (tmp_path / "out").read_text()
    assert "harbor-api" not in text
    assert "[secret SOME_API_KEY]" in text


def test_nothing_half_written_is_left(
    project: Project, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What is there is kept without --force and when the new one fails; with it, replaced whole."""
    out = tmp_path / "rows.jsonl"
    out.write_text("precious\n")
    with pytest.raises(UsageError, match="exists already"):
        exported(project, ledger, out, "rl")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("heldout.export.writing.os.fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            exported(project, ledger, out, "rl", force=True)
    assert out.read_text() == "precious\n"
    assert exported(project, ledger, out, "rl", force=True) == 4
    assert len(lines(out)) == 4
    assert exported(project, ledger, tmp_path / "pq", "parquet") == 4
    assert exported(project, ledger, tmp_path / "pq", "parquet", force=True) == 4
    (tmp_path / "pq" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        exported(project, ledger, tmp_path / "pq", "parquet", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pq", "rows.jsonl"]


def test_words_that_do_not_fit_are_refused(project: Project, ledger: Ledger, tmp_path: Path):
    """An unknown format, run or arm, no run, two runs in one log."""
    for order, said in (
        (Order("csv", (project.train,), tmp_path / "o"), "Known: chat"),
        (Order("rl", ("nonesuch",), tmp_path / "o"), "names no run"),
        (Order("rl", (), tmp_path / "o"), "which run"),
        (Order("rl", (project.train,), tmp_path / "o", arm="x"), "after, before"),
        (Order("inspect", (project.train, project.mute), tmp_path / "o"), "one run"),
    ):
        with pytest.raises(UsageError, match=said):
            export(project.settings, ledger, order, Watch())
    assert not list(tmp_path.iterdir())
    assert exported(project, ledger, tmp_path / "o", "rl", arm="after") == 2


def test_tools_of_another_version_are_not_passed_off_as_these(
    project: Project, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A run whose tools are not today's cannot be exported as a conversation with tools."""
    monkeypatch.setattr("heldout.export.source.tools_hash", lambda _: "other")
    with pytest.raises(ConfigError, match="tools have changed"):
        exported(project, ledger, tmp_path / "c", "chat")
    assert not list(tmp_path.iterdir())


def test_parquet_takes_any_text_and_leaves_nothing_when_it_fails(tmp_path: Path):
    """Hostile text, half a surrogate and NULL survive; a wrong type is an error without a file."""
    kinds = {"text": "VARCHAR", "number": "BIGINT"}
    rows = [{"text": HOSTILE + "\ud800'; drop", "number": 1}, {"number": None, "other": 7}]
    assert write_parquet(tmp_path / "a.parquet", kinds, rows * 300) == 600
    with duckdb.connect() as con:
        read = con.execute(f"select * from '{tmp_path}/a.parquet' limit 2").fetchall()
    assert read == [(HOSTILE + "?'; drop", 1), (None, None)]
    with pytest.raises(StoreError, match="Parquet"):
        write_parquet(tmp_path / "b.parquet", kinds, [{"number": "many"}])
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_the_command_exports_and_refuses(project: Project, tmp_path: Path):
    """The command reads the real canaries, writes, and ends with the right exit code."""
    home = project.settings.root
    assert len(read_watch(project.settings).sides) == 3
    out = str(tmp_path / "c.jsonl")
    done = heldout(home, "export", "chat", "--run", project.train[:8], "--out", out)
    assert (done.returncode, done.stdout) == (0, f"2 investigations written to {out}\n")
    again = heldout(home, "export", "chat", "--run", project.train[:8], "--out", out)
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    closed = heldout(home, "export", "rl", "--run", project.test, "--out", f"{out}.2")
    assert closed.returncode == 1
    assert "held-out half" in closed.stderr
    assert not Path(f"{out}.2").exists()
