"""One tuning job: its typed parameters, and what each stage leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heldout.environments import playing_in
from heldout.errors import UsageError
from heldout.settings import Settings, load_settings


class Job(BaseModel):
    """Parameters of one tuning job, typed so that a scheduler can check them on submission."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    project: str = Field(default="", description="Project folder; default: found upwards from here")
    model: str = Field(
        default="", description="provider/name@effort; default: heldout.toml's agent"
    )
    proposer: str = Field(default="", description="Model that reads failures and proposes edits")
    base_url: str = Field(default="", description="OpenAI-compatible endpoint of the model")
    set: str = Field(default="", description="Set of incidents; default: heldout.toml's")
    interface: Literal["", "repair"] = Field(
        default="", description="repair: tune on code that is mended, its set included"
    )
    review: Literal["wait", "auto", "form"] = Field(
        default="wait",
        description="wait for a person, accept by policy and score, or start the review flow",
    )
    target: Literal["overlay", "base"] = Field(
        default="overlay", description="write to this model's overlay, or to the shared brain"
    )
    repeats: int | None = Field(
        default=None, ge=1, le=25, description="investigations per incident"
    )
    concurrency: int | None = Field(default=None, ge=1, le=512, description="how many at once")
    rounds: int | None = Field(
        default=None, ge=1, le=100, description="rounds of proposals at most"
    )
    strategy: Literal["", "reflect", "lines", "blind", "gepa"] = Field(
        default="", description="how edits are proposed; default: heldout.toml's"
    )
    max_usd: float | None = Field(default=None, gt=0, description="USD of the whole job")
    max_tokens: int | None = Field(default=None, ge=1, description="tokens of the tuning part")
    max_seconds: float | None = Field(
        default=None, gt=0, description="wall seconds of the tuning part"
    )
    transfer: tuple[str, ...] = Field(
        default=(), description="further models to score with the same brain, when accepted"
    )
    workers: int = Field(default=2, ge=1, le=64, description="processes that build worlds")
    review_minutes: int = Field(
        default=1440,
        ge=1,
        le=10080,
        description="how long a form waits; afterwards 'heldout review' still decides",
    )
    again: bool = Field(default=False, description="tune even where nothing is new")

    @model_validator(mode="after")
    def _seen_by_all(self) -> Self:
        if self.transfer and self.target == "overlay":
            raise ValueError(
                "another model does not read this model's overlay; use target 'base' with it"
            )
        return self


class Tuned(BaseModel):
    """What the tuning stage left: a proposal, or why there is none."""

    job: str
    status: str
    proposal: str = ""
    before: str = ""
    after: str = ""
    accepted: bool = False
    confirmed: bool = False
    sentence: str = ""


class JobResult(BaseModel):
    """What one whole job left."""

    tuned: Tuned
    scores: tuple[str, ...] = ()
    report: str = ""
    text: str = ""
    """All of it, for a person at a terminal."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def waits(self) -> bool:
        """True while a proposal waits for somebody."""
        tuned = self.tuned
        return bool(tuned.proposal) and not tuned.accepted

    @property
    def word(self) -> str:
        """What somebody should be told, in one word: that a proposal waits, or how it ended."""
        return "waits" if self.waits else self.tuned.status


def settings_of(job: Job) -> Settings:
    """The project's settings with the job's own values in their place."""
    settings = load_settings(Path(job.project) if job.project else None)
    settings = playing_in(settings, job.interface)
    run: dict[str, Any] = {}
    if job.repeats:
        run["repeats"] = job.repeats
    if job.concurrency:
        run["concurrency"] = job.concurrency
    tune: dict[str, Any] = {}
    if job.rounds:
        tune["max_rounds"] = job.rounds
    if job.strategy:
        tune["strategy"] = job.strategy
    for cap in ("max_usd", "max_tokens", "max_seconds"):
        if (given := getattr(job, cap)) is not None:
            tune[cap] = given
    score = {"repeats": job.repeats} if job.repeats else {}
    models = {
        key: value
        for key, value in (
            ("agent", job.model),
            ("proposer", job.proposer),
            ("base_url", job.base_url),
        )
        if value
    }
    return replace(
        settings,
        set=job.set or settings.set,
        models=settings.models.model_copy(update=models),
        run=settings.run.model_copy(update=run),
        tune=settings.tune.model_copy(update=tune),
        score=settings.score.model_copy(update=score),
    )


def nothing_to_tune_on(settings: Settings) -> UsageError:
    """What is said of a set without train incidents, by a job and by its plan alike."""
    return UsageError(
        f"the set '{settings.set}' has no incident to tune on",
        where=str(settings.set_dir()),
        mend="Add incidents, or name another set with --set",
    )
