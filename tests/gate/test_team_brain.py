"""A team's own brain: what was there is counted apart, frozen files are exempt, new names refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.gate.conftest import write_project
from tests.gate.team_brain import lines
from tests.simulate.small import small_spec

import heldout.gate.engine as engine_module
import heldout.split as split_module
from heldout.brain import Brain
from heldout.gate.engine import Engine
from heldout.graph import write_world
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.split import Split, write_split
from heldout.truth import write_spec, write_truth

NAMED = 60


def with_world(settings: Settings) -> list[str]:
    """Put one generated incident into the train half; return the names of its services."""
    spec = small_spec(knobs={"scale": 1.2, "events": 400, "log_lines": 1500})
    made = generate(spec)
    digest = write_world(made.tables, settings.worlds / "new")
    (settings.worlds / "new").rename(settings.worlds / digest)
    truth = write_truth(made.truth, settings.truths / "new.json")
    (settings.truths / "new.json").rename(settings.truths / f"{truth}.json")
    folder = settings.datasets / "team"
    write_spec(
        replace(spec, world_digest=digest, truth_digest=truth), folder / "specs" / f"{spec.id}.toml"
    )
    (folder / "alerts").mkdir()
    (folder / "alerts" / f"{spec.id}.md").write_text(made.alert, encoding="utf-8")
    write_split(Split("team", (spec.id,), ()), folder)
    columns = made.tables.columns["entity"]
    kinds = zip(columns["kind"], columns["name"], strict=True)
    return sorted(name for kind, name in kinds if kind == "Service")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, list[str]]:
    """An engine that knows a generated world, and the names of the world's services."""
    settings = write_project(tmp_path_factory.mktemp("team") / "project")
    services = with_world(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_module, "_role", "gate")
        return Engine(settings), services


def brain_of(services: list[str], frozen: bool = False) -> Brain:
    """The team's brain as ``site.md`` and a small method beside it."""
    files = {
        "site.md": "\n".join(lines(services[:NAMED])) + "\n",
        "method.md": "# Method\n\n- Look further back than the onset.\n",
    }
    return Brain(files, tuple(files), frozen=("site.md",) if frozen else ())


def added(brain: Brain, file: str, line: str) -> Brain:
    """The brain with one more line in a file."""
    return brain.with_file(file, brain.files[file] + line + "\n")


def test_the_fixture_is_what_it_says(team: tuple[Engine, list[str]]):
    """Four hundred lines that name sixty services, each of which the gate knows and refuses."""
    engine, services = team
    brain = brain_of(services)
    text = brain.files["site.md"]
    assert len(text.splitlines()) == 400
    assert len(services) > NAMED + 2
    assert all(text.count(name) >= 3 for name in services[:NAMED])
    refused = {finding.identifier for finding in engine.check(None, brain).rejects}
    assert len(refused & set(services[:NAMED])) >= 0.9 * NAMED


def test_what_was_there_does_not_reject(team: tuple[Engine, list[str]]):
    """A clean edit passes, whether beside the names or among them; they are counted apart."""
    engine, services = team
    brain = brain_of(services)
    for file in ("site.md", "method.md"):
        report = engine.check(brain, added(brain, file, "- Ask who was woken up by it."))
        assert (report.passed, report.rejects) == (True, ())
        assert report.preexisting > 200
    moved = brain.files["site.md"].splitlines()
    moved.insert(40, "- Ask who was woken up by it.")
    assert engine.check(brain, brain.with_file("site.md", "\n".join(moved))).passed


def test_a_new_name_is_refused(team: tuple[Engine, list[str]]):
    """One more service of the same world, or a known one in a new line, is named and refused."""
    engine, services = team
    brain = brain_of(services)
    for name in (services[NAMED + 1], services[0]):
        for file in ("site.md", "method.md"):
            report = engine.check(brain, added(brain, file, f"- Ask the owners of `{name}`."))
            assert {(f.identifier, f.file) for f in report.rejects} == {(name, file)}
            assert report.rejects[0].line == len(brain.files[file].splitlines()) + 1


def test_a_frozen_file_is_exempt(team: tuple[Engine, list[str]]):
    """Its names are not read at all; the method beside it is; its text may not change."""
    engine, services = team
    brain = brain_of(services, frozen=True)
    report = engine.check(None, brain)
    assert (report.passed, report.preexisting, report.findings) == (True, 0, ())
    new = services[NAMED + 1]
    assert not engine.check(brain, added(brain, "method.md", f"- Ask `{new}` first.")).passed
    assert not engine.check(brain, added(brain, "site.md", f"- Ask `{new}` first.")).passed
    thawed = replace(brain, frozen=())
    assert not engine.check(brain, thawed).passed


def test_the_base_is_read_once(team: tuple[Engine, list[str]], monkeypatch: pytest.MonkeyPatch):
    """Over many edits of one base only what comes after is read again; another base is read anew."""
    engine, services = team
    bases: list[str] = []
    run = engine_module.run_checker

    def count(stem: str, checker: Any, context: Any) -> Any:
        if context.base is None and stem == "incident_identifiers":
            bases.append(context.brain.hash)
        return run(stem, checker, context)

    monkeypatch.setattr(engine_module, "run_checker", count)
    engine.forget()
    brain = brain_of(services)
    for number in range(3):
        assert engine.check(brain, added(brain, "method.md", f"- {'So ' * number}Look on.")).passed
    assert bases == [brain.hash]
    other = added(brain, "method.md", "- Look elsewhere as well.")
    assert engine.check(other, added(other, "method.md", "- Look on.")).passed
    assert bases == [brain.hash, other.hash]
