"""A demonstration on generated documents, in which a few planted words decide the class."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from thresher import ThresherClassifier

NOISE = -1  # the band of a word that has no effect


class Band(NamedTuple):
    """Planted words that occur in the same number of training rows, with effects of one size."""

    name: str
    rows: int
    effect: float  # on the log odds of the class


def bands(*rows: int, effects: Sequence[float] = (2.0,) * 4) -> tuple[Band, ...]:
    """Return four bands of planted words."""
    return tuple(map(Band, ("rare", "scarce", "common", "frequent"), rows, effects))


@dataclass(frozen=True)
class Recipe:
    """What is planted, in how many rows, among how many columns."""

    bands: tuple[Band, ...] = bands(12, 60, 240, 900)
    words_per_band: int = 12
    n_rows: int = 3000  # to train on; there are as many to test
    n_columns: int = 5000
    noise_per_row: int = 70  # words without effect in a row
    seed: int = 0

    @property
    def n_planted(self) -> int:
        """Return the number of planted words."""
        return len(self.bands) * self.words_per_band


QUICK = Recipe(bands(4, 20, 80, 300), n_rows=1000, n_columns=1700)
# Long documents, and planted words with less effect the more often they occur.
FAINT = Recipe(bands(12, 60, 240, 900, effects=(3.0, 1.15, 0.9, 0.75)), noise_per_row=500)


class Documents(NamedTuple):
    """Training and test rows of unit length, and the truth about the columns."""

    X_train: sparse.csr_array
    y_train: np.ndarray
    X_test: sparse.csr_array
    y_test: np.ndarray
    band_of: np.ndarray  # for each column its place in the recipe's bands, or NOISE
    names: list[str]
    least_error: float  # of the true weights, on the test rows

    def found(self, columns: np.ndarray) -> list[int]:
        """Return how many of the columns are planted, for each band."""
        return [int(np.sum(self.band_of[columns] == k)) for k in range(self.band_of.max() + 1)]


def make_documents(recipe: Recipe) -> Documents:
    """Draw the data of a recipe; the same seed gives the same numbers."""
    rng = np.random.default_rng(recipe.seed)
    band_of = np.full(recipe.n_columns, NOISE)
    planted = rng.permutation(recipe.n_columns)[: recipe.n_planted]
    band_of[planted] = np.repeat(np.arange(len(recipe.bands)), recipe.words_per_band)
    counts = np.array([*(band.rows for band in recipe.bands), 0])[band_of]
    noise = rng.permutation(np.flatnonzero(band_of == NOISE))
    shares = 1.0 / np.arange(1, noise.size + 1)  # Zipf's law
    expected = recipe.noise_per_row * recipe.n_rows * shares / shares.sum()
    counts[noise] = np.clip(np.round(expected), 1, recipe.n_rows // 2)
    effects = np.array([*(band.effect for band in recipe.bands), 0.0])[band_of]
    effects[planted[1::2]] *= -1  # every band speaks as much for one class as for the other
    X_train, y_train, _ = _draw(recipe.n_rows, counts, effects, rng)
    X_test, y_test, least = _draw(recipe.n_rows, counts, effects, rng)
    names = [f"noise-{column}" for column in range(recipe.n_columns)]
    for number, column in enumerate(planted):
        band = recipe.bands[band_of[column]].name
        names[column] = f"{band}-{number % recipe.words_per_band + 1}"
    return Documents(X_train, y_train, X_test, y_test, band_of, names, least)


def _draw(
    n_rows: int, counts: np.ndarray, effects: np.ndarray, rng: np.random.Generator
) -> tuple[sparse.csr_array, np.ndarray, float]:
    """Return rows in which every column occurs as often as it should, labels and least error."""
    drawn = [rng.choice(n_rows, count, replace=False) for count in counts]
    places = np.concatenate(drawn).astype(np.int32)
    values = 1.0 + np.log(rng.geometric(0.7, places.size))  # a repeated word counts a bit more
    columns = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    rows = sparse.csr_array((values, (places, columns)), shape=(n_rows, counts.size))
    margins = rows @ effects
    labels = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(-margins)), 1, -1)
    return normalize(rows), labels, float(np.mean(np.where(margins > 0, 1, -1) != labels))


def main(quick: bool = False, seed: int = 0) -> None:
    """Print which planted words the classifier selects when it may select as many as there are."""
    recipe = replace(QUICK if quick else Recipe(), seed=seed)
    data = make_documents(recipe)
    model = ThresherClassifier(n_features_to_select=recipe.n_planted, random_state=seed)
    columns = model.fit(data.X_train, data.y_train).get_support(indices=True)
    print(f"{recipe.n_rows:,} documents, {recipe.n_columns:,} words: {recipe.n_planted} of them")
    print("decide the class. ThresherClassifier selects as many, and finds")
    for band, found in zip(recipe.bands, data.found(columns), strict=True):
        print(f"{found:>4} of {recipe.words_per_band} {band.name} words ({band.rows} documents)")
    error = 1.0 - model.score(data.X_test, data.y_test)
    print(f"Error on new documents: {error:.1%}; of the true weights: {data.least_error:.1%}.")
