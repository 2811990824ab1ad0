"""``python -m heldout.score``: the only process of a job that opens the held-out half."""

import sys

from heldout.score.process import main

sys.exit(main())
