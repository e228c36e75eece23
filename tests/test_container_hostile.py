"""Files of arrays that somebody made on purpose: a right checksum is not trusted."""

import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from container_cases import DATA
from files_cases import resealed
from thresher.files import container, tree
from thresher.files.container import ModelFileError


def hostile(text, rest="}", data=b""):
    """Return a file with a right checksum that says something strange."""
    about = '{"format":1,"sha256":"' + "0" * 64 + '",' + text
    header = ('{"__metadata__":{"thresher":' + json.dumps(about) + "}" + rest).encode()
    return resealed(struct.pack("<Q", len(header)) + header + data)


@pytest.mark.parametrize(
    "spoilt",
    [
        hostile('"header":' + "[" * 100_000 + "]" * 100_000 + "}"),
        hostile('"header":{"a":' * 50_000 + "1" + "}" * 50_001),
        hostile('"header":{}}', rest=',"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        hostile('"header":[]}'),
        hostile('"header":{"a":NaN}}'),
        hostile('"header":{"a":' + "9" * 5000 + "}}"),
        hostile('"header":{}'),
        hostile('"nothing":{}}'),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,8]}}',
            data=bytes(8),
        ),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"F64","shape":[1],"data_offsets":[0,9223372036854775807]}}',
            data=bytes(8),
        ),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}',
            data=bytes(8),
        ),
    ],
    ids=range(11),
)
def test_a_right_checksum_is_not_trusted(spoilt):
    with pytest.raises(ModelFileError, match=r"nobody can read|makes no sense"):
        tree.unpack(*container.loads(spoilt))


def test_a_header_that_claims_to_be_huge_is_not_believed(tmp_path):
    for length in (2**63, 2**40, len(DATA)):
        spoilt = resealed(struct.pack("<Q", length) + DATA[8:])
        (tmp_path / "file").write_bytes(spoilt)
        with pytest.raises(ModelFileError):
            container.read(tmp_path / "file")
        with pytest.raises(ModelFileError):
            container.loads(spoilt)


def test_truth_is_0_or_1():
    rest = ',"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}'
    _, arrays = container.loads(hostile('"header":{}}', rest, b"\x00\x01\x07"))
    assert arrays["a"].view(np.uint8).tolist() == [0, 1, 1]


@given(st.binary(max_size=300), st.booleans())
@example(b"", True)
def test_random_bytes_are_refused(data, begun):
    with pytest.raises(ModelFileError):
        container.loads(DATA[:150] + data if begun else data)


@given(st.data())
def test_mutated_bytes_are_refused_or_read_as_something(data):
    spoilt = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    if bytes(spoilt) != DATA:
        with pytest.raises(ModelFileError):
            container.loads(bytes(spoilt))
    with contextlib.suppress(ModelFileError):
        tree.unpack(*container.loads(resealed(bytes(spoilt))))
