"""Comparing and listing in a ledger of 10,000 investigations: ``python -m bench compare``.

The rows go in by the ledger's own way, records through ``Ingest``; only the play is left out. CPU
is that of whole commands, start and imports included.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from heldout.agent.trace import Step, Trace
from heldout.brain import Brain
from heldout.incident import Incident
from heldout.interface import Submission
from heldout.run import Arm, Plan
from heldout.run.landing import Ingest
from heldout.run.manifest import store_manifest
from heldout.run.records import VERSION, Record, trace_plain
from heldout.run.slots import Slot, slots
from heldout.scaffold import make_project
from heldout.settings import Settings, load_settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.store.queries import investigations

INCIDENTS, REPEATS, STEPS = 500, 10, 15
BUDGET = 2.0
LINE = '{{"id":"c-{:08x}","kind":"Deployment","summary":"size {} to {}"}}'


def make_cases(count: int) -> tuple[Case, ...]:
    """Cases without worlds: nothing is played."""
    return tuple(
        Case(
            Incident(f"i-{n:04}", "bench", "# Alert", Path(f"worlds/i-{n:04}"), f"w{n}"),
            "train", "trap", "config", "family", (), f"g{n}", "simulated",
            Path(f"truths/{n}.json"), f"t{n}",
        )
        for n in range(count)
    )  # fmt: skip


def make_trace(dice: random.Random) -> Trace:
    """Fifteen calls with answers of one to three kilobytes, a prompt and a submission."""
    steps = []
    messages = [
        {"role": "system", "content": "Look at what the service calls. " * 60},
        {"role": "user", "content": "# Alert\nFired at 2026-08-01 10:00 UTC"},
    ]
    for n in range(STEPS):
        rows = [
            LINE.format(dice.getrandbits(32), dice.randrange(99), n)
            for _ in range(dice.randint(15, 45))
        ]
        answer = '{"rows":[' + ",".join(rows) + "]}"
        args = {"entity": f"e-{dice.getrandbits(32):08x}", "since": "2026-07-28T00:00:00Z"}
        shown = tuple(row[7:17] for row in rows)
        steps.append(Step(n, "list_changes", args, answer, False, shown, 0.01))
        messages.append({"role": "assistant", "content": None, "tool_calls": [args]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": answer})
    said = Submission(
        root_cause_entity="e-00000001",
        root_cause_change=steps[-1].shown_ids[0],
        mechanism="the pool was lowered",
        evidence_ids=steps[-1].shown_ids[:3],
    )
    return Trace(
        tuple(messages), tuple(steps), said, "submitted", STEPS + 1, 40_000, 20_000, 900, 0.02,
        12.0, "actor-1",
    )  # fmt: skip


def make_record(run: str, plan: Plan, slot: Slot, dice: random.Random) -> Record:
    """What an attempt at one slot would have left."""
    trace = make_trace(dice)
    passed = dice.random() < (0.4 if slot.arm.name == "before" else 0.6)
    names = ("calls", "input_tokens", "cached_tokens", "output_tokens", "usd", "seconds")
    return {
        "version": VERSION,
        "run": run,
        "incident": slot.case.incident.id,
        "arm": slot.arm.name,
        "repeat": slot.repeat,
        "attempt": 0,
        "seed": slot.seed,
        "model": plan.model,
        "brain": slot.arm.brain.hash,
        "world": slot.case.incident.digest,
        "started": 1,
        "ended": 2,
        "reason": "",
        "detail": "",
        "served_model": "actor-1",
        "replayed": 0,
        "spent": {name: getattr(trace, name) for name in names},
        "verdict": {
            "result": "pass" if passed else "fail",
            "reasoning": "the named change is the one; the mechanism names what was lowered",
            "judge": "exact",
            "criteria": {"entity": passed, "change": passed, "mechanism": True},
        },
        "trace": trace_plain(trace),
    }


def fill(settings: Settings) -> list[str]:
    """Two runs of 5,000 investigations each."""
    dice, runs = random.Random(1), []
    cases = make_cases(INCIDENTS)
    with Ledger.open(settings.ledger) as ledger:
        ingest = Ingest(ledger)
        for name in ("before", "after"):
            brain = Brain({"method.md": f"Look {name}.\n"}, ("method.md",))
            plan = Plan(
                "train", "bench", "openai/gpt@low", cases, (Arm(name, brain),), REPEATS,
                pins={"tools": "none"},
            )  # fmt: skip
            run = plan.key()
            store_manifest(ledger, run, "", plan, settings.root)
            for slot in slots(plan):
                ingest.add(make_record(run, plan, slot, dice))
            ledger.append("run_events", [{"run": run, "status": "finished", "detail_json": {}}])
            ledger.flush()
            runs.append(run)
    return runs


def command(root: Path, *words: str) -> tuple[float, str]:
    """CPU seconds of one command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=root, env=os.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        done.stdout,
    )


def main() -> None:
    """Fill, ask, print."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        make_project(root)
        settings = load_settings(root)
        began = time.process_time()
        first, second = fill(settings)
        spent = time.process_time() - began
        total = 2 * INCIDENTS * REPEATS
        size = settings.ledger.stat().st_size
        print(f"investigations             {total} of {STEPS} calls, {size / 1e6:.0f} MB")
        print(f"into the ledger            {1000 * spent / total:.1f} CPU-ms each, making included")
        for words in (("compare", first, second), ("status",)):
            cpu = min(command(root, *words)[0] for _ in range(3))
            budget = f" (budget {BUDGET:.0f})" if words[0] == "compare" else ""
            print(f"heldout {words[0]:<19}{cpu:.2f} CPU-s, start included{budget}")
        with Ledger.open(settings.ledger, read_only=True) as ledger:
            began = time.process_time()
            rows = investigations(ledger, first)
            print(
                f"queries.investigations     {time.process_time() - began:.2f} CPU-s "
                f"for {len(rows)} rows"
            )


if __name__ == "__main__":
    main()
