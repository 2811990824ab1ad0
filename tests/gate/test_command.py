"""``heldout check``: exit codes, forms, and bad input that is refused with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from click.testing import Result
from tests.gate.conftest import STORIES, add_story
from typer.testing import CliRunner

from heldout.brain import Brain, write_brain
from heldout.cli.main import app
from heldout.edit import diff
from heldout.errors import HeldoutError
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain

MakeBrain = Callable[..., Brain]


def check(settings: Settings, *words: object) -> Result:
    """Run the verb in this process; the gate is a child as ever."""
    asked = ["check", *map(str, words), "--project", str(settings.root)]
    return CliRunner().invoke(app, asked)


def code(done: Result) -> int:
    """The exit code that the command ends with."""
    return done.exception.exit_code if isinstance(done.exception, HeldoutError) else done.exit_code


@pytest.fixture
def home(own_project: Settings, make_brain: MakeBrain, method: str) -> Settings:
    """A project of one's own with a clean brain in use."""
    write_brain(make_brain(method), own_project.brain)
    return own_project


def test_a_clean_brain_ends_with_0_and_a_refused_one_with_3(home: Settings):
    """The brain in use, then the same with a name in it: as text, JSON and SARIF."""
    done = check(home)
    assert (done.exit_code, done.output.splitlines()[0][:11]) == (0, "gate passed")
    path = home.brain / "method.md"
    path.write_text(path.read_text() + "- Blame kestrovan.\n")
    line = len(path.read_text().splitlines())
    done = check(home)
    assert done.exit_code == 3
    assert f"method.md:{line}:9 incident-identifier: 'kestrovan' = kestrovan (T1" in done.output
    assert "in small/inc-7f3a90c1: entity.Service (noise)" in done.output
    done = check(home, "--json")
    report = json.loads(done.output)
    assert (done.exit_code, report["passed"]) == (3, False)
    source = {"incident": "small/inc-7f3a90c1", "field": "entity.ConfigMap", "role": "culprit"}
    assert report["findings"][0]["sources"][0] == source
    done = check(home, "--sarif")
    (run,) = json.loads(done.output)["runs"]
    assert (done.exit_code, run["invocations"][0]["exitCode"]) == (3, 3)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "brain/method.md"
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (line, 9)
    assert run["results"][0]["properties"]["sources"][0] == source


def damage_world(settings: Settings) -> tuple[object, ...]:
    """A table is cut short."""
    world = next(settings.worlds.iterdir())
    (world / "entity.parquet").write_bytes(b"PAR1")
    return ()


def lose_world(settings: Settings) -> tuple[object, ...]:
    """A world is not where it was."""
    next(settings.worlds.iterdir()).rename(settings.root / "elsewhere")
    return ()


def alter_spec(settings: Settings) -> tuple[object, ...]:
    """A spec names a world that nobody made."""
    path = next((settings.set_dir("small") / "specs").iterdir())
    text = path.read_text()
    digest = text.split('world_digest = "')[1][:8]
    path.write_text(text.replace(digest, "00000000"))
    return ()


def block_cache(settings: Settings) -> tuple[object, ...]:
    """The inventory has no place to stand."""
    (settings.state / "gate").mkdir(exist_ok=True)
    for path in (settings.state / "gate").glob("*.npz"):
        path.unlink()
    (settings.state / "gate").rename(settings.state / "away")
    (settings.state / "gate").write_text("")
    return ()


def not_utf8(settings: Settings) -> tuple[object, ...]:
    """A file of the brain is in another encoding."""
    (settings.brain / "method.md").write_bytes(b"\xff\xfe caf\xe9")
    return ()


def no_manifest(settings: Settings) -> tuple[object, ...]:
    """The brain has no manifest."""
    (settings.brain / "brain.toml").unlink()
    return ()


def other_base(settings: Settings) -> tuple[object, ...]:
    """A diff made for another brain."""
    one = Brain({"method.md": "# Other\n\n- One.\n"}, ("method.md",))
    patch = settings.root / "edit.patch"
    patch.write_text(diff(one, one.with_file("method.md", "# Other\n\n- Two.\n")))
    return (patch,)


def other_anchor(settings: Settings) -> tuple[object, ...]:
    """An edit made for another brain."""
    op = {"file": "method.md", "action": "insert_after", "anchor": "- One.", "text": "- Two."}
    patch = settings.root / "edit.json"
    patch.write_text(json.dumps({"ops": [op]}))
    return (patch,)


