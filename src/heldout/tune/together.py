"""Several clusters of failures answered by one edit, so that their tests are paid for once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heldout.edit import Edit
from heldout.propose import Cluster, merged
from heldout.tune.context import Context, State
from heldout.tune.drafting import Candidate, admit, draft
from heldout.tune.results import Accepted

TOGETHER = "together"
"""Where such an edit stands among the drafts of its round."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a round plays: candidates, what they are tried on, and which of them answers what."""

    target: Cluster
    candidates: tuple[Candidate, ...]
    together: str = ""
    """The edit that answers all of :attr:`keys`; any other answers the target alone."""
    keys: tuple[str, ...] = ()

    def answered(self, edit: Edit) -> tuple[str, ...]:
        """The clusters that an accepted edit of this round answers."""
        return self.keys if edit.id == self.together else (self.target.key,)


async def draft_round(
    job: Context, state: State, chosen: Cluster, beside: Sequence[Cluster]
) -> Drafted:
    """Candidates for a cluster and, in the place of the last of them, one that answers more.

    It is the first candidate with a draft for each further cluster on top of it, written where its
    author sees what the earlier ones say. Without a second draft the round is as any other.
    """
    candidates = await draft(job, state, chosen)
    if not candidates or not beside:
        return Drafted(chosen, tuple(candidates))
    parts, keys, brain = [candidates[0].edit], [chosen], candidates[0].brain
    one_each = replace(job, options=replace(job.options, candidates=1))
    for other in beside:
        scratch = on_top(state, parts)
        scratch.brain = brain
        if scratch.lines_left(job.options) < 1:
            break
        found = await draft(one_each, scratch, other, place=f"{other.key}-")
        if found:
            parts.append(found[0].edit)
            keys.append(other)
            brain = found[0].brain
    if len(parts) == 1:
        return Drafted(chosen, tuple(candidates))
    edit = joined(parts, parts[0].author)
    whole = await admit(job, state, edit, TOGETHER, state.lines_left(job.options))
    if whole is None:
        return Drafted(chosen, tuple(candidates))
    kept = [whole, *candidates[: max(0, job.options.candidates - 1)]]
    return Drafted(merged(keys), tuple(kept), whole.edit.id, tuple(one.key for one in keys))


def on_top(state: State, edits: Sequence[Edit]) -> State:
    """The state for a draft on top of edits that nobody accepted yet: their lines count already."""
    unproven = [Accepted(edit, state.round, "", {}, {}) for edit in edits]
    return replace(state, accepted=[*state.accepted, *unproven])


def joined(edits: Sequence[Edit], author: str) -> Edit:
    """The patches that lead to a brain as one edit, with what was said of each."""
    if len(edits) == 1:
        return edits[0]
    texts = {
        name: " ".join(dict.fromkeys(text for edit in edits if (text := getattr(edit, name))))
        for name in ("reason", "expected_effect", "feared_harm")
    }
    ops = tuple(op for edit in edits for op in edit.ops)
    return Edit(ops, cluster=edits[0].cluster, author=author, **texts)
