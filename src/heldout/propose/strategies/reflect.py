"""The default strategy: read a cluster of failures, write method that would prevent them."""

from __future__ import annotations

from heldout.edit import Edit
from heldout.propose.memory import recent
from heldout.propose.strategy import Request, signed
from heldout.signatures import Answered, Client, propose

MAX_DIAGNOSES = 8
"""Failures shown in one prompt; the decisive ones come first."""


class Reflect:
    """Seed of the method: failures with the judge's view, in; small general patches, out."""

    name = "reflect"
    reads_failures = True

    async def candidates(self, client: Client, request: Request) -> Answered[tuple[Edit, ...]]:
        """One call of the proposer; its edits carry the cluster and this strategy's name."""
        shown = request.cluster.failures[:MAX_DIAGNOSES]
        answer = await propose(
            client,
            brain=dict(request.files),
            target_file=request.target_file,
            cluster=request.cluster.describe(),
            diagnoses=[failure.diagnosis for failure in shown],
            rejected=[item.plain() for item in recent(request.memory, request.cluster.key)],
            candidates=request.candidates,
            max_lines=request.max_lines,
            seed=request.seed,
        )
        return signed(answer, request, self.name)