def binary_patch(settings: Settings) -> tuple[object, ...]:
    """A patch that is no text."""
    patch = settings.root / "edit.patch"
    patch.write_bytes(b"\xff\xfe\x00")
    return (patch,)


def lost_checker(settings: Settings) -> tuple[object, ...]:
    """A rule is gone."""
    (settings.checkers / "incident_values.py").unlink()
    return ()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (damage_world, "altered"), (lose_world, "cannot be read"), (alter_spec, "heldout build"),
        (block_cache, "could not be started"), (not_utf8, "UTF-8"), (no_manifest, "brain.toml"),
        (other_base, "does not fit"), (other_anchor, "found nowhere"), (binary_patch, "UTF-8"),
        (lost_checker, "incident_values"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_is_refused_with_the_reason(
    home: Settings, damage: Callable[[Settings], tuple[object, ...]], reason: str
):
    """Exit 1 and one sentence, also for a program that reads the answer."""
    words = damage(home)
    done = check(home, *words, "--json")
    assert code(done) == 1
    assert isinstance(done.exception, HeldoutError)
    assert reason in done.exception.sentence()
    said = json.loads(done.output)
    assert said["passed"] is False
    assert reason in " ".join(said["error"].values())


def test_a_failure_in_every_form_is_a_failure(home: Settings):
    """As text nothing but the sentence, as SARIF a run that was not successful."""
    not_utf8(home)
    assert check(home).output == ""
    (run,) = json.loads(check(home, "--sarif").output)["runs"]
    assert (run["invocations"][0]["executionSuccessful"], run["results"]) == (False, [])
    assert "UTF-8" in json.dumps(run["invocations"])


def test_a_line_of_ten_megabytes_in_a_file_is_refused(home: Settings):
    """It is named with its line and not printed."""
    path = home.brain / "method.md"
    path.write_text(path.read_text() + "- " + "x" * 10_000_000 + "\n")
    done = check(home)
    assert done.exit_code == 3
    assert "edit-size" in done.output
    assert len(done.output) < 2000


def test_the_reason_that_an_edit_gives_is_checked(home: Settings):
    """An edit's words about itself may hold no name either."""
    ops = [{"file": "method.md", "action": "append", "text": "- Look further back."}]
    patch = home.root / "edit.json"
    patch.write_text(json.dumps({"ops": ops, "reason": "It helps in general."}))
    assert check(home, patch).exit_code == 0
    patch.write_text(json.dumps({"ops": ops, "reason": "It helps with kestrovan-ledger."}))
    done = check(home, patch)
    assert done.exit_code == 3
    assert "(rationale):1:" in done.output


@pytest.mark.parametrize(
    "words",
    [("--json", "--sarif"), ("--sarif", "--stored"), ("--stored", "brain"), ("nonesuch.patch",)],
)
def test_words_that_do_not_fit_end_with_2(home: Settings, words: tuple[str, ...]):
    """Forms and targets exclude each other; a file that is not there is named."""
    assert code(check(home, *words)) == 2


def test_a_new_incident_reaches_what_was_proposed_before(
    home: Settings, make_brain: MakeBrain, method: str
):
    """Stored proposals are checked again: one names what an incident brought in later."""
    before = make_brain(method)
    texts = {"a": "- Look at quellmarch first.\n", "b": "- Look further back.\n"}
    with Ledger.open(home.ledger) as ledger:
        remember_brain(ledger, before)
        for name, text in texts.items():
            after = before.with_file("method.md", method + text)
            remember_brain(ledger, after)
            row: dict[str, Any] = {
                "proposal": f"p-{name}", "before_hash": before.hash, "after_hash": after.hash,
                "diff": "", "diff_hash": "",
            }  # fmt: skip
            ledger.append("proposals", [row])
        ledger.flush()
    done = check(home, "--stored")
    assert (done.exit_code, done.output.count("clean")) == (0, 2)
    story = replace(STORIES[0], id="inc-0ddba11e", services=("quellmarch-index",))
    add_story(home, story, 4)
    done = check(home, "--stored")
    assert done.exit_code == 3
    assert done.output.index("proposal p-b") < done.output.index("proposal p-a")
    assert "quellmarch" in done.output
    found = json.loads(check(home, "--stored", "--json").output)
    assert {one["proposal"]: one["report"]["passed"] for one in found} == {
        "p-a": False, "p-b": True,
    }  # fmt: skip
