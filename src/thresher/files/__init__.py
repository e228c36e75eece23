"""Files that are written whole or not at all, and never read unchecked."""


class FileError(OSError):
    """A file that cannot be written; the message gives the reason and what to do."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


class ModelFileError(ValueError):
    """A file that is not an intact model or checkpoint written by this package."""
