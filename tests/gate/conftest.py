"""A small project with three incidents: a trap in train, a trap in test, a control in test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import heldout.split as split_module
from heldout.brain import Brain
from heldout.gate.engine import Engine
from heldout.gate.report import Finding, GateReport
from heldout.graph import write_world
from heldout.graph.schema import BLOCK_TABLES, TABLES, WorldTables
from heldout.settings import Settings, load_settings
from heldout.split import Split, read_split, write_split
from heldout.truth import Decoy, Spec, Truth, write_spec, write_truth

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_780_000_000_000_000
DAY = 86_400_000_000

METHOD = """# Method

You are on call. Find the cause of the alert, prove it, and say how to mend it.

- Read the alert and name the service that users see failing; it is often only the victim.
- Write down when the symptom began, and how you know.
- Follow errors along calls, reads and queues until you reach the component that fails first.
- Search changes at least 14 days back before you settle on one at onset.
- When a value looks wrong, ask when it became what it is and which change set it.
- Look back 7 days, then 2 weeks, then 30 days when nothing turns up.
- A change near the onset is a suspect, not a culprit, until its diff touches the mechanism.
- Compare a failing member of a fleet with a healthy sibling, field by field.
- Read the field history of every setting that the error messages name.
- Filter long change lists by entity and by field; the first 20 rows rarely hold the cause.
- Check limits: connection pools, memory limits, quotas, thread pools, file descriptors.
- Check identities: service accounts, roles, policies, secrets and their rotation.
- Check the network path: security groups, network policies, DNS records, certificates.
- If pods restart, look for OOMKilled, failing liveness probes and evictions before the deploy.
- If latency rises while CPU stays low, look for a queue, a lock or a slow dependency.
- If only one zone or cluster fails, ask what that cluster has and the others lack.
- Autoscalers hide a slow leak; look at replicas, maxReplicas and requests over time.
- Feature flags and configuration count as changes; so do certificate renewals and node upgrades.
- Kafka consumer lag that grows in steps points at the consumers, not at the broker.
- A retry storm multiplies load; look for the first failure, not for the loudest.
- Use list_changes with a field filter, then get_change on each candidate.
- Never name a change that you have not read.
- If p99 latency moves and p50 does not, a part of the requests takes another path.
- Half of all timeouts are set too low for the slowest hour of the day.
- Look at the 95th percentile over 5 minutes, 1 hour and 24 hours.
- Say what you could not see: gaps in logs, metrics that end early, missing sources.
- When nothing explains the failure, answer none and say what is missing.
- Give at least two pieces of evidence, each with its id.
- Rule out the obvious alternative in one sentence.
- Keep the last two calls for the submission.

## Reading logs

- Start with patterns that are new since the onset, then those that grew tenfold.
- Errors name the next hop; search for that name, then read its own errors.
- Counting lines is not enough: 3 lines a minute can be the only trace of a cause.
- Warnings before the first error often state the mechanism in words.
- A log that stops is evidence too; ask whether the process stopped or the shipper did.

## Comparing a fleet

- List the siblings of the failing component and say which of them are healthy.
- Compare configuration, image, node pool, availability zone, identity and traffic.
- Overrides beat templates: a later template change does not explain a member with an override.
- A difference counts only if it touches the mechanism.

## Submitting

