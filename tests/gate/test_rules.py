"""Shapes, values, phrases, talk, tables, size and form: one test a rule, each with a control."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.conftest import METHOD, STORIES, add_story, brain_of

from heldout.brain import Brain
from heldout.gate import shingles
from heldout.gate.engine import Engine
from heldout.gate.hits import Tools
from heldout.gate.report import Finding, GateReport
from heldout.settings import GateSettings, Settings

Rejects = Callable[..., tuple[Finding, ...]]


@pytest.mark.parametrize(
    "shape",
    [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "arn:aws:iam::123456789012:role/x", "c-12ab34cd",
        "e-00ff00ff", "l-48213", "sg-0a1b2c3d4e5f60718", "123456789012", "sha256:9fceb02d0ae598e9",
        "commit 9fceb02d0ae5", "10.42.7.19", "10.42.0.0/16", "fe80:0:0:0:1:2:3:4",
        "ip-10-42-7-19", "api.corp-name.internal", "db1.us-east-1.rds.amazonaws.com",
        "jo@corp-name.io", "web:1.27.3", "PR #4711", "#4711", "MR 92", "OPS-4711", "2026-03-04",
        "2026-03-04T12:00:00Z", "March 4th", "4 March 2026", "14:05", "14:05:31 UTC", "3 am",
        "web-6b9f7c8d54-x2k9p",
    ],
)  # fmt: skip
def test_shapes_are_refused_on_sight(rejects: Rejects, shape: str):
    """Ids, addresses, dates and tickets need no inventory to be refused."""
    assert "shape" in {f.rule for f in rejects(f"- As seen with {shape} before.")}


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1", "0.0.0.0/0", "169.254.169.254", "10.0.0.0/8", "example.com", "UTF-8", "RFC-2119",
     "ISO-8601", "app.kubernetes.io/name", "spec.replicas", "p99", "HTTP 503", "v1beta1", "SHA-256",
     "1:10", "you may 3 times retry", "defaced facade", "TLS 1.3", "i.e. now", "method.md",
     "24 hours", "one in 1,000", "5xx", "may 12 lines suffice"],
)  # fmt: skip
def test_what_only_looks_like_a_shape_passes(rejects: Rejects, text: str):
    """Public addresses, standards and ordinary figures are no examples of a system."""
    assert [f for f in rejects(f"- As seen with {text} before.") if f.rule == "shape"] == []


@pytest.mark.parametrize(
    "text",
    ["3170 ms", "3170ms", "3.17 seconds", "3170", "913MiB", "913 MiB", "913 mebibytes",
     "957.35 MB", "nine hundred thirteen mebibytes", "a spindle pool ceiling of 913"],
)  # fmt: skip
def test_a_culprits_value_is_refused_in_any_unit(rejects: Rejects, text: str):
    """Old and new values are recognised whatever the unit, and in words."""
    assert "incident-value" in {f.rule for f in rejects(f"- Expect {text} there.")}


@pytest.mark.parametrize("text", ["3190 ms", "911 MiB", "3 seconds", "41 things", "913 kB", "317"])
def test_other_values_pass(rejects: Rejects, text: str):
    """A value that no culprit had is let through."""
    assert rejects(f"- Expect {text} there.") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Note that requests queued behind stale leases at night.",
        "NOTE: **requests** queued, behind the stale lease!",
        "Requests queue\n  behind the stale leases.",
        "Customers waited longer than usual for statements.",
        "Trim the spindle ceiling after a quarterly cost review of some ledgers.",
        "The morning surge found eleven idle workers.",
    ],
)
def test_copied_sentences_are_refused(rejects: Rejects, text: str):
    """Runs of five content words of truth and alert, and six of a title, are refused."""
    found = rejects("- " + text)
    assert "incident-phrase" in {f.rule for f in found}


def test_shorter_runs_and_other_words_pass(rejects: Rejects):
    """Four words of a truth in a row, or its words in another order, prove nothing."""
    assert rejects("- Requests queued behind stale data.") == ()
    assert rejects("- Stale leases keep requests waiting in a queue.") == ()


def test_judge_reasoning_of_the_job_is_not_copied(rejects: Rejects):
    """Texts of this job count as sources, in the brain and not in the reason of the edit."""
    judge = "The answer blames the rollout although its diff never touches connection handling."
    line = "- Beware: its diff never touches connection handling."
    assert rejects(line) == ()
    found = rejects(line, job_texts=[judge])
    assert [f.identifier_type for f in found] == ["judge phrase"]
    assert rejects("- Look on.", job_texts=[judge], rationale=judge) == ()


@pytest.mark.parametrize(
    "text",
    [
        "This came up in the train split.", "The held-out half differs.", "The judge wants an id.",
        "Match the ground truth.", "The simulator makes noise.", "As in the third incident, look.",
        "See incident 7 for more.", "If the alert says pool exhausted, answer the older change.",
        "The expected answer is an id.",
    ],
)  # fmt: skip
def test_talk_about_the_evaluation_is_refused(rejects: Rejects, text: str):
    """A brain says nothing about how it is measured or about one incident."""
    assert {f.rule for f in rejects("- " + text)} == {"evaluation-talk"}


@pytest.mark.parametrize(
    "text",
    ["Judge by evidence.", "Test the hypothesis on a second component.", "In the first case, stop.",
     "Train your eye on the field history.", "When the alert names a service, follow its calls.",
     "The second half of the day is busier.", "An incident may have no cause."],
)  # fmt: skip
def test_ordinary_uses_of_the_same_words_pass(rejects: Rejects, text: str):
    """Judging, testing and training are everyday words."""
    assert rejects("- " + text) == ()


def test_answer_tables_are_refused_and_other_tables_pass(rejects: Rejects):
    """Alert and cause side by side are an answer sheet; tool and purpose are not."""
    table = "| alert | likely cause |\n| --- | --- |\n| pool exhausted | limit lowered |"
    assert {f.rule for f in rejects(table)} == {"answer-table"}
    assert rejects("| tool | purpose |\n| --- | --- |\n| list_changes | find edits |") == ()
    arrows = "- slow login page -> expired token key\n- full queue here -> slow writer job"
    assert {f.rule for f in rejects(arrows)} == {"answer-table"}
    assert rejects("- symptom -> mechanism -> change") == ()


def test_tables_of_sentences_are_remarked_on(add: Callable[..., GateReport]):
    """Two columns of text may be an answer sheet under other names: a person should look."""
    rows = "| slow logins at noon | too few sessions |\n| queue never drains | writer was paused |"
    report = add(f"| seen | later found |\n| --- | --- |\n{rows}")
    assert report.passed
    assert [(f.rule, f.severity) for f in report.findings] == [("answer-table", "warn")]
    rows = "| get_change | one change in full |\n| find_paths | how two things connect |"
    assert add(f"| tool | purpose |\n| --- | --- |\n{rows}").findings == ()


def test_an_edit_has_a_size(rejects: Rejects):
    """Sixty lines and a tenth of digits are the limit."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    lines = [f"- Look at part {a}{b}." for a in letters[:3] for b in letters]
    assert {f.rule for f in rejects("\n".join(lines))} == {"edit-size"}
    assert rejects("\n".join(lines[:60])) == ()
    assert {f.rule for f in rejects("- Try 11, 12, 13, 14, 15, 16, 17, 18, 19.")} == {"edit-size"}


