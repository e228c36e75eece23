"""Damage Arrow and Parquet files, and read them: nothing but a DataError may come of it.

    python fuzz/arrow.py [number of mutations] [folder for the files]

A fault that ends the interpreter shows as the exit status; the file that did it is kept in the
folder, with its number in ``last``. Each mutation changes, drops or repeats a few bytes.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

from thresher.formats.errors import DataError
from thresher.formats.opening import open_rows

WIDE = {
    "label": [0, 1] * 15,
    "x": pa.array([1.0, 2.0] * 15),
    "t": pa.array(["a", "b"] * 15).dictionary_encode(),
    "s": pa.array(["one", "two", None] * 10),
}
LONG = {
    "label": ["yes", "no"] * 15,
    "names": pa.array([["a", "b"], ["c"]] * 15).cast(pa.list_(pa.large_string())),
    "values": [[1.0, 2.0], [3.0]] * 15,
}


def write_stream(table: pa.Table, path: str) -> None:
    """Write an IPC stream."""
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


def write_files(folder: Path) -> list[Path]:
    """Write both shapes in every container."""
    paths = [folder / f"{number}.arrow" for number in range(7)]
    wide, long = pa.table(WIDE), pa.table(LONG)
    feather.write_feather(wide, str(paths[0]), "uncompressed")
    feather.write_feather(wide, str(paths[1]), "lz4")
    feather.write_feather(long, str(paths[2]), "uncompressed")
    write_stream(wide, str(paths[3]))
    write_stream(long, str(paths[4]))
    parquet.write_table(wide, str(paths[5]))
    parquet.write_table(long, str(paths[6]), use_dictionary=False, compression="none")
    return paths


def mutated(good: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with one to four of them changed, dropped or repeated."""
    data = bytearray(good)
    for _ in range(rng.integers(1, 4)):
        place, kind = int(rng.integers(len(data))), rng.integers(10)
        if kind < 4:
            data[place] ^= 1 << int(rng.integers(8))
        elif kind < 8:
            data[place] = rng.choice([0, 1, 0x2A, 0x7F, 0x80, 0xFF])
        elif kind == 8:
            del data[place : place + int(rng.integers(1, 9))]
        else:
            data[place:place] = data[place : place + int(rng.integers(1, 9))]
    return bytes(data)


def main(count: int, folder: Path) -> None:
    """Read that many mutations of each file."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(count)
    paths, path = write_files(folder), folder / "mutated.arrow"
    for good in (path.read_bytes() for path in paths):
        for number in range(count):
            (folder / "last").write_text(str(number))
            path.write_bytes(mutated(good, rng))
            for on_error in ("raise", "skip"):
                try:
                    for chunk in open_rows(path, on_error=on_error).chunks():
                        assert np.isfinite(chunk.values).all()
                        assert chunk.columns.max(initial=-1) < chunk.width
                except DataError:
                    pass
    print(f"{count} mutations of each of {len(paths)} files: read, or refused in words")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as temporary:
        main(number, Path(sys.argv[2] if len(sys.argv) > 2 else temporary))
