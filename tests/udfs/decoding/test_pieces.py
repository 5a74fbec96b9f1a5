"""Many records of one kind are decoded in pieces: the same rows and values, in the order of the log."""

import numpy as np
import pyarrow as pa
import pytest

from udfs.arrays.slices import slices_of
from udfs.decoding import decode as decoding
from udfs.decoding.decode import decode

KEY = "0001 000167 000174 {partition:08x}"
VALUE = "0003 {offset:016x} 00000007 00016d 00000000000003e8"


@pytest.mark.parametrize("size", [1, 7, 8, 29])
def test_pieces_hold_all_rows_in_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ROWS_AT_ONCE", 7)
    keys = [bytes.fromhex(KEY.format(partition=row)) for row in range(size)]
    values = [bytes.fromhex(VALUE.format(offset=1000 + row)) for row in range(size)]
    decoded = decode(slices_of(pa.array(keys)), slices_of(pa.array(values)), np.zeros(size, bool))
    assert not decoded.rejects
    assert max(len(part.rows) for part in decoded.parts) <= 7
    assert [row for part in decoded.parts for row in part.rows] == list(range(size))
    partitions = [each.as_py() for part in decoded.parts for each in part.key.field("partition")]
    offsets = [each.as_py() for part in decoded.parts for each in part.value.field("offset")]
    assert partitions == list(range(size))
    assert offsets == [1000 + row for row in range(size)]
