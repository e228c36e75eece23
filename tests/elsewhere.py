"""Programs run by a Python of their own."""

import os
import subprocess
import sys
from pathlib import Path


def printed_by(program, *words, timeout=None, **environment):
    """Return what a program prints that is started among the tests, so that it can import them."""
    answer = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=Path(__file__).parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=timeout,
    )
    return answer.stdout
