"""Do rows have anything in common with a model? If not, the model was trained on other data."""

from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.estimators.names import columns_used


class Meeting:
    """Looks for the model's features in rows until the first is found."""

    def __init__(self, model: Any) -> None:
        self.columns = columns_used(model)
        self.rows, self.met = 0, False

    def see(self, chunk: Chunk) -> None:
        """Look at some rows."""
        self.rows += len(chunk)
        self.met = self.met or bool(np.isin(chunk.columns, self.columns).any())

    @property
    def strangers(self) -> bool:
        """Return whether rows were seen, but none of the features that have a weight."""
        return self.columns.size > 0 and self.rows > 0 and not self.met

    def words(self) -> str:
        """Say what is wrong."""
        return (
            f"none of the model's {self.columns.size:,} features occurs in any of the rows "
            f"({self.rows:,} were read): was it trained on other data?"
        )
