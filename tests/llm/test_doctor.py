"""The doctor: what it says of endpoints that can and cannot, what it costs, and what it advises."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.llm import wire
from tests.llm.fakemodel import FakeModel
from typer.testing import CliRunner

from heldout.cli.main import app
from heldout.errors import ConfigError, UsageError
from heldout.llm import Bounds, ModelName
from heldout.llm.doctor import Examination, Examiner, closing, line, plain
from heldout.settings import settings_from_plain

FAST = Bounds(connect=2, read=2, total=3, attempts=2, retry_seconds=2, first_delay=0.01)


def examined(
    model: wire.Reply, *more: wire.Reply, name: str = "local/m@low", **how: Any
) -> Examination:
    """The examination of a server with these replies."""
    with wire.WireServer(model, *more) as server:
        examiner = Examiner(ModelName.parse(name), server.url, bounds=FAST, **how)
        return asyncio.run(examiner.examine())


def outcomes(found: Examination, over: str = "chat") -> dict[str, str]:
    """Outcomes by probe, those of the endpoint among them."""
    wires = {one.wire: one.findings for one in found.wires}
    return {one.probe: one.outcome for one in (*found.endpoint, *wires.get(over, ()))}  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def whole_model() -> Examination:
    """What is found of a model that can everything."""
    return examined(FakeModel())


def test_a_model_that_can_everything_may_take_every_role(whole_model: Examination):
    """All probes say yes over both wires; Responses wins where it keeps reasoning between turns."""
    found = whole_model
    assert set(outcomes(found).values()) == {"yes", "no", "unknown"}
    assert {name for name, outcome in outcomes(found).items() if outcome != "yes"} == {
        "price",
        "parallel",
    }
    assert {n for n, o in outcomes(found, "responses").items() if o != "yes"} == {
        "price",
        "parallel",
        "seed",
    }
    advice = found.advice
    assert (advice.wire, advice.modes) == ("responses", ("tools", "json", "notebook"))
    assert advice.roles == ("agent", "proposer", "judge")
    assert advice.concurrency is None


def test_the_lines_to_set_are_settings():
    """What is printed for each role is TOML that heldout.toml takes, with the endpoint in it."""
    found = examined(FakeModel(), wire="chat")
    url = found.base_url
    agent = settings_from_plain(Path(), tomllib.loads(found.advice.settings["agent"])).models
    assert (agent.agent, agent.base_url, agent.wire, agent.mode) == (
        "local/m@low",
        url,
        "chat",
        "tools",
    )
    proposer = settings_from_plain(Path(), tomllib.loads(found.advice.settings["proposer"])).models
    assert (proposer.proposer, proposer.proposer_base_url) == ("local/m@low", url)
    judge = settings_from_plain(Path(), tomllib.loads(found.advice.settings["judge"])).judge
    assert (judge.by, judge.models, judge.base_url) == ("llm", ("local/m@low",), url)


@pytest.mark.parametrize(
    ("lacks", "probe"),
    [
        ({"tools": False}, "tools"),
        ({"choice": False}, "choice"),
        ({"schema": False}, "schema"),
        ({"fenced": False}, "fenced"),
        ({"effort": False}, "effort"),
        ({"usage": False}, "usage"),
        ({"seed": False}, "seed"),
        ({"cap": False}, "length"),
        ({"cached": False}, "cache"),
        ({"listed": ({"id": "other"},)}, "listing"),
    ],
)
def test_what_an_endpoint_lacks_is_a_no_and_nothing_else_is(
    lacks: dict[str, Any], probe: str, whole_model: Examination
):
    """Each ability taken away turns its own probe, and the advice stays usable."""
    found = examined(FakeModel(**lacks), wire="chat")
    whole, said = outcomes(whole_model), outcomes(found)
    assert said[probe] == "no"
    changed = {name for name in whole if whole[name] != said[name]} - {probe}
    assert changed <= {"choice", "window", "cache", "length"}
    assert found.advice.usable


def test_without_tools_the_mode_is_json_steps():
    """No native calls: JSON steps, as a chat or a notebook; with a small window a notebook only."""
    found = examined(FakeModel(tools=False), wire="chat")
    assert found.advice.modes == ("json", "notebook")
    assert 'mode = "json"' in found.advice.settings["agent"]
    small = FakeModel(tools=False, listed=({"id": "m", "meta": {"n_ctx_train": 16_384}},))
    found = examined(small, wire="chat")
    assert found.advice.modes == ("notebook",)
    assert any("16,384 tokens is too small" in note for note in found.advice.notes)
    lines = tomllib.loads(found.advice.settings["agent"])
    assert settings_from_plain(Path(), lines).models.notebook_tokens == 16_384 - 6_000


@pytest.mark.parametrize(
    ("window", "roles"),
    [
        (4_096, ()),
        (8_192, ("agent",)),
        (12_288, ("agent", "judge")),
        (16_384, ("agent", "proposer", "judge")),
    ],
)
def test_roles_need_room(window: int, roles: tuple[str, ...]):
    """What does not fit into the window is not advised, whatever the model can."""
    found = examined(FakeModel(listed=({"id": "m", "n_ctx": window},)), wire="chat")
    assert found.advice.roles == roles


def test_roles_follow_from_json():
    """Tools without JSON make an agent and nothing else; a schema alone makes a judge, too."""
    assert examined(FakeModel(schema=False, fenced=False)).advice.roles == ("agent",)
    assert examined(FakeModel(fenced=False)).advice.roles == ("agent", "judge")


def test_words_alone_are_not_usable():
    """A model that only chats can take no role, and the text says so."""
    found = examined(FakeModel(tools=False, schema=False, fenced=False))
    assert not found.advice.usable
    assert "not usable" in closing(found)


@pytest.mark.parametrize("only", ["chat", "responses"])
def test_the_wire_that_works_is_found(only: str):
    """Over a wire that is not there only the first probe asks, and the other wire is advised."""
    found = examined(FakeModel(wires=(only,)))
    assert found.advice.wire == only
    silent = next(one for one in found.wires if one.wire != only)
    assert [(one.probe, one.outcome) for one in silent.findings] == [("answer", "no")]
    assert "404" in silent.findings[0].said


def test_an_effort_that_is_refused_does_not_spoil_the_rest():
    """The other probes ask without it, and the name to set has none."""
    found = examined(FakeModel(effort=False), wire="chat")
    assert outcomes(found)["tools"] == "yes"
    assert 'agent = "local/m"' in found.advice.settings["agent"]
    assert any("without '@low'" in note for note in found.advice.notes)
    assert "effort" in outcomes(examined(FakeModel(effort=False), name="local/m", wire="chat"))


@pytest.mark.parametrize(
    ("served", "other"),
    [("m", False), ("m-2025-08-07", False), ("tiny-0.5b", True), ("", False)],
)
def test_another_name_is_told(served: str, other: bool):
    """A snapshot of the model is the model; any other name that comes back is a note."""
    found = examined(FakeModel(served=served), wire="chat")
    assert any("another model's name" in note for note in found.advice.notes) is other


def test_a_tool_answer_that_is_ignored_is_told():
    """Calls that are well-formed and lead nowhere are a note, not a no."""
    found = examined(FakeModel(uses_results=False), wire="chat")
    assert outcomes(found)["tools"] == "yes"
    assert any("notebook" in note for note in found.advice.notes)


def test_a_server_with_one_slot_is_asked_for_one_at_a_time():
    """Four at once that take four times as long: the concurrency to set is 1."""
    found = examined(FakeModel(slots=1, seconds=0.25), wire="chat")
    assert outcomes(found)["parallel"] == "no"
    assert found.advice.concurrency == 1
    assert "concurrency = 1" in found.advice.settings["agent"]
    wide = examined(FakeModel(slots=8, seconds=0.25), wire="chat")
    assert outcomes(wide)["parallel"] == "yes"


def test_a_429_among_a_few_is_a_low_concurrency():
    """An endpoint that refuses one of four at once is to be asked for two."""
    whole = FakeModel()
    examined(whole, wire="chat")
    found = examined(FakeModel(throttled_after=whole.asked - 3), wire="chat")
    assert outcomes(found)["parallel"] == "no"
    assert found.advice.concurrency == 2


def test_limits_are_told_as_they_came_and_made_harmless():
    """Rate-limit headers stand in the findings, without control characters."""
    headers = {"X-RateLimit-Limit-Tokens": "30000", "X-RateLimit-Evil": "\x1b[31mred"}
    found = examined(FakeModel(headers=headers), wire="chat")
    limits = next(one for one in found.wires[0].findings if one.probe == "limits")
    assert limits.facts["x-ratelimit-limit-tokens"] == "30000"
    assert "\x1b" not in line(limits)


def test_costs_are_bounded_before_and_told_after(tmp_path: Path):
    """What was planned covers what was spent; own prices count, with their day."""
    prices = tmp_path / "prices.toml"
    prices.write_text('as_of = "2026-03-04"\n[local."m"]\ninput = 1\noutput = 2\n')
    for effort in (True, False):
        with wire.WireServer(FakeModel(effort=effort)) as server:
            examiner = Examiner(ModelName("local", "m", "low"), server.url, prices=prices)
            planned = examiner.planned()
            found = asyncio.run(examiner.examine())
            asked = len(server.requests)
        assert planned.as_of == "2026-03-04"
        assert asked - (not effort) * 2 <= found.spent.requests <= planned.requests
        assert found.spent.usd is not None
        assert planned.usd is not None
        assert 0 < found.spent.usd <= planned.usd
    price = next(one for one in found.endpoint if one.probe == "price")
    assert "as of 2026-03-04" in price.said
    assert Examiner(ModelName("local", "m"), "http://127.0.0.1:9/v1").planned().usd is None


def test_a_model_that_does_not_reason_is_cut_sooner():
    """After one short word the answers get less room; a long first one leaves room to reason."""
    for output, room in ((10, 400), (300, 2000)):
        usage = {**wire.USAGE, "completion_tokens": output}
        first = wire.text("ready", usage=usage)
        with wire.WireServer(wire.status(404), first, FakeModel()) as server:
            examiner = Examiner(ModelName("local", "m"), server.url, "chat", bounds=FAST)
            asyncio.run(examiner.examine())
            asked = [one.body.get("max_tokens") for one in server.requests[1:]]
        assert asked[0] == 2000
        assert set(asked[1:]) == {room, 32}


def test_the_one_model_of_a_local_server_is_known_by_any_name():
    """A server that lists a file's path tells the window of the model that answers to any name."""
    listed = {"id": "/models/m.gguf", "aliases": ["/models/m.gguf"], "meta": {"n_ctx": 8192}}
    found = {one.probe: one for one in examined(FakeModel(listed=(listed,)), wire="chat").endpoint}
    assert found["listing"].outcome == "no"
    assert "'/models/m.gguf'" in found["listing"].said
    assert found["window"].facts == {"tokens": 8192}
    aliased = FakeModel(listed=({**listed, "aliases": ["m"]}, {"id": "other", "n_ctx": 4}))
    found = {one.probe: one for one in examined(aliased, wire="chat").endpoint}
    assert (found["listing"].outcome, found["window"].facts) == ("yes", {"tokens": 8192})


