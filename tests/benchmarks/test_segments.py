"""The generated segments: the same bytes for the same arguments, and the mix that the figures speak of."""

import hashlib
from collections import Counter
from pathlib import Path

import google_crc32c
import pytest

from benchmarks.segments import Plan, write_segments
from tests.benchmarks.plain_batches import read_batches


def written(folder, plan):
    return {str(file.relative_to(folder)): file.read_bytes() for file in write_segments(folder, plan)}


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    plan = Plan(30_000, seed=5, partitions=1, compressed_share=0)
    (segment,) = written(tmp_path_factory.mktemp("mix"), plan).values()
    return list(read_batches(segment))


def test_the_bytes_are_those_of_before(tmp_path):
    files = written(tmp_path, Plan(1000, seed=7, partitions=2, compressed_share=0))
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()
    assert list(files) == [f"__consumer_offsets-{number}/{0:020}.log" for number in range(2)]
    assert digest == "1df386ce4c552928c1f841e1619f6b96e945273b32a82c47c72fbfcfcc64808c"


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    plan = Plan(3000, seed=3, compressed_share=0.5)
    first = written(tmp_path / "first", plan)
    assert first == written(tmp_path / "second", plan)
    assert first != written(tmp_path / "other", Plan(3000, seed=4, compressed_share=0.5))


def test_offsets_run_without_gaps_over_the_files_of_a_partition(tmp_path):
    files = written(tmp_path, Plan(5000, partitions=1, segment_bytes=100_000, compressed_share=0.2))
    assert len(files) > 5
    batches = [batch for content in files.values() for batch in read_batches(content)]
    sizes = [batch.num_records for batch in batches]
    assert [batch.base_offset for batch in batches] == [sum(sizes[:place]) for place in range(len(sizes))]
    for name, content in files.items():
        assert len(content) <= 100_000
        assert int(Path(name).stem) == next(read_batches(content)).base_offset


def test_checksums_hold(batches):
    assert all(google_crc32c.value(batch.checked) == batch.crc for batch in batches)


def test_the_mix(batches):
    records = [record for batch in batches if not batch.is_control for record in batch.records()]
    assert len(records) == 30_000
    kinds = Counter("tombstone" if value is None else int.from_bytes(key[:2], "big") for key, value in records)
    share = {kind: count / len(records) for kind, count in kinds.items()}
    assert share[1] == pytest.approx(0.90, abs=0.01)
    assert share["tombstone"] == pytest.approx(0.05, abs=0.005)
    assert share[2] == pytest.approx(0.04, abs=0.005)
    assert set(kinds) == {"tombstone", 1, 2, 3, 5, 6, 7, 8}
    assert {value[1] for key, value in records if value is not None and key[1] == 1} == {3, 4}
    sizes = [batch.num_records for batch in batches if not batch.is_control]
    assert (min(sizes), max(sizes)) == (1, 20)


def test_each_transaction_has_one_group_and_its_marker(batches):
    in_transaction = [batch for batch in batches if batch.is_transactional and not batch.is_control]
    markers = [batch for batch in batches if batch.is_control]
    assert Counter(batch.producer_id for batch in in_transaction) == Counter(batch.producer_id for batch in markers)
    assert 0.01 < sum(batch.num_records for batch in in_transaction) / 30_000 < 0.05
    for batch in in_transaction:
        groups = {key[4 : 4 + int.from_bytes(key[2:4], "big")] for key, _ in batch.records()}
        assert len(groups) == 1
