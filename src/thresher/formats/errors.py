"""What is wrong with data, and where."""


class DataError(ValueError):
    """Data that cannot be read as it stands; the message says where, what and what to do."""

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
