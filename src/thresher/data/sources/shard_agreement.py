"""Whether sets of shards can be read as one, and by which numbers their columns go then."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.data.errors import DataError
from thresher.data.naming import Names, names_from_tree
from thresher.data.sources.protocol import Reading
from thresher.data.sources.shard_labels import NONE, NUMBERS
from thresher.data.sources.shard_set import ShardSet, in_words
from thresher.files.damage import Damaged


def agree(sets: Sequence[ShardSet], reading: Reading) -> None:
    """Refuse sets that were not made alike, or not as they are wanted."""
    if not sets:
        raise DataError("No folder of shards was named.")
    first = sets[0]
    for other in sets[1:]:
        _expect(_named(other) == _named(first), first, other, _named)
        _expect(other.labels["kind"] == first.labels["kind"], first, other, _labelled)
        _expect(other.index_base == first.index_base, first, other, _counted)
    if reading.labelled and first.labels["kind"] == NONE:
        raise DataError("has no labels, and there is nothing to learn without.", file=first.folder)
    if first.names is None and reading.index_base not in (None, first.index_base):
        raise DataError(
            f"{_counted(first)}, not from {reading.index_base}: that was decided when the shards "
            "were made. Convert the data again to read them otherwise.",
            file=first.folder,
        )


def common_names(
    sets: Sequence[ShardSet], wanted: Names | None
) -> tuple[Names | None, list[np.ndarray] | None, int]:
    """Return the names of all columns, the new numbers of each set's columns, and the width.

    There are no new numbers where the columns of all sets have the right ones already.
    """
    trees = [_tree_of(one) for one in sets]
    width = max(one.n_columns for one in sets)
    if trees[0] is None:
        if wanted is not None:
            raise DataError(
                "has columns that are just numbers, but names are needed: convert data whose "
                "features have names.",
                file=sets[0].folder,
            )
        return None, None, width
    names = _names(sets[0], trees[0]) if wanted is None else wanted
    numbers = [_numbers(one, tree, names) for one, tree in zip(sets, trees, strict=True) if tree]
    width = max([len(names), *(int(new.max(initial=-1)) + 1 for new in numbers)])
    same = all(np.array_equal(new, np.arange(new.size)) for new in numbers)
    return names, None if same else numbers, width


def _numbers(one: ShardSet, tree: dict[str, Any], names: Names) -> np.ndarray:
    """Return the numbers that a set's columns have among the names; none if they are hashes."""
    own = _names(one, {**tree, "kind": "growing"})  # all names there are, hashed or not, in a row
    hashed = tree["kind"] == "hashed"
    if hashed and getattr(names, "n_bits", None) != tree["n_bits"]:
        raise DataError(
            f"has features that were hashed to {tree['n_bits']} bits, which is not how the others "
            "are named. Convert the data again, with the same names for all.",
            file=one.folder,
        )
    names.categorical.update({**own.categorical, **names.categorical})
    numbers = names.number([own.name(column) for column in range(len(own))])
    return np.zeros(0, np.int64) if hashed else numbers


def _tree_of(one: ShardSet) -> dict[str, Any] | None:
    with in_words(one.folder):
        return one.names_tree()


def _names(one: ShardSet, tree: dict[str, Any]) -> Names:
    with in_words(one.folder):
        try:
            return names_from_tree(tree)
        except (KeyError, ValueError, TypeError) as error:
            raise Damaged(one.folder, f"its names make no sense ({error})") from error


def _expect(alike: bool, first: ShardSet, other: ShardSet, tell: Any) -> None:
    if not alike:
        raise DataError(
            f"{first.folder} {tell(first)}, {other.folder} {tell(other)}: they cannot be read "
            "together. Convert the data again in one way."
        )


def _named(one: ShardSet) -> str:
    return "numbers its columns" if one.names is None else "has names for its columns"


def _labelled(one: ShardSet) -> str:
    kind = one.labels["kind"]
    words = {NONE: "has no labels", NUMBERS: "has numbers for labels"}
    return words.get(kind, "has words for labels")


def _counted(one: ShardSet) -> str:
    return f"counts its columns from {one.index_base}"