- Name one root cause entity and one change, or none.
- State the mechanism: which limit, setting or dependency failed, and how the symptom follows.
- State the trigger: why now, and not a week ago.
- Recommend a fix that restores the service first and prevents the fault second.
"""


@dataclass(frozen=True)
class Story:
    """What differs between the incidents."""

    id: str
    side: str
    kind: str
    services: tuple[str, ...]
    settings: str
    key: str
    old: str
    new: str
    person: str
    mechanism: str
    chain: str
    title: str
    alert: str
    log: str = ""


STORIES = (
    Story(
        id="inc-7f3a90c1",
        side="train",
        kind="trap",
        services=("kestrovan-ledger", "harbor-lantern", "walnut", "control-plane"),
        settings="kestrovan-settings",
        key="data.spindle_pool_ceiling",
        old='"3170ms"',
        new='"913MiB"',
        person="mara.veldhuizen",
        mechanism="The nightly export borrowed every spindle and requests queued behind stale leases",
        chain="the morning surge found eleven idle workers waiting on an exhausted spindle",
        title="trim spindle ceiling after the quarterly cost review of ledgers",
        alert="# SpindleWaitsHigh\n\nFired at 2026-03-04T12:00:00Z\nService: harbor-lantern\n\n"
        "Customers waited longer than usual for statements and monthly summaries to appear.\n",
    ),
    Story(
        id="inc-b2d4418e",
        side="test",
        kind="trap",
        services=("dromblivet-meter", "cactus-violin"),
        settings="dromblivet-settings",
        key="data.turnstile_grace_window",
        old='"5237s"',
        new='"41s"',
        person="tibor.ossendrijver",
        mechanism="Turnstile tokens expired halfway through slow uploads and every resume began again",
        chain="overnight archives outgrew the window that turnstile tokens allowed them",
        title="shorten turnstile window to please the auditors before the spring visit",
        alert="# UploadsRestart\n\nFired at 2026-04-02T03:00:00Z\nService: cactus-violin\n\n"
        "Archive uploads start over again and again and never reach their end.\n",
    ),
    Story(
        id="inc-c0ffee12",
        side="test",
        kind="no_change",
        services=("plumbrook-relay",),
        settings="plumbrook-settings",
        key="data.memory",
        old='"1"',
        new='"2"',
        person="ana.kowalczyk",
        mechanism="A provider in the north lost power and plumbrook had no second supplier to turn to",
        chain="",
        title="bump base image",
        alert="# RelayDown\n\nFired at 2026-04-09T03:00:00Z\nService: plumbrook-relay\n\nRelay down.\n",
    ),
)


def world_of(story: Story, number: int) -> WorldTables:
    """The few rows that the gate reads."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}

    def entity(index: int, kind: str, name: str) -> str:
        ident = f"e-{number:02x}{index:06x}"
        rows["entity"].append(
            {"id": ident, "kind": kind, "name": name, "external_id": "", "cluster": "",
             "first_seen": NOW - 60 * DAY, "last_seen": NOW}
        )  # fmt: skip
        return ident

    for index, name in enumerate(story.services):
        entity(index, "Service", name)
        entity(100 + index, "Pod", f"{name}-6b9f7c8d54-x2k9{index}")
    settings = entity(50, "ConfigMap", story.settings)
    entity(51, "Person", story.person)
    change = f"c-{number:02x}aa00{number:02x}"
    rows["change_event"].append(
        {"id": change, "ts": NOW - 9 * DAY, "observed_at": NOW - 9 * DAY, "type": "config",
         "actor": story.person, "actor_kind": "person", "source": "git", "pr": "4711",
         "repo": "", "commit": "9fceb02d0ae5", "summary": story.title}
    )  # fmt: skip
    rows["change_diff"].append(
        {"event_id": change, "entity_id": settings, "field": story.key, "old_json": story.old,
         "new_json": story.new, "redacted": False}
    )  # fmt: skip
    rows["alert"].append(
        {"id": f"a-{number:08x}", "ts": NOW, "rule": "Rule", "entity_id": "", "severity": "page",
         "text": story.alert, "state": "firing"}
    )  # fmt: skip
    given = {name for name in TABLES if name not in BLOCK_TABLES}
    columns = {
        name: {column: [row[column] for row in rows[name]] for column, _ in TABLES[name]}
        for name in given
    }
    lines = [(NOW - DAY, settings, "ERROR", f"call to {story.services[0]} failed: queue is full")]
    lines += [(NOW - DAY, settings, "ERROR", story.log)] if story.log else []
    return WorldTables(columns=columns, lines=lines, now=NOW, start=NOW - 30 * DAY)


