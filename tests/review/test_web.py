"""Who may talk to the page, and what a decision is bound to: every wall is tried from outside."""

from __future__ import annotations

import html
import http.client
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
from tests.review.conftest import BEFORE, EDITS, edit, propose, propose_brain
from tests.review.planted import KINDS, planted

from heldout.brain import load_brain, write_brain
from heldout.edit import apply_edits
from heldout.errors import UsageError
from heldout.review.sheet import diff_lines
from heldout.review.web import Open, open_desk
from heldout.review.web.guarding import LARGEST, Keys
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store.queries import decisions


class Reply(NamedTuple):
    """Status, headers in lower case, and the page."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def answer(self) -> str:
        """The heading of an answer."""
        found = re.search(r'<h1 id="answer"[^>]*>(.*?)</h1>', self.text, re.DOTALL)
        return html.unescape(found.group(1)) if found else ""


@dataclass(frozen=True)
class Address:
    """Where a page is served: ``http://host:port/key/`` and perhaps more."""

    url: str

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc

    @property
    def root(self) -> str:
        """The path that holds the key."""
        return "/" + urlsplit(self.url).path.split("/")[1]

    def get(self, path: str) -> Reply:
        """One page below the key."""
        return self.ask(self.root + path)

    def ask(self, path: str, *, form: dict[str, Any] | None = None, **headers: str) -> Reply:
        """One request to the server's own address, with other headers where they are given."""
        sent = {"Host": self.host}
        body = None
        if form is not None:
            body = urlencode(form, doseq=True).encode()
            sent |= {"Origin": f"http://{self.host}", "Content-Length": str(len(body))}
            sent |= {"Content-Type": "application/x-www-form-urlencoded"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.putrequest("POST" if body is not None else "GET", path, skip_host=True)
        for name, value in sent.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)


def send_form(address: Address, path: str, form: dict[str, Any]) -> Reply:
    """Send a form to a page below the key."""
    return address.ask(address.root + path, form=form)


def ask(served: Open, path: str, *, form: dict[str, Any] | None = None, **headers: str) -> Reply:
    """One request to a page that this process serves."""
    return Address(served.url).ask(path, form=form, **headers)


def root(served: Open) -> str:
    """The path that holds the key."""
    return Address(served.url).root


def form_of(page: Reply) -> dict[str, Any]:
    """What a browser would send of a page's hidden fields."""
    fields: dict[str, Any] = {}
    for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text):
        fields.setdefault(name, []).append(html.unescape(value))
    return {**fields, "edit": fields.get("offered", []), "name": "kim", "reason": "reads well"}


def opened(served: Open, proposal: str) -> dict[str, Any]:
    """The form of a proposal's page, to accept all of it."""
    return {**form_of(ask(served, f"{root(served)}/{proposal}")), "action": "accept"}


def decided(settings: Settings, proposal: str) -> list[str]:
    """The decisions that stand in the ledger."""
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        return [row.action for row in decisions(ledger, proposal)]


def test_the_page_and_its_headers(proposed: str, served: Open) -> None:
    """It is shown with a policy that runs nothing, loads nothing foreign and is never kept."""
    page = ask(served, f"{root(served)}/{proposed}")
    assert page.status == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy
    assert "<script" not in page.text
    assert "style=" not in page.text
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"
    assert ask(served, f"{root(served)}/review.css").headers["content-type"].startswith("text/css")
    assert proposed in ask(served, f"{root(served)}/").text


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/wrong-key/", {}),
        ("/wrong-key/p-0123456789ab", {}),
        ("{root}/", {"Host": "evil.example"}),
        ("{root}/", {"Host": "evil.example:{port}"}),
        ("{root}/", {"Host": "127.0.0.1"}),
        ("{root}/", {"Host": ""}),
    ],
)
def test_without_the_key_or_under_another_name_nothing_is_shown(
    proposed: str, served: Open, path: str, headers: dict[str, str]
) -> None:
    """Another user of the machine, a rebound name: both are refused, with the headers set."""
    port = str(urlsplit(served.url).port)
    sent = {name: value.replace("{port}", port) for name, value in headers.items()}
    reply = ask(served, path.replace("{root}", root(served)), **sent)
    assert reply.status == (400 if headers == {"Host": ""} else 403)
    assert proposed not in reply.text
    if reply.status == 403:
        assert "content-security-policy" in reply.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_foreign_page_cannot_decide(
    settings: Settings, proposed: str, served: Open, headers: dict[str, str]
) -> None:
    """Even with key and token, a request that comes from elsewhere changes nothing."""
    reply = ask(
        served, f"{root(served)}/{proposed}/decision", form=opened(served, proposed), **headers
    )
    assert reply.status == 403
    assert decided(settings, proposed) == []
    assert load_brain(settings.brain).hash == BEFORE.hash


