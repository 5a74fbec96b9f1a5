"""A live log gives the rows that the broker's segment files give, record for record, whoever writes them."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.broker import Broker, running
from tests.kafka.live_broker import (
    copied_segments,
    history_of_segments,
    ingest_live,
    play,
)
from tests.kafka.phases import CLEANER, GZIP
from tests.kafka.releases import KAFKA_3_9_OLD, NEWEST
from tests.runs.ingested import history, ingest, keys, rows

# Of both releases one, the same for all tests.
pytestmark = [pytest.mark.broker, pytest.mark.drawn(1)]

FIRST = (
    "Commits.byAdmin",
    "Commits.withMetadata",
    "Commits.deletedGroup",
    "Transactions.committedAndAborted",
    "Transactions.interleaved",
    "ClassicGroups.rebalanced:range",
)
MODERN = {NEWEST.name: ("ConsumerGroups.rebalanced", "ShareGroups.rebalanced")}
# Of the older release the cleaner is not waited for.
THEN = {
    NEWEST.name: ("Compaction.awaited:{log_dir}",),
    KAFKA_3_9_OLD.name: ("Commits.negative", "Transactions.timedOut", "Commits.deletedTopic"),
}
PARTITIONS = 4


@dataclass
class Played:
    """What was read of one broker before and after the cleaner went over its log."""

    broker: Broker
    folder: Path
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def live(self, name, *arguments):
        result = ingest_live(self.folder / name.partition("/")[0], self.broker, *arguments)
        self.results[name] = result

    def history(self, name):
        return history(self.folder / name)


@pytest.fixture(scope="module", params=[NEWEST, KAFKA_3_9_OLD], ids=lambda release: release.name)
def played(request, tmp_path_factory):
    release = request.param
    folder = tmp_path_factory.mktemp("live")
    (folder / "broker").mkdir()
    with running(release, folder / "broker", CLEANER | GZIP) as broker:
        seen = Played(broker, folder)
        play(broker, folder / "first", *FIRST, *MODERN.get(release.name, ()))
        seen.live("scheduled/1")
        seen.live("by_spark/1", "--engine", "spark")
        copied_segments(broker, folder / "before")
        # Each partition has another leader epoch then.
        broker.restart(CLEANER)
        play(broker, folder / "then", *(each.format(log_dir=broker.log_dir) for each in THEN[release.name]))
        seen.live("scheduled/2")
        seen.live("by_spark/2", "--engine", "spark")
        seen.live("late/1")
        seen.live("scheduled/3")
        broker.stop()
        copied_segments(broker, folder / "after")
        yield seen
        shutil.rmtree(folder, ignore_errors=True)


def test_rows_are_those_of_the_segment_files(played):
    expected = history_of_segments(played.folder / "of_files", played.folder / "after")
    assert played.history("late") == expected
    assert rows(played.folder / "late", "transaction_markers")
    assert any(row["is_transactional"] for row in rows(played.folder / "late", "offset_commits"))


def test_a_schedule_keeps_what_the_cleaner_took(played):
    folders = (played.folder / "before", played.folder / "after")
    expected = history_of_segments(played.folder / "of_both", *folders)
    assert played.history("scheduled") == expected
    late, scheduled = (set(keys(played.folder / name)) for name in ("late", "scheduled"))
    assert late < scheduled if played.broker.release.is_modern else late == scheduled


def test_spark_writes_the_same_rows(played):
    assert played.history("by_spark") == played.history("scheduled")


def test_nothing_is_read_twice(played):
    again = played.results["scheduled/3"]
    assert (again["read"], again["num_files_read"]) == (0, 0)
    for name in ("scheduled/1", "late/1"):
        assert played.results[name]["already_known"] == 0
        assert played.results[name]["read"] == played.results[name]["decoded"] > 0


def test_after_another_election_the_last_known_record_is_looked_at(played):
    second = played.results["scheduled/2"]
    assert 0 < second["already_known"] <= PARTITIONS
    assert second["read"] == second["decoded"] + second["already_known"]


def test_what_was_asked_for_is_in_source_files(played):
    ends = {}
    for row in sorted(rows(played.folder / "scheduled", "source_files"), key=lambda row: row["run_id"]):
        partition, start = row["offsets_partition"], row["read_from_position"]
        assert row["kind"] == "kafka"
        assert f"cluster.id={row['cluster_id']}\n" in (played.broker.log_dir / "meta.properties").read_text()
        of_partition = played.broker.log_dir / f"__consumer_offsets-{partition}" / "partition.metadata"
        assert f"topic_id: {row['offsets_topic_id']}" in of_partition.read_text()
        assert row["source_file"] == f"kafka:__consumer_offsets-{partition}@{start}"
        if row["read_to_position"] > ends.get(partition, 0):
            assert start == ends.get(partition, 0)
            ends[partition] = row["read_to_position"]
    snapshots = rows(played.folder / "scheduled", "topic_snapshots")
    last = max(row["captured_time"] for row in snapshots)
    assert ends == {
        row["partition"]: row["log_end_offset"]
        for row in snapshots
        if row["topic"] == "__consumer_offsets" and row["captured_time"] == last and row["log_end_offset"]
    }


def test_files_of_the_same_log_add_nothing(played):
    before = played.history("scheduled")
    found = ingest(played.folder / "scheduled", "--source", f"segments:{played.folder / 'after'}")
    assert found["already_known"] == found["read"] > 0
    assert played.history("scheduled") == before
