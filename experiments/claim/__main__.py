"""``python -m experiments.claim``."""

import sys

from experiments.claim.cli import main

if __name__ == "__main__":
    sys.exit(main())
