"""One attempt at one slot: play, judge, and say whose doing it was when that failed.

The agent's own failures (a crash of the loop, malformed output, a limit) are a ``fail``; those of
provider, judge, truth, world, machine or job cap are ``invalid`` with a reason. To tell them apart
what stands around the agent is wrapped, the environment by the agent's room and the client here:
anything unexpected that those raise is theirs, and what else comes out of the loop is the agent's.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heldout.agent import SandboxFailure
from heldout.agent.journal import JournalEntry
from heldout.agent.trace import PROGRAM, Trace
from heldout.errors import (
    CapReached,
    HeldoutError,
    JudgeError,
    ProviderError,
    SpecError,
    StoreError,
    WorldError,
)
from heldout.interface import Interface, Submission
from heldout.judge.verdict import NoVerdict, Verdict
from heldout.run.caps import Budget, CappedClient, Client
from heldout.run.journal import Journal
from heldout.run.judging import Judge
from heldout.run.plan import Plan
from heldout.run.records import VERSION, Record, trace_plain
from heldout.run.slots import Slot
from heldout.signatures.records import Spent
from heldout.store import now_us
from heldout.truth import Truth, read_truth

CRASHED = "run"
"""The judge named in the verdict on an agent that crashed: there was nothing to judge."""

Investigate = Callable[..., Awaitable[Trace]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What plays an attempt: the agent's loop, the judge, the client, the environment."""

    investigate: Investigate
    judge: Judge
    client: Client
    interface: Interface


async def attempt(
    run: str, plan: Plan, slot: Slot, number: int, parts: Parts, budget: Budget, journal: Journal
) -> Record:
    """Play one attempt, going on where its journal ends, and return its record, valid or not.

    A failure of the machine itself (:class:`StoreError`) or of the configuration is raised.
    """
    began = now_us()
    replayed = tuple(journal.entries)
    reason, detail, trace, verdict, spent = "", "", None, None, Spent()
    try:
        truth = read_truth(slot.case.truth_file, digest=slot.case.truth_digest)
        trace = await _investigate(plan, slot, parts, budget, journal, replayed)
        if trace.mode == PROGRAM:
            budget.add(trace.usd, trace.input_tokens + trace.output_tokens)
        verdict = await _judged(parts.judge, trace, truth)
    except ProviderError as error:
        reason, detail = error.reason, str(error)
    except (WorldError, SpecError, JudgeError, CapReached) as error:
        reason, detail = _reason(error), str(error)
        trace = None  # The next attempt replays the journal for nothing, and has it judged.
        if isinstance(error, NoVerdict):
            spent = error.spent
    if verdict is None:
        verdict = Verdict("invalid", f"{reason}: {detail}", CRASHED, spent=spent)
    return {
        "version": VERSION,
        "run": run,
        "incident": slot.case.incident.id,
        "arm": slot.arm.name,
        "repeat": slot.repeat,
        "attempt": number,
        "seed": slot.seed,
        "model": plan.model,
        "brain": slot.arm.brain.hash,
        "world": slot.case.incident.digest,
        "started": began,
        "ended": now_us(),
        "reason": reason,
        "detail": detail[:2000],
        "served_model": trace.served_model if trace else _served(journal.entries),
        "replayed": len(replayed),
        "spent": _spent(trace, journal.entries),
        "verdict": _verdict_plain(verdict),
        "trace": trace_plain(trace) if trace else None,
    }


def _verdict_plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "result": verdict.result,
        "reasoning": verdict.reasoning,
        "judge": verdict.judge,
        "criteria": dict(verdict.criteria),
        "spent": asdict(verdict.spent),
    }


def _reason(error: HeldoutError) -> str:
    if isinstance(error, SandboxFailure):
        return error.reason
    kinds = {WorldError: "world", SpecError: "truth", JudgeError: "judge", CapReached: "cap"}
    return next(name for kind, name in kinds.items() if isinstance(error, kind))


async def _investigate(
    plan: Plan,
    slot: Slot,
    parts: Parts,
    budget: Budget,
    journal: Journal,
    replayed: Sequence[JournalEntry],
) -> Trace:
    def on_step(entry: JournalEntry) -> None:
        usage = entry.reply.usage
        budget.add(entry.reply.usd, usage.input_tokens + usage.output_tokens)
        journal.write(entry)

    incident, brain = slot.arm.opening(slot.case.incident)
    try:
        return await parts.investigate(
            incident,
            brain,
            CappedClient(parts.client, budget),
            slot.arm.interface(parts.interface),
            model=plan.model,
            limits=plan.limits,
            seed=slot.seed,
            on_step=on_step,
            resume_steps=replayed,
        )
    except StoreError:
        if not replayed or journal.broken:
            raise
        # What was recorded does not fit the conversation any more: it is played afresh.
        journal.forget()
        return await _investigate(plan, slot, parts, budget, journal, ())
    except HeldoutError:
        raise
    except (OSError, MemoryError) as error:
        # The machine is out of files, memory or disk: nobody's wrong answer.
        raise SandboxFailure(
            f"the machine failed ({type(error).__name__}: {str(error)[:200]})",
            mend="It counts as invalid; free what is short and run 'heldout resume'",
        ) from error
    except Exception as error:  # noqa: BLE001 - what else escapes the loop is the agent's crash
        return _crash(error, journal.entries)


async def _judged(judge: Judge, trace: Trace, truth: Truth) -> Verdict:
    if trace.stop_reason == "crash" and not trace.submission.complete:
        return Verdict("fail", f"The agent crashed before it answered: {trace.detail}", CRASHED)
    try:
        verdict = judge(trace.submission, truth)
        return await verdict if inspect.isawaitable(verdict) else verdict
    except HeldoutError:
        raise
    except Exception as error:
        raise JudgeError(f"the judge failed ({type(error).__name__}: {error})") from error


def _crash(error: Exception, entries: Sequence[JournalEntry]) -> Trace:
    spent = _spent(None, entries)
    return Trace(
        messages=(),
        steps=(),
        submission=Submission(complete=False),
        stop_reason="crash",
        served_model=_served(entries),
        detail=f"{type(error).__name__}: {error}"[:2000],
        **spent,
    )


_SPENT = (
    "calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "usd",
    "seconds",
)


def _spent(trace: Trace | None, entries: Sequence[JournalEntry]) -> dict[str, Any]:
    """What an attempt cost: as its trace says, else as its journal does."""
    if trace is not None:
        return {name: getattr(trace, name) for name in _SPENT}
    replies = [entry.reply for entry in entries]
    prices = [reply.usd for reply in replies]
    known = [price for price in prices if price is not None]
    return {
        "calls": len(replies),
        "input_tokens": sum(reply.usage.input_tokens for reply in replies),
        "cached_tokens": sum(reply.usage.cached_tokens for reply in replies),
        "output_tokens": sum(reply.usage.output_tokens for reply in replies),
        "reasoning_tokens": sum(reply.usage.reasoning_tokens for reply in replies),
        "usd": float(sum(known)) if len(known) == len(prices) else None,
        "seconds": float(sum(reply.seconds for reply in replies)),
    }


def _served(entries: Sequence[JournalEntry]) -> str:
    return entries[-1].reply.served_model if entries else ""
