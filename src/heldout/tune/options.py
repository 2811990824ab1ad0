"""What one tuning job was asked for; stored with the job, so that it can be resumed as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from heldout.behaviour import ProbeOptions
from heldout.run.plan import Limits
from heldout.settings import Settings
from heldout.tune.acceptance import Rule, RuleName, confirmation, rule

Target = Literal["overlay", "base"]


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """Settings of one job. ``target``: where edits go, the model's overlay or the base files.

    Caps are of the whole job; ``None`` is no cap. ``max_screen`` is how many investigations a
    candidate may cost on its target, and twice that on what passed, before "indecisive" becomes
    "rejected"; with the acceptance rule ``looks`` it is that many looks instead. ``cluster_tries``:
    how many fruitless rounds a cluster gets. ``clusters``: how many a round may answer with one
    edit. ``max_metric_calls``: investigations that a strategy
    which searches may spend on its search, beside what accepting its result costs.
    """

    job: str = ""
    target: Target = "overlay"
    strategy: str = "reflect"
    recall: bool = True
    compress_above: int = 24
    repeats: int = 3
    seed: int = 1
    concurrency: int = 8
    max_invalid: float = 0.05
    base_url: str = ""
    max_rounds: int = 8
    candidates: int = 3
    clusters: int = 1
    batch: int = 6
    screen_repeats: int = 2
    acceptance: RuleName = "evidence"
    max_screen: int = 360
    looks: int = 3
    confirm_repeats: int = 2
    max_added_lines: int = 60
    max_edit_lines: int = 8
    cluster_tries: int = 2
    gate_tries: int = 3
    max_metric_calls: int = 400
    saturated_at: float = 1.0
    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    limits: Limits = field(default_factory=Limits)
    probes: ProbeOptions = field(default_factory=ProbeOptions)

    @classmethod
    def of(cls, settings: Settings, **changes: Any) -> TuneOptions:
        """The options that a project's settings give, with ``changes``."""
        run, tune, limits = settings.run, settings.tune, settings.limits
        options = cls(
            repeats=run.repeats,
            seed=run.seed,
            concurrency=run.concurrency,
            max_invalid=run.max_invalid,
            base_url=settings.models.base_url,
            max_rounds=tune.max_rounds,
            batch=tune.batch,
            screen_repeats=tune.screen_repeats,
            acceptance=tune.acceptance,
            max_screen=tune.max_screen,
            confirm_repeats=tune.confirm_repeats,
            max_added_lines=tune.max_added_lines,
            max_metric_calls=tune.max_metric_calls,
            saturated_at=tune.saturated_at,
            strategy=tune.strategy,
            recall=tune.recall,
            candidates=tune.candidates,
            clusters=tune.clusters,
            compress_above=tune.compress_above,
            max_usd=tune.max_usd,
            max_tokens=tune.max_tokens,
            max_seconds=tune.max_seconds,
            limits=Limits(limits.max_steps, limits.max_tokens, limits.max_seconds, limits.max_usd),
            probes=ProbeOptions.of(settings),
        )
        return replace(options, **changes)

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> TuneOptions:
        """The options of a stored job."""
        probes = ProbeOptions.from_plain(data.get("probes", {}))
        return cls(**{**data, "limits": Limits(**data["limits"]), "probes": probes})

    def rule(self) -> Rule:
        """How an edit is accepted."""
        return rule(
            self.acceptance,
            batch=self.batch,
            repeats=self.screen_repeats,
            looks=self.looks,
            most=self.max_screen,
        )

    def confirmation(self, targets: int, held: int) -> Rule:
        """How all that was accepted is measured again, with so many incidents of either kind."""
        return confirmation(targets, held, repeats=self.confirm_repeats, most=self.max_screen)

    def derived_seed(self, *parts: object) -> int:
        """A seed of its own for one step of the job."""
        text = "\0".join(str(part) for part in (self.seed, *parts))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
