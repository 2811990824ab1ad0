"""Certificates moved to another issuer that callers do not trust; it shows at renewal."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="issuer_switch",
    domain="network",
    family="certificate",
    source=(
        "public: deployKF #255 and harbor-operator #981 (everything looks healthy until the "
        "renewal is used), own words"
    ),
    seat="Service",
    holder=("terminates_tls_with>Certificate",),
    field="issuer_ref",
    said="{issuer ref}",
    values=(("mesh-root-a", "mesh-root-b"), ("internal-2024", "internal-2026")),
    logs=(
        "tls handshake {0} failed: certificate signed by unknown authority ({said}={new})",
        (
            "peer {0} closed the handshake: trust bundle holds {old}, certificate comes from "
            "{new} ({said})"
        ),
    ),
    gauge=Gauge("handshake_failures", "per_min", 0, 210),
    trigger=Trigger(
        on="holder",
        type="runtime",
        summary="Certificate {name} was renewed and loaded",
        prose="the scheduled renewal put a certificate of the new issuer in use",
    ),
    mechanism=(
        "The certificate's issuer was switched from {old} to {new}; callers trust only the old "
        "authority, so handshakes fail since the renewal came into use"
    ),
    terms=(
        ("certificate", "cert", "tls"),
        ("issuer", "authority", "ca", "issuer_ref", "signed by"),
        ("trust", "trusts", "trusted", "untrusted", "not trusted", "unknown", "trust bundle"),
    ),
    fix="Point the certificate back to {old}, or add {new} to the trust bundle first",
    effects=(
        Effect("holder", "Certificate {name} is up to date and has not expired"),
    ),
    nears=(
        Near(
            "runs_on>Deployment mounts>Secret",
            "its values are as before; callers refuse the certificate",
        ),
        Near("workload", "it serves what it was given; callers do not trust who signed it"),
    ),
)  # fmt: skip
