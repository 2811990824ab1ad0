"""An account with an outside provider moved to a smaller plan; the peak no longer fits it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Trigger

FAULT = Fault(
    name="partner_plan",
    domain="external",
    family="rate limit",
    source=(
        "public: nasa/api-docs #61 (an allowance that is used up half-way through the day), own "
        "words"
    ),
    seat="Service",
    holder=("calls>ExternalDependency",),
    field="plan",
    said="plan",
    values=(("business", "starter"), ("scale", "starter"), ("business", "trial")),
    logs=(
        (
            "{holder} refused call {0} with 429: allowance of plan={new} used up, next period in "
            "{1} ms"
        ),
        "{0} calls put off, the account's plan is {new} and allows no more",
    ),
    gauge=Gauge("partner_refusals", "per_min", 0, 180),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="the next peak needed more calls than the smaller plan allows",
        load=1.7,
    ),
    mechanism=(
        "The account with the provider went from plan {old} to {new}; at the next peak its "
        "smaller allowance was used up and the provider refused further calls with 429"
    ),
    terms=(
        ("plan", "subscription", "downgrade", "downgraded"),
        (
            "429",
            "refused",
            "allowance",
            "rate limit",
            "rate limited",
            "used up",
            "quota",
            "throttled",
        ),
    ),
    fix="Move the account back to plan {old}",
    effects=(Effect("holder", "{name} answers 429 to our account since its allowance is used up"),),
)
