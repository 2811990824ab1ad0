"""The brain of a team as a team writes it: four hundred lines, full of its own services."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

OPENING = """\
# How we work an alert

Whoever carries the pager owns the incident until it is handed over in words.

- Acknowledge first, read second, and only then type a command.
- Say in the channel what users feel, in a sentence that a manager can repeat.
- Ask whether anything was promised to somebody for tonight.
- Keep a list of what you ruled out; the next person starts from it.
- Prefer the reversible step, and write down how to take it back.
- Never restart two things at the same moment.
- Half of our pages clear themselves; the other half never do.
- Look for the first thing that went wrong, not for the loudest.
- A dashboard that is green may be one that nobody feeds any more.
- Count users before you count errors.
- When a colleague says that nothing changed, read the list of changes.
- Settings age: what was generous two years ago is tight today.
- If you are tired, say so and hand over.
- A graph without a unit is a drawing.
- Look at the healthy twin before you open the patient.
- What happens at the full hour is usually a job.
- Retries hide small failures and multiply large ones.
- Somebody always knows the strange component; find out who before you need them.
- If a limit is hit, ask who set it and what they were afraid of.
- Write the summary while the coffee is still warm.
"""

HEADS = (
    "Serving", "Ordering", "Billing", "Delivery", "Search and lists", "Accounts", "Messages",
    "Back office", "Data", "Partners",
)  # fmt: skip

NOTES = (
    "`{0}` answers its callers from memory and falls back to the database when it is cold.",
    "Owners of {0} sit on the second floor and like to be phoned rather than mailed.",
    "After a deploy {0} needs a while until its caches are warm; wait before you judge it.",
    "If the {0} pods restart, read their last words before the new ones bury them.",
    "{0} keeps its settings in one map; `{1}` reads the same one.",
    "Callers of `{0}` retry three times, so a small failure there looks large elsewhere.",
    "The queue in front of {0} drains in the night and never during the sale.",
    "{0} was split off `{1}` and still shares its database user.",
    "Do not scale `{0}` by hand: the autoscaler fights back within minutes.",
    "When {1} is slow, {0} is where people notice it first.",
    "{0} writes twice on purpose; a missing second write is the real alarm.",
    "Errors of {0} name the host that refused; follow that name, not the message.",
)


def lines(services: Sequence[str], count: int = 400) -> list[str]:
    """A brain of ``count`` lines that names every one of the services several times."""
    found = OPENING.splitlines()
    notes = _notes(services)
    while len(found) < count - 1:
        found.append(next(notes))
    return [*found, "Ask in the channel before you add a line here."]


def _notes(services: Sequence[str]) -> Iterator[str]:
    turn = 0
    while True:
        for at, name in enumerate(services):
            if at % 6 == 0:
                yield ""
                yield f"## {HEADS[at // 6 % len(HEADS)]}, part {'abcdefgh'[turn]}"
                yield ""
            note = NOTES[(at * 5 + turn * 7) % len(NOTES)]
            yield "- " + note.format(name, services[at - 1])
        turn += 1
