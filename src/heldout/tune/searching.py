"""A job whose strategy searches: its means, and what becomes of what it finds.

The search runs in a thread of its own, because the package behind it blocks; everything it asks for
happens on the job's loop, through the job's player, log and gate. Its choices rest on single
investigations and on the best of many candidates, so they are worth nothing by themselves: what it
finds becomes one edit, which is accepted like any other, on fresh investigations.

A resumed job walks the search again: what was played and drafted is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Any, TypeVar

from heldout.brain import Brain
from heldout.edit import Edit
from heldout.errors import UsageError
from heldout.propose import Cluster, Found, Searching, SearchTerms, cluster, strategy, unread
from heldout.run.plan import Arm
from heldout.run.reduce import final
from heldout.split import Case
from heldout.store import remember_brain
from heldout.tune.context import Context, Failing, State
from heldout.tune.drafting import Candidate, admit, draft
from heldout.tune.log import Entry
from heldout.tune.options import TuneOptions
from heldout.tune.reading import ARM, read_failures
from heldout.tune.screening import screen
from heldout.tune.together import joined, on_top

T = TypeVar("T")
FOUND = "found"
"""Where the result of a search stands among the drafts of its round."""


def require_strategy(options: TuneOptions, cases: Sequence[Case]) -> None:
    """A strategy that there is, and one that searches with enough to search with."""
    method = strategy(options.strategy)
    if not isinstance(method, Searching):
        return
    least = method.least(len(cases))
    if options.max_metric_calls < least:
        raise UsageError(
            f"'{method.name}' needs {least} investigations for its first proposal on"
            f" {len(cases)} train incidents",
            where=f"tune.max_metric_calls = {options.max_metric_calls}",
            mend="Allow more, or take the strategy reflect",
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """A brain of the search and the edits that lead to it from the job's present brain."""

    brain: Brain
    edits: tuple[Edit, ...] = ()


@dataclass(slots=True)
class _Trials:
    """The means of a search: each call waits for its turn on the job's loop.

    A child is compared with its parent on the same repeats, so it shares the parent's step; every
    other batch is a step, and a seed, of its own.
    """

    job: Context
    state: State
    loop: asyncio.AbstractEventLoop
    known: dict[str, _Known]
    step: int = 0
    child: str = ""
    failing: dict[str, Failing] = field(default_factory=dict)
    stale: dict[str, set[str]] = field(default_factory=dict)
    drafted: list[str] = field(default_factory=list)
    running: Future[Any] | None = None
    stopped: bool = False
    turn: Lock = field(default_factory=Lock)

    def play(self, brain: str, incidents: Sequence[str]) -> Sequence[bool]:
        """See :class:`heldout.propose.Trials`. Without a verdict an incident did not pass."""
        return self._wait(self._play(brain, incidents))

    def improve(self, brain: str) -> str:
        """See :class:`heldout.propose.Trials`."""
        return self._wait(self._improve(brain))

    def stop(self) -> None:
        """Cancel what is going on and refuse everything further."""
        with self.turn:
            self.stopped = True
            if self.running is not None:
                self.running.cancel()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        with self.turn:
            if self.stopped:
                work.close()
                raise asyncio.CancelledError
            self.running = going = asyncio.run_coroutine_threadsafe(work, self.loop)
        return going.result()

    async def _play(self, brain: str, incidents: Sequence[str]) -> Sequence[bool]:
        job, state = self.job, self.state
        if brain != self.child:
            self.step += 1
        self.child = ""
        cases = [job.case(incident) for incident in dict.fromkeys(incidents)]
        # One investigation without a verdict must not end a job whose batches are this small.
        allowed = max(job.options.max_invalid, 1 / len(cases))
        player = replace(job.player, options=replace(job.options, max_invalid=allowed))
        result = await player.play(
            "screen",
            cases,
            [Arm(ARM, self.known[brain].brain)],
            repeats=1,
            seed=job.options.derived_seed("search", state.round, self.step),
        )
        ends = {key[0]: one for key, one in final(result.outcomes).items()}
        self.failing = {
            incident: Failing(result.run, one)
            for incident, one in sorted(ends.items())
            if one.verdict.result == "fail" and one.trace is not None
        }
        passed = {incident for incident, one in ends.items() if one.verdict.result == "pass"}
        job.tell("searched", f"{len(passed)} of {len(cases)} passed with brain {brain[:12]}")
        return [incident in passed for incident in incidents]

    async def _improve(self, brain: str) -> str:
        state, parent = self.state, self.known[brain]
        scratch = replace(
            on_top(state, parent.edits),
            brain=parent.brain,
            failing=self.failing,
            stale=self.stale.setdefault(brain, set()),
        )
        for one in self.failing.values():
            state.reasonings[one.outcome.verdict.reasoning] = None
        groups = cluster(await read_failures(self.job, scratch))
        if not groups or scratch.lines_left(self.job.options) < 1:
            return ""
        one_each = replace(self.job, options=replace(self.job.options, candidates=1))
        found = await draft(one_each, scratch, groups[0], place=f"search-{self.step}-")
        if not found:
            return ""
        child = found[0]
        self.drafted.append(child.edit.id)
        remember_brain(self.job.player.ledger, child.brain)
        self.known[child.brain.hash] = _Known(child.brain, (*parent.edits, child.edit))
        self.child = child.brain.hash
        return self.child


