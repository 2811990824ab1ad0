"""Host records cannot be written again, because an ingress lost the annotation they need."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

_RECORD = "routes_to<K8sService routes_to<Ingress routes_to<LoadBalancer resolves_to<DnsRecord"

FAULT = Fault(
    name="record_weight",
    domain="network",
    family="name resolution",
    source=(
        "public: cloud-platform 2022-01-22 (host names vanished at a weekend over one missing "
        "weight annotation), own words"
    ),
    seat="Service",
    holder=("routes_to<K8sService", "routes_to<Ingress"),
    field="annotations.record_weight",
    said="{record weight}",
    values=(("100", ""), ("50", ""), ("10", "")),
    logs=(
        (
            "own host name is gone: {0} lookups ended in NXDOMAIN, its record is skipped while "
            "{said} of {holder} is empty"
        ),
        "callers by host name stay away, those by address get through; {said} missing ({0} tries)",
    ),
    gauge=Gauge("lookups_nxdomain", "per_min", 0, 420),
    trigger=Trigger(
        on=_RECORD,
        type="runtime",
        summary="Clean-up of unowned records done; {name} is due for writing",
        prose="a clean-up removed records, and the controller could not write this one again",
    ),
    mechanism=(
        "The record weight annotation of the ingress was removed (it was {old}); the records "
        "that existed stayed, and after a clean-up the controller could not write the host "
        "record again, so the name no longer resolved"
    ),
    terms=(
        ("weight", "record_weight"),
        ("record", "records", "nxdomain", "host name", "hostname", "dns"),
        (
            "missing",
            "empty",
            "absent",
            "removed",
            "without",
            "unset",
            "not set",
            "deleted",
            "cleared",
            "lost",
            "dropped",
        ),
    ),
    fix="Set the annotation back to {old} and let the controller write the record",
    effects=(
        Effect(
            _RECORD,
            "Record {name} not written: an ingress behind it has no weight",
            field="sync",
            healthy="current",
            value="stale",
        ),
    ),
    nears=(Near(_RECORD, "the record is gone because its ingress lost the weight"),),
)
