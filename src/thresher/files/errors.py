"""What can go wrong between memory and disk, in plain words."""


class FileError(OSError):
    """A file that cannot be written; the message says why and what to do next."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


class ModelFileError(ValueError):
    """A file that is not a whole, unchanged model (or the like) written by this package."""
