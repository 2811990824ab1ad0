"""Measures the gate: inventory, time of a check, clean edits; recall is ``bench.recall``'s.

``python -m bench gate``, or ``python -m bench.gate PROJECT``. Names come from the worlds of the
project's own sets; without worlds the bench says so and ends. Times are CPU time of the gate's
process. The cold inventory is made in a process and a cache of its own; where a project has other
than 100 incidents its figures are also given for 100, in proportion.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from heldout.brain import Brain
from heldout.errors import HeldoutError
from heldout.gate.bait import planted
from heldout.gate.engine import Engine
from heldout.gate.inventory import load_inventory
from heldout.gate.material import read_sources
from heldout.gate.vocabulary import load_vocabulary
from heldout.settings import load_settings
from heldout.split import HeldoutAccess, declare_process

TRIALS = 100
INCIDENTS = 100
COLD = "--cold"
FILE = "method.md"
PARTS = (
    ("Before you name a cause,", "When errors begin at the peak,", "If only part of a fleet fails,",
     "After the mechanism is clear,", "When two changes look alike,", "While load is rising,"),
    ("read the diff of", "look at the history of", "compare a healthy sibling with",
     "follow the errors towards", "ask what changed on", "check the limits of"),
    ("the component that fails first", "the value that looks wrong", "every dependency on the path",
     "the workload that restarts", "the configuration in use", "the identity it runs as"),
    ("and write down the evidence.", "before you go on.", "and rule out the rest.",
     "over at least two weeks.", "and say what you could not see.", "then state it plainly."),
)  # fmt: skip


def method(lines: int, seed: int) -> list[str]:
    """Clean method lines, no two alike."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < min(lines, 1200):
        found.setdefault("- " + " ".join(draw.choice(part) for part in PARTS))
    return list(found)


def control(engine: Engine, trials: int) -> int:
    """How many clean edits are refused; must be none."""
    refused = 0
    for trial in range(trials):
        before = Brain(files={FILE: "\n".join(method(12, trial))}, load=(FILE,))
        after = before.with_file(FILE, "\n".join(method(24, trial)))
        refused += not engine.check(before, after).passed
    return refused


def timings(engine: Engine) -> dict[str, float]:
    """Median milliseconds: a 23-line edit on 400 warm lines, and 400 lines never seen before."""
    warm: list[float] = []
    base = Brain(files={FILE: "\n".join(method(400, 1))}, load=(FILE,))
    engine.check(base, base)
    for trial in range(9):
        added = method(423, 900 + trial)[-23:]
        after = base.with_file(FILE, "\n".join([*method(400, 1), *added]))
        start = time.process_time()
        engine.check(base, after)
        warm.append(time.process_time() - start)
    cold: list[float] = []
    for trial in range(5):
        engine.forget()
        fresh = Brain(files={FILE: "\n".join(method(400, 50 + trial))}, load=(FILE,))
        start = time.process_time()
        engine.check(None, fresh)
        cold.append(time.process_time() - start)
    return {
        "23-line edit on 400 lines, warm (CPU ms)": 1000 * statistics.median(warm),
        "400 lines, cold (CPU ms)": 1000 * statistics.median(cold),
    }


def peak() -> float:
    """Most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cold(project: Path | None) -> int:
    """Make the inventory from worlds alone, then once more with one world missing in the cache.

    What reading a world takes at most is taken once, however many there are, so memory grows in
    proportion only from the first incident on.
    """
    declare_process("gate")
    vocabulary = load_vocabulary()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as first:
        cache = Path(folder)

        def made(count: int | None = None, place: Path = cache) -> float:
            started = time.process_time()
            inventory = load_inventory(sources[:count], place, vocabulary, (planted(vocabulary),))
            assert inventory.automaton.find_matches_as_indexes("") == []
            assert len(inventory.strong) == len(inventory.lengths)
            return time.process_time() - started

        try:
            sources = read_sources(load_settings(project), HeldoutAccess())
            made(1, Path(first))
            before = peak()
            whole, memory = made(), peak()
        except HeldoutError as error:
            print(error.sentence())
            return error.exit_code
        max(cache.glob("*.npz")).unlink()
        one_more, warm = made(), made()
    share = INCIDENTS / max(1, len(sources))
    rows = (
        (f"cold inventory of {len(sources)} incidents (CPU s)", whole),
        (f"in proportion for {INCIDENTS} (CPU s, budget 120)", whole * share),
        ("peak memory (MB)", memory),
        (f"in proportion for {INCIDENTS} (MB, budget 500)", before + (memory - before) * share),
        ("one incident more, others cached (CPU s)", one_more),
        ("all cached (CPU s)", warm),
    )
    for name, value in rows:
        print(f"{name:46} {value:8.1f}")
    return 0


def measure(project: Path | None, trials: int) -> int:
    """Print the table; 0 when it could be made."""
    declare_process("gate")
    try:
        started = time.process_time()
        engine = Engine(load_settings(project))
        ready = time.process_time() - started
    except HeldoutError as error:
        print(error.sentence())
        return error.exit_code
    inventory = engine.inventory
    print(
        f"incidents {inventory.incidents}, names {len(inventory.names)}, "
        f"start {ready:.1f} CPU-s, {peak():.0f} MB"
    )
    if not inventory.incidents:
        print("no incidents: run 'heldout build' first")
        return 1
    for name, value in timings(engine).items():
        print(f"{name:42} {value:8.1f}")
    print(f"{'clean edits refused (control)':42} {control(engine, trials):5d} of {trials}")
    return 0


def main() -> int:
    """Measure in processes of their own: only a gate may open both halves."""
    command = [sys.executable, "-m", "bench.gate"]
    codes = [
        subprocess.run([*command, *words], cwd=Path(__file__).parents[1], check=False).returncode
        for words in ([COLD], [])
    ]
    return max(codes)


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:] if word != COLD]
    asked = given[0] if given else None
    sys.exit(cold(asked) if COLD in sys.argv else measure(asked, TRIALS))
