"""The key of a store's storage was put out of use; open files go on until they are opened anew."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="key_disabled",
    domain="identity",
    family="encryption key",
    source=(
        "public: MicrosoftDocs/sql-docs #7360 (a database turns inaccessible some time after it "
        "lost its key) and aws-samples/eks-workshop-v2 #1542, own words"
    ),
    seat="DbInstance",
    holder=("encrypted_by>KmsKey",),
    field="key_state",
    said="{key state}",
    values=(("Enabled", "Disabled"), ("Enabled", "PendingDeletion")),
    logs=(
        (
            "cannot open data file {0}: decrypt refused, key {holder} has {said}={new} and is no "
            "longer enabled"
        ),
        "pages in memory still served ({0}), nothing new can be decrypted; {said} is {new}",
    ),
    gauge=Gauge("decrypts_refused", "per_min", 0, 260),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Storage of {name} was attached anew after maintenance",
        prose="maintenance attached the storage anew, which needs the key",
    ),
    mechanism=(
        "The encryption key went from {old} to {new}; what was open stayed readable, and once "
        "maintenance attached the storage anew nothing could be decrypted"
    ),
    terms=(
        ("key", "kms", "encryption key", "key_state"),
        ("decrypt", "decrypted", "decryption", "encrypted", "encryption"),
        (
            "disabled",
            "pendingdeletion",
            "pending deletion",
            "scheduled for deletion",
            "no longer enabled",
            "not enabled",
            "out of use",
        ),
    ),
    fix="Enable the key again and open the storage once more",
    effects=(Effect("holder", "Decrypt with {name} refused: its state is {new}"),),
    nears=(
        Near("uses_identity>IamRole", "its rights are unchanged; the key refuses everyone"),
        Near("constrains<DbParameterGroup", "no parameter was applied by the maintenance"),
    ),
)
