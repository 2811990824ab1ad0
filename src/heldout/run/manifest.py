"""What pins a run: its manifest in the ledger, and the plan read back from it."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from heldout.agent import prompt_hash
from heldout.brain import Brain
from heldout.errors import ConfigError, UsageError
from heldout.incident import Incident
from heldout.interface import Interface
from heldout.run.arm import Addition, Arm, read_additions, store_additions
from heldout.run.judging import judge_pin
from heldout.run.plan import Limits, Plan, Terms
from heldout.run.programs import program_pin
from heldout.settings import Settings
from heldout.split import Case, HeldoutAccess
from heldout.store import Ledger, brain, remember_brain
from heldout.store.queries import RunRow


def tools_hash(interface: Interface) -> str:
    """Hash over the tools that the agent is offered, and the environment's name."""
    specs = [spec.wire() for spec in interface.tool_specs()]
    text = json.dumps([interface.name, specs], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pinned(plan: Plan, settings: Settings, interface: Interface) -> Plan:
    """The plan with the hashes of tools, the harness's words, a program and settings as pins."""
    pins = {
        "tools": tools_hash(interface),
        "prompts": prompt_hash(),
        "settings": settings.digest(),
        **program_pin(plan.terms, settings),
        **plan.pins,
    }
    return replace(plan, pins=pins)


def run_id(plan: Plan) -> tuple[str, str]:
    """A run's id and its nonce.

    The same plan is the same run, so what it has finished is not played again. Only a score is
    always a run of its own: it never uses what an earlier one found, for either arm.
    """
    if plan.purpose != "score":
        return plan.key(), ""
    nonce = secrets.token_hex(8)
    return hashlib.sha256(f"{plan.key()}\0{nonce}".encode()).hexdigest()[:16], nonce


def require_access(plan: Plan) -> None:
    """Only a process that may open the held-out half may play or resume a run over it."""
    if any(case.side == "test" for case in plan.cases):
        HeldoutAccess()


def store_manifest(ledger: Ledger, run: str, nonce: str, plan: Plan, root: Path) -> None:
    """Write down everything that :func:`read_manifest` needs."""
    for arm in plan.arms:
        remember_brain(ledger, arm.brain)
        store_additions(ledger, arm)
    row = {
        "run": run,
        "job": plan.job,
        "purpose": plan.purpose,
        "set": plan.set,
        "model": plan.model,
        "nonce": nonce,
        "manifest_json": plan.manifest(),
        "cases_json": [_case_plain(case, root) for case in plan.cases],
    }
    ledger.append("runs", [row])
    ledger.flush()


def extend(ledger: Ledger, row: RunRow, plan: Plan, repeats: int) -> Plan:
    """Let a run have more repeats: a further manifest row; what was played before stays as it is.

    A score's repeats are fixed before its first call, and a job has decided by those it had: both
    are a :class:`UsageError`, as is a number that adds none.
    """
    if plan.purpose == "score":
        raise UsageError(
            "a score's repeats are never added to afterwards",
            where=f"run {row.run}",
            mend="Score again; that is one more look",
        )
    if plan.job or plan.purpose != "train":
        raise UsageError(
            "this run belongs to a job, which decided by the repeats it had",
            where=f"run {row.run}",
            mend="Play the same brain with 'heldout run'",
        )
    if repeats <= plan.repeats:
        raise UsageError(
            f"it has {plan.repeats} repeats already",
            where=f"run {row.run}",
            mend=f"Ask for more than {plan.repeats}",
        )
    longer = replace(plan, repeats=repeats)
    ledger.append("manifests", [{"run": row.run, "manifest_json": longer.manifest()}])
    ledger.flush()
    return longer


def as_extended(ledger: Ledger, run: str, plan: Plan) -> Plan:
    """The plan with the repeats that its run was given since it began."""
    sql = "SELECT manifest_json FROM manifests WHERE run = ? ORDER BY rowid DESC LIMIT 1"
    found = ledger.read(sql, [run])
    return (
        replace(plan, repeats=json.loads(found[0]["manifest_json"])["repeats"]) if found else plan
    )


def read_manifest(ledger: Ledger, row: RunRow, settings: Settings, interface: Interface) -> Plan:
    """The plan of a stored run, from its manifest and the stored brains and from nothing else.

    Tools, judge, program or words of the harness that have changed since are a
    :class:`ConfigError`: the rest would not be comparable.
    """
    require_unchanged(row.run, row.manifest, settings, interface)
    plan = plan_of(
        row.manifest,
        tuple(_case(plain, settings.root) for plain in row.cases),
        lambda digest: brain(ledger, digest),
        partial(read_additions, ledger),
    )
    plain = plan.manifest()
    # What an older heldout did not say of the terms is the default.
    if plain != {**row.manifest, "terms": {**plain["terms"], **row.manifest.get("terms", {})}}:
        raise ConfigError(
            "the stored manifest does not describe its own cases",
            where=f"run {row.run}",
            mend="Restore the ledger from a backup, or begin a new run",
        )
    return plan


def require_unchanged(
    run: str, said: Mapping[str, Any], settings: Settings, interface: Interface
) -> None:
    """Refuse (:class:`ConfigError`) a manifest of other tools, words, judge or program."""
    prompts = prompt_hash()
    terms = Terms.from_plain(said.get("terms", {}))
    judge = judge_pin(terms)
    program = program_pin(terms, settings).get("program")
    for what, then, now in (
        ("the tools have", said["pins"].get("tools"), tools_hash(interface)),
        ("the harness's own words have", said["pins"].get("prompts", prompts), prompts),
        ("the judge has", said["pins"].get("judge", judge), judge),
        ("the agent's program has", said["pins"].get("program"), program),
    ):
        if then != now:
            raise ConfigError(
                f"{what} changed since this run began",
                where=f"run {run}",
                mend="Begin a new run; or resume with the heldout that began this one",
            )


def plan_of(
    said: Mapping[str, Any],
    cases: tuple[Case, ...],
    brain_of: Callable[[str], Brain],
    additions_of: Callable[[Mapping[str, Any]], Mapping[str, Addition]] = lambda arm: {},
) -> Plan:
    """The plan that a manifest describes, with these cases and the brains of these hashes.

    ``additions_of`` gives what an arm shows beside its brain; without it such a plan comes out
    another one than was written.
    """
    return Plan(
        purpose=said["purpose"],
        set=said["set"],
        model=said["model"],
        cases=cases,
        arms=tuple(
            Arm(arm["name"], brain_of(arm["brain"]), additions_of(arm), arm.get("closed", False))
            for arm in said["arms"]
        ),
        repeats=said["repeats"],
        seed=said["seed"],
        limits=Limits(**said["limits"]),
        concurrency=said["concurrency"],
        max_invalid=said["max_invalid"],
        base_url=said["base_url"],
        job=said["job"],
        terms=Terms.from_plain(said.get("terms", {})),
        pins=said["pins"],
    )


def _case_plain(case: Case, root: Path) -> dict[str, Any]:
    incident = case.incident
    return {
        "incident": incident.id,
        "set": incident.set,
        "alert": incident.alert,
        "world": _relative(incident.world, root),
        "digest": incident.digest,
        "side": case.side,
        "kind": case.kind,
        "domain": case.domain,
        "family": case.family,
        "traps": list(case.traps),
        "group": case.group,
        "origin": case.origin,
        "truth_file": _relative(case.truth_file, root),
        "truth_digest": case.truth_digest,
    }


def _case(plain: Mapping[str, Any], root: Path) -> Case:
    incident = Incident(
        id=plain["incident"],
        set=plain["set"],
        alert=plain["alert"],
        world=root / plain["world"],
        digest=plain["digest"],
    )
    return Case(
        incident=incident,
        side=plain["side"],
        kind=plain["kind"],
        domain=plain["domain"],
        family=plain["family"],
        traps=tuple(plain["traps"]),
        group=plain["group"],
        origin=plain["origin"],
        truth_file=root / plain["truth_file"],
        truth_digest=plain["truth_digest"],
    )


def _relative(path: Path, root: Path) -> str:
    """Relative to the project where possible, so that a moved project can be resumed."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
