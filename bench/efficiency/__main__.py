"""``python -m bench.efficiency``: the first seed, printed only."""

from bench.efficiency import main
from bench.efficiency.table import SEEDS

if __name__ == "__main__":
    main(SEEDS[:1])
