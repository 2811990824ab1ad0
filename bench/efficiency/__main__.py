"""``python -m bench.efficiency [N]``: the first N seeds; one, which is printed only, by default."""

import sys

from bench.efficiency import main
from bench.efficiency.table import SEEDS

if __name__ == "__main__":
    main(SEEDS[: int(sys.argv[1]) if len(sys.argv) > 1 else 1])
