"""Changes into a draft: which entities they are about, and what their fields were when."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.ingest.changes.record import Change, CloudTarget, ClusterTarget, Moved, Target
from heldout.ingest.cloud.record import Identity, Place
from heldout.ingest.cloud.shape import shapes
from heldout.ingest.draft import WorldDraft
from heldout.ingest.objects import CLUSTER_WIDE


class Placer:
    """Puts changes into a draft, in the order of time, once all are read.

    What a field was before the first change that tells is what it was until then.
    """

    def __init__(self, draft: WorldDraft, cluster: str = "") -> None:
        self._draft = draft
        self._cluster = cluster
        self._known: dict[Target, str] = {}
        self._first: set[tuple[str, str, str]] = set()

    def place(self, changes: Iterable[Change]) -> int:
        """Add changes; how many there were."""
        count = 0
        for one in sorted(changes, key=lambda change: (change.at, change.key)):
            self._add(one)
            count += 1
        return count

    def _add(self, one: Change) -> None:
        targets = [self._entity(target) for target in one.targets]
        if not targets and one.repo:
            targets = [self._repository(one.repo)]
        moved: dict[str, tuple[Moved, ...]] = {}
        if one.moved and targets:
            moved[targets[0]] = one.moved
        for target, fields in one.others.items():
            moved[self._entity(target)] = fields
        summary = f"attempted ({one.attempted}): {one.summary}" if one.attempted else one.summary
        change = self._draft.change(
            one.key,
            one.at,
            one.type,
            actor=one.actor,
            actor_kind=one.actor_kind,
            source=one.source,
            summary=summary,
            targets=targets,
            diffs=[
                (entity, field.field, field.old, field.new)
                for entity, fields in moved.items()
                for field in fields
            ],
            repo=one.repo,
            commit=one.commit,
            pr=one.pr,
        )
        if one.source in ("k8s", "git"):
            for entity, fields in moved.items():
                self._history(entity, fields, one, change)

    def _history(self, entity: str, fields: Iterable[Moved], one: Change, change: str) -> None:
        provenance = "declared" if one.source == "git" else "observed"
        for field in fields:
            if field.field == "unknown":
                continue
            key = (entity, field.field, one.source)
            if key not in self._first:
                self._first.add(key)
                if field.old is not None:
                    self._draft.fact(
                        entity, field.field, field.old, provenance=provenance, source=one.source
                    )
            self._draft.fact(
                entity,
                field.field,
                field.new,
                since=one.at,
                provenance=provenance,
                source=one.source,
                change=change,
            )

    def _entity(self, target: Target) -> str:
        found = self._known.get(target)
        if found is None:
            found = self._cloud(target) if isinstance(target, CloudTarget) else self._object(target)
            self._known[target] = found
        return found

    def _object(self, target: ClusterTarget) -> str:
        namespaced = target.kind not in CLUSTER_WIDE
        cluster = target.cluster or self._cluster
        among = self._draft.find(kind=target.kind, name=target.name, cluster=cluster or None)
        if namespaced and target.namespace:
            among = [one for one in among if self._draft.namespace(one) in ("", target.namespace)]
        if len(among) == 1:
            self._draft.report.joined["kind and name"] += 1
            return among[0]
        parts = (cluster, target.namespace if namespaced else "", target.name)
        facts = {"namespace": target.namespace} if namespaced and target.namespace else {}
        return self._draft.entity(
            target.kind,
            "/".join(part for part in parts if part),
            name=target.name,
            cluster=cluster,
            facts=facts,
            provenance="inferred",
            confidence=0.9,
        )

    def _cloud(self, target: CloudTarget) -> str:
        shape = shapes().get(target.shape)
        kind = shape.kind if shape else "CustomResource"
        identity = Identity(
            target.shape, target.local, Place(target.account, target.region), "", target.arn
        )
        for external in (target.arn, identity.external()):
            among = self._draft.find(external_id=external) if external else []
            if len(among) == 1:
                self._draft.report.joined["id in the cloud"] += 1
                return among[0]
        among = [
            one
            for one in (self._draft.find(kind=kind, name=target.local) if target.local else [])
            if self._draft.value(one, "account") in (None, target.account)
        ]
        if len(among) == 1:
            self._draft.report.joined["kind and name"] += 1
            return among[0]
        facts = {"account": target.account, "region": target.region, "cloud_id": target.local}
        if kind == "CustomResource":
            facts["custom_kind"] = target.shape or target.arn.split(":")[2]
        return self._draft.entity(
            kind,
            identity.external(),
            name=target.local.rsplit("/", 1)[-1],
            facts={name: value for name, value in facts.items() if value},
            provenance="inferred",
            confidence=0.9,
            source="aws",
        )

    def _repository(self, name: str) -> str:
        return self._draft.entity(
            "Repository", name, name=name.rsplit("/", 1)[-1], provenance="inferred", source="git"
        )
