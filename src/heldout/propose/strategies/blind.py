"""The placebo: writes from the brain and the task alone, without a look at any investigation.

What it gains is what general advice is worth to a model; only what another strategy gains beyond
that comes from reading failures.
"""

from __future__ import annotations

from heldout.edit import Edit
from heldout.propose.strategy import Request, signed
from heldout.signatures import Answered, Client, propose_blind

SHOWN = 24
"""Own earlier texts that are shown, the newest."""


class Blind:
    """As many drafts as any strategy; knows its own earlier texts, but not what became of them."""

    name = "blind"
    reads_failures = False

    async def candidates(self, client: Client, request: Request) -> Answered[tuple[Edit, ...]]:
        """One call of the proposer; nothing of the cluster, nor of others' edits, is in it."""
        tried = [one.text for one in request.memory if one.author == self.name]
        answer = await propose_blind(
            client,
            brain=dict(request.files),
            target_file=request.target_file,
            tried=tried[-SHOWN:],
            candidates=request.candidates,
            max_lines=request.max_lines,
            seed=request.seed,
        )
        return signed(answer, request, self.name)
