"""``heldout ingest kubernetes``: objects of a cluster, as declared or as found."""

from __future__ import annotations

from pathlib import Path

from heldout.ingest import kubernetes
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions


class Kubernetes:
    """Objects become entities; what follows from them (pods, endpoints, calls) is derived."""

    name = "kubernetes"
    reads = (
        "Kubernetes objects as YAML or JSON: manifests, lists, dumps of kubectl get, support "
        "bundles, trees of a GitOps repository"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every object at or below ``path``."""
        imported = kubernetes.read(path, draft.redactor)
        for record in imported.report.files:
            draft.report.file(record)
        draft.report.unknown_kinds += imported.report.unknown_kinds
        draft.report.repeated += imported.report.repeated
        if imported.objects:
            kubernetes.into(draft, imported, cluster=options.cluster)


IMPORTER = Kubernetes()
