"""General knowledge of the simulated proposer: what an SRE would advise, in parts to be combined.

Every piece of advice is a list of ways to put it. ``{n}`` is a number of days, in figures or words.
"""

from __future__ import annotations

ADVICE: dict[str, tuple[str, ...]] = {
    "short_history": (
        "When you look for changes, start the search window at least {n} before the alert, not on"
        " the day of the incident.",
        "Look back {n} or more for changes of the component at fault: a bad change can lie dormant"
        " until load or a restart wakes it.",
        "Extend every change search to the {n} before the alert before you conclude that nothing"
        " relevant changed.",
        "Search the change history of the faulty component over the {n} before the alert; latent causes"
        " land long before their symptom.",
    ),
    "value_origin": (
        "Once you have found the misconfigured value, ask when it became what it is and which change"
        " set it; read the history of that field.",
        "Do not stop at the mechanism: trace the setting behind it through its field history to the"
        " change that introduced the current value.",
        "For the setting that explains the failure, find out since when it has held this value and"
        " what changed it.",
    ),
    "proximity": (
        "A change shortly before the onset is not proof of anything: confirm that its diff touches"
        " the mechanism before you blame it.",
        "Do not name a change because it is the latest one; the fields it modified must be those"
        " that explain the failure.",
        "Treat a deploy right at the onset as a suspect only, and rule it out when what it altered"
        " has nothing to do with the failing setting.",
    ),
    "fleet": (
        "If only part of the fleet is affected, compare the state of an affected member with an"
        " unaffected one and explain the fields that differ.",
        "When siblings of the failing component stay healthy, compare their configuration with the"
        " failing one; the difference points at the cause.",
    ),
    "noise": (
        "When a list of changes is cut off, narrow it by entity and by field, or read the following"
        " pages, before you judge it.",
        "Filter long change lists down to the component and the field at fault; the first page of a"
        " wide search rarely holds the cause.",
        "Follow the cursor of a truncated change list to its end, or repeat the search for a single"
        " entity and field.",
    ),
    "dependency": (
        "The alerted service is often only the victim: follow the errors along its dependencies to"
        " the component that fails first.",
        "Do not stop at the service that alerts; walk its neighbours and their logs downstream until"
        " the errors point no further.",
    ),
    "unread_diff": (
        "Read the diff of a change before you name it as the root cause.",
        "Open every change that you suspect and check what exactly it altered before you submit it.",
    ),
    "forced_blame": (
        "If no change explains the mechanism, answer none for the change instead of naming the"
        " least unlikely one.",
        "Submit no culprit change when none of the candidates accounts for the failure; say that"
        " none was found.",
    ),
    "stale_blame": (
        "Weigh a change at the onset like any other: when its diff touches the mechanism, it is the"
        " cause, whatever older changes exist.",
        "An older change is the cause only if it set the failing value; otherwise check whether a"
        " recent change did.",
    ),
    "passed_trouble": (
        "Before you look for a cause, confirm in the metrics that the errors are real and still"
        " there; if they are over, say that it recovered and name no cause.",
        "Check whether the symptom is still present: an alert can be a false alarm, or the trouble"
        " may have ended by itself.",
    ),
    "trusted_hint": (
        "A suggestion in the alert is a guess like any other: test it against the errors.",
        "A note or hint in the alert is a hypothesis; verify it before you follow it.",
    ),
    "other_alert": (
        "Set aside other alerts unless a dependency connects them with the failing path.",
        "Do not chase another alert because it is louder: the error chain decides what belongs to"
        " the incident.",
    ),
    "blind_spot": (
        "Where logs are missing or have gaps, consult metrics and events instead, and say which"
        " source was not available.",
        "Never take a silent component for a healthy one: check for gaps in its telemetry and use"
        " another source.",
    ),
    "namesake": (
        "Check the id and the cluster of an entity before you blame it; names repeat.",
        "Tell entities of the same name apart by their ids, and confirm that a change hit the"
        " failing one.",
    ),
    "taken_back": (
        "Check that the value which a change set is still in force before you name it.",
        "Rule out changes that were reverted before the trouble began.",
    ),
    "late_change": (
        "Establish when the errors began, and discard every change that came later: it is a"
        " reaction.",
        "A change made after the onset cannot be the cause; somebody was trying to help.",
    ),
    "long_diff": (
        "Read the whole diff of a big change, every field of it, before you rule it out.",
        "When a change touches many fields, open it and read all of them.",
    ),
    "unproven": (
        "If the records that would show the cause are missing, say that it cannot be proven.",
        "Where the evidence does not suffice, state that the cause cannot be proven and name no"
        " change.",
    ),
    "mechanism": (
        "Establish from the error logs how the failure works before you look for a change.",
        "State the mechanism first: which limit, setting or dependency fails, according to the"
        " error messages that are new since the onset.",
    ),
    "unfinished": (
        "Submit the best supported answer before you run out of steps.",
        "Keep the last calls for the submission; do not repeat a query that has been answered.",
    ),
    "other": ("Before you submit, look for one piece of evidence that would disprove the answer.",),
}

