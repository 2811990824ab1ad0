"""A project's settings: ``heldout.toml`` and the folders beside it.

A project is found from the working directory upwards, or named with ``--project``.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import ConfigError, UsageError

FILE = "heldout.toml"
_SET_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


Wire = Literal["chat", "responses"]
Mode = Literal["tools", "json", "notebook"]
Reducer = Literal["majority", "mean", "all", "any"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Models(_Strict):
    """Which models play which role; names read ``provider/name@effort``."""

    agent: str = Field(default="sim/anchored@low", description="plays the agent")
    proposer: str = Field(default="sim/proposer", description="reads failures, proposes edits")
    base_url: str = Field(
        default="", description="endpoint of the agent's model; empty is the provider's own"
    )
    proposer_base_url: str = Field(default="", description="endpoint of the proposer's model")
    wire: Wire = Field(
        default="chat", description="how the agent's model is asked: Chat Completions or Responses"
    )
    proposer_wire: Wire = Field(default="chat", description="the same for the proposer's model")
    mode: Mode = Field(
        default="tools",
        description="how the agent's model calls tools: native calls, or one JSON step per turn "
        "as a chat or as a notebook that is written anew each turn",
    )
    notebook_tokens: int = Field(
        default=16_000,
        ge=1_000,
        description="tokens that a notebook may take; halved once where the window is smaller",
    )


class AgentSettings(_Strict):
    """What plays the agent where it is not our own loop, and which tools it is offered."""

    command: str = Field(
        default="", description="program that plays the agent; empty is heldout's own loop"
    )
    tools: str = Field(
        default="native",
        description="packs of tools by commas: native, core, kubectl, promql, git; or repair",
    )
    env: tuple[str, ...] = Field(
        default=(),
        description="environment variables that the program gets, its own API keys among them",
    )
    sregym: bool = Field(
        default=False, description="serve SREGym's endpoints to the program as well"
    )


class LimitSettings(_Strict):
    """Caps of one investigation. A limit ends it early; what it has is still judged."""

    max_steps: int = Field(default=30, ge=1, le=500, description="tool calls")
    max_tokens: int = Field(default=400_000, ge=1000, description="tokens, input and output")
    max_seconds: float = Field(default=600.0, gt=0, description="seconds of model and tools")
    max_usd: float | None = Field(default=None, gt=0, description="USD; none is no cap")


class RunSettings(_Strict):
    """How many investigations of an incident, and how many at once."""

    repeats: int = Field(default=3, ge=1, le=25, description="investigations per incident")
    concurrency: int = Field(default=8, ge=1, le=512, description="investigations at once")
    max_invalid: float = Field(
        default=0.05, ge=0, le=1, description="share of invalid ones that ends a run as an error"
    )
    seed: int = Field(default=1, ge=0, description="seed of a run")
    reducer: Reducer = Field(
        default="majority",
        description="what 'heldout run' calls solved; a score always takes the majority",
    )
    max_usd: float | None = Field(default=None, gt=0, description="USD of a run; none is no cap")
    max_tokens: int | None = Field(default=None, ge=1, description="tokens of a run")
    max_seconds: float | None = Field(default=None, gt=0, description="wall seconds of a run")


class JudgeSettings(_Strict):
    """Who says whether an answer is right."""

    by: Literal["exact", "llm"] = Field(
        default="exact", description="the strict judge, or models that answer the same questions"
    )
    models: tuple[str, ...] = Field(
        default=(), max_length=7, description="the judging models; several are a panel"
    )
    base_url: str = Field(default="", description="endpoint of the judging models")
    wire: Wire = Field(default="chat", description="how the judging models are asked")


class TuneSettings(_Strict):
    """Limits of one tuning job."""

    max_rounds: int = Field(default=8, ge=1, le=100, description="rounds of proposals")
    batch: int = Field(default=6, ge=1, description="incidents of one look at a candidate")
    screen_repeats: int = Field(default=2, ge=1, description="repeats of a further look")
    acceptance: Literal["evidence", "looks"] = Field(
        default="evidence", description="how an edit is accepted; docs/how-to/acceptance.md"
    )
    max_screen: int = Field(
        default=360,
        ge=12,
        description="investigations of one candidate on its target, twice that on what passed",
    )
    confirm_repeats: int = Field(default=2, ge=1, description="fresh repeats before a proposal")
    max_added_lines: int = Field(default=60, ge=1, description="lines that a job may add")
    strategy: Literal["reflect", "lines", "blind", "gepa"] = Field(
        default="reflect",
        description="how edits are proposed; lines asks a small model for sentences only, blind "
        "sees no failure, gepa searches",
    )
    max_metric_calls: int = Field(
        default=400, ge=1, description="investigations that the search of strategy gepa may spend"
    )
    candidates: int = Field(default=3, ge=1, le=12, description="drafts per cluster of failures")
    beside: str = Field(
        default="",
        description="set of another environment whose train half a change must not harm either; "
        "tuning on repair takes the project's own set, 'none' leaves it out",
    )
    clusters: int = Field(
        default=1, ge=1, le=6, description="clusters of failures that one edit may answer together"
    )
    recall: bool = Field(
        default=True, description="whether a job knows what earlier ones of its model refused"
    )
    compress_above: int = Field(
        default=24, ge=1, description="tuned lines above which a job tries to shorten them"
    )
    max_usd: float | None = Field(default=None, gt=0, description="USD of a job; none is no cap")
    max_tokens: int | None = Field(default=None, ge=1, description="tokens of a job")
    max_seconds: float | None = Field(default=None, gt=0, description="wall seconds of a job")
    saturated_at: float = Field(
        default=1.0, gt=0, le=1, description="share of train solved at which a job ends"
    )


class ScoreSettings(_Strict):
    """How the held-out half may be opened and what counts as harm."""

    repeats: int = Field(default=3, ge=1, le=25, description="investigations per incident and arm")
    looks: int = Field(
        default=5, ge=1, description="how often an incident may be scored for one model"
    )
    harm_margin: float = Field(
        default=0.10, gt=0, lt=1, description="share of controls that may break at most"
    )
    min_coverage: float = Field(
        default=0.90, gt=0, le=1, description="valid share below which a score is indecisive"
    )


class GateSettings(_Strict):
    """What a brain may grow to, and what looks at an edit beside the checkers."""

    max_brain_lines: int = Field(
        default=1_500, ge=1, description="lines that a brain may grow to by edits"
    )
    reviewer: str = Field(
        default="", description="model that reviews added lines after the checkers; empty is none"
    )
    reviewer_base_url: str = Field(default="", description="endpoint of the reviewer's model")
    objections: Literal["warn", "reject"] = Field(
        default="warn", description="what the reviewer's objections are worth"
    )


class BehaviourSettings(_Strict):
    """How a proposal is probed before a person sees it."""

    closed_book: bool = Field(
        default=True, description="ask the model with the alert alone, before and after each edit"
    )
    rename: int = Field(
        default=6, ge=0, le=50, description="train incidents rendered again with other names"
    )
    ablation: int = Field(
        default=6, ge=0, le=50, description="fixed incidents on which an edit's lines are dropped"
    )
    repeats: int = Field(default=2, ge=1, le=25, description="repeats of the alert-only probe")
    looks: int = Field(default=3, ge=1, le=6, description="looks of the alert-only probe")
    investigations: int = Field(
        default=100, ge=1, description="what rename and ablation may cost a proposal together"
    )


class ReviewSettings(_Strict):
    """How people are told that a proposal waits."""

    webhook: str = Field(
        default="HELDOUT_WEBHOOK_URL",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="environment variable that holds the address which is sent a message when a "
        "proposal waits; unset sends none",
    )


class MonthSettings(_Strict):
    """What all jobs, scores, runs and canaries may spend together in a calendar month (UTC)."""

    max_usd: float | None = Field(default=None, gt=0, description="USD; none is no cap")
    max_tokens: int | None = Field(default=None, ge=1, description="tokens, input and output")


class CanarySettings(_Strict):
    """How large the canary is that ``heldout canary`` plays again and again."""

    incidents: int = Field(
        default=10, ge=2, le=200, description="train incidents, fixed when a series begins"
    )
    repeats: int = Field(default=3, ge=1, le=25, description="investigations per incident")


class IntakeSettings(_Strict):
    """How new failures become incidents."""

    folder: str = Field(
        default="intake", description="folder that reports and corrected threads are dropped into"
    )
    model: str = Field(
        default="", description="model that reads them; empty is a form that a person fills"
    )
    base_url: str = Field(default="", description="endpoint of the reading model")
    variants: int = Field(default=3, ge=1, le=50, description="incidents that one report becomes")


class _File(_Strict):
    name: str = "heldout"
    set: str = "prod_hard"
    models: Models = Models()
    agent: AgentSettings = AgentSettings()
    limits: LimitSettings = LimitSettings()
    run: RunSettings = RunSettings()
    judge: JudgeSettings = JudgeSettings()
    tune: TuneSettings = TuneSettings()
    score: ScoreSettings = ScoreSettings()
    gate: GateSettings = GateSettings()
    behaviour: BehaviourSettings = BehaviourSettings()
    review: ReviewSettings = ReviewSettings()
    month: MonthSettings = MonthSettings()
    canary: CanarySettings = CanarySettings()
    intake: IntakeSettings = IntakeSettings()


NO_RESULT = frozenset({"month", "canary", "review", "intake"})
"""Tables that decide no result of a run, job or score: they may change under one that goes on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A project: its root folder and everything ``heldout.toml`` says."""

    root: Path
    name: str = "heldout"
    set: str = "prod_hard"
    models: Models = field(default_factory=Models)
    agent: AgentSettings = field(default_factory=AgentSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    run: RunSettings = field(default_factory=RunSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    tune: TuneSettings = field(default_factory=TuneSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    behaviour: BehaviourSettings = field(default_factory=BehaviourSettings)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    month: MonthSettings = field(default_factory=MonthSettings)
    canary: CanarySettings = field(default_factory=CanarySettings)
    intake: IntakeSettings = field(default_factory=IntakeSettings)

    @property
    def brain(self) -> Path:
        """The brain that is tuned."""
        return self.root / "brain"

    @property
    def checkers(self) -> Path:
        """The gate's rules."""
        return self.root / "checkers"

    @property
    def datasets(self) -> Path:
        """The sets of incidents."""
        return self.root / "datasets"

    @property
    def imported_sets(self) -> Path:
        """Sets that were imported: other people's material, never in version control."""
        return self.state / "sets"

    def set_folders(self) -> list[Path]:
        """The folder of every set, by name: one's own, then the imported ones."""
        own = [path for path in self.datasets.glob("*") if path.is_dir()]
        names = {path.name for path in own}
        imported = [
            path
            for path in self.imported_sets.glob("*")
            if path.is_dir() and path.name not in names
        ]
        return [*sorted(own), *sorted(imported)]

    @property
    def state(self) -> Path:
        """Everything made at run time; never in version control."""
        return self.root / ".heldout"

    @property
    def ledger(self) -> Path:
        """The DuckDB record of every run, verdict, edit and look."""
        return self.state / "ledger.duckdb"

    @property
    def worlds(self) -> Path:
        """Cache of frozen worlds, by digest."""
        return self.state / "worlds"

    @property
    def truths(self) -> Path:
        """Cache of truths, by digest; never opened by a tool process."""
        return self.state / "truths"

    @property
    def landing(self) -> Path:
        """Finished investigations on their way into the ledger."""
        return self.state / "landing"

    @property
    def reports(self) -> Path:
        """HTML reports."""
        return self.state / "reports"

    @property
    def prices(self) -> Path:
        """The project's own prices of models, where it has any."""
        return self.root / "prices.toml"

    def set_path(self, name: str) -> Path:
        """Where a set of this name belongs; a name that could lead elsewhere is a UsageError."""
        if not _SET_NAME.fullmatch(name):
            raise UsageError(
                f"'{name}' cannot name a set",
                mend="Use lower-case letters, digits, '-' and '_', a letter first",
            )
        own, imported = self.datasets / name, self.imported_sets / name
        return imported if imported.is_dir() and not own.is_dir() else own

    def set_dir(self, name: str | None = None) -> Path:
        """The folder of one set; a missing one is a :class:`ConfigError`."""
        path = self.set_path(name or self.set)
        if not path.is_dir():
            known = [folder.name for folder in self.set_folders()]
            raise ConfigError(
                f"there is no set '{path.name}'",
                where=str(self.datasets),
                mend=f"Known sets: {', '.join(known) or 'none'}",
            )
        return path

    def plain(self) -> dict[str, Any]:
        """The settings without paths, as stored in a run's manifest."""
        data = {k: v for k, v in asdict(self).items() if k != "root"}
        return {k: v.model_dump() if isinstance(v, BaseModel) else v for k, v in data.items()}

    def digest(self) -> str:
        """Hash over :meth:`plain` without the tables of :data:`NO_RESULT`."""
        decides = {name: one for name, one in self.plain().items() if name not in NO_RESULT}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def find_root(start: Path) -> Path:
    """The nearest folder at or above ``start`` that holds ``heldout.toml``."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return folder
    raise ConfigError(
        f"no {FILE} here or in any folder above",
        where=str(start),
        mend="Run inside a project, pass --project DIR, or make one with 'heldout init DIR'",
    )


def settings_from_plain(root: Path, data: Any) -> Settings:
    """The settings in :meth:`Settings.plain`'s data; other data is a pydantic ValidationError."""
    parsed = _File.model_validate(data)
    return Settings(root=root, **{name: getattr(parsed, name) for name in _File.model_fields})


def load_settings(project: Path | None = None) -> Settings:
    """Find and read the project's settings."""
    root = find_root(project or Path.cwd())
    path = root / FILE
    try:
        return settings_from_plain(root, tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"not TOML ({error})", where=str(path), mend="Correct the line"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(
            f"'{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=str(path),
            mend="docs/reference.md lists every key",
        ) from error
