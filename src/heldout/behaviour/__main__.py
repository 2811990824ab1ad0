"""``python -m heldout.behaviour``: hashes of every canary of a project, as JSON.

It runs in a process of its own with the gate's role, since it reads the specs of both halves.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from heldout.behaviour.canaries import canary_hashes
from heldout.errors import HeldoutError
from heldout.settings import load_settings
from heldout.split import HeldoutAccess, declare_process


def main() -> int:
    """Print them; an unreadable spec ends with the error's own code."""
    parser = argparse.ArgumentParser(prog="python -m heldout.behaviour")
    parser.add_argument("--project", type=Path, default=None)
    args = parser.parse_args()
    declare_process("gate")
    try:
        sides = canary_hashes(load_settings(args.project), HeldoutAccess())
    except HeldoutError as error:
        print(error.sentence(), file=sys.stderr)
        return error.exit_code
    print(json.dumps(sides))
    return 0


if __name__ == "__main__":
    sys.exit(main())
