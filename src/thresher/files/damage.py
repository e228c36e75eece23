"""What is said of bytes that are not what was once written."""

from pathlib import Path


class Damaged(ValueError):
    """A file that was changed, cut short, or never written by this package."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is damaged: {reason}.")
        self.path, self.reason = path, reason
