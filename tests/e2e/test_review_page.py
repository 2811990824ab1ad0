"""From a job to a decision on the served page: announced, opened, amended, accepted."""

from __future__ import annotations

import html
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.conftest import heldout
from tests.review.test_announcing import Hook
from tests.review.test_web import Address, form_of, send_form

from heldout.brain import load_brain


def serve(project: Path, *words: str) -> tuple[subprocess.Popen[str], Address]:
    """Start the page as a user would, and read its address off the terminal."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "heldout.cli.main", "review", "--serve", *words],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.match(r"Open (http://127\.0\.0\.1:\d+/\S+)", said)
    assert found is not None, said
    return process, Address(found.group(1))


@pytest.mark.slow
def test_a_job_is_announced_served_amended_and_accepted(project: Path) -> None:
    """The webhook hears of it, the page amends it (gated, measured anew) and accepts the result."""
    with Hook() as hook:
        tuned = heldout(project, "tune", "--repeats", "1", "--target", "base", "--quiet",
                        HELDOUT_WEBHOOK_URL=hook.url).stdout  # fmt: skip
    found = re.search(r"heldout review (p-\w+)", tuned)
    assert found, tuned
    old = found.group(1)
    assert [body["proposal"] for body in hook.bodies] == [old]
    before = load_brain(project / "brain").hash
    assert f"### Brain proposal `{old}`" in heldout(project, "review", old, "--comment").stdout
    process, address = serve(project, old[:6], "--name", "kim")
    try:
        page = address.get(f"/{old}/amend")
        form = form_of(page)
        shown = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
        assert shown is not None
        more = "- Say in one sentence how the change explains the failure.\n"
        text = html.unescape(shown.group(1)) + more
        assert send_form(address, f"/{old}/amendment", {**form, "text": text}).status == 303
        until = time.monotonic() + 300
        while "http-equiv" in (page := address.get(f"/{old}/amendment")).text:
            assert time.monotonic() < until
            time.sleep(1)
        made = re.search(r"into (p-\w+)", page.text)
        assert made, page.text
        new = made.group(1)
        assert "Decided: amend by kim" in address.get(f"/{old}").text
        assert load_brain(project / "brain").hash == before
        form = {**form_of(address.get(f"/{new}")), "action": "accept"}
        assert send_form(address, f"/{new}/decision", form).answer == f"Accepted {new}"
        assert "Say in one sentence" in (project / "brain" / "method.md").read_text()
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
