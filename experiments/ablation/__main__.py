"""``python -m experiments.ablation``."""

import sys

from experiments.ablation.cli import main

if __name__ == "__main__":
    sys.exit(main())
