"""What runs against what is declared, counted in any world."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.graph.worlds import NOW, Builder

from heldout.graph import write_world
from heldout.graph.reconciliation import Reconciliation, reconcile, rendered
from heldout.graph.world import World

ACCOUNT, STACK, OTHER = 1, 2, 3


class Estate(Builder):
    """A builder whose facts have a side: declared by IaC, or observed in the cloud."""

    def __init__(self) -> None:
        super().__init__()
        self.entity(ACCOUNT, "CloudAccount", "acct-a", "")
        self.entity(OTHER, "CloudAccount", "acct-b", "")
        self.entity(STACK, "IacStack", "core", "")

    def resource(
        self,
        number: int,
        kind: str,
        *,
        declared: dict[str, Any] | None = None,
        running: dict[str, Any] | None = None,
        account: int = ACCOUNT,
    ) -> None:
        """One resource with what each side tells; a side that is None says nothing."""
        self.entity(number, kind, f"{kind.lower()}-{number}", "")
        self.edge(number, "part_of", account)
        if declared is not None:
            self.edge(number, "declared_in", STACK)
        for source, provenance, told in (
            ("iac", "declared", declared),
            ("aws", "observed", running),
        ):
            for field, value in ({"cloud_type": kind, **told} if told is not None else {}).items():
                self.fact(number, field, value)
                self.rows["fact"][-1].update(source=source, provenance=provenance)

    def asked(self, type_: str, region: str = "", account: int = ACCOUNT) -> None:
        """Say that a type was asked for."""
        self.fact(account, f"inventoried.{type_}.{region}".rstrip("."), True)

    def compared(self, folder: Path) -> Reconciliation:
        """The comparison of the world."""
        write_world(self.tables(), folder / "w")
        return reconcile(World(folder / "w"))


def test_shares_are_counted_by_account_and_kind(tmp_path: Path):
    """Two of three queues have a counterpart; what a service made is in no share."""
    build = Estate()
    build.resource(11, "Queue", declared={}, running={})
    build.resource(12, "Queue", declared={}, running={})
    build.resource(13, "Queue", running={})
    build.resource(14, "Queue", running={"made_by": "CloudFormation stack s"})
    build.resource(15, "Cache", running={}, account=OTHER)
    found = build.compared(tmp_path)
    rows = {(one.account, one.kind): one for one in found.groups}
    queues = rows["acct-a", "Queue"]
    assert (queues.running, queues.serviced, queues.declared, queues.undeclared) == (4, 1, 2, 1)
    assert queues.share == pytest.approx(1 / 3)
    assert found.share == pytest.approx(2 / 4)
    assert found.services == {"CloudFormation stack s": 1}


def test_what_no_stack_could_declare_stands_apart(tmp_path: Path):
    """A kind that nobody declares and an account that no stack covers leave the second share."""
    build = Estate()
    build.resource(11, "Queue", declared={}, running={})
    build.resource(12, "Queue", running={})
    build.resource(13, "Cache", running={})
    build.resource(14, "Queue", running={}, account=OTHER)
    found = build.compared(tmp_path)
    assert found.blind_accounts == ("acct-b",)
    assert [one.kind for one in found.groups if not one.comparable] == ["Cache"]
    assert found.share == pytest.approx(3 / 4)
    assert found.comparable_share == pytest.approx(1 / 2)


def test_only_fields_that_both_sides_tell_are_compared(tmp_path: Path):
    """A different value is drift, an equal one none; of maps and lists only the difference shows."""
    build = Estate()
    build.resource(
        11,
        "DbInstance",
        declared={"multi_az": True, "port": 5432, "tags": {"a": "1", "b": "2"}, "only": 1,
                  "groups": ["x", "y"], "desired_size": 3},
        running={"multi_az": False, "port": 5432, "tags": {"a": "1", "b": "3"}, "status": "up",
                 "groups": ["y", "z"], "desired_size": 5, "other": 2},
    )  # fmt: skip
    found = build.compared(tmp_path)
    told = {one.field: (one.declared, one.running) for one in found.differences}
    assert told == {
        "multi_az": (True, False), "tags.b": ("2", "3"), "groups": (["x"], ["z"]),
        "desired_size": (3, 5),
    }  # fmt: skip
    assert [one.field for one in found.differences if one.expected] == ["desired_size"]
    assert (found.compared, found.one_sided) == (5, 2)
    assert found.drifted


def test_what_an_autoscaler_moves_is_no_drift(tmp_path: Path):
    """A size that both sides tell differently is expected to be different."""
    build = Estate()
    build.resource(11, "NodeGroup", declared={"desired_size": 3}, running={"desired_size": 5})
    assert not build.compared(tmp_path).drifted


def test_a_version_that_is_left_open_covers_what_runs(tmp_path: Path):
    """16 is any 16.x, and 16.3 is not 16.30."""
    build = Estate()
    build.resource(
        11, "DbInstance", declared={"engine_version": "16"}, running={"engine_version": "16.3"}
    )
    build.resource(
        12, "DbInstance", declared={"engine_version": "16.3"}, running={"engine_version": "16.30"}
    )
    assert len(build.compared(tmp_path).differences) == 1


def test_what_is_gone_is_told_where_somebody_looked(tmp_path: Path):
    """An answered question makes an absence; without one, nobody knows."""
    build = Estate()
    build.resource(11, "Queue", declared={})
    build.resource(12, "Cache", declared={})
    build.resource(13, "Bucket", declared={"planned": "create"})
    build.asked("Queue")
    found = build.compared(tmp_path)
    assert [(one.kind, one.looked) for one in found.absent] == [("Cache", False), ("Queue", True)]
    assert found.planned == {"create": 1}
    assert found.drifted


def test_a_resource_that_ended_does_not_run(tmp_path: Path):
    """What was observed until an hour ago is not running now."""
    build = Estate()
    build.resource(11, "Queue", declared={}, running={})
    for row in build.rows["fact"]:
        if row["source"] == "aws":
            row["valid_to"] = NOW - 3_600_000_000
    build.asked("Queue")
    found = build.compared(tmp_path)
    assert found.groups == ()
    assert [one.looked for one in found.absent] == [True]


def test_a_world_without_a_cloud_says_so(tmp_path: Path):
    """Nothing to compare is not a share of nothing."""
    build = Builder()
    build.entity(1, "Deployment", "cart")
    write_world(build.tables(), tmp_path / "w")
    found = reconcile(World(tmp_path / "w"))
    assert found.share is None
    assert "nothing to compare" in rendered(found)


def test_long_lists_say_what_they_leave_out(tmp_path: Path):
    """Text shows some rows and how many more there are; JSON has all of them."""
    build = Estate()
    for number in range(11, 41):
        build.resource(number, "Queue", running={})
    found = build.compared(tmp_path)
    assert "and 25 more" in rendered(found, rows=5)
    assert len(found.plain()["undeclared"]) == 30


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world in which half of the queues are declared and one field differs."""
    build = Estate()
    build.resource(11, "Queue", declared={"delay_s": 0}, running={"delay_s": 5})
    build.resource(12, "Queue", running={"note": "\x1b[2Jgone"})
    folder = tmp_path_factory.mktemp("drift") / "w"
    write_world(build.tables(), folder)
    return folder


