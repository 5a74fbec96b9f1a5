"""Groups as the story's clients saw them, against the records that the log had by then."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.sample.story import Event, Record, Sample, epoch_ms

Observed = Mapping[str, Any]
# Partitions by topic, or by subtopology, in order.
Owned = dict[str, list[int]]


def assert_observed(sample: Sample, group: str, seen: Observed) -> Record:
    """At rest: the group's newest records by then say what was seen. Returns the one that completes the assignment."""
    by_type = {"Classic": assert_classic, "Consumer": assert_consumer}
    assert seen["state"] == "Stable"
    return by_type[seen["group_type"]](sample, group, seen)


def assert_classic(sample: Sample, group: str, seen: Observed) -> Record:
    record = group_value(sample, group, epoch_ms(seen["time"]))
    value = record["value"]
    assert (value["generation"], value["protocol"]) == (seen["generation"], seen["assignor"])
    logged = {
        (member["member_id"], member["client_id"], member["client_host"], member["group_instance_id"]): {
            each["topic"]: sorted(each["partitions"]) for each in member["assignment"]["assigned_partitions"]
        }
        for member in value["members"]
    }
    assert logged == {
        (each["member_id"], each["client_id"], each["client_host"], each.get("group_instance_id")): each["partitions"]
        for each in seen["members"]
    }
    return record


def group_value(sample: Sample, group: str, at_ms: int) -> Record:
    """Of a classic group."""
    return sample.records(group=group, record_type=2, to_ms=at_ms)[-1]


def client_ids(value: Record) -> dict[str, str]:
    """By member id, of a classic group's value."""
    return {member["member_id"]: member["client_id"] for member in value["value"]["members"]}


def assert_consumer(sample: Sample, group: str, seen: Observed) -> Record:
    at_ms = epoch_ms(seen["time"])
    epoch = sample.records(group=group, record_type=3, to_ms=at_ms)[-1]
    target = sample.records(group=group, record_type=6, to_ms=at_ms)[-1]
    assert epoch["value"]["epoch"] == seen["group_epoch"]
    assert target["value"]["assignment_epoch"] == seen["target_epoch"]
    clients = newest_by_member(sample, group, 5, at_ms)
    assert {member: (value["client_id"], value["client_host"]) for member, value in clients.items()} == {
        each["member_id"]: (each["client_id"], each["client_host"]) for each in seen["members"]
    }
    assignments = newest_by_member(sample, group, 8, at_ms)
    assert {member: (value["member_epoch"], owned(sample, value)) for member, value in assignments.items()} == {
        each["member_id"]: (each["member_epoch"], each["partitions"]) for each in seen["members"]
    }
    return target


def newest_by_member(sample: Sample, group: str, record_type: int, at_ms: int) -> dict[str, dict[str, Any]]:
    newest = {
        record["key"]["member_id"]: record["value"]
        for record in sample.records(group=group, record_type=record_type, to_ms=at_ms)
    }
    return {member: value for member, value in newest.items() if value}


def owned(sample: Sample, value: Mapping[str, Any]) -> Owned:
    return {sample.topic_names[each["topic_id"]]: sorted(each["partitions"]) for each in value["assigned_partitions"]}


def tasks(value: Mapping[str, Any], role: str) -> Owned:
    return {each["subtopology_id"]: sorted(each["partitions"]) for each in value[role]}


@dataclass(frozen=True)
class Protocol:
    """The record types of one of the newer protocols, and how a member's assignment stands in its record."""

    epoch: int
    member: int
    target: int
    assignment: int
    roles: tuple[str, ...] = ()

    def logged(self, sample: Sample, value: Mapping[str, Any]) -> list[Owned]:
        return [tasks(value, role) for role in self.roles] if self.roles else [owned(sample, value)]

    def seen(self, member: Observed) -> list[Owned]:
        return [member[role] for role in self.roles or ("partitions",)]


PROTOCOLS: Final = {
    "Consumer": Protocol(epoch=3, member=5, target=6, assignment=8),
    "Share": Protocol(epoch=11, member=10, target=12, assignment=14),
    "Streams": Protocol(epoch=17, member=19, target=20, assignment=22, roles=("active_tasks", "standby_tasks")),
}


def assert_met(sample: Sample, event: Event) -> None:
    """Each state in which passing looks met the group stands in some record: which was newest then is not known."""
    assert any(observed["members"] for observed in event["observations"])
    for observed in event["observations"]:
        protocol = PROTOCOLS[observed["group_type"]]
        assert observed["group_epoch"] in values(sample, event.group, protocol.epoch, "epoch")
        # A group begins at epoch 1, and no record says so.
        assert observed["target_epoch"] in [1, *values(sample, event.group, protocol.target, "assignment_epoch")]
        for member in observed["members"]:
            assert_member_met(sample, event.group, protocol, member)


def values(sample: Sample, group: str, record_type: int, field: str) -> list[Any]:
    records = sample.records(group=group, record_type=record_type)
    return [record["value"][field] for record in records if record["value"]]


def assert_member_met(sample: Sample, group: str, protocol: Protocol, member: Observed) -> None:
    known = [
        (value["client_id"], value["client_host"], value["instance_id"])
        for value in of_member(sample, group, protocol.member, member)
        # Share groups have no static members.
        for value in [{"instance_id": None} | value]
    ]
    assert (member["client_id"], member["client_host"], member.get("group_instance_id")) in known
    states = [
        (value["member_epoch"], protocol.logged(sample, value))
        for value in of_member(sample, group, protocol.assignment, member)
    ]
    assert (member["member_epoch"], protocol.seen(member)) in states


def of_member(sample: Sample, group: str, record_type: int, member: Observed) -> list[dict[str, Any]]:
    return [
        record["value"]
        for record in sample.records(group=group, record_type=record_type)
        if record["value"] and record["key"]["member_id"] == member["member_id"]
    ]
