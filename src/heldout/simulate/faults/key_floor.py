"""Old versions of a key were put out of use; open files go on until they are opened anew."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="key_floor",
    domain="identity",
    family="permission",
    source=(
        "public: hashicorp/vault #925 (what an older version encrypted is refused once the floor "
        "is raised) and MicrosoftDocs/sql-docs #7360, own words"
    ),
    seat="DbInstance",
    holder=("encrypted_by>KmsKey",),
    field="min_decryption_version",
    said="{min decryption version}",
    values=((1, 4), (2, 5), (1, 6)),
    logs=(
        (
            "cannot open data file {0}: written under an older key version than {said}={new} of "
            "{holder} lets us decrypt"
        ),
        "pages in memory still served ({0}), older files stay closed; {said} is {new}",
    ),
    gauge=Gauge("decrypts_refused", "per_min", 0, 260),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Storage of {name} was attached anew after maintenance",
        prose="maintenance attached the storage anew, which needs the key",
    ),
    mechanism=(
        "The key's min_decryption_version was raised from {old} to {new}; files written under an "
        "older key version stayed open, and once maintenance attached the storage anew they could "
        "not be decrypted"
    ),
    terms=(
        (
            "key version",
            "key versions",
            "version of the key",
            "versions of the key",
            "min_decryption_version",
            "older version",
            "older versions",
        ),
        ("decrypt", "decrypted", "decrypts", "decryption", "undecryptable"),
        ("raised", "older", "old", "too high", "floor", "increased", "below", "minimum", "min"),
    ),
    fix="Set min_decryption_version back to {old} until all files are written under a newer one",
    effects=(Effect("holder", "Decrypt with {name} refused: version below {new}"),),
    nears=(
        Near("constrains<DbParameterGroup", "no parameter was applied by the maintenance"),
        Near("guarded_by>SecurityGroup", "callers get through; the files stay closed"),
    ),
)
