"""Why a creative was chosen, for the people who run campaigns."""

from ad_ranking import features
from ad_ranking.scoring import freshness


async def reasons(user_id: int, segment: str) -> dict:
    """The parts of a score that are the user's."""
    record = await features.load(user_id)
    return {
        "click_rate": record.click_rate,
        "freshness": freshness(record.recency_hours),
        "segment_fits": segment in record.segments,
    }
