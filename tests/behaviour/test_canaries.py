"""Canaries are seen wherever they turn up, by somebody who knows none of them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from tests.behaviour.conftest import Lab, plus
from tests.behaviour.reader import METHOD

from heldout.behaviour import RunWatch, WatchedClient, closed_book, search
from heldout.brain import Brain
from heldout.canaries import Watch, canary_hash, read_watch
from heldout.errors import CanaryFound, GateError
from heldout.llm import ModelReply, ModelRequest
from heldout.settings import Settings
from heldout.split import read_split
from heldout.store import Ledger
from heldout.store.blobs import blob_row
from heldout.truth import Spec, read_spec

TRAIN, TEST = "0123456789abcdef" * 2, "fedcba9876543210" * 2
WATCH = Watch({canary_hash(TRAIN): "train", canary_hash(TEST): "test"})


def spec_of(settings: Settings, side: str) -> Spec:
    """The first spec of a side, read by the test itself."""
    folder = settings.set_dir("tiny")
    ids = getattr(read_split(folder), side)
    return read_spec(folder / "specs" / f"{sorted(ids)[0]}.toml")


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        (f"see {TRAIN}.", ("train",)),
        (f'{{"a": "{TEST}"}}', ("test",)),
        (f"{TRAIN} and {TEST}", ("test", "train")),
        (TEST.upper(), ("test",)),
        (f"note_{TEST}_x", ("test",)),
        (f"ab{TEST}cd", ("test",)),
        (TEST[:31], ()),
        (TEST[:16] + " " + TEST[16:], ()),
        ("d" * 64, ()),
        ("a plain sentence about a pool-of-connections-that-is-full", ()),
        ("", ()),
    ],
)
def test_a_canary_is_recognised_by_its_hash(text: str, sides: tuple[str, ...]) -> None:
    """Whole, in capitals, glued to other text; never a part of one or another hash."""
    assert WATCH.found(text) == sides


def test_a_canary_of_another_shape_is_found_as_a_word() -> None:
    """Canaries that somebody wrote by hand need not be hexadecimal."""
    watch = Watch({canary_hash("quiet-heron-canary-7"): "test"})
    assert watch.found("it says Quiet-Heron-Canary-7!") == ("test",)
    assert watch.found("it says quiet-heron-canary-8!") == ()


def test_the_message_says_where_and_never_which() -> None:
    """Whoever reads the error learns of the leak, not of the canary."""
    with pytest.raises(CanaryFound, match="held-out half") as caught:
        WATCH.require_clean(f"x {TEST}", "run 1")
    assert TEST not in caught.value.sentence()
    assert caught.value.exit_code == 1
    with pytest.raises(CanaryFound, match="train half"):
        WATCH.require_clean(f"a line\n{TRAIN}\n", "run 1")


def test_the_watch_knows_both_halves_and_holds_no_canary(settings: Settings) -> None:
    """A child reads the specs; what comes back recognises each canary and spells none."""
    watch = read_watch(settings)
    assert len(watch.sides) == 12
    for side in ("train", "test"):
        spec = spec_of(settings, side)
        assert watch.found(f"... {spec.canary} ...") == (side,)
        assert spec.canary not in json.dumps(dict(watch.sides))


def test_specs_that_cannot_be_read_stop_everything(settings: Settings) -> None:
    """Without a watch nothing runs."""
    path = settings.set_dir("tiny") / "specs" / f"{spec_of(settings, 'test').id}.toml"
    path.write_text("kind = ")
    with pytest.raises(GateError, match="canaries cannot be read"):
        read_watch(settings)


def test_the_child_takes_the_gates_role(settings: Settings) -> None:
    """Its output is the mapping alone, so nothing else of a spec leaves it."""
    command = [sys.executable, "-m", "heldout.canaries", "--project", str(settings.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    plain = json.loads(done.stdout)
    assert set(plain.values()) == {"train", "test"}
    assert {len(key) for key in plain} == {32}


def test_a_run_is_looked_through_when_it_ends(lab: Lab, brain: Brain) -> None:
    """Prompts and traces of a real run are clean; a canary in one is found, once it is new."""
    lab.run(lambda bench: closed_book(bench, brain, plus(brain, METHOD), "t"), repeats=1)
    with Ledger.open(lab.settings.ledger) as ledger:
        assert search(lab.settings, WATCH, ledger, brain) == []
        later = RunWatch(WATCH, ledger)
        later.check("clean")
        ledger.append("blobs", [blob_row(f"tool said {TEST}")])
        with pytest.raises(CanaryFound, match=r"run 7.*held-out"):
            later.check("7")
        RunWatch(WATCH, ledger).check("begun after it")


def test_a_leaking_prompt_stops_the_run_itself(lab: Lab, brain: Brain) -> None:
    """A brain that holds a held-out canary ends the first run that it is played in."""
    spec = spec_of(lab.settings, "test")
    watch = read_watch(lab.settings)

    async def work(bench: Any) -> Any:
        bench.plays.watch = RunWatch(watch, bench.plays.ledger)
        return await closed_book(bench, brain, plus(brain, f"- See {spec.canary}."), "t")

    with pytest.raises(CanaryFound, match="held-out half"):
        lab.run(work, repeats=1)


def test_a_proposers_prompt_is_looked_at_before_it_is_sent() -> None:
    """Nothing with a canary reaches the proposer; everything else does."""
    sent: list[ModelRequest] = []

    class Client:
        async def complete(self, request: ModelRequest) -> ModelReply:
            sent.append(request)
            return ModelReply(text="ok")

    client = WatchedClient(Client(), WATCH)
    clean = ModelRequest([{"role": "user", "content": "a digest"}])
    assert asyncio.run(client.complete(clean)).text == "ok"
    with pytest.raises(CanaryFound, match="proposer's prompt"):
        asyncio.run(client.complete(ModelRequest([{"role": "user", "content": TRAIN}])))
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("brain", "brain, method.md"),
        ("blob", "ledger, prompts and traces"),
        ("table", "ledger, table edit_events"),
        ("landing", ".heldout/landing/r/one.json"),
        ("journal", ".heldout/journal/r/one.jsonl"),
    ],
)
def test_every_place_is_searched(
    settings: Settings, brain: Brain, run_role: None, place: str, said: str
) -> None:
    """Brain, ledger, landing files, journals: one canary in one of them is one line."""
    text = f'{{"say": "{TEST}"}}'
    with Ledger.open(settings.ledger) as ledger:
        if place == "brain":
            brain = plus(brain, f"- {TEST}")
        elif place == "blob":
            ledger.append("blobs", [blob_row(text)])
        elif place == "table":
            row = {"edit": "e", "job": "j", "round": 1, "event": "drafted", "detail_json": text}
            ledger.append("edit_events", [row])
        else:
            path = settings.root / said
            path.parent.mkdir(parents=True)
            path.write_text(text)
        found = search(settings, WATCH, ledger, brain)
    assert found == [f"{said}: a canary of the test half"]
