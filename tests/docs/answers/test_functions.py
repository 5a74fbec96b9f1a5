"""The code on docs/functions.md runs and prints what the page shows. In the place of Spark's Kafka source is a frame
of its columns, with the records of the sample."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from jobs.sources.segment_files import framed_pieces, offsets_partition_of, spans_of
from jobs.storage.places.local_place import LocalPlace
from schemas.words.records import OFFSETS_TOPIC

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "functions.md").read_text()
# Each with the text that it prints, if the page shows one.
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.DOTALL)
KAFKA_SOURCE = 'spark.read.format("kafka")'


def sample_rows():
    """As Spark's Kafka source has them (KafkaRecordToRowConverter in apache/spark): no control records."""
    return [
        {
            "key": records.keys.bytes_at(row),
            "value": records.values.bytes_at(row),
            "topic": OFFSETS_TOPIC,
            "partition": offsets_partition_of(LocalPlace(path)),
            "offset": int(records.offset[row]),
            "timestamp": int(records.timestamp_ms[row]) * 1000,
            "timestampType": 0,
        }
        for path in sorted((ROOT / "data" / "sample").glob("*/*.log"))
        for span in spans_of(LocalPlace(path), 1 << 30)
        for records in (piece.records for piece in framed_pieces(span))
        for row in np.flatnonzero(~records.is_control).tolist()
    ]


def kafka_frame(spark):
    columns = {"key": pa.binary(), "value": pa.binary(), "topic": pa.string(), "partition": pa.int32()}
    columns |= {"offset": pa.int64(), "timestamp": pa.timestamp("us", "UTC"), "timestampType": pa.int32()}
    return spark.createDataFrame(pa.Table.from_pylist(sample_rows(), pa.schema(list(columns.items()))))


@pytest.mark.spark
def test_the_code_of_the_page_prints_what_the_page_shows(spark):
    names = {"spark": spark}
    sources = 0
    for code, shown in BLOCKS:
        if KAFKA_SOURCE in code:
            compile(code, "docs/functions.md", "exec")
            names["records"] = kafka_frame(spark)
            sources += 1
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert [line.rstrip() for line in printed.getvalue().strip().splitlines()] == shown.strip().splitlines()
    assert (sources, len(BLOCKS), sum(bool(shown) for _, shown in BLOCKS)) == (1, 6, 4)
