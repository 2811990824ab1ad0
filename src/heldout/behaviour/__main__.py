"""``python -m heldout.behaviour``: render train incidents again under other names."""

from __future__ import annotations

import sys

from heldout.behaviour.rendering import main

sys.exit(main())
