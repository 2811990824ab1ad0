"""Things that are deleted and applied again, as happens a few times in any history.

The object keeps its kind, name and place, and the new one gets an id of its own. While a world is
simulated the two are one entity; its tables tell them apart, as :mod:`heldout.graph.identity` has
it: what held before the deletion is of the earlier one, and all that holds of the new one begins
when it was applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from heldout.simulate.dressing import DRAWS, dress, other_edit
from heldout.simulate.ground import Change, Ground
from heldout.simulate.landscape import Landscape
from heldout.simulate.rhythm import HOUR, SECOND, moments
from heldout.simulate.streams import stream, token

RENEWED = ("ConfigMap", "Secret", "NetworkPolicy", "Role")
_TYPES = {"Secret": "secret"}
_WORDS = (
    ("Delete {name}", "Create {name}"),
    ("Remove {name}", "Apply {name} again"),
    ("{name}: removed for a clean apply", "{name}: applied from main"),
    ("Delete {kind} {name}", "Recreate {kind} {name}"),
)

Columns = dict[str, list[Any]]


class Renewal(NamedTuple):
    """An entity that ended at ``gone`` and began again at ``born`` (microseconds) with a change."""

    entity: int
    before: str
    gone: int
    born: int
    applied: str


def renewals(
    land: Landscape,
    seed: int,
    start: int,
    now: int,
    protected: Mapping[tuple[int, str], int],
) -> list[Change]:
    """Two to four objects deleted and applied again within a minute and a half, half unchanged."""
    rng = stream(seed, "timeline", "renewal")
    ground = land.ground
    kept = {entity for entity, _ in protected}
    pool = [one for kind in RENEWED for one in ground.of_kind(kind) if one not in kept]
    if not pool:
        return []
    count = min(len(pool), int(rng.integers(2, 5)))
    chosen = sorted(int(at) for at in rng.permutation(len(pool))[:count])
    times = moments(rng, count, start + HOUR, now - HOUR, flat=False, rhythm=land.habits.rhythm)
    rows = rng.random((count, DRAWS)).tolist()
    made = []
    for number, (at, ts, u) in enumerate(zip(chosen, times.tolist(), rows, strict=True)):
        entity = pool[at]
        kind = ground.entities[entity].kind
        type_ = _TYPES.get(kind, "config")
        edit = other_edit(land, entity, u[9], ()) if u[8] < 0.5 else None
        words = _WORDS[int(u[7] * len(_WORDS))]
        born = ts + (20 + int(70 * u[11])) * SECOND
        for role, when, text, edits in (
            ("deleted", ts, words[0], ()),
            ("applied", born, words[1], (edit,) if edit else ()),
        ):
            change = dress(land, f"renewal/{number}/{role}", when, edits, u, type_=type_,
                           targets=(entity,))  # fmt: skip
            summary = text.format(name=ground.name(entity), kind=kind)
            made.append(change._replace(summary=summary, role=role))
    return made


def found(ground: Ground, changes: tuple[Change, ...], ids: Mapping[str, str]) -> list[Renewal]:
    """The renewals among changes in order; none where something else happened in between."""
    gone: dict[int, int] = {}
    made: list[Renewal] = []
    used = {entity.id for entity in ground.entities}
    for change in changes:
        if change.role == "deleted":
            gone[change.targets[0]] = change.ts
        elif change.role == "applied" and change.targets[0] in gone:
            entity = change.targets[0]
            one, salt = ground.entities[entity], 0
            own = ""
            while not own or own in used:
                own = f"e-{token(ground.seed, 'before', one.kind, one.name, one.cluster, salt)}"
                salt += 1
            used.add(own)
            made.append(Renewal(entity, own, gone.pop(entity), change.ts, ids[change.key]))
        else:
            for entity in change.targets:
                gone.pop(entity, None)
    return made


def split(tables: dict[str, Columns], ground: Ground, renewal: Renewal) -> None:
    """Tell the earlier one from the new one in every table, in place."""
    own = ground.id(renewal.entity)
    when = dict(zip(tables["change_event"]["id"], tables["change_event"]["ts"], strict=True))
    seen = tables["change_event"]["observed_at"][
        tables["change_event"]["id"].index(renewal.applied)
    ]
    entity = tables["entity"]
    at = entity["id"].index(own)
    _copy(entity, at, id=renewal.before, last_seen=renewal.gone)
    entity["first_seen"][at] = renewal.born
    for table, ends in (("fact", ("entity_id",)), ("edge", ("src", "dst"))):
        for end in ends:
            _split_spans(tables[table], end, own, renewal, seen)
    for table in ("change_target", "change_diff"):
        column = tables[table]
        for at, one in enumerate(column["entity_id"]):
            if one == own and when[column["event_id"][at]] < renewal.born:
                column["entity_id"][at] = renewal.before


def _split_spans(
    table: Columns, end: str, own: str, renewal: Renewal, seen: int
) -> None:  # fmt: skip
    """What held until the deletion is of the earlier one; what goes on begins anew."""
    for at in [at for at, one in enumerate(table[end]) if one == own]:
        since, until = table["valid_from"][at], table["valid_to"][at]
        if since >= renewal.born:
            continue
        if until > renewal.born:
            _copy(table, at, **{end: renewal.before, "valid_to": renewal.gone})
            table["valid_from"][at], table["observed_at"][at] = renewal.born, seen
            table["event_id"][at] = renewal.applied
        else:
            table[end][at] = renewal.before
            table["valid_to"][at] = min(until, renewal.gone)


def _copy(table: Columns, at: int, **changed: Any) -> None:
    for name, column in table.items():
        column.append(changed.get(name, column[at]))
