"""The boundary to environments that we did not write: what breaks in one is invalid, not a fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heldout.errors import HeldoutError, WorldError
from heldout.interface import Interface, Session, Submission, ToolAnswer


class SandboxFailure(WorldError):
    """The environment broke inside a call (it did not answer with an error): invalid, not fail."""

    reason = "sandbox"


@contextmanager
def boundary(what: str) -> Iterator[None]:
    """Turn whatever an environment raises into :class:`SandboxFailure`; ours pass as they are."""
    try:
        yield
    except HeldoutError:
        raise
    except Exception as error:
        raise SandboxFailure(
            f"the environment broke in '{what}' ({type(error).__name__}: {str(error)[:200]})",
            mend="It counts as invalid; repair the environment and resume the run",
        ) from error


class GuardedSession:
    """A session whose unexpected failures are its environment's."""

    def __init__(self, interface: Interface, task_ref: str, seed: int) -> None:
        with boundary("open"):
            self._session: Session = interface.open(task_ref, seed)

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call."""
        with boundary(tool):
            return self._session.call(tool, args)

    def finish(self) -> Submission | None:
        """The submission made so far."""
        with boundary("finish"):
            return self._session.finish()

    def close(self) -> None:
        """Release what the session holds."""
        with boundary("close"):
            self._session.close()
