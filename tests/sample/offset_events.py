"""Events of the sample in the life of offsets, a function for each kind: it finds the event in the log, or asserts.

Each returns the records that the event rests on, in the order of the log.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from tests.sample.observations import group_value
from tests.sample.story import Event, Record, Sample

COMMIT, GROUP = 1, 2
REPEATED: Final = 5

Records = list[Record]


def simple_consumer(sample: Sample, event: Event) -> Records:
    records = sample.records(group=event.group)
    assert {record["record_type"] for record in records} == {COMMIT}
    for partition, offset in event["offsets_after"][event["topic"]].items():
        commits = sample.commits(event, int(partition))
        assert len(commits) == event["num_commits"]
        assert commits[-1]["value"]["offset"] == offset
    return records


def commit_metadata(sample: Sample, event: Event) -> Records:
    commits = sample.commits(event, event["partition"])
    rows = [(commit["offset"], commit["metadata"]) for commit in event["commits"]]
    assert [(commit["value"]["offset"], commit["value"]["metadata"]) for commit in commits] == rows
    return commits


def partition_stalled(sample: Sample, event: Event) -> Records:
    commits = sample.commits(event, event["partition"], from_ms=event.from_ms, to_ms=event.to_ms)
    assert len(commits) >= REPEATED
    assert {commit["value"]["offset"] for commit in commits} == {event["committed_offset"]}
    others_move(sample, event)
    return commits


def partition_stopped(sample: Sample, event: Event) -> Records:
    commits = sample.commits(event, event["partition"])
    assert commits[-1]["value"]["offset"] == event["committed_offset"]
    assert commits[-1]["timestamp_ms"] <= event.from_ms
    others_move(sample, event)
    return commits[-1:]


def others_move(sample: Sample, event: Event) -> None:
    assert event["end_offset_after"] > event["end_offset_before"] >= event["committed_offset"]
    for time_ms, end in ((event.from_ms, event["end_offset_before"]), (event.to_ms, event["end_offset_after"])):
        assert_end_between_snapshots(sample, event, time_ms, end)
    for partition in (0, 1):
        commits = sample.commits(event, partition, from_ms=event.from_ms, to_ms=event.to_ms)
        offsets = [commit["value"]["offset"] for commit in commits]
        assert offsets == sorted(offsets)
        assert len(set(offsets)) >= REPEATED


def assert_end_between_snapshots(sample: Sample, event: Event, time_ms: int, end: int) -> None:
    ends = [(each.time_ms, each.ends[event["partition"]]) for each in sample.ends(event["topic"])]
    assert max(offset for time, offset in ends if time < time_ms) <= end
    # A snapshot is taken after the time that it gives itself.
    assert end <= min(offset for time, offset in ends if time > time_ms)


def transactions(sample: Sample, event: Event) -> Records:
    commits = sample.commits(event, event["partition"])
    reported = event["transactions"]
    assert [transactional(commit) for commit in commits] == [transaction(each) for each in reported]
    result: Records = []
    for commit, each in zip(commits, reported, strict=True):
        marker = markers_behind(sample, commit)[0]
        assert marker["type"] == {"committed": "COMMIT", "aborted": "ABORT"}[each["outcome"]]
        result += [commit, marker]
    assert [record["offset"] for record in result] == sorted(record["offset"] for record in result)
    committed = [commit for commit, each in zip(commits, reported, strict=True) if each["outcome"] == "committed"]
    assert offsets_of(committed) == event["offsets_after"]
    return result


def transaction_open(sample: Sample, event: Event) -> Records:
    plain, pending = sample.commits(event, event["partition"])
    assert event["offsets_after"] == offsets_of([plain])
    assert transactional(pending) == transaction(event["transaction"])
    assert markers_behind(sample, pending) == []
    return [plain, pending]


def transactional(commit: Record) -> tuple[bool, int, int, int]:
    return (
        commit["is_transactional"],
        commit["producer_id"],
        commit["producer_epoch"],
        commit["value"]["offset"],
    )


def transaction(expected: Mapping[str, Any]) -> tuple[bool, int, int, int]:
    return (True, expected["producer_id"], expected["producer_epoch"], expected["offset"])


def markers_behind(sample: Sample, commit: Record) -> Records:
    place = (commit["offsets_partition"], commit["producer_id"])
    return [
        record
        for record in sample.log
        if record["is_control"]
        and (record["offsets_partition"], record["producer_id"]) == place
        and record["offset"] > commit["offset"]
    ]


def offsets_of(commits: Iterable[Record]) -> dict[str, dict[str, int]]:
    """The last of each partition, as the story has offsets; a tombstone takes its partition away."""
    offsets: dict[str, dict[str, int]] = {}
    for commit in commits:
        topic, partition = commit["key"]["topic"], str(commit["key"]["partition"])
        of_topic = offsets.setdefault(topic, {})
        of_topic.pop(partition, None)
        if commit["value"]:
            of_topic[partition] = commit["value"]["offset"]
    return {topic: of_topic for topic, of_topic in offsets.items() if of_topic}


def admin_reset(sample: Sample, event: Event) -> Records:
    before = sample.records(group=event.group, record_type=COMMIT, to_ms=event.from_ms - 1)
    during = sample.records(group=event.group, record_type=COMMIT, from_ms=event.from_ms, to_ms=event.to_ms)
    assert offsets_of(before) == event["offsets_before"]
    assert offsets_of(during) == event["offsets_after"] != event["offsets_before"]
    assert len(during) == len(event["offsets_after"][event["topic"]])
    group = group_value(sample, event.group, event.from_ms)
    assert group["value"]["members"] == []
    assert_reset_as_planned(sample, event)
    return during


def assert_reset_as_planned(sample: Sample, event: Event) -> None:
    before, after = (event[offsets][event["topic"]] for offsets in ("offsets_before", "offsets_after"))
    if event["reset"] == "to_earliest":
        starts = sample.ends(event["topic"])[-1].starts
        assert after == {str(partition): start for partition, start in starts.items()}
    else:
        assert event["reset"] == "shift"
        assert {after[partition] - before[partition] for partition in before} == {event["shift_by"]}


def offsets_deleted(sample: Sample, event: Event) -> Records:
    gone = tombstones(sample, event)
    assert {(record["key"]["topic"], record["key"]["partition"]) for record in gone} == {
        (event["topic"], partition) for partition in event["partitions"]
    }
    return gone


def tombstones(sample: Sample, event: Event) -> Records:
    """Of the event's time, which bring what is committed from the offsets before to those after."""
    until = sample.records(group=event.group, record_type=COMMIT, to_ms=event.to_ms)
    gone = [record for record in until if record["timestamp_ms"] >= event.from_ms and record["value"] is None]
    assert offsets_of(record for record in until if record not in gone) == event["offsets_before"]
    assert offsets_of(until) == event.fields.get("offsets_after", {})
    return gone


