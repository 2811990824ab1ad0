"""How the simulated proposer reads the digest of one failed investigation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

_NUMBER = r"(-?\d+(?:\.\d+)?)"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a digest says, as numbers and flags. Days count back from the alert."""

    searches: int
    days: float
    outside: int
    cut_off: int
    narrowed: bool
    histories: int
    read: int
    compared: int
    entities: int
    blamed: bool
    recent: bool
    diff_read: bool
    mechanism: str
    ended: str
    judge: str
    alert: str
    fresh_culprit: bool
    unseen_culprit: bool
    missed_place: bool
    gaps: int
    long_culprit: bool
    alerts_seen: bool


def _number(text: str, pattern: str) -> float:
    match = re.search(pattern, text)
    return float(match.group(1)) if match else 0.0


def _line(text: str, key: str) -> str:
    match = re.search(rf"^{key}:[ \t]*(.*)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _part(text: str, heading: str) -> str:
    match = re.search(rf"^# {heading}$\n(.*?)(?=^# |\Z)", text, re.MULTILINE | re.DOTALL)
    return match.group(1).strip() if match else ""


def evidence(digest: str) -> Evidence:
    """Read the sections of a digest; what it does not hold counts as zero or empty."""
    change = _line(digest, "Change")
    mechanism = _line(digest, "Mechanism")
    judged = re.findall(r"^Judge's change (\S+): (.*)$", digest, re.MULTILINE)
    others = [text for name, text in judged if name not in change]
    return Evidence(
        searches=int(_number(digest, r"Change searches: (\d+)")),
        days=_number(digest, rf"furthest reached {_NUMBER} days"),
        outside=int(_number(digest, r"outside the searched window: (\d+)")),
        cut_off=int(_number(digest, r"lists cut off: (\d+)")),
        narrowed="narrowed by field or paged: yes" in digest,
        histories=int(_number(digest, r"Field histories asked: (\d+)")),
        read=int(_number(digest, r"read with their diff: (\d+)")),
        compared=int(_number(digest, r"States compared: (\d+)")),
        entities=int(_number(digest, r"entities looked at: (\d+)")),
        blamed=bool(change) and not change.startswith("none"),
        recent="minutes before" in change or "hours before" in change or "after the" in change,
        diff_read="diff was read" in change,
        mechanism="" if mechanism.startswith("not stated") else mechanism,
        ended=_line(digest, "Ended"),
        judge=_part(digest, "Judge").casefold(),
        alert=_part(digest, "Alert").casefold(),
        fresh_culprit=any(
            re.search(r"minutes before|hours before|after the", one) for one in others
        ),
        missed_place=bool(
            re.search(r"^Judge's entity .*: no tool call showed", digest, re.MULTILINE)
        ),
        unseen_culprit=any("no tool call showed" in one for one in others),
        gaps=int(_number(digest, r"with gaps in the data: (\d+)")),
        long_culprit=any("touched many fields" in one for one in others),
        alerts_seen="- list_alerts(" in digest,
    )


_NO_CULPRIT = re.compile(
    r"no change (?:is|was|explains|caused|can)|right answer is (?:that )?(?:no|none)"
    r"|should (?:have )?(?:been|answer\w*|be) none|not caused by a change|expected none"
    r"|no culprit|none was right|nothing changed|cannot be proven|nothing in the evidence proves"
)
_FRESH = re.compile(
    r"at (?:the )?onset (?:is|was) the cause|cause (?:is|was|landed) at (?:the )?onset"
)
_WRONG_PLACE = re.compile(
    r"wrong (?:entity|component|place)|entity (?:is|was) (?:wrong|not)|downstream|not the faulty"
    r"|only the victim|symptom\w*,? not|only shows the symptom|ever showed the faulty"
)
_FLEET = re.compile(
    r"sibling|fleet|part of|some of the|only (?:one|some|two|part)|subset|other (?:clusters|regions"
    r"|pools|members)|healthy|unaffected|override|one of"
)


_OVER = re.compile(
    r"false alarm|recovered|back to normal|nothing is broken|has passed|already over|answers again"
)
_LATE = re.compile(r"came after the (?:first|onset)|attempt to help|after the trouble (?:had )?beg")
_ALIKE = re.compile(
    r"name is alike|another cluster or another|(?:same|similar) name|namesake|look-?alike"
)
_BACK = re.compile(r"taken back|restored what had been|reverted|put back|undone")
_NOTE = re.compile(
    r"look there first|looks related|^related:|runbook|comment:|were closed with|note on the rule"
    r"|likely cause|suspect",
    re.MULTILINE,
)
_UNSAID = re.compile(r"mechanism does not say|proven|provable")


def _traps(e: Evidence) -> list[tuple[str, bool]]:
    """What led it astray, as the judge's words and the digest's figures tell."""
    nobody = bool(_NO_CULPRIT.search(e.judge))
    astray = e.missed_place or bool(_WRONG_PLACE.search(e.judge))
    return [
        ("passed_trouble", bool(_OVER.search(e.judge)) and "right" not in e.judge),
        ("unproven", nobody and e.gaps > 0 and bool(_UNSAID.search(e.judge))),
        ("late_change", e.blamed and bool(_LATE.search(e.judge))),
        ("namesake", e.blamed and bool(_ALIKE.search(e.judge))),
        ("taken_back", e.blamed and bool(_BACK.search(e.judge))),
        ("long_diff", e.long_culprit),
        ("trusted_hint", astray and bool(_NOTE.search(e.alert))),
        ("other_alert", astray and e.alerts_seen),
        ("blind_spot", astray and e.gaps > 0),
    ]


def _seen(e: Evidence) -> list[str]:
    """Behaviours that the evidence shows, the likeliest cause of the failure first."""
    seen: list[str] = []
    short = 0 < e.days < 3 and e.searches > 0
    tests: tuple[tuple[str, bool], ...] = (
        ("forced_blame", e.blamed and bool(_NO_CULPRIT.search(e.judge))),
        (
            "stale_blame",
            e.blamed and not e.recent and (e.fresh_culprit or bool(_FRESH.search(e.judge))),
        ),
        ("unfinished", bool(e.ended) and e.ended != "submitted"),
        *_traps(e),
        (
            "dependency",
            e.missed_place or 0 < e.entities <= 1 or bool(_WRONG_PLACE.search(e.judge)),
        ),
        ("short_history", short or (e.searches == 0 and e.unseen_culprit)),
        ("proximity", e.blamed and e.recent),
        ("noise", e.cut_off > 0 and not e.narrowed),
        ("fleet", e.compared == 0 and bool(_FLEET.search(e.judge + " " + e.alert))),
        ("value_origin", e.histories == 0 and bool(e.mechanism)),
        ("unread_diff", e.blamed and not e.diff_read),
        ("mechanism", not e.mechanism),
    )
    seen += [name for name, holds in tests if holds]
    return seen or ["other"]


_ASKED: dict[str, tuple[str, ...]] = {
    "forced_blame": ("Does any change explain the mechanism at all?",),
    "stale_blame": ("Does the change at the onset touch the mechanism?",),
    "unfinished": ("What is the best answer with the calls that are left?",),
    "dependency": ("What does the alerted service depend on, and which of it is failing?",),
    "short_history": (
        "What changed in the days before the alert?",
        "Is there an older change that the trigger only brought out?",
    ),
    "proximity": ("Does the change near the onset touch what is failing?",),
    "noise": ("Which of all these changes concern the setting at fault?",),
    "fleet": ("What differs between the members that fail and those that do not?",),
    "value_origin": (
        "Since when has the setting had this value?",
        "What changed it, and who asked for that?",
    ),
    "unread_diff": ("What did the named change really alter?",),
    "mechanism": ("How does the failure work, according to the errors?",),
    "passed_trouble": ("Is the trouble real, and is it still there?",),
    "trusted_hint": ("What supports the suggestion in the alert?",),
    "other_alert": ("Do the errors lead to that other alert at all?",),
    "blind_spot": ("What do other sources say where telemetry is missing?",),
    "namesake": ("Is this the very entity, by id and cluster, or one of the same name?",),
    "taken_back": ("Does the value that the change set still hold?",),
    "late_change": ("Did the change come before or after the first errors?",),
    "long_diff": ("What else did this big change touch?",),
    "unproven": ("Does any record prove it, and if not, does the answer say so?",),
    "other": ("What would disprove the answer?",),
}


_DECOYS: dict[str, str] = {
    "forced_blame": "a change that explains nothing, because something had to be named",
    "stale_blame": "an old change, because it touched the component",
    "trusted_hint": "the suggestion in the alert",
    "other_alert": "another alert that was louder",
    "namesake": "a thing of the same name",
    "taken_back": "a change that had been undone",
    "late_change": "an attempt to help that came after the onset",
    "proximity": "a change close to the onset, because of its timing",
}


def read_digest(digest: str, draw: np.random.Generator) -> dict[str, Any]:
    """The diagnosis of one failure, as the typed call wants it."""
    e = evidence(digest)
    seen = _seen(e)
    primary = seen[0]
    if len(seen) > 1 and draw.random() < 0.1:
        primary = seen[1]
    asked = [str(draw.choice(_ASKED[name])) for name in seen if name in _ASKED]
    return {
        "found": _found(e, draw),
        "never_asked": asked[:6],
        "window_days": round(max(0.0, e.days), 1),
        "decoy_believed": "proximity" in seen,
        "decoy": next((_DECOYS[name] for name in seen if name in _DECOYS), ""),
        "behaviours": seen,
        "primary": primary,
    }


def _found(e: Evidence, draw: np.random.Generator) -> str:
    if not e.mechanism:
        return "It saw the symptom and never said how the failure works."
    openings = (
        "It worked out how the failure works",
        "It got as far as the mechanism",
        "It described the mechanism",
    )
    text = str(draw.choice(openings))
    if draw.random() < 0.5:
        return f"{text} ({e.mechanism[:160]}) and went no further."
    return f"{text} and went no further."
