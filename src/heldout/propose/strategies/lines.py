"""For a small proposer: it is asked for sentences, and each is appended to the target file."""

from __future__ import annotations

from heldout.edit import Edit
from heldout.propose.memory import recent
from heldout.propose.strategy import Request, signed
from heldout.signatures import Answered, Client, propose_lines

SHOWN = 4
"""Failures told and refused sentences shown; a small model copies what stands in a long prompt."""


class Lines:
    """Reads failures like ``reflect``, in a fraction of its prompt, and writes no patch itself.

    A model of a few billion parameters that is asked for patches names files that are none, repeats
    the brain, or answers with the prompt.
    """

    name = "lines"
    reads_failures = True

    async def candidates(self, client: Client, request: Request) -> Answered[tuple[Edit, ...]]:
        """One call of the proposer."""
        failures = [one.diagnosis.found for one in request.cluster.failures[:SHOWN]]
        refused = [one.text for one in recent(request.memory, request.cluster.key)]
        answer = await propose_lines(
            client,
            target_file=request.target_file,
            behaviour=request.cluster.describe().splitlines()[0],
            failures=failures,
            refused=refused[-SHOWN:],
            candidates=request.candidates,
            seed=request.seed,
        )
        return signed(answer, request, self.name)
