"""Signed exceptions: a name may be said until a day, by whom, and everything else stays refused."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heldout.brain import Brain
from heldout.cli.main import app
from heldout.errors import ConfigError, HeldoutError, UsageError
from heldout.gate.engine import Engine
from heldout.gate.exceptions import FILE, SIGNERS, Allowance, read_exceptions, sign_into
from heldout.gate.report import GateReport, render
from heldout.settings import Settings

pytestmark = [
    pytest.mark.usefixtures("as_gate"),
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen"),
]
TODAY = datetime.date(2026, 3, 1)
LATER = datetime.date(2026, 6, 1)
OWNER = "ops@team.example"
LINE = "- Look at the `control-plane` pods and at kestrovan first."


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key without a passphrase."""
    path = tmp_path_factory.mktemp("keys") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


@pytest.fixture
def signers(own_project: Settings, key: Path) -> Settings:
    """A project in which the owner of the key may sign."""
    kind, public, *_ = key.with_suffix(".pub").read_text().split()
    (own_project.checkers / SIGNERS).write_text(f"{OWNER} {kind} {public}\n")
    return own_project


def allowed(settings: Settings, key: Path, **other: Any) -> Path:
    """Sign one term into the project."""
    given = {"term": "control-plane", "reason": "word of the trade", "owner": OWNER} | other
    one = Allowance(**{"expires": LATER} | given)
    return sign_into(settings.checkers, one, key, TODAY)


def check(settings: Settings, text: str = LINE, day: datetime.date = TODAY) -> GateReport:
    """What the gate says of one added line on a day."""
    engine = Engine(settings, today=lambda: day)
    before = Brain({"method.md": "# Method\n"}, ("method.md",))
    return engine.check(before, before.with_file("method.md", f"# Method\n\n{text}\n"))


def refused(report: GateReport) -> set[str]:
    """The identifiers that were refused."""
    return {finding.identifier for finding in report.rejects}


def test_a_signed_name_becomes_a_remark_and_is_counted(signers: Settings, key: Path):
    """The allowed name no longer rejects; its neighbour does; the report says who answers for it."""
    assert refused(check(signers)) == {"control-plane", "kestrovan"}
    allowed(signers, key)
    report = check(signers)
    assert refused(report) == {"kestrovan"}
    assert (report.exceptions, report.excused, report.ignored) == (1, 1, ())
    (remark,) = [f for f in report.findings if f.identifier == "control-plane"]
    assert remark.severity == "info"
    assert remark.hint == f"Allowed until 2026-06-01 by {OWNER}: word of the trade"
    assert "1 exception(s) in force, 1 finding(s) let by" in render(report)


def test_an_exception_changes_the_hash_of_the_checkers(signers: Settings, key: Path):
    """What was let through can be seen from the hashes of a report alone."""
    before = check(signers).checkers_hash
    allowed(signers, key)
    assert check(signers).checkers_hash != before


def test_a_warm_engine_sees_a_new_exception(signers: Settings, key: Path):
    """The list is read again when it changes."""
    engine = Engine(signers, today=lambda: TODAY)
    brain = Brain({"method.md": "- The `control-plane` pods.\n"}, ("method.md",))
    assert not engine.check(None, brain).passed
    allowed(signers, key)
    assert engine.check(None, brain).passed


@pytest.mark.parametrize(
    ("day", "why"),
    [
        (datetime.date(2026, 6, 2), "'control-plane' expired on 2026-06-01"),
        (datetime.date(2025, 1, 1), "'control-plane' ends later than a year from now"),
    ],
)
def test_an_exception_ends(signers: Settings, key: Path, day: datetime.date, why: str):
    """After its last day, or too far before it, the name is refused and the report says why."""
    allowed(signers, key)
    assert check(signers, day=LATER).exceptions == 1
    report = check(signers, day=day)
    assert "control-plane" in refused(report)
    assert (report.exceptions, report.ignored) == (0, (why,))
    assert f"exception ignored: {why}" in render(report)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('term = "control-plane"', 'term = "kestrovan"'),
        ("2026-06-01", "2026-09-01"),
        ("word of the trade", "word of a trade"),
        (f'owner = "{OWNER}"', 'owner = "chief@team.example"'),
        ("-----BEGIN SSH SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----\nAAAA"),
        ('term = "control-plane"', 'term = "control-plane"\nrule = "shape"'),
        ('reason = "word of the trade"', ""),
        ("[[allow]]", "[allow"),
        ("[[allow]]", "[allow]"),
    ],
)
def test_whatever_was_altered_does_not_count(signers: Settings, key: Path, old: str, new: str):
    """Term, end, reason, owner and signature belong together; a broken file allows nothing."""
    path = allowed(signers, key)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    report = check(signers)
    assert refused(report) == {"control-plane", "kestrovan"}
    assert report.exceptions == 0
    assert len(report.ignored) == 1