def test_localhost_is_this_machine_too(proposed: str, served: Open) -> None:
    """The server's other name works, with an origin of the same name."""
    name = f"localhost:{urlsplit(served.url).port}"
    form = opened(served, proposed) | {"action": "reject"}
    path = f"{root(served)}/{proposed}/decision"
    assert ask(served, path, form=form, Host=name).status == 403
    assert ask(served, path, form=form, Host=name, Origin=f"http://{name}").status == 200


@pytest.mark.parametrize("field", ["token", "diff_hash"])
def test_a_form_is_good_for_its_own_diff_only(
    settings: Settings, proposed: str, served: Open, field: str
) -> None:
    """Without its token, with another's token or with another hash a form is refused."""
    with Ledger.open(settings.ledger) as ledger:
        other = propose(ledger, EDITS[:1], name="p-other")
    form, foreign = opened(served, proposed), opened(served, other)
    path = f"{root(served)}/{proposed}/decision"
    for value in ("", "0" * 64, foreign[field]):
        assert ask(served, path, form={**form, field: value}).status == 403
    assert (
        ask(served, path, form={**form, **{k: foreign[k] for k in ("token", "diff_hash")}}).status
        == 403
    )
    assert decided(settings, proposed) == []


def test_accepting_writes_the_brain_once(settings: Settings, proposed: str, served: Open) -> None:
    """The form of the page accepts; a second click finds that it is decided."""
    form, path = opened(served, proposed), f"{root(served)}/{proposed}/decision"
    assert ask(served, path, form=form).answer == f"Accepted {proposed}"
    assert load_brain(settings.brain).hash == apply_edits(BEFORE, EDITS).hash
    again = ask(served, path, form=form)
    assert again.status == 409
    assert "already decided: accept by kim" in again.text
    assert decided(settings, proposed) == ["accept"]
    assert "Decided: accept by kim" in ask(served, f"{root(served)}/{proposed}").text


def test_a_name_and_a_reason_are_needed(settings: Settings, proposed: str, served: Open) -> None:
    """Also where a browser did not ask for them."""
    path, form = f"{root(served)}/{proposed}/decision", opened(served, proposed)
    reply = ask(served, path, form={**form, "reason": " "})
    assert "a name and a reason" in reply.text
    assert ask(served, path, form={**form, "action": "burn"}).status == 400
    assert ask(served, path, form={**form, "edit": []}).answer == "No edit is chosen"
    assert decided(settings, proposed) == []


