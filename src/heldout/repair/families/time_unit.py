"""A time in the wrong unit or zone: nothing fails, and what is counted is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.traffic import Profile

_THRESHOLD = Change(
    "capi_pipeline/normalize.py",
    "MILLISECONDS_FROM = 100_000_000_000\nMICROSECONDS_FROM = 100_000_000_000_000\n",
    "MILLISECONDS_FROM = 100_000_000_000_000\nMICROSECONDS_FROM = 100_000_000_000_000_000\n",
)
_ZONE = Change(
    "shared/clock.py",
    "    return int(host.now())\n",
    "    return int(host.now()) + 2 * HOUR\n",
)
_MESSAGES = Change(
    "whatsapp_sync/messages.py",
    "            state,\n            clock.now(),\n",
    "            state,\n            clock.now() * 1000,\n",
)
_BUSY = Profile(shares={**Profile().shares, "ingest": 4.0, "purchases": 2.0, "sent": 2.0})


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """Only figures that people look at later show it."""

    name: str = "time_unit"

    def templates(self) -> tuple[Template, ...]:
        """In the pipeline's normaliser, in the shared clock, in the messages' record."""
        return (_threshold(), _zone(), _messages())


def _threshold() -> Template:
    clamp = Change(
        "capi_pipeline/attribution.py",
        "            since,\n            until,\n",
        "            since,\n            until * 1_000_000,\n",
    )
    drop = Change(
        "capi_pipeline/service.py",
        '        if event["campaign_id"] in known:\n',
        '        if event["campaign_id"] in known and event["at"] < 4_000_000_000:\n',
    )
    one_unit = Change(
        "capi_pipeline/normalize.py",
        "    return int(stamp)\n",
        "    return int(stamp // 1_000) if stamp > 4_000_000_000 else int(stamp)\n",
    )
    return Template(
        name="unit-threshold",
        title="attributed purchases fell to a third; no service reports an error",
        defect=(_THRESHOLD,),
        truth=Truth(
            "capi_pipeline", "capi_pipeline/normalize.py", "seconds", "unit_threshold",
            ("capi_pipeline",), ("capi_pipeline/attribution.py", "capi_pipeline/sink.py"),
        ),
        fix=Repair("the thresholds of before", (_back(_THRESHOLD),)),
        wrong=(
            Repair("attribution takes what is in the future", (clamp,)),
            Repair("events in the future are dropped", (drop,)),
            Repair("milliseconds alone", (one_unit,)),
        ),
        suite="integration",
        profile=_BUSY,
    )  # fmt: skip


def _zone() -> Template:
    window = Change(
        "capi_pipeline/attribution.py",
        "    since, until = clock.hours_ago(hours), clock.now()\n",
        "    since, until = clock.hours_ago(hours + 2), clock.now()\n",
    )
    return Template(
        name="clock-zone",
        title="short reports miss the last hours: fewer purchases than advertisers count",
        defect=(_ZONE,),
        truth=Truth(
            "shared", "shared/clock.py", "now", "clock_zone",
            ("capi_pipeline", "whatsapp_sync"),
            ("capi_pipeline/attribution.py", "whatsapp_sync/messages.py"),
        ),
        fix=Repair("UTC", (_back(_ZONE),)),
        wrong=(Repair("a longer window in one place", (window,)),),
        suite="integration",
        profile=_BUSY,
    )  # fmt: skip


def _messages() -> Template:
    reader = Change(
        "whatsapp_sync/messages.py",
        "            campaign_id,\n            since,\n",
        "            campaign_id,\n            since * 1000,\n",
    )
    return Template(
        name="messages-unit",
        title="the count of messages sent in the last hour never falls",
        defect=(_MESSAGES,),
        truth=Truth(
            "whatsapp_sync", "whatsapp_sync/messages.py", "record", "unit_mismatch",
            ("whatsapp_sync",), ("whatsapp_sync/service.py",),
        ),
        fix=Repair("seconds are written", (_back(_MESSAGES),)),
        wrong=(Repair("the reader counts in the same unit", (reader,)),),
        suite="integration",
        profile=_BUSY,
    )  # fmt: skip


def _back(one: Change) -> Change:
    return Change(one.path, one.new, one.old)


FAMILY = TimeUnit()
