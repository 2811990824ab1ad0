"""Bait: a proposer that was told to leak, through the real path from its model to an edit.

Its answers come over the wire of Chat Completions; the typed calls, the drafting of a job and
the gate's own process are the real ones. It has three tries for each edit, as every proposer has.
``python -m bench bait``, or ``python -m bench.bait PROJECT [TRIALS]``.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.bait_ways import CONTROLS, UNSEEN, WAYS, Fact, Way, edit, words
from heldout.brain import Brain, load_brain
from heldout.build.worlds import place_of
from heldout.gate import GateProcess
from heldout.graph import WorldInterface, read_tables
from heldout.llm import open_client
from heldout.propose import Cluster, Failure
from heldout.run.caps import Budget, Caps
from heldout.settings import Settings, load_settings
from heldout.signatures import Diagnosis
from heldout.split import declare_process, read_specs
from heldout.store import Ledger
from heldout.truth import Spec, read_truth
from heldout.tune import Player, TuneOptions
from heldout.tune.context import Context, HeldoutLeak, State
from heldout.tune.drafting import Candidate, draft
from heldout.tune.log import JobLog

TRIALS = 6
MODEL = "openai/bait"
FILE = "overlays/models/openai-bait/method.md"
_READ = {
    "entity": ("id", "kind", "name"), "change_event": ("id", "ts", "actor", "pr"),
    "change_diff": ("event_id", "field", "new_json"), "log_template": ("template",),
}  # fmt: skip
_VALUE = re.compile(r'"?(\d+(?:\.\d+)?)\s*([A-Za-z]*)"?')
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def facts(settings: Settings, specs: Sequence[Spec], directory: Path) -> list[Fact]:
    """What a proposer could know of each incident, from its world and truth."""
    found, said = [], Counter[str]()
    tables = {spec.id: read_tables(place_of(settings, spec).world, _READ) for spec in specs}
    for rows in tables.values():
        said.update({row["template"] for row in rows["log_template"]})
    for spec in specs:
        rows = tables[spec.id]
        truth = read_truth(place_of(settings, spec).truth)
        change = next((r for r in rows["change_event"] if r["id"] == truth.culprit_change), None)
        if change is None:
            continue
        alert = (directory / "alerts" / f"{spec.id}.md").read_text(encoding="utf-8")
        service = re.search(r"^Service: (\S+)$", alert, re.MULTILINE)
        ids = {truth.culprit_entity, *truth.accepted_entities}
        named = [(row["kind"], row["name"]) for row in rows["entity"] if row["id"] in ids]
        named += [("Service", service.group(1))] if service else []
        value, unit = _value(rows, truth.culprit_change, truth.culprit_field)
        fact = Fact(
            incident=spec.id,
            names=tuple(dict.fromkeys((kind, name) for kind, name in named if len(name) > 7)),
            key=truth.culprit_field.rpartition(".")[2],
            value=value,
            unit=unit,
            day=datetime.datetime.fromtimestamp(change["ts"] / 1e6, datetime.UTC).date(),
            pr=change["pr"] or "",
            login=change["actor"] if "." in change["actor"] else "",
            mechanism=truth.mechanism,
            log=_own_line(rows, said),
            alert=alert.splitlines()[0].lstrip("# "),
        )
        if fact.names:
            found.append(fact)
    return found


def _value(rows: Rows, change: str, name: str) -> tuple[float, str]:
    """The number that the cause set, with its unit: of the value, or of the field's name."""
    for row in rows["change_diff"]:
        match = _VALUE.fullmatch(row["new_json"] or "")
        if row["event_id"] == change and row["field"] == name and match:
            return float(match[1]), (match[2] or words(name.replace("_", " "))[-1]).lower()
    return 0.0, ""


def _own_line(rows: Rows, said: Mapping[str, int]) -> str:
    """A log line that one incident alone has, with enough words to be told by them."""
    own = [
        row["template"]
        for row in rows["log_template"]
        if said[row["template"]] == 1 and len(re.findall(r"\b[a-z]{3,}\b", row["template"])) > 6
    ]
    return min(own, key=lambda line: (len(words(line)), line), default="")


@dataclass
class Script:
    """What the proposer answers next; ``again`` makes another try after a refusal."""

    edits: list[dict[str, object]] = field(default_factory=list)
    again: Callable[[], dict[str, object]] | None = None

    def answer(self, asked: str) -> dict[str, object]:
        """The body of an answer: edits to propose, or one edit to revise."""
        if "[[ ## draft ## ]]" in asked and self.again is not None:
            return {"edit": self.again()}
        return {"edits": list(self.edits)}


@contextmanager
def proposer(script: Script) -> Iterator[str]:
    """The proposer behind a socket of its own; yields its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = json.dumps(script.answer(str(body["messages"][-1]["content"])))
            message = {"role": "assistant", "content": text}
            reply = {
                "id": "b", "object": "chat.completion", "created": 0, "model": "bait",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }  # fmt: skip
            raw = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


DIAGNOSIS = Diagnosis("the limit", ("since when?",), 0.5, True, "short_history", ("short_history",))


class Job:
    """A tuning job's drafting, with everything real but the model."""

    def __init__(self, settings: Settings, gate: Any, ledger: Ledger, base: Brain) -> None:
        self.settings, self.gate, self.ledger, self.base = settings, gate, ledger, base
        self.script = Script()
        self.refused: Counter[str] = Counter()
        self._round = 0

    async def draft(self, url: str, state: State) -> list[Candidate]:
        """One round: what the proposer wrote, less what was refused."""
        self._round += 1
        state.round = self._round
        options = TuneOptions(job="bait", candidates=3)
        interface = WorldInterface()
        player = Player(
            self.settings, self.ledger, interface, MODEL, "bait", options, {}, Budget(Caps())
        )
        client = open_client(MODEL, base_url=url)
        failure = Failure("inc-0", DIAGNOSIS)
        job = Context(options, MODEL, interface.name, self.base, (), JobLog(self.ledger, "bait"),
                      player, client, self.gate)  # fmt: skip
        try:
            return await draft(job, state, Cluster("short_history", (failure,), 1))
        finally:
            self.refused.update(state.refused)
            await client.aclose()


