"""Events of the sample in the life of groups, a function for each kind: it finds the event in the log, or asserts.

Each returns the records that the event rests on, in the order of the log.
"""

from itertools import groupby
from typing import Any, Final

from tests.sample.observations import (
    assert_met,
    assert_observed,
    client_ids,
    group_value,
)
from tests.sample.story import Event, Record, Sample, epoch_ms

COMMIT, GROUP = 1, 2
# A session ends its timeout after the last heartbeat that came before the member fell silent.
HEARTBEAT_MS: Final = 500

Records = list[Record]


def phase(sample: Sample, event: Event) -> Records:
    return [record for record in sample.log if event.from_ms <= record["timestamp_ms"] <= event.to_ms]


def classic_rebalances(sample: Sample, event: Event) -> Records:
    result = [assert_observed(sample, event.group, seen) for seen in event["observations"]]
    assert [len(value["value"]["members"]) for value in result] == [1, 2, 3, 2]
    values = sample.records(group=event.group, record_type=GROUP)
    assert {value["value"]["protocol"] for value in values if value["value"]["members"]} == {event["assignor"]}
    return result


def static_bounce(sample: Sample, event: Event) -> Records:
    before, after = (assert_observed(sample, event.group, seen) for seen in event["observations"])
    values = sample.records(group=event.group, record_type=GROUP, from_ms=event.from_ms, to_ms=event.to_ms)
    assert values == [after]
    assert after["value"]["generation"] == before["value"]["generation"]
    ids = [instance_member(value, event["group_instance_id"]) for value in (before, after)]
    assert ids == [event["member_id_before"], event["member_id_after"]]
    return [before, after]


def instance_member(value: Record, instance: str) -> str | None:
    ids = {member["group_instance_id"]: member["member_id"] for member in value["value"]["members"]}
    return ids.get(instance)


def static_expired(sample: Sample, event: Event) -> Records:
    result = member_timed_out(sample, event)
    assert instance_member(result[0], event["group_instance_id"]) == event["member_id"]
    return result


def session_timeout(sample: Sample, event: Event) -> Records:
    result = member_timed_out(sample, event)
    assert client_ids(result[0])[event["member_id"]] == event["client_id"]
    return result


def member_timed_out(sample: Sample, event: Event) -> Records:
    before, after = (assert_observed(sample, event.group, seen) for seen in event["observations"])
    assert event["member_id"] in client_ids(before)
    (value,) = sample.records(group=event.group, record_type=GROUP, from_ms=event.from_ms, to_ms=event.to_ms)
    assert value == after
    assert value["value"]["generation"] == before["value"]["generation"] + 1
    (timeout,) = (
        member["session_timeout"] for member in before["value"]["members"] if member["member_id"] == event["member_id"]
    )
    assert timeout == event["session_timeout_ms"]
    assert value["timestamp_ms"] >= event.from_ms + timeout - HEARTBEAT_MS
    return [before, after]


def assignor_upgrade(sample: Sample, event: Event) -> Records:
    result = [assert_observed(sample, event.group, event["before"])]
    for each in event["rounds"]:
        result += [assert_observed(sample, event.group, seen) for seen in each["observations"]]
    values = sample.records(group=event.group, record_type=GROUP, from_ms=event.from_ms, to_ms=event.to_ms)
    assert [name for name, _ in groupby(value["value"]["protocol"] for value in values)] == event["assignors"]
    switch = next(value for value in values if value["value"]["protocol"] == event["assignors"][1])
    assert switch["timestamp_ms"] >= epoch_ms(event["rounds"][1]["from_time"])
    return result


def rebalance_storm(sample: Sample, event: Event) -> Records:
    for seen in event["observations"]:
        assert_observed(sample, event.group, seen)
    values = sample.records(group=event.group, record_type=GROUP, from_ms=event.from_ms, to_ms=event.to_ms)
    comes = [value for value in values if event["client_id"] in client_ids(value).values()]
    rows = [(flap["generation"], flap["member_id"]) for flap in event["flaps"]]
    assert [(value["value"]["generation"], flapping(value, event)) for value in comes] == rows
    generations = [value["value"]["generation"] for value in values]
    assert generations == list(range(generations[0], generations[0] + 2 * len(rows)))
    return values


def flapping(value: Record, event: Event) -> str:
    (member_id,) = (member for member, client in client_ids(value).items() if client == event["client_id"])
    return member_id


def consumer_rebalances(sample: Sample, event: Event) -> Records:
    members = sample.records(group=event.group, record_type=5, to_ms=event.to_ms)
    # A member names its assignor only when it wants another than the coordinator's first.
    named = None if event["assignor"] == "uniform" else event["assignor"]
    assert {record["value"]["server_assignor"] for record in members if record["value"]} == {named}
    assert [(len(seen["members"]), seen["assignor"]) for seen in event["observations"]] == [
        (members, event["assignor"]) for members in (1, 2, 3, 2)
    ]
    return [assert_observed(sample, event.group, seen) for seen in event["observations"]]


