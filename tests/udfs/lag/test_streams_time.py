"""The times that Kafka Streams writes into commits, at the bounds of what is a time."""

import base64

import pyarrow as pa
import pytest

from udfs.lag.streams_time import stream_times
from udfs.replay.nullable import NONE

# The last millisecond of the year 9999.
LAST = 253_402_300_799_999


@pytest.mark.parametrize(("millis", "micros"), [(-1, NONE), (0, 0), (1, 1_000), (LAST, LAST * 1_000), (LAST + 1, NONE)])
def test_a_time_is_one_that_tables_can_hold(millis: int, micros: int) -> None:
    written = base64.b64encode(b"\x02" + millis.to_bytes(8, "big", signed=True)).decode()
    assert stream_times(pa.chunked_array([[written]])).tolist() == [micros]
