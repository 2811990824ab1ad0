"""The ledger: the DuckDB record of every run, verdict, edit, decision, look and score."""

from heldout.store.ledger import Ledger, now_us
from heldout.store.secrets import scrub_text
from heldout.store.texts import brain, remember_brain, texts

__all__ = ["Ledger", "brain", "now_us", "remember_brain", "scrub_text", "texts"]
