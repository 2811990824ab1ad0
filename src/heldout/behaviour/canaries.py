"""Canaries in a project: after every run, in proposers' prompts, and wherever text lies."""

from __future__ import annotations

from pathlib import Path

from heldout.brain import Brain
from heldout.canaries import Watch
from heldout.llm import ModelReply, ModelRequest
from heldout.settings import Settings
from heldout.signatures import Client
from heldout.store import Ledger
from heldout.store.contents import blobs_after, columns_of_text, last_blob


class RunWatch:
    """Looks through what a ledger gained since it was last asked: cheap enough for every run."""

    def __init__(self, watch: Watch, ledger: Ledger) -> None:
        self.watch = watch
        self._ledger = ledger
        self._seen = last_blob(ledger)

    def check(self, run: str) -> None:
        """Raise :class:`CanaryFound` if anything that a run left holds a canary."""
        newest = last_blob(self._ledger)
        for text in blobs_after(self._ledger, self._seen):
            self.watch.require_clean(text, f"run {run}")
        self._seen = newest


class WatchedClient:
    """A proposer's client whose prompts are looked at before they are sent."""

    def __init__(self, client: Client, watch: Watch) -> None:
        self._client = client
        self._watch = watch

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask, unless the prompt holds a canary."""
        for message in request.messages:
            self._watch.require_clean(str(message.get("content") or ""), "the proposer's prompt")
        reply: ModelReply = await self._client.complete(request)
        return reply


def search(settings: Settings, watch: Watch, ledger: Ledger | None, brain: Brain) -> list[str]:
    """Where canaries stand in a project: brain, ledger, landing files, journals, reports.

    A line per place; empty when all is clean.
    """
    found: dict[str, None] = {}

    def look(text: str, where: str) -> None:
        for side in watch.found(text):
            found.setdefault(f"{where}: a canary of the {side} half")

    for name, text in brain.all_files().items():
        look(f"{name}\n{text}", f"brain, {name}")
    if ledger is not None:
        for text in blobs_after(ledger, -1):
            look(text, "ledger, prompts and traces")
        for table, text in columns_of_text(ledger):
            look(text, f"ledger, table {table}")
    for folder in ("landing", "journal", "share", "reports"):
        for path in sorted((settings.state / folder).rglob("*")):
            if path.is_file():
                look(path.read_text(encoding="utf-8", errors="replace"), _shown(settings, path))
    return list(found)


def _shown(settings: Settings, path: Path) -> str:
    return str(path.relative_to(settings.root))