def test_a_key_that_may_not_sign_does_not_count(signers: Settings, key: Path, tmp_path: Path):
    """A signature of a stranger, or no list of signers, allows nothing."""
    allowed(signers, key)
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    with pytest.raises(ConfigError, match="no good signature"):
        allowed(signers, other, term="harbor-lantern")
    kind, public, *_ = other.with_suffix(".pub").read_text().split()
    (signers.checkers / SIGNERS).write_text(f"{OWNER} {kind} {public}\n")
    assert read_exceptions(signers.checkers).ignored == (
        f"'control-plane': no good signature of '{OWNER}'",
    )
    (signers.checkers / SIGNERS).unlink()
    assert "there is no allowed_signers" in check(signers).ignored[0]


def test_without_ssh_keygen_nothing_is_allowed(
    signers: Settings, key: Path, monkeypatch: pytest.MonkeyPatch
):
    """A signature that cannot be verified does not count."""
    allowed(signers, key)
    monkeypatch.setenv("PATH", "/nonexistent")
    report = check(signers)
    assert report.exceptions == 0
    assert "ssh-keygen" in report.ignored[0]


@pytest.mark.parametrize(
    ("term", "line", "rule"),
    [
        ("913MiB", "- Expect 913 MiB there.", "incident-value"),
        ("10.42.7.19", "- Look at 10.42.7.19 first.", "shape"),
        ("c-01aa0001", "- Look at c-01aa0001 first.", "shape"),
        ("truth phrase", "- Requests queued behind stale leases at night.", "incident-phrase"),
        ("canary-truth-inc-7f3a90c1-1b9c", "- See canary-truth-inc-7f3a90c1-1b9c.",
         "incident-identifier"),
    ],
)  # fmt: skip
def test_only_names_can_be_excused(signers: Settings, key: Path, term: str, line: str, rule: str):
    """Values, shapes, sentences and canaries are refused whatever is signed."""
    allowed(signers, key, term=term)
    report = check(signers, line)
    assert rule in {finding.rule for finding in report.rejects}
    assert (report.exceptions, report.excused) == (1, 0)


def test_an_excused_name_of_the_held_out_half_stays_redacted(signers: Settings, key: Path):
    """The remark about it names no incident, and the job is not ended for it."""
    allowed(signers, key, term="Cactus Violin")
    report = check(signers, "- Look at `cactus-violin` first.")
    assert (report.passed, report.test_side_only, report.excused) == (True, False, 1)
    assert {finding.identifier for finding in report.findings} == {""}


def test_the_command_signs_and_names_what_does_not_fit(signers: Settings, key: Path):
    """``heldout allow`` appends a signed entry; an end in the past or a wrong key is one sentence."""

    def run(*words: str) -> Any:
        asked = ["allow", "control-plane", "--reason", "word of the trade", "--owner", OWNER]
        return CliRunner().invoke(app, [*asked, "--project", str(signers.root), *words])

    far = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=20)
    done = run("--until", far.isoformat(), "--key", str(key))
    assert done.exit_code == 0, done.output
    assert str(signers.checkers / FILE) in done.output
    assert list(read_exceptions(signers.checkers).signed) == ["controlplane"]
    before = (signers.checkers / FILE).read_text()
    late = run("--until", "2020-01-01", "--key", str(key))
    assert isinstance(late.exception, UsageError)
    wrong = run("--until", far.isoformat(), "--key", str(signers.root / "heldout.toml"))
    assert isinstance(wrong.exception, HeldoutError)
    assert "could not be signed" in wrong.exception.what
    assert (signers.checkers / FILE).read_text() == before
