"""Search domains multiply every lookup once the dots threshold is raised."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="lookup_dots",
    domain="kubernetes",
    family="name resolution",
    source=(
        "public: coredns #7212 (search domains and a high ndots cross a limit as load grows), own"
        " words"
    ),
    seat="Service",
    holder=("runs_on>Deployment",),
    field="dns_config.options.ndots",
    said="ndots",
    values=((2, 5), (1, 5), (2, 6)),
    logs=(
        (
            "lookup timed out after {1} ms: 6 names tried per lookup (ndots={new}), NXDOMAIN on "
            "the first five"
        ),
        "resolver answers slowly, {0} lookups waiting (ndots is {new})",
    ),
    gauge=Gauge("lookups_per_request", "ratio", 1.1, 6.2),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak multiplied the lookups beyond what the resolver answers",
        load=1.8,
    ),
    mechanism=(
        "The resolver option ndots of the pods was raised from {old} to {new}, so each short name"
        " is tried against every search domain; at the peak lookups timed out"
    ),
    terms=(
        ("ndots", "search domain", "search list", "search path"),
        ("lookup", "resolver", "resolve", "dns", "name"),
        ("timed out", "timeout", "time out", "slow", "slowly", "multiplied", "multiplies",
         "tried", "nxdomain", "each short name", "amplified"),
    ),
    fix="Set ndots back to {old} or use fully qualified names",
    nears=(
        Near(
            "part_of>Namespace constrains<NetworkPolicy",
            "it lets lookups out as before; they are answered, only too many are asked",
        ),
        Near("runs_on>Deployment mounts>ConfigMap", "the names in it are right, and short as ever"),
    ),
)  # fmt: skip
