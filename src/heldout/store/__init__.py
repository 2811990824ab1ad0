"""The ledger: the DuckDB record of every run, verdict, edit, decision, look and score."""

from heldout.store.ledger import Ledger, now_us
from heldout.store.secrets import Scrubber
from heldout.store.texts import brain, first_brain, remember_brain, texts

__all__ = ["Ledger", "Scrubber", "brain", "first_brain", "now_us", "remember_brain", "texts"]
