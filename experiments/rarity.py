"""``python -m experiments.rarity``: what it gives that rare columns count for more.

Short documents: the docstrings in the source files of this project's own dependencies, as they are
installed; whose are they? And rows drawn from the training rows of real sets whose columns are not
weighted. Errors in % on others of those, means over drawings, of models with 100 features: the
default, the default with all columns alike, and l1 with a ridge refit, on rows of unit length of
columns as they are and of columns times log(1 + rows / rows that have them). ``more`` says in how
many drawings the default lets rare columns count for more; kappa is between the features that the
drawings select. The sets' own test rows take no part.
"""

import argparse
import ast
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from experiments.ablation.variants import AlikeClassifier
from experiments.fitting import training_rows
from experiments.overlaps import overlaps_of
from experiments.roots import DRAWINGS, SIZE, TESTED, WORD, rival, source_files
from thresher import ThresherClassifier
from thresher.estimators.decisions.rarity import scales_by_rarity
from thresher.estimators.decisions.units import Sizes
from thresher.stability import kappa_from_overlaps

SHORTEST = 300  # characters of a docstring that says anything
DRAWN = (200, 1000)
SETS = (("gisette-mini", 350), ("gisette-mini", 500), ("farm_ads", 300), ("farm_ads", 1000))


class Result(NamedTuple):
    """What one drawing came to: four errors, whether rare columns counted more, both supports."""

    errors: list[float]
    more: bool
    supports: list[np.ndarray]


def docstrings() -> tuple[list[str], dict[str, np.ndarray]]:
    """Return docstrings, and what is asked of each."""
    texts, whose = source_files()
    found = [(doc, place) for place, text in enumerate(texts) for doc in _documents(text)]
    places = np.array([place for _, place in found])
    return [doc for doc, _ in found], {"SciPy's?": whose["SciPy's?"][places]}


def _documents(source: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of others' strings
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            if len(text) >= SHORTEST:
                yield text


def drawing(rows: Any, labels: np.ndarray, n_rows: int, seed: int) -> Result:
    """Learn some rows, and judge others."""
    order = np.random.default_rng(seed).permutation(labels.size)
    mine, others = order[:n_rows], order[n_rows : n_rows + TESTED]
    models = [
        kind(n_features_to_select=SIZE, random_state=seed).fit(rows[mine], labels[mine])
        for kind in (ThresherClassifier, AlikeClassifier)
    ]
    learnt = sparse.csr_array(rows[mine])
    idf = scales_by_rarity(Sizes.in_rows(learnt), learnt.shape, None)
    weighted = [
        sparse.csr_array(idf.scaled(sparse.csr_array(rows[some]))) for some in (mine, others)
    ]
    told = [model.predict(rows[others]) for model in models]
    told.append(rival(rows[mine], labels[mine], rows[others], 1.0))
    told.append(rival(weighted[0], labels[mine], weighted[1], 1.0))
    errors = [100 * float(np.mean(one != labels[others])) for one in told]
    supports = [model.get_support(indices=True) for model in models]
    return Result(errors, models[0].rare_columns_count_more_, supports)


def line(name: str, rows: Any, labels: np.ndarray, n_rows: int) -> str:
    """Return a line of the table."""
    results = [drawing(rows, labels, n_rows, seed) for seed in range(DRAWINGS)]
    errors = np.mean([one.errors for one in results], axis=0)
    more = sum(one.more for one in results)
    kappas = [
        kappa_from_overlaps(overlaps_of([one.supports[which] for one in results]), rows.shape[1])
        for which in (0, 1)
    ]
    cells = " | ".join(f"{one:.2f}" for one in (*errors, *kappas))
    return f"| {name} | {n_rows:,} | {more} of {DRAWINGS} | {cells} |"


def kinds_of_rows() -> Iterator[tuple[str, Any, np.ndarray, int]]:
    """Yield rows of documents and of real sets, with labels, and how many are learnt."""
    texts, questions = docstrings()
    counts = CountVectorizer(min_df=3, token_pattern=WORD).fit_transform(texts).astype(float)
    weighted = TfidfTransformer().fit_transform(counts)
    for question, labels in questions.items():
        for name, rows in (("counts of words", counts), ("tf-idf", weighted)):
            for n_rows in DRAWN:
                yield f"{name}, {question}", rows.tocsr(), labels, n_rows
    for dataset, n_rows in SETS:
        rows, labels = training_rows(dataset)
        yield dataset, rows.tocsr(), labels, n_rows


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.rarity", description=__doc__)
    command.parse_args(words)
    warnings.simplefilter("ignore")  # of rivals that have not converged
    titles = "default | alike | l1, refit | ... times idf | kappa, default | kappa, alike"
    print(f"| rows | learnt | more | {titles} |")
    print("|---" * 9 + "|")
    for name, rows, labels, n_rows in kinds_of_rows():
        print(line(name, rows, labels, n_rows), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
