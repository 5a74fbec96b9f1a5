"""Files that are read again and again: the same bytes as were written, by few requests, in limited memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.storage.arrow_files import arrow_sink
from jobs.storage.kept_files import BLOCK_BYTES, BLOCKS_AT_ONCE, GAP_BYTES, KEPT, LAST_BYTES, KeptFiles
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import created, write_once
from tests.builders.storages.kinds import storage
from tests.builders.storages.s3_server import options_for, proxy

__all__ = ["storage"]

SIZE = 7 * BLOCK_BYTES + 4321
MOST = 3 << 20


@pytest.mark.parametrize("size", [0, 1, LAST_BYTES, LAST_BYTES + 1, BLOCK_BYTES + LAST_BYTES, SIZE])
def test_every_range_is_what_was_written(storage, rng, size):
    data = rng.bytes(size)
    write_once(storage, "f", data)
    files = KeptFiles(MOST)
    for _ in range(40):
        with files.open(storage, "f") as file:
            start, length = int(rng.integers(0, size + 2)), int(rng.integers(0, 2 * BLOCK_BYTES))
            file.seek(start)
            assert file.read(length) == data[start : start + length]
            assert file.tell() == max(start, min(start + length, size)) or start > size
    with files.open(storage, "f") as file:
        assert file.read() == data


def test_no_more_is_held_than_the_limit(storage, rng):
    files, data = KeptFiles(MOST), rng.bytes(SIZE)
    for name in ("a", "b"):
        write_once(storage, name, data)
    for name in ("a", "b", "a"):
        with files.open(storage, name) as file:
            assert file.read() == data
        held = [*files.blocks.values(), *(each.last for each in files.files.values())]
        assert sum(map(len, held)) == files.held <= MOST
        # Not a part of something larger.
        assert all(len(block.obj) == len(block) for block in files.blocks.values())


def test_a_file_that_is_not_there_is_reported_as_such(storage):
    with pytest.raises(FileNotFoundError) as refused:
        KeptFiles().open(storage, "none")
    assert str(refused.value.filename) == f"{storage.place}/none"


@pytest.mark.parametrize("wanted", [["a"], ["a", "d"], ["b", "parts"], ["c", "d"], ["parts.list.element.x"]])
def test_columns_of_a_row_group_are_what_was_written(storage, rng, wanted):
    place, rows = RemotePlace(storage, "f.parquet"), wide_rows(rng)
    write_rows(place, rows)
    metadata = pq.read_metadata(place.parquet_source())
    for group in range(metadata.num_row_groups):
        source = place.row_group_source(metadata, group, wanted)
        with pq.ParquetFile(source, metadata=metadata, pre_buffer=False) as parquet:
            read = parquet.read_row_group(group, columns=wanted, use_threads=False)
        expected = rows.slice(group * GROUP_ROWS, GROUP_ROWS).select(
            list(dict.fromkeys(n.split(".")[0] for n in wanted))
        )
        if wanted == ["parts.list.element.x"]:
            assert read.column("parts").to_pylist() == [
                [{"x": part["x"]} for part in parts] for parts in expected.column("parts").to_pylist()
            ]
        else:
            assert read.select(expected.column_names) == expected


GROUP_ROWS = 300_000


def wide_rows(rng):
    """Two row groups; no column can be compressed. One of them is small."""
    num_rows = 2 * GROUP_ROWS
    columns = {name: pa.array(rng.integers(2**62, size=num_rows)) for name in "absc"}
    columns |= {"s": pa.array(rng.random(num_rows) < 0.5), "d": pa.array(rng.integers(2**62, size=num_rows))}
    few = [[{"x": int(x), "y": int(x) * 2}] for x in rng.integers(100, size=1000)]
    return pa.table({**columns, "parts": pa.array(few * (num_rows // 1000))})


def write_rows(place, rows):
    with (
        created(place.storage, place.file) as file,
        pq.ParquetWriter(arrow_sink(file), rows.schema, compression="none", use_dictionary=False) as writer,
    ):
        writer.write_table(rows, row_group_size=GROUP_ROWS)


class TestRequests:
    """To an S3-compatible server."""

    def asked(self, behaviour):
        result = [request.split()[0] for request in behaviour.requests]
        behaviour.requests.clear()
        return result

    def test_a_small_parquet_file_takes_one_request_however_often_it_is_read(self, s3):
        with proxy(s3) as (url, behaviour):
            place = RemotePlace(storage_at("s3://bucket/kept/small", options_for(url)), "f.parquet")
            rows = pa.table({f"column_{number}": pa.array(range(1000)) for number in range(20)})
            with created(place.storage, place.file) as file, pq.ParquetWriter(arrow_sink(file), rows.schema) as writer:
                writer.write_table(rows)
            KEPT.forget()
            self.asked(behaviour)
            for _ in range(3):
                assert pq.read_metadata(place.parquet_source()).num_rows == 1000
                with pq.ParquetFile(place.parquet_source(), pre_buffer=False) as parquet:
                    assert parquet.read(use_threads=False) == rows
            assert self.asked(behaviour) == ["GET"]
            KEPT.forget()
            assert pq.read_metadata(place.parquet_source()).num_rows == 1000
            assert self.asked(behaviour) == ["GET"]

    def test_a_large_file_is_read_some_blocks_at_once(self, s3, rng):
        data = rng.bytes(SIZE)
        with proxy(s3) as (url, behaviour):
            storage = storage_at("s3://bucket/kept/large", options_for(url))
            write_once(storage, "f", data)
            self.asked(behaviour)
            files = KeptFiles()
            with files.open(storage, "f") as file:
                for start in range(0, SIZE, 100_000):
                    file.seek(start)
                    assert file.read(100_000) == data[start : start + 100_000]
            assert len(self.asked(behaviour)) == 1 + -(-7 // BLOCKS_AT_ONCE)
            with files.open(storage, "f") as file:
                assert file.read() == data
            assert self.asked(behaviour) == []

    @pytest.mark.parametrize(
        ("wanted", "requests"),
        [(["a"], 1), (["a", "b"], 1), (["a", "d"], 2), (["a", "c"], 2), (["b", "c"], 1), (["a", "b", "c", "d"], 1)],
    )
    def test_columns_of_a_row_group_take_a_request_for_those_near_each_other(self, s3, rng, wanted, requests):
        rows = wide_rows(rng)
        # One such column lies between a and c, a small one between b and c.
        assert rows.column("b").nbytes // 2 > GAP_BYTES
        with proxy(s3) as (url, behaviour):
            place = RemotePlace(storage_at("s3://bucket/kept/columns", options_for(url)), "-".join(wanted))
            write_rows(place, rows)
            KEPT.forget()
            metadata = pq.read_metadata(place.parquet_source())
            self.asked(behaviour)
            source = place.row_group_source(metadata, 1, wanted)
            with pq.ParquetFile(source, metadata=metadata, pre_buffer=False) as parquet:
                assert parquet.read_row_group(1, columns=wanted, use_threads=False).num_rows == GROUP_ROWS
            assert self.asked(behaviour) == ["GET"] * requests
