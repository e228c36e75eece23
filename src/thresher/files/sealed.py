"""A small JSON file in which no byte can change unseen."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from thresher.files.damage import Damaged

SEAL = "sha256"


def digest_of(tree: dict[str, Any]) -> str:
    """Return the SHA-256 of a tree in the one way of writing it."""
    text = json.dumps(tree, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(tree: dict[str, Any]) -> bytes:
    """Return the tree as bytes, with a checksum in it."""
    text = json.dumps({**tree, SEAL: digest_of(tree)}, indent=1, sort_keys=True, allow_nan=False)
    return text.encode() + b"\n"


def write_sealed(path: Path, tree: dict[str, Any]) -> None:
    """Write the tree; it is on the disk when this returns."""
    with open(path, "xb") as file:
        file.write(sealed(tree))
        file.flush()
        os.fsync(file.fileno())


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what was written, if it still is that, to the byte."""
    data = path.read_bytes()
    try:
        tree = json.loads(data)
        seal = tree.pop(SEAL)
        whole = sealed(tree) == data
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        whole = False
    if not whole:
        raise Damaged(path, "it is not as it was written")
    return {**tree, SEAL: seal}
