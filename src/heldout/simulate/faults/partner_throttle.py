"""An outside provider tightens its own limit for everybody; our account is what it was."""

from heldout.simulate.fault import Effect, Fault, Gauge, Trigger

FAULT = Fault(
    name="partner_throttle",
    domain="external",
    family="outside trouble",
    source=(
        "public: jdemaeyer/brightsky #162 (callers see 429 though they changed nothing; the far "
        "side's limiter did it), own words"
    ),
    seat="ExternalDependency",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "status feed: limiter misfires for all accounts, {0} % of calls answered 429",
        "status feed: limits per account are unchanged, waits of up to {1} ms, fix under way",
    ),
    gauge=Gauge("limited_answers", "percent", 0.1, 38),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Provider reports calls to {name} being limited for all accounts",
        prose="the provider's limiter began to refuse calls of all accounts",
    ),
    mechanism=(
        "The outside provider's own limiter refused calls of all accounts with 429; our traffic "
        "was as before and no change of ours caused it"
    ),
    terms=(
        (
            "429",
            "limiter",
            "rate limit",
            "rate limited",
            "rate limiting",
            "throttled",
            "throttling",
            "limited",
        ),
        (
            "all accounts",
            "everybody",
            "their side",
            "provider's own",
            "its own",
            "no change",
            "not our",
            "nothing of ours",
            "unchanged",
        ),
    ),
    fix="Back off and wait for the provider; nothing of ours needs to be reverted",
    cause="none",
    effects=(Effect("seat", "{name}: 429 for all accounts, provider is at work on it"),),
)
