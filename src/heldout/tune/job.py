"""The tuning job: baseline, failures, candidates, gate, screen, until train is saturated."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.behaviour import RunWatch, WatchedClient
from heldout.brain import Brain, load_brain
from heldout.canaries import Watch, read_watch
from heldout.errors import CanaryFound, CapReached, ConfigError, HeldoutError, UsageError
from heldout.interface import Interface
from heldout.propose import (
    Cluster,
    Recalled,
    Searching,
    cluster,
    companions,
    next_cluster,
    recall,
    strategy,
    unread,
)
from heldout.run.caps import Budget, Caps
from heldout.run.month import Month, open_month
from heldout.run.play import ClientFactory
from heldout.settings import Settings
from heldout.signatures import Client
from heldout.split import Case
from heldout.store import Ledger, remember_brain
from heldout.store import brain as stored_brain
from heldout.store.queries import JobRow, cost, jobs
from heldout.tune.compressing import compress
from heldout.tune.confirming import confirm, propose_brain
from heldout.tune.context import Context, Gate, HeldoutLeak, State
from heldout.tune.elsewhere import Elsewhere
from heldout.tune.log import Entry, JobLog
from heldout.tune.news import standing_of
from heldout.tune.options import TuneOptions
from heldout.tune.player import Player
from heldout.tune.probing import probe_accepted, withdraw
from heldout.tune.reading import measure, read_failures
from heldout.tune.results import OnEvent, Status, TuneResult
from heldout.tune.reviewing import reviewing
from heldout.tune.screening import screen
from heldout.tune.searching import require_strategy, search
from heldout.tune.together import draft_round

KIND = "tune"
FOR_CONFIRMATION = 0.3
"""Share of the job's caps that the rounds leave for the final measurement."""


@dataclass(frozen=True, slots=True)
class _Tools:
    """What a job works with beside its cases. ``proposer`` is a model's name, or a client."""

    gate: Gate
    interface: Interface
    proposer: str | Client
    client_factory: ClientFactory | None
    on_event: OnEvent | None
    watch: Watch | None
    elsewhere: Elsewhere | None = None


def new_job_id() -> str:
    """An id for a job that never ran."""
    return f"tune-{secrets.token_hex(4)}"


async def tune(
    settings: Settings,
    ledger: Ledger,
    *,
    model: str,
    proposer: str | Client,
    cases: Sequence[Case],
    gate: Gate,
    interface: Interface,
    options: TuneOptions | None = None,
    on_event: OnEvent | None = None,
    client_factory: ClientFactory | None = None,
    watch: Watch | None = None,
    elsewhere: Elsewhere | None = None,
) -> TuneResult:
    """Tune the brain for one model on train cases and leave a proposal in the ledger.

    The brain on disk is not touched. With the id of a job that the ledger knows
    (``options.job``) that job goes on, see :func:`resume_tune`. ``watch`` recognises canaries; by
    default it is read from the project's sets. What was accepted must harm nothing ``elsewhere``,
    in another environment's train cases. Raises what a provider or the store raises; the job
    is then marked ``interrupted`` and can be resumed.
    """
    options = options or TuneOptions.of(settings)
    tools = _Tools(gate, interface, proposer, client_factory, on_event, watch, elsewhere)
    if options.job and any(row.job == options.job for row in jobs(ledger, kind=KIND)):
        return await _resume(settings, ledger, options.job, tools, cases)
    if not options.job:
        options = replace(options, job=new_job_id())
    if any(case.side != "train" for case in cases) or not cases:
        raise UsageError("a job needs train-side cases, and only those", mend="Name another set")
    require_strategy(options, cases)
    base = load_brain(settings.brain)
    remember_brain(ledger, base)
    worked_on = _fingerprint(cases)
    recalled = recall(ledger, model, worked_on) if options.recall else Recalled()
    named = proposer if isinstance(proposer, str) else ""
    detail = {
        "options": options.plain(),
        "proposer": named,
        "pins": {"settings": settings.digest()},
        "cases": worked_on,
        "standing": standing_of(settings, options, named, tools.interface),
        "recalled": recalled.plain(),
    }
    ledger.append("jobs", [_job_row(options, model, cases, base, "started", detail)])
    await ledger.aflush()
    return await _sit(settings, ledger, model, tools, cases, options, base, detail)