@pytest.mark.parametrize(
    "fault",
    [
        wire.reset,
        wire.half,
        wire.status(500),
        wire.status(429),
        wire.status(302, {"Location": "http://192.0.2.1/"}),
        wire.status(401, message="bad key"),
        wire.body(b"{"),
        wire.body({"choices": [], "output": []}),
        wire.drip(0.02),
        wire.silence,
    ],
)
def test_a_broken_endpoint_is_lines_and_no_traceback(fault: wire.Reply):
    """Whatever an endpoint does wrong, each probe that was asked is told in words."""
    with wire.WireServer(fault) as server:
        bounds = Bounds(connect=1, read=0.3, total=0.3, attempts=1)
        examiner = Examiner(ModelName("local", "m"), server.url, bounds=bounds)
        found = asyncio.run(examiner.examine())
    assert not found.advice.usable
    assert found.spent.usd is None, "of a model without a price nothing costs nothing"
    answers = [one for over in found.wires for one in over.findings]
    assert [one.probe for one in answers] == ["answer", "answer"]
    assert all(one.outcome != "yes" and one.said for one in answers)
    json.dumps(plain(found, examiner.planned()))


def test_an_endpoint_that_breaks_half_way_is_told_probe_by_probe():
    """Failures after a good answer are unknown, one line each, and the rest is asked."""
    found = examined(
        wire.body({"data": []}), wire.text("hi"), wire.status(500), name="local/m", wire="chat"
    )
    said = outcomes(found)
    assert said["answer"] == "yes"
    assert {said[name] for name in ("effort", "tools", "schema", "cache")} == {"unknown"}
    assert not found.advice.usable