def test_a_whole_brain_is_no_edit(engine: Engine, make_brain: Callable[..., Brain]):
    """Without a base the length of a brain is not the size of an edit."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = "".join(f"- Look at part {a}{b} of it.\n" for a in letters[:5] for b in letters)
    assert engine.check(None, make_brain(text)).passed


def test_form_is_checked(engine: Engine, rejects: Rejects, method: str):
    """Control characters, repeated lines and skills without front matter are refused."""
    assert {f.rule for f in rejects("- A bell \x07 rings.")} == {"brain-format"}
    assert {f.rule for f in rejects("- Never name a change that you have not read.")} == {
        "brain-format"
    }
    files = {"method.md": method, "skills/a/SKILL.md": "# No front matter\n"}
    report: GateReport = engine.check(None, Brain(files, ("method.md", "skills/a/SKILL.md")))
    assert [(f.rule, f.file) for f in report.rejects] == [("brain-format", "skills/a/SKILL.md")]
    files["skills/a/SKILL.md"] = "---\nname: a\ndescription: How to look.\n---\n\n- Look.\n"
    assert engine.check(None, Brain(files, ("method.md", "skills/a/SKILL.md"))).passed


def test_a_line_of_ten_megabytes_is_refused_unread(rejects: Rejects):
    """What is too long to be read within limits is refused, quickly and by name."""
    (finding,) = rejects("- " + "kestrovan " * 1_000_000)
    assert finding.rule == "edit-size"
    assert len(finding.matched) < 200


def test_hostile_text_ends_in_time(rejects: Rejects):
    """Text made to send patterns astray is read like any other."""
    for text in ("a-" * 9000, "1," * 9000, "`" * 19000, "<!--" * 4000, "twenty " * 2700, ":" * 19000,
                 "a." * 9500, "x@" * 9500, "=>" * 9000, "0x" + "ab" * 9000, "%4" * 9000):  # fmt: skip
        rejects("- " + text)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("- Before you settle on one at onset, search back at least 14 days for changes.", "same"),
        ("- Never search changes at least 14 days back before you settle on one at onset.",
         "opposite"),
        ("- Search changes at least 30 days back before you settle on one at onset.", "number"),
    ],
)  # fmt: skip
def test_lines_that_repeat_or_contradict_are_refused(rejects: Rejects, line: str, what: str):
    """The same topic in other order, negated, or with another number: the new line is named."""
    (finding,) = rejects(line)
    assert finding.rule == "brain-consistency"
    assert what in finding.identifier_type
    assert finding.matched in line


@pytest.mark.parametrize(
    "line",
    [
        "- Search log lines at least 14 minutes back before you settle on a pattern.",
        "- Never settle on a change at onset without its diff.",
        "- Compare a healthy member of a fleet with one that was restarted, pod by pod.",
        "- If latency falls while CPU stays high, look for retries that have ended.",
        "## Search changes at least 30 days back before you settle on one at onset",
    ],
)
def test_neighbouring_matters_in_like_words_pass(rejects: Rejects, line: str):
    """A line that shares half of its words with another is no repetition."""
    assert rejects(line) == ()


def test_lines_that_come_close_to_each_other_are_remarked_on(add: Callable[..., GateReport]):
    """What may be a repetition or a contradiction warns and does not refuse."""
    line = "- Never search changes at least 14 days back before you settle on any at onset, friend."
    report = add(line)
    assert report.passed
    assert [f.rule for f in report.findings if f.severity == "warn"] == ["brain-consistency"]


def test_the_newer_of_two_lines_is_named(
    engine: Engine, method: str, make_brain: Callable[..., Brain]
):
    """A line put in front of the one that it contradicts is still the one that is refused."""
    new = "- Never follow errors along calls, reads and queues until you reach what fails first."
    old = "- Follow errors along calls, reads and queues until you reach what fails first."
    before = make_brain(f"# Method\n\n{old}\n")
    after = before.with_file("method.md", f"# Method\n\n{new}\n{old}\n")
    assert [f.line for f in engine.check(before, after).rejects] == [3]


def test_overlays_are_held_against_what_they_are_read_with(engine: Engine):
    """An appended overlay repeats its base; a replaced base and another model's overlay do not count."""
    line = "- Follow errors along calls, reads and queues until you reach what fails first.\n"
    other = line.replace("- Follow", "- Always follow")
    one, two = "overlays/models/a/method.md", "overlays/models/b/method.md"
    append = "<!-- overlay: append -->\n\n"

    def refused(files: dict[str, str], extra: dict[str, str]) -> list[str]:
        found = engine.check(None, Brain(files, ("method.md",), extra=extra)).rejects
        return [f.file for f in found if f.rule == "brain-consistency"]

    assert refused({"method.md": line}, {one: append + other}) == [one]
    assert refused({"method.md": line}, {one: other}) == []
    assert refused({"method.md": "# M\n"}, {one: append + other, two: append + line}) == []


