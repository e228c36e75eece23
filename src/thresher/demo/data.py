"""Documents in which a few planted words decide the class, and all others say nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

PROBE = -1  # the band of a column that says nothing


@dataclass(frozen=True)
class Band:
    """Planted features that occur in the same number of training rows, each as strong."""

    name: str
    rows: int
    strength: float = 2.0  # in log odds


@dataclass(frozen=True)
class Recipe:
    """What is planted, in how many rows, among how many columns."""

    bands: tuple[Band, ...] = (
        Band("rare", 12),
        Band("scarce", 60),
        Band("common", 240),
        Band("frequent", 900),
    )
    planted_per_band: int = 12
    n_rows: int = 3000  # of training; the test has as many
    n_columns: int = 5000
    probes_per_row: int = 70
    seed: int = 0

    @property
    def n_planted(self) -> int:
        """Return the number of informative features."""
        return len(self.bands) * self.planted_per_band


# A recipe for a first look: about a third of the rows and columns.
QUICK: dict[str, Any] = {
    "bands": (Band("rare", 4), Band("scarce", 20), Band("common", 80), Band("frequent", 300)),
    "n_rows": 1000,
    "n_columns": 1700,
}

# A recipe that tells learners apart: long documents of frequent words that say nothing, and planted
# words that say less the more often they occur.
FAINT = Recipe(
    bands=(
        Band("rare", 12, strength=3.0),
        Band("scarce", 60, strength=1.15),
        Band("common", 240, strength=0.9),
        Band("frequent", 900, strength=0.75),
    ),
    probes_per_row=500,
)


@dataclass(frozen=True)
class Documents:
    """Training and test rows of unit length, and the truth about the columns."""

    X_train: sparse.csr_array
    y_train: np.ndarray
    X_test: sparse.csr_array
    y_test: np.ndarray
    band_of: np.ndarray  # a column's place in the recipe's bands, or PROBE
    names: list[str]


def make_documents(recipe: Recipe) -> Documents:
    """Draw the data a recipe describes: the same seed gives the same numbers."""
    rng = np.random.default_rng(recipe.seed)
    band_of = np.full(recipe.n_columns, PROBE)
    planted = rng.permutation(recipe.n_columns)[: recipe.n_planted]
    band_of[planted] = np.repeat(np.arange(len(recipe.bands)), recipe.planted_per_band)
    occurrences = _occurrences(recipe, band_of, rng)
    # Signs alternate, so that every band argues as much for one class as for the other.
    effects = np.zeros(recipe.n_columns)
    strengths = np.array([band.strength for band in recipe.bands])
    effects[planted] = strengths[band_of[planted]] * (-1.0) ** np.arange(planted.size)
    X_train, y_train = _draw(recipe.n_rows, occurrences, effects, rng)
    X_test, y_test = _draw(recipe.n_rows, occurrences, effects, rng)
    return Documents(X_train, y_train, X_test, y_test, band_of, _names(recipe, band_of, planted))


def _occurrences(recipe: Recipe, band_of: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return in how many rows each column occurs; probes follow Zipf's law, in random places."""
    occurrences = np.empty(recipe.n_columns, np.int64)
    for place, band in enumerate(recipe.bands):
        occurrences[band_of == place] = band.rows
    probes = rng.permutation(np.flatnonzero(band_of == PROBE))
    shares = 1.0 / np.arange(1, probes.size + 1)
    wanted = recipe.probes_per_row * recipe.n_rows * shares / shares.sum()
    occurrences[probes] = np.clip(np.round(wanted), 1, recipe.n_rows // 2)
    return occurrences


def _draw(
    n_rows: int, occurrences: np.ndarray, effects: np.ndarray, rng: np.random.Generator
) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw rows in which every column occurs exactly as often as it should, and their labels."""
    members = [rng.choice(n_rows, size, replace=False) for size in occurrences]
    starts = np.concatenate([[0], np.cumsum(occurrences)])
    counts = 1.0 + np.log(rng.geometric(0.7, starts[-1]))  # a word said twice counts a bit more
    by_column = (counts, np.concatenate(members).astype(np.int32), starts.astype(np.int32))
    rows = sparse.csc_array(by_column, shape=(n_rows, occurrences.size)).tocsr()
    rows.sort_indices()
    chance = 1.0 / (1.0 + np.exp(-(rows @ effects)))
    labels = np.where(rng.random(n_rows) < chance, 1, -1)
    return normalize(rows), labels


def _names(recipe: Recipe, band_of: np.ndarray, planted: np.ndarray) -> list[str]:
    """Return names that give the truth away, for people who read tables."""
    names = [f"probe-{column}" for column in range(recipe.n_columns)]
    for number, column in enumerate(planted):
        band = recipe.bands[band_of[column]].name
        names[column] = f"planted-{band}-{number % recipe.planted_per_band + 1}"
    return names
