"""``heldout ingest aws``: what runs in an account, the running side of drift."""

from __future__ import annotations

from pathlib import Path

from heldout.ingest.aws.importing import import_aws
from heldout.ingest.cloud.reporting import into_report
from heldout.ingest.cloud.world import estate_of
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions


class Aws:
    """Items of inventories become entities that were observed."""

    name = "aws"
    reads = (
        "answers of AWS describe and list calls as JSON, AWS Config snapshots, histories and items "
        "in notifications"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every answer and recorded item at or below ``path``."""
        estate = estate_of(draft)
        result = import_aws(path, draft, estate, account=options.account)
        estate.finish()
        into_report(draft.report, result.files, result.counts, estate.counts)


IMPORTER = Aws()
