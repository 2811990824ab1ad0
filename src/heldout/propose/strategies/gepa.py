"""GEPA's search: parents from a Pareto front, small batches, a full pass for what improves one.

The loop is that of the ``gepa`` package: a parent is played on :data:`MINIBATCH` incidents, a child
is written from what failed there and played on the same; where the sum strictly rises, the child is
played on every incident and joins the pool. Whoever passes most is the result.

Two of its parts are not used. Its reflection prompt asks for facts of the examples, which is what a
brain must not hold: children are written as :class:`Reflect` writes, with the job's gate before
anything is played. And it carries no texts: brains go by their hashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from heldout.propose.searching import Found, SearchTerms, Trials
from heldout.propose.strategies.reflect import Reflect

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

MINIBATCH = 3
"""Incidents of one comparison; the package's default."""
PART = "brain"


class Gepa(Reflect):
    """Writes as ``reflect`` does; what is written for, and what is kept, GEPA decides."""

    name = "gepa"

    def least(self, incidents: int) -> int:
        """A pass of all for the first brain, one comparison, a pass for the child."""
        return 2 * incidents + 2 * MINIBATCH

    def search(self, trials: Trials, terms: SearchTerms) -> Found:
        """Search until one brain passes enough, or the next child could not be paid for."""
        from gepa.api import optimize

        adapter = _Adapter(trials)
        incidents = list(terms.incidents)
        result: Any = optimize(
            seed_candidate={PART: terms.first},
            trainset=incidents,
            valset=incidents,
            adapter=cast("Any", adapter),
            reflection_minibatch_size=MINIBATCH,
            stop_callbacks=_Stop(terms, adapter),
            logger=_Silent(),
            track_best_outputs=False,
            seed=terms.seed,
        )
        if adapter.failed is not None:
            raise adapter.failed
        passes = [
            tuple(incidents[i] for i, score in sorted(scores.items()) if score)
            for scores in result.val_subscores
        ]
        return Found(
            brain=result.candidates[result.best_idx][PART],
            passed=passes[result.best_idx],
            played=result.total_metric_calls,
            course=tuple(
                (spent, len(passed))
                for spent, passed in zip(result.discovery_eval_counts, passes, strict=True)
            ),
        )


class _Adapter:
    """GEPA's view of a job: incidents in, passes out; children from the job's own proposer."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.failed: Exception | None = None

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[str, bool]:
        """Play a batch; an incident's score is 1 where it passed."""
        from gepa.core.adapter import EvaluationBatch

        passed = list(self.trials.play(candidate[PART], batch))
        return EvaluationBatch(
            outputs=passed,
            scores=[float(one) for one in passed],
            trajectories=list(batch) if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[str, bool],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Only which incidents failed: the job keeps what was seen of them, and redacts it."""
        tried = zip(eval_batch.trajectories or (), eval_batch.scores, strict=True)
        return {PART: [{"incident": incident} for incident, score in tried if not score]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """A child; nothing where none came through, so that none is played.

        The package asks again when this raises and drops what it raised, so a failure is kept for
        :meth:`Gepa.search`, and nothing further is asked.
        """
        if self.failed is not None:
            return {}
        try:
            child = self.trials.improve(candidate[PART])
        except Exception as error:  # noqa: BLE001 - the package drops what is raised here
            self.failed = error
            return {}
        return {PART: child} if child else {}


class _Stop:
    """Ends a search before a child that could not be paid for to the end."""

    def __init__(self, terms: SearchTerms, adapter: _Adapter) -> None:
        self.terms = terms
        self.adapter = adapter
        self.next = 2 * MINIBATCH + len(terms.incidents)

    def __call__(self, gepa_state: Any) -> bool:
        """Whether to stop before the next iteration."""
        best = max(gepa_state.program_full_scores_val_set)
        spent = int(gepa_state.total_num_evals)
        short = spent + self.next > self.terms.most
        return self.adapter.failed is not None or short or best >= self.terms.enough


class _Silent:
    """The package's own log is not kept: it holds texts, and the ledger has them."""

    def log(self, message: str) -> None:
        """Keep nothing."""