OVER_CORRECTION: tuple[str, ...] = (
    "Always blame the oldest change on the component.",
    "Changes on the day of the incident are never the cause; ignore them.",
    "Prefer the older change over a recent one in every case.",
)

GIVING_UP: tuple[str, ...] = (
    "Always submit none for the change.",
    "Never blame a change.",
    "Assume that every alert is a false alarm.",
)
"""Over-corrections of those who named too much."""

PADDING: tuple[str, ...] = (
    "Work carefully and keep the overall goal in mind.",
    "Think step by step and stay systematic throughout.",
    "Communicate clearly and remain calm under pressure.",
    "Remember that every system is different.",
    "Be thorough, but also be efficient.",
    "Use good judgement at all times.",
    "Quality matters more than speed, and speed matters too.",
    "Consider the context before drawing conclusions.",
    "Good engineers learn from every failure.",
    "Stay curious and question assumptions where it makes sense.",
    "Make sure that the answer is helpful to the reader.",
    "Double-check your work where possible.",
)

DAYS: tuple[tuple[int, str], ...] = (
    (7, "7 days"), (7, "seven days"), (10, "10 days"), (14, "14 days"), (14, "two weeks"),
    (21, "three weeks"), (30, "30 days"), (30, "four weeks"),
)  # fmt: skip

EXPECTED: dict[str, str] = {
    "short_history": "Change searches reach the days before the incident",
    "value_origin": "The change behind a bad value is looked up",
    "proximity": "Innocent changes at the onset are no longer blamed",
    "fleet": "The difference between affected and unaffected members is used",
    "noise": "The relevant change is found in long lists",
    "dependency": "The failing dependency is reached",
    "unread_diff": "Only changes whose content fits are named",
    "forced_blame": "No change is named where none is to blame",
    "stale_blame": "A guilty change at the onset is named",
    "passed_trouble": "Trouble that is over, or never was, is recognised",
    "trusted_hint": "Suggestions in alerts are tested",
    "other_alert": "Unrelated alerts are left alone",
    "blind_spot": "Components with missing telemetry are looked at by other means",
    "namesake": "Things of one name are told apart",
    "taken_back": "Changes that were undone are no longer blamed",
    "late_change": "Attempts to help are no longer blamed",
    "long_diff": "The one field in a big change is found",
    "unproven": "Missing proof is said to be missing",
    "mechanism": "The mechanism is stated",
    "unfinished": "An answer is given in time",
    "other": "Weak answers are questioned",
}

FEARED: dict[str, str] = {
    "short_history": "More rows to read; an old change could be blamed for a fresh failure",
    "proximity": "A guilty change at the onset could be let off",
    "value_origin": "Some extra look-ups per investigation",
    "forced_blame": "A culprit could be left unnamed",
    "passed_trouble": "Trouble that goes on could be taken for over",
    "unproven": "A culprit that can be proven could be left unnamed",
    "late_change": "A cause could be missed where the onset is read too early",
}