def test_single_edits_go_through_the_gate(
    settings: Settings, proposed: str, served: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part is gated; one that the gate refuses is told and changes nothing."""

    class Gate:
        passed = False

        def __init__(self, _: Settings) -> None: ...

        def __enter__(self) -> Gate:
            return self

        def __exit__(self, *_: object) -> None: ...

        def check(self, *_: object) -> Any:
            from heldout.gate.report import Finding, GateReport

            finding = Finding("identifiers", "reject", "method.md", 1, 1, 2, "<b>word</b>")
            found = () if Gate.passed else (finding,)
            return GateReport(Gate.passed, found, 0, "1", "i", "v", "c", 0.0)

    monkeypatch.setattr("heldout.review.decision.GateProcess", Gate)
    path = f"{root(served)}/{proposed}/decision"
    form = {**opened(served, proposed), "edit": [EDITS[1].id]}
    refused = ask(served, path, form=form)
    assert refused.status == 422
    assert "&lt;b&gt;word" in refused.text
    assert decided(settings, proposed) == []
    Gate.passed = True
    assert ask(served, path, form=form).answer == f"Accepted 1 of 3 edits of {proposed}"
    assert load_brain(settings.brain).hash == apply_edits(BEFORE, EDITS[1:2]).hash


def test_a_moved_brain_is_refused(settings: Settings, proposed: str, served: Open) -> None:
    """Between page and click somebody changed the brain: their work is not overwritten."""
    form = opened(served, proposed)
    write_brain(BEFORE.with_file("method.md", "# Mine\n"), settings.brain)
    reply = ask(served, f"{root(served)}/{proposed}/decision", form=form)
    assert reply.status == 409
    assert "the brain has changed" in reply.text
    assert load_brain(settings.brain).files["method.md"] == "# Mine\n"
    assert 'id="moved"' in ask(served, f"{root(served)}/{proposed}").text


def test_a_changed_diff_is_refused(settings: Settings, served: Open) -> None:
    """A stored diff that is not the one that was hashed is neither shown nor decided on."""
    with Ledger.open(settings.ledger) as ledger:
        name = propose(ledger)
        row = ledger.read("SELECT * FROM proposals")[0]
        ledger.append("proposals", [{**row, "proposal": "p-forged", "diff": row["diff"] + "+x\n"}])
    assert ask(served, f"{root(served)}/{name}").status == 200
    assert "not the one that was proposed" in ask(served, f"{root(served)}/p-forged").text
    form = opened(served, name)
    token = served.desk.keys.token("p-forged", form["diff_hash"][0])
    reply = ask(served, f"{root(served)}/p-forged/decision", form={**form, "token": token})
    assert (reply.status, decided(settings, "p-forged")) == (409, [])


def test_a_ledger_in_use_is_said_and_waited_for_by_nobody(
    settings: Settings, proposed: str, served: Open
) -> None:
    """While a job writes, the page says so; afterwards it works again."""
    with Ledger.open(settings.ledger):
        assert ask(served, f"{root(served)}/{proposed}").status == 503
    assert ask(served, f"{root(served)}/{proposed}").status == 200


def test_what_is_no_form_is_refused(proposed: str, served: Open) -> None:
    """Too large a body and unknown addresses are answers, not crashes."""
    path = f"{root(served)}/{proposed}"
    assert ask(served, f"{path}/decision", form={"reason": "x" * (LARGEST + 1)}).status == 413
    assert ask(served, f"{path}/decision", form={f"f{n}": 1 for n in range(1200)}).status == 413
    assert ask(served, f"{path}/nowhere").status == 404
    assert ask(served, f"{root(served)}/p-unknown").status == 404
    assert ask(served, f"{path}/amendment").status == 404
    assert ask(served, f"{path}/decision").status == 405


def test_an_amendment_is_handed_to_the_command(
    settings: Settings, proposed: str, served: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The edited text becomes a patch on the proposed brain; what the command says is shown."""
    kept = tmp_path / "kept.patch"
    script = (
        "import shutil, sys; words = sys.argv[1:]; patch = words[2].removeprefix('--amend=');"
        f"shutil.copy(patch, {str(kept)!r}); print(words[:2], words[3:5]); print('<b>done</b>')"
    )
    real = subprocess.Popen

    def start(command: list[str], **more: Any) -> Any:
        return real([sys.executable, "-c", script, *command[3:]], **more)

    monkeypatch.setattr("heldout.review.web.amending.subprocess.Popen", start)
    page = ask(served, f"{root(served)}/{proposed}/amend")
    text = html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)[1])
    form, path = form_of(page), f"{root(served)}/{proposed}/amendment"
    same = ask(served, path, form={**form, "text": text.replace("\n", "\r\n")})
    assert "leaves nothing new" in same.text
    changed = text.replace("at least 14 days", "at least 21 days").replace("\n", "\r\n")
    assert ask(served, path, form={**form, "text": changed, "token": "x"}).status == 403
    assert ask(served, path, form={**form, "text": changed}).status == 303
    assert served.desk.amendment is not None
    served.desk.amendment._process.wait(60)
    shown = html.unescape(ask(served, path).text)
    assert "is a proposal of its own" in shown
    assert f"['review', '{proposed}'] ['--name=kim', '--reason=reads well']" in shown
    assert "&lt;b&gt;done" in ask(served, path).text
    assert "+- Search the changes of at least 21 days" in kept.read_text()
    assert decided(settings, proposed) == []


