"""Measures the gate: inventory, time of a check, recall by kind of disguise, a negative control.

``python -m bench gate``, or ``python -m bench.gate PROJECT``. Names come from the worlds of the
project's own sets; without worlds the bench says so and ends. The disguises below share no code
with the gate. Times are CPU time of the gate's process. The cold inventory is made in a process and
a cache of its own; where a project has other than 100 incidents its figures are also given for 100,
in proportion.
"""

from __future__ import annotations

import base64
import codecs
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from heldout.brain import Brain
from heldout.errors import HeldoutError
from heldout.gate.bait import planted
from heldout.gate.engine import Engine
from heldout.gate.inventory import load_inventory
from heldout.gate.material import read_sources
from heldout.gate.names import Name
from heldout.gate.report import Finding
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
_HOMOGLYPHS = str.maketrans("aeopcxi", "аеорсхі")
_LEET = str.maketrans("oieas", "01345")


def method(lines: int, seed: int) -> list[str]:
    """Clean method lines, no two alike."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < min(lines, 1200):
        found.setdefault("- " + " ".join(draw.choice(part) for part in PARTS))
    return list(found)


def words(name: str) -> list[str]:
    """The words of a surface as a mutator sees them."""
    return [word for word in re.split(r"[^A-Za-z0-9]+", name) if word]


def typo(name: str, draw: random.Random) -> str:
    """One letter in the middle dropped, doubled, swapped or replaced."""
    at = draw.randrange(2, len(name) - 1)
    while not name[at].isalpha():
        at = draw.randrange(2, len(name) - 1)
    kind = draw.randrange(3)
    if kind == 0:
        return name[:at] + name[at + 1 :]
    if kind == 1:
        return name[:at] + name[at] + name[at:]
    return name[:at] + draw.choice("bdfgkmpt") + name[at + 1 :]


Mutator = Callable[[str, random.Random], str]
CLASSES: dict[str, Mutator] = {
    "exact": lambda n, d: n,
    "upper": lambda n, d: n.upper(),
    "title": lambda n, d: n.title(),
    "underscore": lambda n, d: n.replace("-", "_"),
    "camel": lambda n, d: "".join(w.title() for w in words(n)),
    "dotted": lambda n, d: ".".join(words(n)),
    "spaced": lambda n, d: " ".join(words(n)),
    "glued": lambda n, d: "".join(words(n)),
    "letter-spaced": lambda n, d: " ".join("".join(words(n))),
    "plural": lambda n, d: n + "s",
    "possessive": lambda n, d: n + "'s",
    "zero-width": lambda n, d: n[:3] + "\u200b" + n[3:5] + "\u2060" + n[5:],
    "soft hyphen": lambda n, d: n[:4] + "\u00ad" + n[4:],
    "homoglyph": lambda n, d: n.translate(_HOMOGLYPHS),
    "full-width": lambda n, d: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in n),
    "accents": lambda n, d: n.replace("e", "é").replace("a", "ä").replace("o", "ô"),
    "entities": lambda n, d: "".join(f"&#{ord(c)};" if i % 3 == 1 else c for i, c in enumerate(n)),
    "percent": lambda n, d: "".join(f"%{ord(c):02x}" if i % 3 == 1 else c for i, c in enumerate(n)),
    "unicode escape": lambda n, d: "".join(
        f"\\u{ord(c):04x}" if i % 4 == 1 else c for i, c in enumerate(n)
    ),
    "bold inside": lambda n, d: n[:3] + "**" + n[3:6] + "**" + n[6:],
    "backslashes": lambda n, d: n.replace("-", "\\-"),
    "split code": lambda n, d: f"`{n[:4]}``{n[4:]}`",
    "comment inside": lambda n, d: n[:4] + "<!-- x y -->" + n[4:],
    "tag inside": lambda n, d: n[:4] + "<b></b>" + n[4:],
    "line split": lambda n, d: n[:6] + "\n  " + n[6:],
    "base64": lambda n, d: base64.b64encode(n.encode()).decode(),
    "hex": lambda n, d: n.encode().hex(),
    "rot13": lambda n, d: codecs.encode(n, "rot13"),
    "reversed": lambda n, d: n[::-1],
    "leet": lambda n, d: n.translate(_LEET),
    "one typo": typo,
    "two typos": lambda n, d: typo(typo(n, d), d),
    "vowels dropped": lambda n, d: n[0] + re.sub("[aeiou]", "", n[1:]),
    "reordered": lambda n, d: "-".join(reversed(words(n))),
    "affixed": lambda n, d: "my" + "".join(words(n)) + "x",
    "cut to 70 %": lambda n, d: n[: max(5, round(len(n) * 0.7))],
    "two halves": lambda n, d: f"'{n[: len(n) // 2]}' up to '{n[len(n) // 2 :]}'",
}
"""Ways to write a name so that a person still knows it."""


def caught(findings: Sequence[Finding], first: int, last: int) -> bool:
    """A hit counts only where a rejecting finding stands on the lines of the injection."""
    return any(f.severity == "reject" and first <= f.line <= last for f in findings)


def recall(engine: Engine, names: Sequence[str], mutate: Mutator, trials: int) -> float:
    """Share of trials in which the injected line is refused."""
    draw = random.Random(7)
    hits = 0
    for trial in range(trials):
        base = method(12, trial)
        at = draw.randrange(1, len(base))
        text = mutate(draw.choice(names), draw)
        added = f"- Begin with {text} when in doubt.".split("\n")
        before = Brain(files={FILE: "\n".join(base)}, load=(FILE,))
        after = before.with_file(FILE, "\n".join([*base[:at], *added, *base[at:]]))
        hits += caught(engine.check(before, after).findings, at + 1, at + len(added))
    share = hits / trials
    if not 0 <= share <= 1:
        raise AssertionError(f"recall {share} is no share")
    return share


def facts(engine: Engine, trials: int) -> dict[str, float]:
    """Recall on what is no name: culprit values, culprit keys, copied sentences of truths."""
    sources = [s for s in read_sources(engine.settings, HeldoutAccess()) if s.spec.kind == "trap"]
    samples: dict[str, list[str]] = {"culprit key as code": [], "value beside its key": []}
    samples["sentence of a truth"] = []
    for source in sources:
        truth = source.read_truth()
        leaf = truth.culprit_field.rsplit(".", 1)[-1]
        if len(re.findall(r"[A-Za-z]+", leaf)) > 1:
            samples["culprit key as code"].append(f"`{leaf}`")
            for row in source.rows()("change_diff"):
                if row["event_id"] == truth.culprit_change and row["field"] == truth.culprit_field:
                    for side in ("old_json", "new_json"):
                        if re.search(r"\d", row[side] or ""):
                            value = row[side].strip('"')
                            plain = " ".join(re.findall(r"[a-z]+", leaf.lower()))
                            samples["value beside its key"].append(f"a {plain} of {value}")
        samples["sentence of a truth"].append(" ".join(truth.mechanism.split()[1:12]))
    return {
        label: recall(engine, given, lambda n, d: n, min(trials, 3 * len(given)))
        for label, given in samples.items()
        if given
    }


def control(engine: Engine, trials: int) -> int:
    """How many clean edits are refused; must be none."""
    refused = 0
    for trial in range(trials):
        before = Brain(files={FILE: "\n".join(method(12, trial))}, load=(FILE,))
        after = before.with_file(FILE, "\n".join(method(24, trial)))
        refused += not engine.check(before, after).passed
    return refused


def sampled(engine: Engine, tier: str, count: int) -> list[str]:
    """Names of services, workloads and people of real incidents, by tier."""

    def usable(name: Name) -> bool:
        return (
            name.tier == tier
            and 2 <= len(words(name.surface)) <= 3
            and 8 <= len(name.key) <= 28
            and any(c.kind == "resource" and c.incident != "self-test" for c in name.carriers)
        )

    names = sorted(n.surface for n in engine.inventory.names.values() if usable(n))
    return random.Random(3).sample(names, min(count, len(names)))


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
    samples = {tier: sampled(engine, tier, 200) for tier in ("T1", "T2")}
    print(f"{'class':18}" + "".join(f"{tier:>8}" for tier in samples))
    for label, mutate in CLASSES.items():
        cells = [
            f"{recall(engine, names, mutate, trials):8.2f}" if names else f"{'-':>8}"
            for names in samples.values()
        ]
        print(f"{label:18}" + "".join(cells), flush=True)
    for label, share in facts(engine, trials).items():
        print(f"{label:22} {share:11.2f}", flush=True)
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
