"""``heldout ingest terraform``: what a stack declares, and what a plan means to do."""

from __future__ import annotations

from pathlib import Path

from heldout.ingest.cloud.reporting import into_report
from heldout.ingest.cloud.world import estate_of
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.terraform.importing import import_terraform


class Terraform:
    """Resources of states become entities that are declared in their stack."""

    name = "terraform"
    reads = (
        "Terraform states (versions 3 and 4, show -json), plans as JSON, and logs of apply -json; "
        "a plan alone makes no change"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every state, plan and apply log at or below ``path``."""
        estate = estate_of(draft)
        result = import_terraform(path, draft, estate, account=options.account)
        estate.finish()
        into_report(draft.report, result.files, result.counts, estate.counts)


IMPORTER = Terraform()
