"""A certificate was renewed in time, and the process still serves the one it loaded at start."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="unread_renewal",
    domain="identity",
    family="certificate",
    source=(
        "public: deployKF #255, harbor-operator #981 and redpanda #9976 (renewed on time, still "
        "served from memory), own words"
    ),
    seat="Service",
    holder=("terminates_tls_with>Certificate",),
    field="status.serial",
    said="serial",
    values=(("7f210c", "915e3a"), ("0b44d1", "1c90e7"), ("a2e815", "b7036f")),
    logs=(
        (
            "tls handshake {0} closed by peer: served certificate expired, process still holds "
            "serial {old} since start while {holder} has serial={new}"
        ),
        "certificate in memory ({old}) is past its end, renewed one on disk has {said}={new}",
    ),
    gauge=Gauge("expired_handshakes", "per_min", 0, 190),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="End date of a certificate loaded by {name} passed",
        prose="the end date of the certificate that was still being served passed",
    ),
    mechanism=(
        "The certificate was renewed (serial {old} to {new}), but the process never loaded it and "
        "still serves the one it read at start; when that one's end date passed, peers found it "
        "expired and closed the handshake"
    ),
    terms=(
        ("certificate", "cert"),
        ("renewed", "renewal", "serial"),
        ("never loaded", "not loaded", "not reloaded", "reload", "still serves", "still serving",
         "still holds", "in memory", "since start", "at start", "not restarted", "not picked up"),
        ("expired", "expiry", "end date", "past its end"),
    ),
    fix="Restart or reload the process so that it serves serial {new}",
    effects=(Effect("holder", "Certificate {name} is up to date and has not expired"),),
    scope=Scope(
        PODS,
        "started_at",
        inside="@before",
        outside="@since",
        share=0.6,
        why="pods restarted since the renewal loaded the new certificate",
    ),
    nears=(
        Near("runs_on>Deployment mounts>Secret", "sign-in works; it is the served one that ended"),
    ),
)  # fmt: skip
