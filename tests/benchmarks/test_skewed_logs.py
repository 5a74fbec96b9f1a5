"""Logs that are hard to split: what their names say of them, at a small scale."""

import json
from collections import Counter

import pytest

from benchmarks.segments import SNAPSHOTS
from benchmarks.skewed_logs import NUM_SNAPSHOTS, SKEWS
from jobs import cli
from tests.benchmarks.plain_batches import read_batches
from tests.runs.ingested import rows

CODEC = 0x07
# Of the size that is promised.
SMALL = 0.002


def written(folder, name, scale=SMALL):
    """By offsets partition."""
    SKEWS[name].write(folder, scale)
    result = {}
    for path in sorted(folder.glob("*/*.log")):
        result.setdefault(int(path.parent.name.rpartition("-")[2]), []).extend(read_batches(path.read_bytes()))
    return result


def keys(batches):
    """Of batches that are not compressed."""
    return [key for batch in batches if not batch.attributes & CODEC for key, _ in batch.records()]


def string_at(key, at):
    return key[at + 2 : at + 2 + int.from_bytes(key[at : at + 2], "big")]


def test_one_partition_has_four_fifths_of_the_records(tmp_path):
    sizes = [sum(batch.num_records for batch in each) for each in written(tmp_path, "hot-partition").values()]
    assert sum(sizes) == 20_000
    assert max(sizes) == pytest.approx(16_000, abs=10)
    assert len(sizes) > 40


def test_one_group_has_all_commits(tmp_path):
    (batches,) = written(tmp_path, "hot-group").values()
    assert sum(batch.num_records for batch in batches) == 20_000
    assert len({string_at(key, 2) for key in keys(batches)}) == 1


def test_a_large_group_has_its_members_and_commits_of_all_partitions(tmp_path):
    (batches,) = written(tmp_path, "large-group", 0.01).values()
    by_type = Counter(key[1] for key in keys(batches))
    assert by_type == {1: 10 * 500, 2: 5}
    assert len({key for key in keys(batches) if key[1] == 1}) == 500
    value = next(value for batch in batches for key, value in batch.records() if key[1] == 2)
    assert value is not None
    # The head, then one client id for each member.
    assert value.count(b"\0\x07billing\0\x09/10.0.0.1") == 50


def test_many_groups(tmp_path):
    result = written(tmp_path, "many-groups")
    groups = {string_at(key, 2) for each in result.values() for key in keys(each)}
    # Some groups have only compressed records.
    assert 380 < len(groups) <= 400


def test_metadata_of_one_member_is_in_each_generation(tmp_path):
    (batches,) = written(tmp_path, "large-metadata").values()
    sizes = [len(value) for batch in batches for _, value in batch.records() if value is not None]
    assert len(sizes) == 3
    assert all(128_000 < size < 129_000 for size in sizes)


def test_many_keys(tmp_path):
    result = written(tmp_path, "many-keys")
    seen = {key for each in result.values() for key in keys(each) if key[1] == 1}
    assert len(seen) == pytest.approx(7 * 1520, rel=0.1)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", SKEWS)
def test_an_audit_can_read_it(name, tmp_path):
    log, warehouse = tmp_path / "log", tmp_path / "w"
    log.mkdir()
    written(log, name, 0.001)
    assert len((log / SNAPSHOTS).read_text().splitlines()) == NUM_SNAPSHOTS
    source = ["--source", f"segments:{log}", "--snapshots", str(log / SNAPSHOTS), "--warehouse", str(warehouse)]
    assert cli.main(["ingest", *source]) == 0
    for job in ("replay", "assignments", "lag"):
        assert cli.main([job, "--warehouse", str(warehouse)]) == 0
    assert rows(warehouse, "rejected_records") == []
    verdicts = {row["verdict"] for row in rows(warehouse, "assignment_audit")}
    # Some records are later than the last snapshot.
    assert "same" in verdicts and verdicts <= {"same", "same_unconfirmed"}, json.dumps(sorted(verdicts))
