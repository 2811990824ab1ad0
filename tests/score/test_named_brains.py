"""Which brains a score is asked for: by hash out of the ledger, or by folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heldout.brain import load_brain
from heldout.errors import StoreError
from heldout.pipeline.verbs import Scoring, _brains
from heldout.settings import load_settings
from heldout.store import Ledger, brain, remember_brain

ROOT = Path(__file__).resolve().parents[2]


def test_a_brain_is_named_by_hash_or_by_folder(tmp_path: Path):
    """A folder of somebody's own is read and kept in the ledger; a hash must be known there."""
    (tmp_path / "heldout.toml").write_text("")
    shutil.copytree(ROOT / "brain", tmp_path / "brain")
    other = tmp_path / "elsewhere" / "theirs"
    shutil.copytree(ROOT / "brain", other)
    with (other / "method.md").open("a") as file:
        file.write("\n- Look at the weeks before the alert too.\n")
    settings = load_settings(tmp_path)
    with Ledger.open(settings.ledger) as ledger:
        used = remember_brain(ledger, load_brain(settings.brain))
        found = _brains(settings, ledger, Scoring(before=str(other), after=used[:12]), "sim/x")
        assert found == (load_brain(other).hash, used, "")
        assert brain(ledger, found[0]).files == load_brain(other).files
        with pytest.raises(StoreError, match="names no stored brain"):
            _brains(settings, ledger, Scoring(before=str(tmp_path / "nowhere")), "sim/x")