@pytest.mark.parametrize(
    "line",
    [
        "- Call list_change before you answer.", "- Use get_audit_trail on each candidate.",
        "- Read it with the `object_timeline` tool.", "- Run `find_owner(...)` twice.",
        "- The tool show_history knows it.",
    ],
)  # fmt: skip
def test_a_tool_that_does_not_exist_is_refused(rejects: Rejects, line: str):
    """Misspelt or invented tools are named with the nearest real one."""
    (finding,) = rejects(line)
    assert (finding.rule, finding.identifier_type) == ("brain-format", "tool name")
    assert "There is no tool" in finding.hint


@pytest.mark.parametrize(
    "line",
    [
        "- Use list_changes with a field filter and read_skill for the rest.",
        "- Give `entity_ids` to list_changes(...) and `depth` to get_neighbors.",
        "- Check `read_timeout`, `query_timeout` and `pool_size` of the client.",
        "- A series such as `http_requests_total` or `histogram_quantile(0.9, x)` is no tool.",
        "- Compare `spec.log_level` with its `check_interval`.", "- Use get_up_limit with care.",
    ],
)  # fmt: skip
def test_real_tools_settings_and_metrics_pass(rejects: Rejects, line: str):
    """Arguments, configuration keys and metric functions are no tools."""
    assert [f for f in rejects(line) if f.identifier_type == "tool name"] == []