def test_nobody_listening_is_told_once():
    """A closed port ends the examination at the first request."""
    with wire.WireServer(wire.text("x")) as server:
        url = server.url
    found = asyncio.run(Examiner(ModelName("local", "m"), url, bounds=FAST).examine())
    assert [(one.probe, one.outcome) for one in found.endpoint] == [("key", "yes"), ("reach", "no")]
    assert found.wires == ()


def test_a_missing_key_is_a_line():
    """Without a key nothing is asked; the line names the variable."""
    found = asyncio.run(Examiner(ModelName("openai", "gpt-5")).examine())
    assert [one.outcome for one in found.endpoint] == ["no"]
    assert "OPENAI_API_KEY" in found.endpoint[0].said
    assert found.spent.requests == 0


@pytest.mark.parametrize(
    ("name", "role"), [("anchored@low", "agent"), ("scattered", "agent"), ("proposer", "proposer")]
)
def test_simulated_models_are_examined_in_process(
    name: str, role: str, monkeypatch: pytest.MonkeyPatch
):
    """No socket, no key, no cost, and the role that the program is for."""
    monkeypatch.setattr("socket.socket.connect", _no_socket)
    found = asyncio.run(Examiner(ModelName.parse(f"sim/{name}")).examine())
    assert found.advice.roles == (role,)
    assert found.spent.usd == 0.0
    assert [one.wire for one in found.wires] == ["chat"]
    settings_from_plain(Path(), tomllib.loads(found.advice.settings[role]))  # type: ignore[index]


