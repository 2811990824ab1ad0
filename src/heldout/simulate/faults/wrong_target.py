"""A certificate meant for one cluster was written to another: right issuer, wrong names."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="wrong_target",
    domain="delivery",
    family="certificate",
    source=(
        "public: cloud-platform 2021-07-12 and 2022-03-10 (a pipeline ignored the switch of "
        "context for some kinds of resources), own words"
    ),
    seat="Service",
    holder=("terminates_tls_with>Certificate",),
    field="dns_suffix",
    said="{dns suffix}",
    values=(
        ("mesh-a.internal", "mesh-b.internal"),
        ("blue.internal", "green.internal"),
        ("north.internal", "south.internal"),
    ),
    logs=(
        (
            "tls name mismatch with peer {0}: certificate {holder} is made out for {new} "
            "({said}), peer asked for {old}"
        ),
        "{0} peers hung up: names under {old} are not in the certificate, {said}={new}",
    ),
    gauge=Gauge("name_mismatches", "per_min", 0, 190),
    trigger=Trigger(
        on="holder",
        type="runtime",
        summary="Certificate {name} was reissued and loaded",
        prose="the next reissue brought the names of the other cluster into use",
    ),
    mechanism=(
        "The certificate was given another cluster's names ({old} became {new}) by an apply "
        "against the wrong context; once it was reissued peers refused it for a name mismatch"
    ),
    terms=(
        ("certificate", "cert", "tls"),
        (
            "mismatch",
            "mismatched",
            "wrong name",
            "wrong names",
            "other names",
            "not in the certificate",
            "does not cover",
            "dns_suffix",
            "san",
        ),
    ),
    fix="Write the certificate for {old} again, and pin the context of that step of the pipeline",
    effects=(Effect("holder", "Certificate {name} was issued for names under {new}"),),
    nears=(Near("workload", "its pods present what the certificate holds and did not change"),),
)