def test_an_interface_of_ones_own_has_its_own_tools(
    engine: Engine, make_brain: Callable[..., Brain]
):
    """A brain is held against the tools that its agent has."""
    brain = make_brain("- Call fetch_rows, then list_changes.\n")
    assert [f.matched for f in engine.check(None, brain).rejects] == ["fetch_rows"]
    own = Tools(frozenset({"fetch_rows", "list_charges"}), frozenset())
    assert [f.matched for f in engine.check(None, brain, tools=own).rejects] == ["list_changes"]


@pytest.mark.parametrize(
    ("name", "text", "passes"),
    [
        ("skills/a/SKILL.md", "---\nname: a\ndescription: How to look.\n---\n", True),
        ("skills/a/SKILL.md", "---\nname: b\ndescription: How to look.\n---\n", False),
        ("skills/A b/SKILL.md", "---\nname: A b\ndescription: How to look.\n---\n", False),
        ("skills/a/SKILL.md", f"---\nname: a\ndescription: {'x' * 1100}\n---\n", False),
        ("skills/a/SKILL.md", "---\nname: [\n---\n", False),
        ("SKILL.md", "---\nname: a\ndescription: How to look.\n---\n", False),
        ("notes/more.md", "# More\n", True),
        ("notes/more.txt", "# More\n", False),
        ("notes/../more.md", "# More\n", False),
        ("notes/.more.md", "# More\n", False),
        ("overlays/a/method.md", "# More\n", False),
        ("overlays/models/a/method.md", "# More\n", True),
    ],
)
def test_files_stand_where_they_belong(engine: Engine, name: str, text: str, passes: bool):
    """Names, folders and front matter of every file are checked, those of overlays too."""
    if name.startswith("overlays/"):
        brain = Brain({"method.md": "# Method\n"}, ("method.md",), extra={name: text})
    else:
        brain = Brain({name: text}, (name,))
    rules = {finding.rule for finding in engine.check(None, brain).rejects}
    assert rules == (set() if passes else {"brain-format"})


def test_what_is_read_on_demand_is_a_skill(engine: Engine):
    """A plain file that is offered by name has no description to offer."""
    files = {"method.md": "# Method\n", "more.md": "# More\n"}
    report = engine.check(None, Brain(files, ("method.md",), on_demand=("more.md",)))
    assert [(f.rule, f.file) for f in report.rejects] == [("brain-format", "(file names)")]


