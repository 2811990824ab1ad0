"""Runs a simulated investigator over a conversation and says what it does next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heldout.llm.simulated import anchored, mending, scattered
from heldout.llm.simulated.desk import Call, Desk, Steps
from heldout.llm.simulated.guidance import read_guidance
from heldout.llm.simulated.mind import Mind, Temper
from heldout.llm.simulated.paper import call_key, step_text
from heldout.llm.simulated.replies import call_reply, text_reply
from heldout.llm.simulated.transcript import (
    READ_SKILL,
    SUBMIT,
    Transcript,
    read_transcript,
)
from heldout.llm.simulated.underway import Underway, Waiting

Program = Callable[[Desk, Transcript], Steps[None]]
_PROGRAMS: Mapping[str, tuple[Temper, Program]] = {
    "anchored": (anchored.TEMPER, anchored.investigate),
    "scattered": (scattered.TEMPER, scattered.investigate),
}
_WAITING = Waiting()
_EPOCH = 1_600_000_000.0
"""Where an alert without a time is placed; tools then answer with empty windows."""


def reply(body: Mapping[str, Any]) -> dict[str, Any]:
    """The next message of the agent that the request names."""
    transcript = read_transcript(body)
    played = _played(transcript)
    if played.call is not None and played.call.tool in transcript.offered:
        return _step(body, transcript, played.call)
    return _conclusion(body, transcript, played.desk)


def _step(body: Mapping[str, Any], transcript: Transcript, call: Call) -> dict[str, Any]:
    if transcript.on_paper:
        return text_reply(body, step_text(call.tool, call.args, call.why))
    return call_reply(body, call.tool, call.args, call.why)


def base_name(model: str) -> str:
    """``sim/anchored@low`` is the model ``anchored``."""
    return model.rpartition("/")[2].partition("@")[0]


def knows(model: str) -> bool:
    """True when the name is that of an agent."""
    return base_name(model) in _PROGRAMS


def _played(transcript: Transcript) -> Underway:
    """The program after every answer so far: anew over a notebook, else on from where it waits."""
    name = base_name(transcript.model)
    temper, program = _PROGRAMS[name]
    usable = frozenset({*transcript.offered, *transcript.called})
    if mending.TELLING in usable:
        program = mending.mend
    told = _told(transcript)
    begun = (name, transcript.effort, transcript.seed, transcript.system, told)
    key = (*begun, transcript.alert, usable)
    found = None if transcript.kept is not None else _WAITING.resume(key, transcript.answers)
    if found is None:
        mind = _mind(transcript, temper, told)
        desk = Desk(transcript.alert, mind, transcript.alert.fired or _EPOCH)
        found = Underway(desk, program(desk, transcript))
    if transcript.kept is not None:
        kept = transcript.kept
        found.go_on(usable, lambda call: kept.get(call_key(call.tool, call.args)))
        return found
    answers = found.take(transcript.answers)
    found.go_on(usable, lambda _: next(answers, None))
    _WAITING.keep(key, transcript.answers, found)
    return found


def _mind(transcript: Transcript, temper: Temper, told: str) -> Mind:
    return Mind(
        temper=temper,
        guidance=read_guidance(told),
        model=base_name(transcript.model),
        effort=transcript.effort,
        seed=transcript.seed,
        incident=transcript.alert.key,
    )


def _told(transcript: Transcript) -> str:
    """The system prompt and the skills read so far."""
    read = [
        answer.text
        for name, answer in zip(transcript.called, transcript.answers, strict=True)
        if name == READ_SKILL
    ]
    return "\n\n".join([transcript.system, *read])


def _conclusion(body: Mapping[str, Any], transcript: Transcript, desk: Desk) -> dict[str, Any]:
    args = submission(desk) | desk.report
    tool = _closing_tool(transcript)
    made = transcript.called.count(tool)
    if not tool or made > 1:
        return text_reply(body, f"Root cause: {args['mechanism']}")
    if tool != SUBMIT:
        args = filled(transcript.offered[tool], args) | desk.report
    elif made:
        args = plain(args)
    return _step(body, transcript, Call(tool, args, "This is my diagnosis."))


def _closing_tool(transcript: Transcript) -> str:
    """The tool that ends a session: ours, else one whose name says so; empty without any."""
    if SUBMIT in transcript.offered:
        return SUBMIT
    endings = ("submit", "finish", "final", "answer", "conclude")
    return next((name for name in transcript.offered if name.startswith(endings)), "")


def filled(schema: Mapping[str, Any], diagnosis: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a closing tool that is not ours: what is required, by name and type."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    empty: Mapping[str, Any] = {"array": [], "object": {}, "number": 0, "integer": 0}
    result: dict[str, Any] = {}
    names = required if isinstance(required, list) else list(known)
    for name in (one for one in names if isinstance(one, str)):
        kind = known[name].get("type") if isinstance(known.get(name), Mapping) else "string"
        if name in diagnosis:
            result[name] = diagnosis[name]
        elif kind == "boolean":
            result[name] = False
        else:
            result[name] = empty.get(str(kind), diagnosis["mechanism"])
    return result


def submission(desk: Desk) -> dict[str, Any]:
    """The diagnosis as it stands on the desk, finished or not."""
    spot = desk.fact.entity if desk.fact else desk.here
    entity = desk.culprit_entity or (spot.id if spot else "")
    if desk.over:
        entity = ""
    return {
        "root_cause_entity": entity or "none",
        "root_cause_change": desk.culprit.id if desk.culprit else "none",
        "mechanism": _mechanism(desk),
        "trigger": desk.trigger,
        "affected": [thing.id for thing in desk.path],
        "evidence_ids": desk.evidence[:12],
        "ruled_out": desk.ruled_out[:6],
        "unavailable_sources": desk.unavailable[:6],
        "recommended_fix": _fix(desk),
    }


def plain(args: dict[str, Any]) -> dict[str, Any]:
    """The least that can be submitted, after a refusal."""
    return {**args, "affected": [], "evidence_ids": [], "ruled_out": [], "unavailable_sources": []}


def _mechanism(desk: Desk) -> str:
    parts = [desk.over] if desk.over else []
    if desk.mechanism is not None:
        where = desk.mechanism.entity_name or (desk.here.name if desk.here else "")
        parts.append(f"{where}: {desk.mechanism.message[:400]}")
        further = [one.message for one in desk.told if one.entity == desk.mechanism.entity]
        parts += [one[:300] for one in further if one != desk.mechanism.message][:1]
    if desk.fact is not None:
        parts.append(f"{desk.fact.field} = {desk.fact.value} on {desk.fact.entity.name}")
    parts += desk.notes
    if not parts:
        return "No fault was found in what the tools show."
    return "; ".join(parts)


def _fix(desk: Desk) -> str:
    if desk.fact is not None and desk.culprit is not None:
        back = f" to {desk.old_value}" if desk.old_value else ""
        return f"Set {desk.fact.field} of {desk.fact.entity.name} back{back}."
    if desk.over:
        return "Nothing is to be done but to watch the service."
    return "Revert the change." if desk.culprit else "Watch the service; no change was to blame."