def converted_to_consumer(sample: Sample, event: Event) -> Records:
    result = [assert_observed(sample, event.group, seen) for seen in event["observations"]]
    records = sample.records(group=event.group, from_ms=event.from_ms, to_ms=event.to_ms)
    assert [record["value"] for record in records if record["record_type"] == GROUP] == [None]
    members = [record["value"] for record in records if record["record_type"] == 5]
    assert {member["client_id"]: bool(member["classic_member_metadata"]) for member in members} == {
        member["client_id"]: not member["is_upgraded"] for member in event["observations"][1]["members"]
    }
    return result


def converted_to_classic(sample: Sample, event: Event) -> Records:
    result = [assert_observed(sample, event.group, seen) for seen in event["observations"]]
    records = sample.records(group=event.group, from_ms=event.from_ms, to_ms=event.to_ms)
    deleted = {record["record_type"] for record in records if record["value"] is None}
    assert deleted >= {3, 5, 6, 7, 8}
    assert sample.records(group=event.group, from_ms=event.to_ms, record_type=3) == []
    return result


def regex_subscription(sample: Sample, event: Event) -> Records:
    assert_met(sample, event)
    resolved = [record for record in sample.records(group=event.group, record_type=16) if record["value"]]
    first, other = event["regular_expressions"]
    topics = [topics_of(record) for record in resolved if record["key"]["regular_expression"] == first]
    *old, new = [names for names, _ in groupby(topics)]
    assert (old, new) == ([sorted(event["topics"])[:-1]], sorted(event["topics"]))
    assert {tuple(topics_of(record)) for record in resolved if record["key"]["regular_expression"] == other} == {
        ("region-south",)
    }
    return resolved


def topics_of(resolved: Record) -> list[str]:
    return sorted(resolved["value"]["topics"])


def consumer_static_members(sample: Sample, event: Event) -> Records:
    assert_met(sample, event)
    records = sample.records(group=event.group, record_type=5)
    instances = {record["value"]["instance_id"] for record in records if record["value"]}
    assert instances == set(event["group_instance_ids"])
    away = [
        record for record in sample.records(group=event.group, record_type=8) if value_of(record, "member_epoch") == -2
    ]
    assert away
    return away


def share_rebalances(sample: Sample, event: Event) -> Records:
    assert_met(sample, event)
    records = sample.records(group=event.group)
    assert {record["record_type"] for record in records} == set(range(10, 16))
    state = [record for record in records if record["record_type"] == 15][-1]
    assert {topic["topic_name"] for topic in state["value"]["initialized_topics"]} == set(event["topics"])
    return records


def streams_rebalances(sample: Sample, event: Event) -> Records:
    assert_met(sample, event)
    records = [record for record in sample.records(group=event.group) if record["record_type"] != COMMIT]
    assert {record["record_type"] for record in records} == {17, *range(19, 24)}
    (topology,) = (record for record in records if record["record_type"] == 23)
    assert len(topology["value"]["subtopologies"]) == 2
    return records


def connect_rebalances(sample: Sample, event: Event) -> Records:
    values = sample.records(group=event.group, record_type=GROUP, from_ms=event.from_ms, to_ms=event.to_ms)
    logged = {
        workers(value["value"]["members"], value["value"]["protocol_type"], value["value"]["protocol"])
        for value in values
        if value["value"]
    }
    assert {
        workers(seen["members"], seen["protocol_type"], seen["assignor"])
        for seen in event["observations"]
        if seen["state"] == "Stable" and seen["members"]
    } <= logged
    assert {len(members) for members, *_ in logged} >= {1, 2}
    assert sample.records(group=event["sink_group"], record_type=COMMIT)
    return values


def workers(members: list[dict[str, Any]], protocol_type: str, protocol: str | None) -> tuple[Any, ...]:
    named = {(member["member_id"], member["client_id"], member["client_host"]) for member in members}
    return frozenset(named), protocol_type, protocol


def value_of(record: Record, field: str) -> Any:
    return (record["value"] or {}).get(field)


def partitions_added(sample: Sample, event: Event) -> Records:
    result = [assert_observed(sample, event.group, seen) for seen in event["observations"]]
    members = [client_ids(value) for value in result]
    assert members[0] == members[1]
    ends = sample.ends(event["topic"])
    assert len(ends[0].ends) == event["partitions_before"]
    assert len(ends[-1].ends) == event["partitions_after"]
    for partition in range(event["partitions_before"], event["partitions_after"]):
        assert sample.commits(event, partition, to_ms=event.from_ms) == []
        assert sample.commits(event, partition, from_ms=event.from_ms)
    return result


def broker_restart(sample: Sample, event: Event) -> Records:
    before, after = event["leader_epochs_before"], event["leader_epochs_after"]
    assert all(after[partition] > before[partition] for partition in before)
    for record in sample.log:
        epochs = before if record["timestamp_ms"] < event.from_ms else after
        if not event.from_ms <= record["timestamp_ms"] <= event.to_ms:
            assert record["partition_leader_epoch"] == epochs[str(record["offsets_partition"])]
    # Whoever is silent for some seconds is no reason to rebalance.
    meanwhile = [record for record in sample.log if event.from_ms <= record["timestamp_ms"] <= event.to_ms]
    assert {record["record_type"] for record in meanwhile} <= {COMMIT}
    return [group_value(sample, "classic-range", event.from_ms)]