def test_a_brain_and_its_lines_have_a_size(engine: Engine, make_brain: Callable[..., Brain]):
    """A brain that is full may be edited but not grow; a line holds one thought."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"- Look at part {a}{b}{c}." for a in letters[:3] for b in letters for c in letters]
    full = make_brain("\n".join(words[:1500]))
    grown = full.with_file("method.md", "\n".join(words[:1501]))
    assert [f.matched for f in engine.check(full, grown).rejects] == ["1501 lines in all"]
    swapped = full.with_file("method.md", "\n".join([*words[1:1500], "- Look on."]))
    assert engine.check(full, swapped).passed
    small = make_brain("# Method\n")
    long = small.with_file("method.md", "# Method\n\n- Look " + "and look " * 120 + "on.\n")
    assert [f.rule for f in engine.check(small, long).rejects] == ["edit-size"]


def test_a_project_says_how_much_a_brain_may_hold(
    own_project: Settings, make_brain: Callable[..., Brain], as_gate: None
):
    """The limit is a setting; a brain that is over it already may still be mended."""
    tight = replace(own_project, gate=GateSettings(max_brain_lines=3))
    engine = Engine(tight)
    brain = make_brain("- One look.\n- Two looks.\n- Three looks.\n- Four looks.\n")
    more = brain.with_file("method.md", brain.files["method.md"] + "- Five looks.\n")
    assert [f.matched for f in engine.check(brain, more).rejects] == ["5 lines in all"]
    other = brain.with_file("method.md", brain.files["method.md"].replace("Two", "Second"))
    assert engine.check(brain, other).passed


def test_an_edit_that_takes_much_away_is_remarked_on(
    engine: Engine, make_brain: Callable[..., Brain], method: str
):
    """Deleting a quarter of a brain warns; deleting a line or an exempt file's lines does not."""
    lines = method.splitlines()
    before = make_brain(method)
    less = before.with_file("method.md", "\n".join(lines[:-20]))
    (remark,) = engine.check(before, less).findings
    assert (remark.rule, remark.severity) == ("edit-size", "warn")
    assert "taken away" in remark.matched
    assert engine.check(before, before.with_file("method.md", "\n".join(lines[:-1]))).findings == ()


MASKED = (
    "- For example, it: no handle left for request it: image it leaks one per import, look there."
)


@pytest.mark.parametrize("names_matter", [False, True])
def test_a_copied_line_with_pronouns_for_names_is_refused(
    own_project: Settings, as_gate: None, monkeypatch: pytest.MonkeyPatch, names_matter: bool
):
    """What a refused proposer writes next: the same line, its names taken out.

    Without the runs that have no names in them it would pass.
    """
    line = (
        "no handle left for request 8123: image amber-redstart:v3.1 leaks one per import, 40 open"
    )
    add_story(own_project, replace(STORIES[2], id="inc-77aa01b2", log=line), 9)
    if names_matter:
        monkeypatch.setattr(shingles, "_JOINED", re.compile("(?!)"))
    before = brain_of(METHOD)
    report = Engine(own_project).check(
        before, before.with_file("method.md", METHOD + MASKED + "\n")
    )
    found = {one.rule for one in report.findings}
    assert ("incident-phrase" in found) != names_matter


@given(st.text(alphabet="ab-:/ ,'.3", max_size=80))
def test_a_token_is_left_out_whole_or_not_at_all(text: str):
    """What stands between blanks, commas, brackets and quotes goes if it is joined; the rest stays."""
    left = shingles._TOKEN.sub(shingles._unless_joined, text)
    kept = [one for one in re.split(r"[\s,;()\"'`]+", text) if not re.search(r"\w[-./:]\w", one)]
    assert re.split(r"[\s,']+", left.strip(" ,'")) == re.split(
        r"[\s,']+", " ".join(kept).strip(" ,'")
    )


def test_a_megabyte_without_a_blank_is_read():
    """Judge reasoning and logs are hostile: reading them takes time in proportion to their length.

    A pattern that tries every end from every start would not come back within the day.
    """
    assert shingles.shingles("a" * 1_000_000 + "-b", 5, lambda word: True) == set()
