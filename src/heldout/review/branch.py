"""Put an accepted brain on a git branch of its own, leaving the working tree as it is."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from heldout.brain import Brain, write_brain
from heldout.errors import HeldoutError, UsageError


def commit_to_branch(project: Path, brain: Brain, branch: str, message: str) -> str:
    """Commit ``brain`` on a new branch from HEAD and return the commit's hash.

    A second working tree in a temporary folder is used, so that nothing of the user's is touched.
    """
    top = Path(_git(project, "rev-parse", "--show-toplevel"))
    _git(top, "check-ref-format", "--branch", branch)
    inside = project.resolve().relative_to(top.resolve())
    with tempfile.TemporaryDirectory(prefix="heldout-") as temporary:
        tree = Path(temporary) / "tree"
        _git(top, "worktree", "add", "--quiet", "-b", branch, str(tree), "HEAD")
        try:
            write_brain(brain, tree / inside / "brain")
            _git(tree, "add", "--", str(inside / "brain"))
            _git(tree, "commit", "--quiet", "--message", message)
            return _git(tree, "rev-parse", "HEAD")
        except HeldoutError:
            _git(top, "worktree", "remove", "--force", str(tree))
            _git(top, "branch", "--quiet", "-D", branch)
            raise
        finally:
            if tree.exists():
                _git(top, "worktree", "remove", "--force", str(tree))


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            "git could not be run", mend="Install git, or leave --branch out"
        ) from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["unknown reason"])[-1]
        raise UsageError(
            f"git {words[0]} failed ({reason[:200]})",
            where=str(folder),
            mend="Mend that, or leave --branch out",
        )
    return done.stdout.strip()
