"""What the operating system says of this process's memory."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
UNIT = 1 if sys.platform == "darwin" else 1024  # of getrusage


def peak_bytes() -> int:
    """Return the most memory this process has had, since ``forget_peak`` where that works."""
    return _status("VmHWM") or UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def resident_bytes() -> int:
    """Return how much memory this process has now, or has had at most where nobody knows."""
    return _status("VmRSS") or peak_bytes()


def forget_peak() -> None:
    """Start the peak anew, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _status(name: str) -> int:
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    found = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return 1024 * int(found[0]) if found else 0
