"""``heldout canary``: the same incidents with the same brain, to see what a provider changed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import ComparisonFailed
from heldout.pipeline.progress import SILENT, Say, progress_words, shown
from heldout.settings import Settings, load_settings
from heldout.terminal import visible

if TYPE_CHECKING:
    from heldout.drift import Canary


@dataclass(frozen=True, slots=True)
class Watching:
    """What ``heldout canary`` was asked for; empty means heldout.toml's."""

    model: str = ""
    set: str = ""
    base_url: str = ""
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """What a canary said, in words and in figures."""

    text: str
    canary: Canary

    def markdown(self) -> str:
        """What it said, for a scheduler's page; names that a provider gave stand as code."""
        return "\n".join(f"    {line}" for line in visible(self.text, lines=True).splitlines())

    def facts(self) -> dict[str, str]:
        """How it ended, for notifications: nothing of any incident."""
        said = self.canary
        return {"run": said.run, "model": said.model, "word": said.word, "brain": said.brain[:12]}

    def require(self) -> None:
        """Raise :class:`ComparisonFailed` (exit 3) unless nothing has moved."""
        if self.canary.word in {"changed", "indecisive"}:
            raise ComparisonFailed(
                f"{self.canary.word}: {'; '.join(self.canary.alarms) or 'too little was valid'}",
                where=f"canary run {self.canary.run}",
                mend="Score anew before you compare with older figures; 'heldout canary --restart' "
                "takes the model as it is now",
            )


def watch_provider(settings: Settings, asked: Watching, say: Say = SILENT) -> Watched:
    """Play the canary once. Train incidents only: this process may not open the held-out half."""
    from heldout.split import declare_process

    declare_process("run")
    return asyncio.run(_watch(settings, asked, say))


async def _watch(settings: Settings, asked: Watching, say: Say) -> Watched:
    from heldout.build import cases
    from heldout.canaries import read_watch
    from heldout.drift import CanaryOptions, canary_text, run_canary
    from heldout.environments import open_environment
    from heldout.store import Ledger

    if asked.base_url:
        models = settings.models.model_copy(update={"base_url": asked.base_url})
        settings = replace(settings, models=models)
    train = cases(settings, asked.set or settings.set, "train", workers=2)
    strings = await asyncio.to_thread(read_watch, settings)
    with Ledger.open(settings.ledger) as ledger:
        said = await run_canary(
            settings,
            ledger,
            model=asked.model or settings.models.agent,
            cases=train,
            interface=open_environment(settings.agent.tools),
            options=CanaryOptions(
                restart=asked.restart,
                on_progress=lambda state: say(f"canary · {progress_words(state)}"),
                watch=strings,
            ),
        )
    return Watched(canary_text(said), said)


def canary_by_name(project: str, model: str) -> Watched:
    """Play the canary with plain parameters, for a flow."""
    settings = load_settings(Path(project) if project else None)
    return watch_provider(settings, Watching(model=model), shown())
