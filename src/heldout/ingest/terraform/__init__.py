"""States and plans of Terraform as neutral resources."""

from heldout.ingest.terraform.document import (
    Document,
    Planned,
    Resource,
    read_document,
)

__all__ = ["Document", "Planned", "Resource", "read_document"]
