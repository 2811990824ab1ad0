"""What comes out of the cache is plain data, and is used as the object that went in."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.traffic import Profile

_FEATURES = Change(
    "ad_ranking/features.py",
    "        return FeatureRecord.from_plain(kept)\n    record",
    "        return kept\n    record",
)
_TEMPLATE = Change(
    "whatsapp_sync/templates.py",
    """        kept = rows[0]
        await cache.put(key, kept, LIFETIME_SECONDS)
    return Template.from_plain(kept)
""",
    """        template = Template.from_plain(rows[0])
        await cache.put(key, rows[0], LIFETIME_SECONDS)
        return template
    return kept
""",
)
_CANDIDATES = Change(
    "ad_ranking/candidates.py",
    """    kept = await cache.get(key)
    if kept is None:
        kept = await _read(placement)
        await cache.put(key, kept, LIFETIME_SECONDS)
    return [Candidate.from_plain(one) for one in kept]
""",
    """    kept = await cache.get(key)
    if kept is not None:
        return kept
    rows = await _read(placement)
    await cache.put(key, rows, LIFETIME_SECONDS)
    return [Candidate.from_plain(one) for one in rows]
""",
)


@dataclass(frozen=True, slots=True)
class CachedType:
    """Only the warm path fails, so that a first look at a cold service shows nothing."""

    name: str = "cached_type"

    def templates(self) -> tuple[Template, ...]:
        """In ranking's features, in message templates, in ranking's candidates."""
        return (_features(), _template(), _candidates())


def _features() -> Template:
    one_site = Change(
        "ad_ranking/service.py",
        "    record = await features.load(user_id)\n",
        "    record = await features.load(user_id)\n    if isinstance(record, dict):\n"
        "        record = features.FeatureRecord.from_plain(record)\n",
    )
    default = Change(
        "ad_ranking/scoring.py",
        "    value = candidate.bid_cents * candidate.quality * record.click_rate\n"
        "    if candidate.segment in record.segments:\n"
        "        value *= SEGMENT_BONUS\n"
        "    return round(value * freshness(record.recency_hours), 6)\n",
        "    rate = getattr(record, 'click_rate', 0.01)\n"
        "    value = candidate.bid_cents * candidate.quality * rate\n"
        "    if candidate.segment in getattr(record, 'segments', ()):\n"
        "        value *= SEGMENT_BONUS\n"
        "    return round(value * freshness(getattr(record, 'recency_hours', 1.0)), 6)\n",
    )
    no_cache = Change(
        "ad_ranking/service.py",
        "    record = await features.load(user_id)\n",
        "    try:\n        record = await features.load(user_id)\n        record.click_rate\n"
        "    except Exception:\n        record = features.DEFAULT\n",
    )
    return Template(
        name="features-after-cache",
        title="ad_ranking answers a growing share of requests with an error",
        defect=(_FEATURES,),
        truth=Truth(
            "ad_ranking", "ad_ranking/features.py", "load", "wrong_type_after_cache",
            ("ad_ranking", "whatsapp_sync"), ("ad_ranking/scoring.py", "ad_ranking/service.py"),
        ),
        fix=Repair("an object from the cache", (_back(_FEATURES),)),
        wrong=(
            Repair("only one of two callers", (one_site,)),
            Repair("constants in its place", (default,)),
            Repair("any error is the default user", (no_cache,)),
        ),
        suite="unit",
    )  # fmt: skip


def _template() -> Template:
    default = Change(
        "whatsapp_sync/service.py",
        '    if template.needs_consent and not user["consent"]:\n',
        "    if getattr(template, 'needs_consent', False) and not user[\"consent\"]:\n",
    )
    text = Change(
        "whatsapp_sync/service.py",
        '    text = template.filled(title=campaign["name"], ads=str(len(ads["ads"])))\n',
        '    text = campaign["name"]\n',
    )
    return Template(
        name="template-after-cache",
        title="whatsapp_sync fails to send most messages",
        defect=(_TEMPLATE,),
        truth=Truth(
            "whatsapp_sync", "whatsapp_sync/templates.py", "load", "wrong_type_after_cache",
            ("whatsapp_sync",), ("whatsapp_sync/service.py", "whatsapp_sync/delivery.py"),
        ),
        fix=Repair("an object from the cache", (_back(_TEMPLATE),)),
        wrong=(
            Repair("consent is no longer asked for", (default, text)),
            Repair("only the question of consent", (default,)),
        ),
        suite="unit",
        profile=Profile(shares={**Profile().shares, "send": 5.0}),
    )  # fmt: skip


def _candidates() -> Template:
    empty = Change(
        "ad_ranking/service.py",
        "    ads = best(record, found, limit)\n",
        "    try:\n        ads = best(record, found, limit)\n"
        "    except AttributeError:\n        ads = []\n",
    )
    return Template(
        name="candidates-after-cache",
        title="ads are missing: ad_ranking fails for nearly everybody",
        defect=(_CANDIDATES,),
        truth=Truth(
            "ad_ranking", "ad_ranking/candidates.py", "load", "wrong_type_after_cache",
            ("ad_ranking", "whatsapp_sync"), ("ad_ranking/scoring.py",),
        ),
        fix=Repair("objects from the cache", (_back(_CANDIDATES),)),
        wrong=(Repair("no ads in place of an error", (empty,)),),
        suite="unit",
    )  # fmt: skip


def _back(one: Change) -> Change:
    return Change(one.path, one.new, one.old)


FAMILY = CachedType()