async def resume_tune(
    settings: Settings,
    ledger: Ledger,
    job: str,
    *,
    cases: Sequence[Case],
    gate: Gate,
    interface: Interface,
    proposer: str | Client = "",
    on_event: OnEvent | None = None,
    client_factory: ClientFactory | None = None,
    watch: Watch | None = None,
) -> TuneResult:
    """Go on with a stored job: same settings, brain and steps; nothing finished is paid for again.

    ``job`` may be the beginning of its id; ``cases`` must be those that it began with, or it is a
    :class:`ConfigError`. A job that ended gives its result again and adds nothing. ``proposer``
    is needed only where the job began with a client of the caller's own.
    """
    tools = _Tools(gate, interface, proposer, client_factory, on_event, watch)
    return await _resume(settings, ledger, job, tools, cases)


async def _resume(
    settings: Settings, ledger: Ledger, job: str, tools: _Tools, cases: Sequence[Case]
) -> TuneResult:
    held = _first_row(ledger, job)
    detail = held.detail
    if detail["cases"] != _fingerprint(cases):
        raise ConfigError(
            "the train incidents are not those that the job began with",
            where=job,
            mend="Begin a new job",
        )
    options = TuneOptions.from_plain(detail["options"])
    base = stored_brain(ledger, str(held.before_hash))
    if isinstance(tools.proposer, str):
        tools = replace(tools, proposer=detail["proposer"] or tools.proposer)
    return await _sit(settings, ledger, str(held.model), tools, cases, options, base, detail)


def _first_row(ledger: Ledger, job: str) -> JobRow:
    """The row that a job began with."""
    rows = ledger.read(
        "SELECT * FROM jobs WHERE kind = ? AND starts_with(job, ?) AND status = 'started'",
        [KIND, job],
    )
    if len(rows) != 1 or not job:
        known = ", ".join(row.job for row in jobs(ledger, kind=KIND)[:8]) or "none"
        raise UsageError(f"'{job}' names no tuning job, or more than one", mend=f"Known: {known}")
    detail = json.loads(rows[0].pop("detail_json"))
    return JobRow(**rows[0], detail=detail)


def _fingerprint(cases: Sequence[Case]) -> list[list[str]]:
    """Which incidents, worlds and truths a job works on, in order of id."""
    return sorted([case.incident.id, case.incident.digest, case.truth_digest] for case in cases)


def _job_row(
    options: TuneOptions,
    model: str,
    cases: Sequence[Case],
    base: Brain,
    status: str,
    detail: Any,
) -> dict[str, Any]:
    return {
        "job": options.job,
        "kind": KIND,
        "status": status,
        "model": model,
        "set": cases[0].incident.set,
        "before_hash": base.hash,
        "detail_json": detail,
    }


async def _sit(
    settings: Settings,
    ledger: Ledger,
    model: str,
    tools: _Tools,
    cases: Sequence[Case],
    options: TuneOptions,
    base: Brain,
    detail: dict[str, Any],
) -> TuneResult:
    """One sitting of a job, from its first step; stored steps are walked through."""
    ordered = tuple(sorted(cases, key=lambda case: case.incident.id))
    watch = tools.watch
    if watch is None:
        watch = await asyncio.to_thread(read_watch, settings)
    log = JobLog(ledger, options.job)
    paid, spent = cost(ledger, job=options.job), log.spent()
    usd = None if paid.total_usd is None or spent.usd is None else paid.total_usd + spent.usd
    tokens = paid.total_tokens + spent.tokens
    month = open_month(settings, ledger)
    caps = _caps(options, 1.0 - FOR_CONFIRMATION)
    tell = tools.on_event
    player = Player(
        settings=settings,
        ledger=ledger,
        interface=tools.interface,
        model=model,
        set=ordered[0].incident.set,
        options=options,
        pins=detail["pins"],
        budget=Budget(caps, usd=usd, tokens=tokens, within=month),
        client_factory=tools.client_factory,
        on_event=tell,
        watch=RunWatch(watch, ledger),
    )
    client, opened = _client(settings, tools.proposer, options)
    client = WatchedClient(client, watch)
    job = Context(
        options, model, tools.interface.name, base, ordered, log, player, client, tools.gate, tell
    )
    try:
        async with reviewing(settings, watch) as reviewer:
            recalled = Recalled.from_plain(detail.get("recalled", {}))
            job = replace(job, reviewer=reviewer, elsewhere=tools.elsewhere)
            return await _Sitting(job, recalled).run()
    except HeldoutError as error:
        row = _job_row(options, model, cases, base, "interrupted", {"reason": error.sentence()})
        ledger.append("jobs", [row])
        raise
    finally:
        if opened is not None:
            await opened.aclose()