@dataclass(frozen=True, slots=True)
class Outcome:
    """``played``: investigations of the search alone; ``reason``: why nothing was accepted."""

    played: int
    accepted: Candidate | None = None
    reason: str = ""


async def search(job: Context, state: State, method: Searching, most: int) -> Outcome:
    """One search from the present brain, ``most`` investigations long, and what becomes of it."""
    trials = _Trials(
        job, state, asyncio.get_running_loop(), {state.brain.hash: _Known(state.brain)}
    )
    found = await _searched(trials, method, most)
    entry = Entry(f"round/{state.round}/searched", "searched", round=state.round)
    job.log.record(entry, {"strategy": method.name, **asdict(found)})
    best = trials.known[found.brain]
    _set_aside(job, state, trials.drafted, best.edits)
    kept = len(found.course) - 1
    job.tell("search", f"{found.played} investigations, {kept} brains kept by the search", found)
    if not best.edits:
        return Outcome(found.played, reason="the search found nothing better")
    edit = joined(best.edits, method.name)
    candidate = await admit(job, state, edit, FOUND, state.lines_left(job.options))
    if candidate is None:
        return Outcome(found.played, reason="what the search found was refused by the checkers")
    chosen = await screen(job, state, _targets(job, state, edit, found), [candidate])
    if chosen is None:
        why = "what the search found was not accepted on fresh investigations"
        return Outcome(found.played, reason=why)
    return Outcome(found.played, chosen)


async def _searched(trials: _Trials, method: Searching, most: int) -> Found:
    """Run the search beside the loop; when the job is cancelled it ends before the job does."""
    job, state = trials.job, trials.state
    terms = SearchTerms(
        first=state.brain.hash,
        incidents=tuple(case.incident.id for case in job.cases),
        seed=job.options.derived_seed("search", state.round),
        most=most,
        enough=job.options.saturated_at,
    )
    work = asyncio.ensure_future(asyncio.to_thread(method.search, trials, terms))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        trials.stop()
        await asyncio.wait({work})
        raise


def _targets(job: Context, state: State, edit: Edit, found: Found) -> Cluster:
    """What fails with the present brain, first what the search saw fixed: it is played anew."""
    seed = job.options.derived_seed("unread", state.round)
    every = unread(sorted(name for name, done in state.solved.items() if not done), seed)[0]
    seen = set(found.passed)
    ordered = sorted(every.failures, key=lambda one: one.incident not in seen)
    return Cluster(edit.cluster, tuple(ordered), sum(one.incident in seen for one in ordered))


def _set_aside(job: Context, state: State, drafted: Sequence[str], kept: Sequence[Edit]) -> None:
    """Write down that a draft of a search stands for itself no longer."""
    lineage = {edit.id for edit in kept}
    for name in dict.fromkeys(drafted):
        because = "part of what the search found" if name in lineage else "the search left it"
        entry = Entry(f"round/{state.round}/{name}/searched", "set_aside", name, state.round)
        job.log.record(entry, {"because": because})
