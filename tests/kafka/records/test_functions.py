"""`decode_offsets_record` says of each broker's log what kafka-dump-log says, as a query asks it."""

import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from jobs.queries.engines.duckdb_functions import register_duckdb
from jobs.sources.segment_files import framed_pieces, spans_of
from jobs.storage.places.local_place import LocalPlace
from tests.kafka.records.dump_log import dumped_records
from tests.kafka.records.test_dump import as_text, without_absent_tags, without_payload_versions

pytestmark = pytest.mark.broker

SAID = ("record_type", "type", "key", "value", "value_version")
QUERY = "SELECT unnest(decode_offsets_record(key, value)) FROM records ORDER BY number"


def records_of(capture):
    """Keys and values as a query would have them: without markers, in the order of the log."""
    keys = []
    values = []
    for path in capture.segments:
        for piece in (piece for span in spans_of(LocalPlace(path), 1 << 30) for piece in framed_pieces(span)):
            rows = np.flatnonzero(~piece.records.is_control).tolist()
            keys += [piece.records.keys.bytes_at(row) for row in rows]
            values += [piece.records.values.bytes_at(row) for row in rows]
    number = pa.array(range(len(keys)))
    return pa.table({"number": number, "key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})


@pytest.mark.parametrize("is_compacted", [False, True], ids=["full", "compacted"])
def test_each_record_says_what_kafka_prints(capture, is_compacted):
    log = capture.compacted if is_compacted else capture
    records = records_of(log)
    with duckdb.connect() as connection:
        register_duckdb(connection)
        connection.register("records", records)
        result = connection.execute(QUERY)
        names = [column[0] for column in result.description]
        structs = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    kafkas = [record.line() for record in dumped_records(log.dump_text) if record.marker is None]
    assert len(structs) == len(kafkas) > 100
    for struct, line in zip(structs, kafkas, strict=True):
        assert struct["rejected"] is None
        wanted = {name: line[name] for name in SAID}
        said = struct | {name: json.loads(struct[name] or "null") for name in ("key", "value")}
        ours = without_payload_versions({name: said[name] for name in SAID})
        assert as_text(without_absent_tags(ours, wanted)) == as_text(wanted)
