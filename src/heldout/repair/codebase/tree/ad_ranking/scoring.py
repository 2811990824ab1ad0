"""How well a creative suits a user: expected value of showing it."""

from ad_ranking.candidates import Candidate
from ad_ranking.features import FeatureRecord

SEGMENT_BONUS = 1.5
FRESH_HOURS = 24.0


def freshness(recency_hours: float) -> float:
    """1 for a user seen within a day, less for one seen long ago, never below 0.2."""
    if recency_hours <= FRESH_HOURS:
        return 1.0
    return max(0.2, FRESH_HOURS / recency_hours)


def score(record: FeatureRecord, candidate: Candidate) -> float:
    """Bid x quality x click rate, more where the segment fits, less for a user long away."""
    value = candidate.bid_cents * candidate.quality * record.click_rate
    if candidate.segment in record.segments:
        value *= SEGMENT_BONUS
    return round(value * freshness(record.recency_hours), 6)


def best(record: FeatureRecord, candidates: list[Candidate], limit: int) -> list[dict]:
    """The best candidates, one for each campaign."""
    ranked = sorted(candidates, key=lambda one: (-score(record, one), one.creative_id))
    chosen: list[dict] = []
    seen: set[int] = set()
    for one in ranked:
        if one.campaign_id in seen:
            continue
        seen.add(one.campaign_id)
        chosen.append(
            {
                "creative_id": one.creative_id,
                "campaign_id": one.campaign_id,
                "score": score(record, one),
            }
        )
        if len(chosen) == limit:
            break
    return chosen
