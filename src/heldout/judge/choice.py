"""Which judge a run has: the strict one, or models by name; its hash, and who may judge whom."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from heldout.errors import UsageError
from heldout.judge.llm import Client, Member
from heldout.judge.panel import Panel
from heldout.judge.questions import prompts_hash
from heldout.llm.names import ModelName
from heldout.settings import JudgeSettings, Wire

_EXACT = ("exact.py", "structure.py", "words.py")
_LLM = ("llm.py", "panel.py", "questions.py", "quoting.py", "structure.py", "words.py")


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """``exact``, or ``llm`` with the models that judge: one, or a panel of several."""

    by: Literal["exact", "llm"] = "exact"
    models: tuple[str, ...] = ()
    base_url: str = ""
    wire: Wire = "chat"

    @classmethod
    def of(cls, settings: JudgeSettings) -> JudgeChoice:
        """What the project's settings say."""
        return cls(settings.by, settings.models, settings.base_url, settings.wire)

    def words(self) -> str:
        """The judge in a few words."""
        return f"llm ({', '.join(self.models)})" if self.by == "llm" else "exact"


EXACT = JudgeChoice()


def judge_hash(choice: JudgeChoice = EXACT) -> str:
    """Hash over what judges: the code, and for models the prompts and their names.

    Part of a run's manifest, and what a calibration is bound to.
    """
    if choice.by == "exact":
        return _code_hash(_EXACT)
    text = json.dumps([_code_hash(_LLM), prompts_hash(), sorted(choice.models)])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _code_hash(names: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + Path(__file__).with_name(name).read_bytes() + b"\0")
    return digest.hexdigest()


def under_test(choice: JudgeChoice, agent: str) -> tuple[str, ...]:
    """The judging models that are the agent's own model, at whatever effort."""
    if choice.by == "exact":
        return ()
    return tuple(model for model in choice.models if _bare(model) == _bare(agent))


def require_judge(
    choice: JudgeChoice, agent: str = "", *, named: Sequence[str] | None = None
) -> None:
    """Refuse (:class:`UsageError`) judges that cannot be: none, simulated, twice the same, own.

    A model does not judge itself unless the project's settings name it as a judge (``named``;
    by default the choice is the settings' own): then it may, and every text says so.
    """
    if choice.by == "exact":
        return
    mend = "Name one or more in '[judge] models' of heldout.toml, not the model under test"
    if not choice.models:
        raise UsageError("no judging model is named", where="[judge] models", mend=mend)
    names = [_bare(model) for model in choice.models]
    if len(set(names)) < len(names):
        raise UsageError("a panel asks the same model twice", where="[judge] models", mend=mend)
    for model in choice.models:
        if ModelName.parse(model).is_simulated:
            raise UsageError(f"the simulated model '{model}' cannot judge", mend=mend)
    own = under_test(choice, agent) if agent else ()
    if own and named is not None and own[0] not in named:
        raise UsageError(f"'{own[0]}' would judge itself", mend=mend)


def open_judge(
    choice: JudgeChoice,
    *,
    concurrency: int = 8,
    around: Callable[[Client], Client] = lambda client: client,
    open_with: Callable[[str], Client] | None = None,
    prices: Path | None = None,
) -> Panel:
    """The panel of a choice; ``around`` wraps each client (to count what it spends).

    Judges have request slots of their own beside the agent's. A missing key is a ConfigError here,
    before anything is paid for.
    """

    def opened(model: str) -> Client:
        from heldout.llm import open_client  # The SDK behind it takes half a second to import.

        return open_client(
            model,
            base_url=choice.base_url,
            concurrency=concurrency,
            wire=choice.wire,
            role="judge",
            prices=prices,
        )

    make = open_with or opened
    return Panel([Member(model, around(make(model))) for model in choice.models])


def _bare(model: str) -> tuple[str, str]:
    name = ModelName.parse(model)
    return name.provider, name.name
