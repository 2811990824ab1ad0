"""An amendment on its way: another process gates and measures it while the page waits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from heldout.brain import Brain
from heldout.edit import diff
from heldout.errors import UsageError
from heldout.review.decision import Proposed, Reviewer

State = Literal["running", "done", "failed"]


def editable_files(proposed: Proposed) -> dict[str, str]:
    """The files that the proposal changes, as it would leave them."""
    before = proposed.before.all_files()
    return {
        name: text
        for name, text in proposed.after.all_files().items()
        if text != before.get(name) and proposed.after.editable(name)
    }


def amended(proposed: Proposed, texts: Mapping[str, str]) -> Brain:
    """The proposed brain with other text in the files that it changes."""
    brain = proposed.after
    for name in editable_files(proposed):
        if name in texts:
            brain = brain.with_file(name, texts[name].replace("\r\n", "\n"))
    if brain.hash in {proposed.after.hash, proposed.before.hash}:
        raise UsageError(
            "the amendment leaves nothing new",
            where=proposed.row.proposal,
            mend="Change a line; to take all of it out, reject the proposal",
        )
    return brain


@dataclass(slots=True)
class Amendment:
    """One run of ``heldout review --amend``; the patch is kept until it has ended."""

    proposal: str
    _process: subprocess.Popen[str]
    _output: IO[str]
    _folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def start(cls, project: Path, proposed: Proposed, brain: Brain, who: Reviewer) -> Amendment:
        """Begin; it is measured on train again, which costs what a confirmation costs."""
        folder = tempfile.TemporaryDirectory(prefix="heldout-amend-")
        patch = Path(folder.name) / "amendment.patch"
        patch.write_text(diff(proposed.after, brain), encoding="utf-8")
        output = (Path(folder.name) / "said").open("w+", encoding="utf-8")
        words = [sys.executable, "-m", "heldout.cli.main", "review", proposed.row.proposal]
        words += [f"--amend={patch}", f"--name={who.name}", f"--reason={who.reason}"]
        process = subprocess.Popen(
            [*words, f"--project={project}"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return cls(proposed.row.proposal, process, output, folder)

    @property
    def state(self) -> State:
        """Whether it still runs, and how it ended."""
        code = self._process.poll()
        if code is None:
            return "running"
        return "failed" if code else "done"

    def said(self) -> list[str]:
        """What it printed so far, its last lines."""
        self._output.seek(0)
        return self._output.read().splitlines()[-12:]

    def stop(self) -> None:
        """End it if it runs, and throw its patch away."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._output.close()
        self._folder.cleanup()