def chips(page: Reply) -> dict[str, str]:
    """What the page says of each kind that was looked for."""
    return dict(re.findall(r'data-kind="([^"]+)" data-state="([^"]+)"', page.text))


def test_planted_faults_are_flagged_on_the_page(settings: Settings, served: Open) -> None:
    """Each kind is flagged at the top and beside its line; a sound proposal shows none of it."""
    with Ledger.open(settings.ledger) as ledger:
        sound, faulty = propose(ledger), planted(ledger)
    page = ask(served, f"{root(served)}/{faulty}")
    assert chips(page) == {
        "over-correction": "flag",
        "leak in other words": "flag",
        "padding": "flag",
        "contradiction": "look",
    }
    for kind, line in KINDS.items():
        (row,) = re.findall(rf"<td class=\"line\">[^\n]*{re.escape(html.escape(line))}.*?</tr>",
                            page.text, re.DOTALL)  # fmt: skip
        assert f'<span class="tag">{kind}</span>' in row, kind
    assert "the opposite: method.md:4" in page.text
    clean = ask(served, f"{root(served)}/{sound}")
    assert set(chips(clean).values()) == {"clear"}
    assert 'class="tag"' not in clean.text


def test_a_port_that_is_taken_is_said(settings: Settings, served: Open) -> None:
    """A usage error with a remedy, and no server."""
    with pytest.raises(UsageError, match="cannot be used"):
        open_desk(settings, port=urlsplit(served.url).port or 0)


def test_the_server_listens_on_loopback_alone(served: Open) -> None:
    """No other device of the machine has the port."""
    assert served.listening.getsockname()[0] == "127.0.0.1"
    assert "key" not in repr(Keys("key-material", b"secret"))


def test_no_line_of_a_diff_hides_as_a_header() -> None:
    """Changed lines that look like headers of a file are shown as what they are."""
    before = BEFORE.with_file("method.md", "-- a/method.md\nx\n")
    after = BEFORE.with_file("method.md", "++ b/method.md\nx\n")
    from heldout.edit import diff

    shown = list(diff_lines(diff(before, after)))
    assert ("del", "-- a/method.md") in shown
    assert ("add", "++ b/method.md") in shown
    assert [text for kind, text in shown if kind == "file"] == ["method.md"]


def test_a_line_that_two_edits_add_belongs_to_each_once(settings: Settings, served: Open) -> None:
    """Equal lines of two edits are shown beside the edit that they came from, in order."""
    line = "- Say which evidence is missing."
    with Ledger.open(settings.ledger) as ledger:
        name = propose(ledger, (edit(line, reason="one"), edit("- And more.", line, reason="two")))
    shown = served.desk.sheet(name)
    owners = [(row.text, block.note.because or block.note.will_do)
              for block in shown.blocks if block.note for row in block.rows if row.text.strip()]  # fmt: skip
    assert owners == [(line, "one"), ("- And more.", "two"), (line, "two")]


def test_an_amended_proposal_keeps_what_its_lines_are_for(served: Open, settings: Settings) -> None:
    """Lines that were proposed keep their words; what a person wrote is said to be theirs."""
    after = apply_edits(BEFORE, EDITS)
    own = "- Say in one sentence how the change explains the failure."
    file = EDITS[0].ops[0].file
    amended = after.with_file(file, after.extra[file] + own + "\n")
    with Ledger.open(settings.ledger) as ledger:
        old = propose(ledger)
        new = propose_brain(ledger, amended, amends=old)
    shown = served.desk.sheet(new)
    notes = {row.text: block.note for block in shown.blocks for row in block.rows}
    first, mine = notes[EDITS[0].added_lines()[0]], notes[own]
    assert first is not None
    assert (first.will_do, first.effect) == (EDITS[0].expected_effect, "")
    assert mine is not None
    assert mine.will_do.startswith("Written by a person")
    assert shown.edits == ()
    page = ask(served, f"{root(served)}/{new}").text
    assert 'type="checkbox"' not in page
    assert "Written by a person" in page
    assert "Kept by an amendment" in page
