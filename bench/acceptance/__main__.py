"""``python -m bench.acceptance``: a twentieth of the draws, printed only."""

from bench.acceptance import main
from bench.acceptance.effects import DRAWS, JOBS

if __name__ == "__main__":
    main(DRAWS // 20, JOBS // 20)