def group_deleted(sample: Sample, event: Event) -> Records:
    gone = tombstones(sample, event)
    last = sample.records(group=event.group)[-1]
    assert (last["record_type"], last["value"]) == (GROUP, None)
    assert event.from_ms <= last["timestamp_ms"] <= event.to_ms
    return [*gone, last]


def offset_expired(sample: Sample, event: Event) -> Records:
    (commit, gone) = sample.commits(event, event["partition"])
    assert commit["value_version"] == 1
    value = commit["value"]
    assert value["expire_timestamp"] - value["commit_timestamp"] == event["retention_ms"]
    assert tombstones(sample, event) == [gone]
    assert gone["timestamp_ms"] >= value["expire_timestamp"]
    return [commit, gone]


def topic_deleted(sample: Sample, event: Event) -> Records:
    gone = tombstones(sample, event)
    assert {record["key"]["topic"] for record in gone} == {event["topic"]}
    before = sample.records(group=event.group, record_type=COMMIT, to_ms=event.from_ms)
    assert {record["value"]["topic_id"] for record in before} == {event["topic_id"]}
    last = sample.records(group=event.group)[-1]
    assert (last["record_type"], last["value"]) == (GROUP, None)
    return [*gone, last]


def topic_recreated(sample: Sample, event: Event) -> Records:
    commits = sample.records(group=event.group, record_type=COMMIT)
    ids = [name for name, _ in groupby(commit["value"] and commit["value"]["topic_id"] for commit in commits)]
    assert ids == [event["topic_id_before"], None, event["topic_id_after"]]
    assert {commit["key"]["topic"] for commit in commits} == {event["topic"]}
    assert offsets_of(commits) == event["offsets_after"]
    first = [commit for commit in commits if commit["value"] and commit["timestamp_ms"] < event.from_ms]
    assert offsets_of(first) == event["offsets_before"]
    return commits


def end_state(sample: Sample, event: Event) -> Records:
    ended = {record["producer_id"] for record in sample.log if record["type"] == "COMMIT"}
    live: dict[str, Records] = {}
    for group in sample.groups:
        commits = sample.records(group=group, record_type=COMMIT)
        counting = [
            commit for commit in commits if not commit["is_transactional"] or is_committed(sample, commit, ended)
        ]
        live[group] = counting
        answered: dict[str, dict[str, int]] = {}
        for offset in event["offsets"].get(group, []):
            answered.setdefault(offset["topic"], {})[str(offset["partition"])] = offset["offset"]
        assert offsets_of(counting) == answered, group
    return [record for records in live.values() for record in records]


def is_committed(sample: Sample, commit: Record, ended: set[int]) -> bool:
    return commit["producer_id"] in ended and markers_behind(sample, commit)[0]["type"] == "COMMIT"
