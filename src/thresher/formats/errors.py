"""What is wrong with data, and where."""


class DataError(ValueError):
    """Data that cannot be read as it is; the message names the place, the fault and the remedy."""

    def __init__(
        self,
        message: str,
        *,
        file: object = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        place = [] if file is None else [str(file)]
        place += [] if line is None else [f"line {line}"]
        place += [] if column is None else [f"column {column}"]
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.message, self.file, self.line, self.column = message, file, line, column


class OptionError(DataError):
    """An option of reading that does not go with the format of the data."""


class BadRow(Exception):
    """A row that cannot be read; the source that reads it adds the file and the line."""

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.column = message, column