def _no_socket(*_: Any) -> None:
    raise AssertionError("a simulated model opened a socket")


def told(*words: str) -> tuple[int, str]:
    """Exit code and output of the verb, in this process."""
    done = CliRunner().invoke(app, ["doctor", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_the_verb_tells_costs_before_and_after_and_ends_by_usability():
    """Text: what it may cost, a line for each finding, what to set; 0 usable, 1 not."""
    with wire.WireServer(FakeModel(served="\x1b[31mevil")) as server:
        code, text = told("--model", "local/m", "--base-url", server.url)
    assert code == 0
    assert text.index("at most") < text.index("over chat") < text.index("over responses")
    assert text.index("over responses") < text.index("spent:")
    assert "USD unknown" in text
    assert "\x1b" not in text
    assert f'base_url = "{server.url}"' in text
    with wire.WireServer(FakeModel(tools=False, schema=False, fenced=False)) as server:
        code, text = told("--model", "local/m", "--base-url", server.url, "--wire", "chat")
    assert (code, "over responses" in text) == (1, False)


def test_the_verb_speaks_json():
    """One JSON object and nothing else, with findings, costs and advice."""
    with wire.WireServer(FakeModel()) as server:
        code, text = told("--model", "local/m", "--base-url", server.url, "--json")
    data = json.loads(text)
    assert (code, data["usable"], data["modes"][0]) == (0, True, "tools")
    assert set(data["wires"]) == {"chat", "responses"}
    assert data["spent"]["requests"] <= data["planned"]["requests"]


def test_words_that_do_not_fit_are_refused():
    """A name that is none, a wire that is none, and no model at all outside a project."""
    with pytest.raises(UsageError):
        told("--model", "nonsense")
    with pytest.raises(UsageError, match="no wire"):
        told("--model", "sim/anchored", "--wire", "smoke")
    with pytest.raises(ConfigError, match="runs in this process"):
        told("--model", "sim/anchored", "--base-url", "http://127.0.0.1:9/v1")


def test_credentials_in_a_base_url_are_refused_and_never_printed(tmp_path: Path):
    """The whole command, in its own process: exit 1, one line, no secret; and no project needed."""
    environment = {**os.environ, "COLUMNS": "200"}
    command = [sys.executable, "-m", "heldout.cli.main", "doctor"]
    done = subprocess.run(
        [*command, "--model", "local/m", "--base-url", "http://user:hunter2@127.0.0.1:9/v1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 1
    assert "credentials" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_projects_own_model_and_place_are_the_default(tmp_path: Path):
    """Inside a project the agent of heldout.toml is examined where heldout.toml says it is."""
    with wire.WireServer(FakeModel()) as server:
        (tmp_path / "heldout.toml").write_text(
            f'[models]\nagent = "local/m"\nbase_url = "{server.url}"\n'
        )
        (tmp_path / "prices.toml").write_text('[local."m"]\ninput = 1\noutput = 1\n')
        code, text = told("--project", str(tmp_path), "--wire", "chat")
    assert code == 0
    assert text.startswith(f"local/m at {server.url}")
    assert "USD 1 input" in text