def _caps(options: TuneOptions, share: float) -> Caps:
    return Caps(
        max_usd=None if options.max_usd is None else options.max_usd * share,
        max_tokens=None if options.max_tokens is None else int(options.max_tokens * share),
        max_seconds=None if options.max_seconds is None else options.max_seconds * share,
    )


def _client(settings: Settings, proposer: str | Client, options: TuneOptions) -> tuple[Client, Any]:
    """The proposer's client, and the same again where it was opened here and must be closed."""
    if not isinstance(proposer, str):
        return proposer, None
    from heldout.llm import open_client

    opened = open_client(
        proposer,
        base_url=settings.models.proposer_base_url,
        concurrency=options.concurrency,
        wire=settings.models.proposer_wire,
        role="proposer",
        prices=settings.prices,
    )
    return opened, opened


class _Sitting:
    """Walks a job's steps. All state comes from stored rows, in a fixed order."""

    def __init__(self, job: Context, recalled: Recalled) -> None:
        self.job = job
        self.state = State(job.base, memory=list(recalled.memory), recalled=recalled)
        self.searched = 0
        self.began = time.monotonic()

    async def run(self) -> TuneResult:
        """The whole job; a cap or a leak ends it with a result."""
        self._keep(FOR_CONFIRMATION)
        try:
            status, reason = await self._rounds()
        except CapReached as error:
            status, reason = "budget", error.what
        except (HeldoutLeak, CanaryFound) as error:
            return self._end("aborted", str(error), "", {})
        if not self.state.accepted:
            return self._end(status, reason, "", {})
        try:
            self._full_budget()
            evidence, why = await self._evidence()
        except CapReached as error:
            why = f"{error.what}; the effect could not be measured again, so nothing is proposed"
            return self._end("budget", why, "", {})
        except CanaryFound as error:
            return self._end("aborted", str(error), "", {})
        if why:
            return self._end("nothing_new", f"{why}, so nothing is proposed", "", evidence)
        return self._end(status, reason, propose_brain(self.job, self.state, evidence), evidence)

    async def _evidence(self) -> tuple[dict[str, Any], str]:
        """Measure and probe what was accepted; returns the evidence and why it may not be shown.

        What a probe decides against is taken out, and the rest is measured anew without it.
        """
        job, state = self.job, self.state
        while True:
            entry = Entry(f"confirmed/{state.brain.hash[:12]}", "confirmed", round=state.round)
            evidence = await job.log.once(entry, lambda: confirm(job, state))
            job.tell("confirmed", _confirmation(evidence), evidence)
            if not evidence["confirmed"]:
                shown = evidence.get("why", "")
                return evidence, f"fresh repeats on train do not show the effect ({shown})"
            plain = await probe_accepted(job, state, evidence)
            evidence["behaviour"] = plain
            if not withdraw(job, state, plain):
                return evidence, "; ".join(plain["failures"])
            if not state.accepted:
                return evidence, "; ".join(plain["failures"])

    async def _rounds(self) -> tuple[Status, str]:
        job, state, options = self.job, self.state, self.job.options
        method = strategy(options.strategy)
        await measure(job, state, job.cases, 0)
        state.passed = tuple(sorted(one for one, solved in state.solved.items() if solved))
        while True:
            if self._solved_share() >= options.saturated_at:
                return "saturated", "every train incident is solved" if state.round else (
                    "there is no failure on train to learn from"
                )
            if state.round >= options.max_rounds:
                return "budget", f"{options.max_rounds} rounds are used up"
            if state.lines_left(options) < 1:
                return "budget", f"{options.max_added_lines} added lines are used up"
            job.player.checkpoint()
            if isinstance(method, Searching):
                ended = await self._search(method)
                if ended:
                    return ended
                continue
            reads = method.reads_failures
            if reads:
                clusters = cluster(await read_failures(job, state))
            else:
                seed = options.derived_seed("unread", state.round)
                clusters = unread(sorted(state.failing), seed)
            chosen = next_cluster(
                clusters,
                answered=state.answered,
                tried=state.tried,
                max_tries=options.cluster_tries if reads else options.max_rounds,
            )
            if chosen is None:
                return "nothing_new", "no candidate helped with any cluster of failures"
            state.round += 1
            most = options.clusters - 1
            beside = companions(
                clusters, chosen, answered=state.answered, tried=state.tried, most=most
            )
            await self._round(chosen, beside)

    async def _round(self, chosen: Cluster, beside: Sequence[Cluster]) -> None:
        job, state = self.job, self.state
        size = len(chosen.failures)
        job.tell("cluster", f"round {state.round}: {chosen.key}, {size} failures", chosen)
        drafted = await draft_round(job, state, chosen, beside)
        found = drafted.candidates
        best = await screen(job, state, drafted.target, found) if found else None
        if best is None:
            state.tried[chosen.key] = state.tried.get(chosen.key, 0) + 1
            return
        state.answered.update(drafted.answered(best.edit))
        state.tried.clear()
        await self._go_on_with(best.brain)

    async def _search(self, method: Searching) -> tuple[Status, str] | None:
        """One round of a strategy that searches; how the job ends where it is the last."""
        job, state, most = self.job, self.state, self.job.options.max_metric_calls
        left = most - self.searched
        if left < method.least(len(job.cases)):
            return "budget", f"{left} of {most} investigations of the search buy no proposal"
        state.round += 1
        job.tell("search", f"round {state.round}: {method.name}, at most {left} investigations")
        outcome = await search(job, state, method, left)
        self.searched += outcome.played
        if outcome.accepted is None:
            return "nothing_new", outcome.reason
        await self._go_on_with(outcome.accepted.brain)
        return None

    async def _go_on_with(self, brain: Brain) -> None:
        """Take an accepted brain as the present one, and see what it leaves unsolved."""
        job, state = self.job, self.state
        state.brain = brain
        state.stale.clear()
        unsolved = [case for case in job.cases if not state.solved.get(case.incident.id)]
        await measure(job, state, unsolved, state.round)
        await compress(job, state)

    def _solved_share(self) -> float:
        solved = list(self.state.solved.values())
        counted = [one for one in solved if one is not None]
        return sum(counted) / len(counted) if counted else 0.0

    def _keep(self, share: float) -> None:
        """Hold back a share of what the month still allows, as of the job's own caps."""
        month = self.job.player.budget.within
        if isinstance(month, Month):
            month.keep(share)

    def _full_budget(self) -> None:
        """Open the caps' last share for the final measurement."""
        old, options = self.job.player.budget, self.job.options
        seconds = options.max_seconds
        left = None if seconds is None else max(0.0, seconds - (time.monotonic() - self.began))
        caps = replace(_caps(options, 1.0), max_seconds=left)
        self._keep(0.0)
        self.job.player.budget = Budget(caps, usd=old.usd, tokens=old.tokens, within=old.within)

    def _end(self, status: Status, reason: str, proposal: str, evidence: Any) -> TuneResult:
        job, state = self.job, self.state
        ledger, options = job.player.ledger, job.options
        paid, spent = cost(ledger, job=options.job), job.log.spent()
        usd = None if paid.total_usd is None or spent.usd is None else paid.total_usd + spent.usd
        solved = [one for one in state.solved.values() if one is not None]
        result = TuneResult(
            job=options.job,
            status=status,
            reason=reason,
            proposal=proposal,
            before=job.base,
            after=state.brain if proposal else job.base,
            accepted=tuple(state.accepted),
            rejected=dict(sorted(state.refused.items())),
            rounds=state.round,
            train=(sum(solved), len(job.cases)),
            investigations=paid.investigations,
            tokens=paid.total_tokens + spent.tokens,
            usd=usd,
            seconds=time.monotonic() - self.began,
            evidence=evidence,
        )
        self._remember_end(result)
        job.tell("done", f"{status}: {reason}", result)
        return result

    def _remember_end(self, result: TuneResult) -> None:
        """The job's last row, unless it stands already."""
        job = self.job
        detail = {
            "reason": result.reason,
            "proposal": result.proposal,
            "after": result.after.hash,
            "accepted": [one.edit.id for one in result.accepted],
            "rejected": dict(result.rejected),
            "rounds": result.rounds,
            "train": list(result.train),
        }
        ledger = job.player.ledger
        newest = next(row for row in jobs(ledger, kind=KIND) if row.job == result.job)
        if (newest.status, newest.detail) != (result.status, detail):
            row = _job_row(job.options, job.model, job.cases, job.base, result.status, detail)
            ledger.append("jobs", [row])
        ledger.flush()


def _confirmation(evidence: dict[str, Any]) -> str:
    traps, controls = evidence["traps"], evidence["controls"]
    return (
        f"fresh repeats on train: {traps['fixed_incidents']} trap incidents fixed,"
        f" {traps['broken_incidents']} broken; controls {controls['fixed_incidents']} fixed,"
        f" {controls['broken_incidents']} broken"
    )
