"""``python -m heldout`` is the command ``heldout``."""

from heldout.cli.main import run

run()