def drift(*words: str) -> subprocess.CompletedProcess[str]:
    """The verb in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", "drift", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 0, "without a counterpart in IaC: 1 of 2 (50 %)"),
        (("--max-share", "0.5"), 0, "delay_s: declared 0, running 5"),
        (("--max-share", "0.4"), 3, "50.0 % of what runs is not declared"),
        (("--fail-on-drift",), 3, "not as it was declared"),
        (("--max-share", "7"), 2, "--max-share"),
    ],
)
def test_the_verb_reports_and_fails_only_when_asked(world: Path, words, code: int, said: str):
    """Exit 0 whatever it finds, 3 beyond a stated share or with --fail-on-drift, 2 for bad words."""
    done = drift(str(world), *words)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_verb_prints_json(world: Path):
    """Everything as data, with nothing around it."""
    found = json.loads(drift(str(world), "--json").stdout)
    assert found["share_without_counterpart"] == 0.5
    assert found["differences"][0]["field"] == "delay_s"


def test_a_folder_that_is_no_world_is_one_sentence(tmp_path: Path):
    """Exit 1, where it looked and no traceback."""
    done = drift(str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "there is no world" in done.stderr


def test_who_looks_at_one_thing_sees_what_runs(tmp_path: Path):
    """Of two values told for the same time the observed one is shown, whichever sorts last."""
    build = Estate()
    build.resource(11, "Queue", declared={"a": 9, "z": 0}, running={"a": 1, "z": 5})
    write_world(build.tables(), tmp_path / "w")
    world = World(tmp_path / "w")
    (queue,) = [one for one in world.graph.entities.values() if one.kind == "Queue"]
    held = world.facts.at(queue.id, NOW)
    assert (held["a"].value_json, held["z"].value_json) == ("1", "5")
    assert world.graph.facts(queue.id)["a"] == 1