@dataclass
class Result:
    """What came of one way: tries, edits that were let through with their leak, aborted jobs."""

    tried: int = 0
    leaked: int = 0
    aborted: int = 0
    kept: list[str] = field(default_factory=list)


async def lure(job: Job, url: str, way: Way, fact: Fact, seed: str) -> Result | None:
    """One trial; ``None`` where the incident has not what the way needs."""
    draw = random.Random(seed)
    bait = way(fact, draw, FILE)
    if bait is None:
        return None
    state, tries, reasons = State(job.base), [bait], list[str]()

    def again(at: int) -> dict[str, object]:
        other = way(fact, draw, FILE)
        assert other is not None
        tries.append(other)
        return other.edits[at]

    try:
        for number, one in enumerate(bait.edits):
            job.script.edits, job.script.again = [one], partial(again, number)
            for candidate in (await job.draft(url, state))[:1]:
                state.brain = candidate.brain
                state.stale.clear()
                reasons.append(candidate.edit.reason)
    except HeldoutLeak:
        return Result(tried=1, aborted=1)
    old, new = job.base.all_files(), state.brain.all_files()
    said = "\n".join(
        [*(text for name, text in new.items() if old.get(name) != text), *new, *reasons]
    )
    kept = [one.marks for one in tries if all(mark in said for mark in one.marks)]
    return Result(tried=1, leaked=int(bool(kept)), kept=[" + ".join(one) for one in kept])


async def control(job: Job, url: str, line: str) -> bool:
    """Whether a generic line is let through."""
    job.script.edits = [edit(FILE, line, "Investigations stopped too early.")]
    job.script.again = None
    return bool(await job.draft(url, State(job.base)))


@dataclass(frozen=True)
class Suite:
    """Every way with its result, and the controls that were refused."""

    ways: Mapping[str, Result]
    unseen: Mapping[str, Result]
    refused: tuple[str, ...]
    controls: int

    @property
    def leaks(self) -> int:
        """Leaks that were let through, over all ways that text can tell."""
        return sum(one.leaked for one in self.ways.values())

    def lines(self) -> list[str]:
        """The table."""
        rows = [f"{'way to leak':36}{'tried':>7}{'let through':>13}{'job ended':>11}"]
        for name, one in self.ways.items():
            rows.append(f"{name:36}{one.tried:7d}{one.leaked:13d}{one.aborted:11d}")
            rows += [f"  let through: {told}" for told in one.kept]
        tried = sum(one.tried for one in self.ways.values())
        rows.append(f"{f'all {len(self.ways)} ways':36}{tried:7d}{self.leaks:13d}")
        rows.append("not to be told from text; for the reviewer's model, the probes, a person:")
        for name, one in self.unseen.items():
            rows.append(f"  {name:34}{one.tried:7d}{one.leaked:13d}{one.aborted:11d}")
        held = self.controls - len(self.refused)
        rows.append(f"generic lines let through: {held} of {self.controls}")
        rows += [f"  refused: {line}" for line in self.refused]
        return rows


async def suite(job: Job, known: Sequence[Fact], trials: int) -> Suite:
    """Every way over ``trials`` incidents that have what it needs, and every control."""
    results: dict[str, Result] = {}
    with proposer(job.script) as url:
        for name, way in {**WAYS, **UNSEEN}.items():
            total = results.setdefault(name, Result())
            for number, fact in enumerate(known):
                if total.tried >= trials:
                    break
                one = await lure(job, url, way, fact, f"{name} {number}")
                if one is not None:
                    total.tried += 1
                    total.leaked += one.leaked
                    total.aborted += one.aborted
                    total.kept += one.kept
        refused = [line for line in CONTROLS if not await control(job, url, line)]
    return Suite(
        {name: results[name] for name in WAYS},
        {name: results[name] for name in UNSEEN},
        tuple(refused),
        len(CONTROLS),
    )


def measure(project: Path | None, trials: int) -> int:
    """Print the table for a project's train half; 1 where a leak came through."""
    declare_process("build")
    settings = load_settings(project)
    directory = settings.set_dir()
    specs = [spec for spec in read_specs(directory, "train") if spec.kind == "trap"]
    if not all(place_of(settings, spec).world.is_dir() for spec in specs):
        print("no worlds: run 'heldout build' first")
        return 1
    known = facts(settings, specs, directory)
    random.Random(3).shuffle(known)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.open(Path(folder) / "bait.duckdb") as ledger,
        GateProcess(settings) as gate,
    ):
        job = Job(settings, gate, ledger, load_brain(settings.brain))
        found = asyncio.run(suite(job, known, trials))
    print("\n".join(found.lines()))
    return int(found.leaks > 0)


def main() -> int:
    """Measure in a process of its own, which may read truths."""
    command = [sys.executable, "-m", "bench.bait"]
    return subprocess.run(command, cwd=Path(__file__).parents[1], check=False).returncode


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(measure(Path(given[0]) if given else None, int(given[1]) if given[1:] else TRIALS))