def truth_of(story: Story, number: int) -> Truth:
    """The truth of a story."""
    none = story.kind != "trap"
    return Truth(
        incident=story.id,
        culprit_entity=f"e-{number:02x}000032",
        culprit_change="" if none else f"c-{number:02x}aa00{number:02x}",
        culprit_field="" if none else story.key,
        accepted_entities=(f"e-{number:02x}000032",),
        accepted_changes=() if none else (f"c-{number:02x}aa00{number:02x}",),
        mechanism=story.mechanism,
        mechanism_terms=(("spindle",),),
        trigger="",
        affected=(),
        unaffected=(),
        chain=(story.chain,) if story.chain else (),
        decoys=(Decoy("c-99999999", "e-99999999", "it touched another field altogether"),),
        near_misses=(),
        recommended_fix="",
        canary=f"canary-truth-{story.id}-1b9c",
    )


def write_project(root: Path, stories: Sequence[Story] = STORIES) -> Settings:
    """A project folder with these incidents, worlds and truths in place."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "heldout.toml").write_text("", encoding="utf-8")
    shutil.copytree(ROOT / "checkers", root / "checkers", ignore=shutil.ignore_patterns("__pyc*"))
    settings = load_settings(root)
    for number, story in enumerate(stories, 1):
        add_story(settings, story, number)
    return settings


def add_story(settings: Settings, story: Story, number: int) -> None:
    """Put one more incident into the set ``small``: world, truth, spec, alert, split."""
    folder = settings.datasets / "small"
    digest = write_world(world_of(story, number), settings.worlds / "new")
    (settings.worlds / "new").rename(settings.worlds / digest)
    truth_digest = write_truth(truth_of(story, number), settings.truths / "new.json")
    (settings.truths / "new.json").rename(settings.truths / f"{truth_digest}.json")
    spec = Spec(
        id=story.id, kind=story.kind, domain="d", family="f", fault="f", traps=(),  # type: ignore[arg-type]
        group=story.id, generator="1", seed=number, canary=f"canary-spec-{story.id}-77aa",
    )  # fmt: skip
    spec = replace(spec, world_digest=digest, truth_digest=truth_digest)
    write_spec(spec, folder / "specs" / f"{story.id}.toml")
    (folder / "alerts").mkdir(exist_ok=True)
    (folder / "alerts" / f"{story.id}.md").write_text(story.alert, encoding="utf-8")
    known = (folder / "split.toml").is_file()
    split = read_split(folder) if known else Split("small", (), ())
    sides = {"train": split.train, "test": split.test}
    sides[story.side] = (*sides[story.side], story.id)
    write_split(replace(split, **sides), folder)


def brain_of(text: str, name: str = "method.md") -> Brain:
    """A brain of one file."""
    return Brain(files={name: text}, load=(name,))


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The project, shared and never written to."""
    return write_project(tmp_path_factory.mktemp("gate") / "project")


@pytest.fixture
def own_project(project: Settings, tmp_path: Path) -> Settings:
    """A project of one's own, to break; its inventory is not made yet."""
    root = tmp_path / "project"
    shutil.copytree(project.root, root, ignore=shutil.ignore_patterns("gate", "__pycache__"))
    return load_settings(root)


@pytest.fixture
def as_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process as the gate's, for one test."""
    monkeypatch.setattr(split_module, "_role", "gate")


@pytest.fixture(scope="session")
def engine(project: Settings) -> Engine:
    """An engine over the shared project, made under the gate's role."""
    patch = pytest.MonkeyPatch()
    patch.setattr(split_module, "_role", "gate")
    made = Engine(project)
    patch.undo()
    return made


Adder = Callable[..., GateReport]


@pytest.fixture
def add(engine: Engine) -> Adder:
    """Add text to the method and return the report; keywords go to ``Engine.check``."""

    def added(text: str, **more: Any) -> GateReport:
        before = brain_of(METHOD)
        return engine.check(before, before.with_file("method.md", METHOD + text + "\n"), **more)

    return added


@pytest.fixture
def rejects(add: Adder) -> Callable[..., tuple[Finding, ...]]:
    """Like ``add``, but only the findings that refuse."""
    return lambda text, **more: add(text, **more).rejects


@pytest.fixture
def method() -> str:
    """Clean method text."""
    return METHOD


@pytest.fixture
def make_brain() -> Callable[..., Brain]:
    """A brain of one file."""
    return brain_of


@pytest.fixture
def story_truths() -> dict[str, Story]:
    """The stories by side of their first incident."""
    return {"train": STORIES[0], "test": STORIES[1]}
