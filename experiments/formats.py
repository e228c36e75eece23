"""Public file formats turned into svmlight lines, and a checksum of the numbers themselves.

The sets of the NIPS 2003 challenge come as a ``.data`` file and a ``.labels`` file; the kind says
how a line of ``.data`` reads:

- ``pairs``: ``index:value`` for each nonzero (Dexter);
- ``indices``: the index of each one (Dorothea);
- ``dense``: every value, zeros too (Arcene, Gisette);
- ``svmlight``: the label stands in front, there is no second file.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy.sparse import csr_matrix


def _pairs(words: list[str]) -> list[str]:
    # Some public files repeat a pair on one line; it counts once. Readers want rising indices.
    kept = {int(word.split(":")[0]): word for word in words}
    return [kept[index] for index in sorted(kept)]


def _indices(words: list[str]) -> list[str]:
    return _pairs([f"{word}:1" for word in words])


def _dense(words: list[str]) -> list[str]:
    return [f"{place}:{word}" for place, word in enumerate(words, start=1) if float(word) != 0]


_READ: dict[str, Callable[[list[str]], list[str]]] = {
    "pairs": _pairs,
    "indices": _indices,
    "dense": _dense,
}


def svmlight_lines(kind: str, rows: Iterable[str], labels: Iterable[str] = ()) -> Iterator[str]:
    """Yield one svmlight line per row, labels -1 or 1, indices from 1."""
    if kind == "svmlight":
        for row in rows:
            label, *words = row.split("#")[0].split()
            yield " ".join([_sign(label), *_pairs(words)])
        return
    for row, label in zip(rows, labels, strict=True):
        yield " ".join([_sign(label), *_READ[kind](row.split())])


def _sign(label: str) -> str:
    return "1" if float(label) > 0 else "-1"


def digest(X: csr_matrix, y: np.ndarray) -> str:
    """Return the SHA-256 of a set's labels, row bounds, column numbers and values."""
    total = hashlib.sha256(repr(X.shape).encode())
    for values, kind in ((y, "<i8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
        total.update(np.ascontiguousarray(values, dtype=kind).tobytes())
    return total.hexdigest()
