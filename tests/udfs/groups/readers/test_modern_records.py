"""Records of consumer, share and streams groups out of decoded tables."""

from typing import Any

import pyarrow as pa

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.assignors.questions import Topic
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.modern_values import (
    About,
    BeingSetUp,
    Current,
    GroupEpoch,
    Pattern,
    Target,
    TargetEpoch,
    Topics,
    Topology,
)
from udfs.groups.readers.recorded_lists import Partitions, Tasks, partitions_of
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import SHIFT, TopicCodes

EVERY = {"group_id": "g", "group_type": "consumer", "member_id": "m", "is_tombstone": False, "record_time": 5_000,
         "batch_first_offset": 1, "partition_leader_epoch": 2}  # fmt: skip
CODES = TopicCodes({"id-of-a": "a"})
A, B = (CODES.of_id(topic_id) << SHIFT for topic_id in ("id-of-a", "id-of-b"))


def read(name: str, *rows: dict[str, Any]) -> list[tuple[str, Record]]:
    """Rows at offsets 10, 11, …"""
    schema = table_schema(TABLES[name])
    result = [
        {key: value for key, value in {**EVERY, "record_offset": 10 + at, **row}.items() if key in schema.names}
        for at, row in enumerate(rows)
    ]
    return modern_records({name: pa.Table.from_pylist(result, schema)}, CODES)


def values(name: str, *rows: dict[str, Any]) -> list[Any]:
    return [record.value for _, record in read(name, *rows)]


def named(topic_id: str, *partitions: int) -> dict[str, Any]:
    return {"topic_id": topic_id, "partitions": list(partitions)}


def task(subtopology: str, *partitions: int) -> dict[str, Any]:
    return {"subtopology_id": subtopology, "partitions": list(partitions)}


def test_a_record_has_its_place_and_key() -> None:
    ((group, record),) = read("group_member_metadata", {"group_type": "share", "client_id": "c", "client_host": "h"})
    assert group == "g"
    assert record[:6] == (10, 5_000, 1, 2, 10, "m")


def test_what_archives_do_not_have_is_one_batch_and_epoch() -> None:
    ((_, record),) = read("group_metadata", {"batch_first_offset": None, "partition_leader_epoch": None})
    assert (record.batch, record.leader_epoch, record.type, record.member) == (-1, -1, 3, None)


def test_a_tombstone_has_no_value() -> None:
    assert values("current_member_assignments", {"is_tombstone": True}, {"member_epoch": 1}) == [
        None, Current(1, -1, None, {None: Partitions()}, {None: Partitions()})
    ]  # fmt: skip


def test_records_of_all_tables_stand_in_the_order_of_the_log() -> None:
    records = modern_records(
        {
            name: pa.Table.from_pylist([{**key, "record_offset": offset}], table_schema(TABLES[name]))
            for name, offset in (("group_metadata", 7), ("group_member_metadata", 3))
            for key in [{**EVERY} if name == "group_member_metadata" else {**EVERY, "group_epoch": 1}]
        },
        CODES,
    )
    assert [(record.offset, record.type) for _, record in records] == [(3, 5), (7, 3)]


def test_epochs() -> None:
    row: dict[str, Any] = {"group_type": "streams", "group_epoch": 3, "metadata_hash": 9, "validated_topology_epoch": 0}
    row["last_assignment_configs"] = [{"key": "b", "value": "1"}, {"key": "a", "value": "0"}]
    assert values("group_metadata", row) == [GroupEpoch(3, 9, 0, (("a", "0"), ("b", "1")))]
    assert values("target_assignment_metadata", {"assignment_epoch": 4}) == [TargetEpoch(4)]


def test_members_subscribe_in_the_order_of_their_record() -> None:
    row = {"group_instance_id": "i", "rack_id": "r", "client_id": "c", "client_host": "/h", "rebalance_timeout_ms": 7,
           "subscribed_topic_names": ["b", "a"], "subscribed_topic_regex": "", "server_assignor": ""}  # fmt: skip
    classic = {
        **row,
        "classic_member": {
            "session_timeout_ms": 1,
            "supported_protocols": [
                {"name": "range", "metadata": b"\0\3rest"},
                {"name": "sticky", "metadata": b"\0\0"},
                {"name": "unreadable", "metadata": b"\0"},
            ],
        },
        "server_assignor": "range",
    }
    first, second = values("group_member_metadata", row, classic)
    assert first == About("i", "r", "c", "/h", 7, ("b", "a"), None, None, False, None)
    assert (second.is_classic, second.assignor, second.session_timeout_ms) == (True, "range", 1)
    assert (first.offered_versions, second.offered_versions) == (None, (3, 0))


def test_streams_members_subscribe_to_no_topics() -> None:
    ((_, record),) = read("group_member_metadata", {"group_type": "streams", "topology_epoch": 2})
    assert (record.type, record.value.topics, record.value.topology_epoch) == (19, None, 2)


def test_partitions_go_by_the_topics_id() -> None:
    row = {"member_epoch": 2, "previous_member_epoch": 1, "member_state": "UNREVOKED_PARTITIONS",
           "assigned_partitions": [named("id-of-b", 5, 3), named("id-of-a", 0)],
           "partitions_pending_revocation": [named("id-of-a", 1)]}  # fmt: skip
    first, second = values("current_member_assignments", row, {"member_epoch": 3, "assigned_partitions": []})
    assert first == Current(
        2, 1, "UNREVOKED_PARTITIONS", {None: Partitions.of([B | 5, B | 3, A])}, {None: Partitions.of([A | 1])}
    )
    assert second.assigned == {None: Partitions()}
    assert CODES.name(A) == "a"


def test_tasks_stand_by_role() -> None:
    row = {"group_type": "streams", "member_epoch": 2, "previous_member_epoch": 1, "member_state": "STABLE",
           "active_tasks": [task("0", 0, 1), task("1", 0)], "standby_tasks": [task("1", 2)], "warmup_tasks": [],
           "active_tasks_pending_revocation": [task("0", 9)], "standby_tasks_pending_revocation": [],
           "warmup_tasks_pending_revocation": []}  # fmt: skip
    share, streams = values("current_member_assignments", {"group_type": "share", "member_epoch": 1}, row)
    assert share.assigned == {None: Partitions()}
    assert streams.assigned == {
        "active": Tasks([("0", 0), ("0", 1), ("1", 0)]), "standby": Tasks([("1", 2)]), "warmup": Tasks()
    }  # fmt: skip
    assert streams.pending == {"active": Tasks([("0", 9)]), "standby": Tasks(), "warmup": Tasks()}
    target = {"group_type": "streams", "active_tasks": [task("0", 4)], "standby_tasks": [], "warmup_tasks": []}
    assert values("target_assignment_members", target, {"topic_partitions": [named("id-of-a", 2)]}) == [
        Target({"active": Tasks([("0", 4)]), "standby": Tasks(), "warmup": Tasks()}),
        Target({None: Partitions.of([A | 2])}),
    ]


def test_partitions_below_0_are_left_out_and_reported() -> None:
    ((_, of_partitions), (_, sound)) = read(
        "current_member_assignments",
        {"assigned_partitions": [named("id-of-b", -1, 2), named("id-of-a", -(2**31))],
         "partitions_pending_revocation": [named("id-of-b", 5, -7)], "member_epoch": 3},
        {"assigned_partitions": [named("id-of-b", 4)], "member_epoch": 3},
    )  # fmt: skip
    value = of_partitions.value
    assert [partitions_of(share).tps for share in (value.assigned, value.pending)] == [{B | 2}, {B | 5}]
    # The audit compares lists as they were written.
    assert partitions_of(value.assigned).topics.tolist() == [B >> SHIFT, B >> SHIFT, A >> SHIFT]
    assert partitions_of(value.assigned).partitions.tolist() == [-1, 2, -(2**31)]
    assert of_partitions.left_out == (
        "assigned_partitions id-of-a--2147483648, id-of-b--1; partitions_pending_revocation id-of-b--7"
    )
    assert (sound.value.assigned, sound.left_out) == ({None: Partitions.of([B | 4])}, None)
    ((_, of_tasks),) = read(
        "target_assignment_members",
        {"group_type": "streams", "active_tasks": [task("0", 1, -1)], "standby_tasks": [task("1", -3)]},
    )
    assert of_tasks.value.assigned == {
        "active": Tasks([("0", 1), ("0", -1)]), "standby": Tasks([("1", -3)]), "warmup": Tasks()
    }  # fmt: skip
    assert [share.tasks for share in of_tasks.value.assigned.values()] == [{("0", 1)}, set(), set()]
    assert of_tasks.left_out == "active_tasks 0--1; standby_tasks 1--3"


def test_members_of_3_7_show_their_state_by_their_target_epoch() -> None:
    def row(epoch: int, target: int, pending: list[Any], waiting: list[Any]) -> dict[str, Any]:
        return {"member_epoch": epoch, "previous_member_epoch": 0, "target_member_epoch": target,
                "assigned_partitions": [], "partitions_pending_revocation": pending,
                "partitions_pending_assignment": waiting}  # fmt: skip

    some = [named("id-of-a", 0)]
    reported = values("current_member_assignments", row(2, 2, [], []), row(1, 2, some, []), row(2, 2, [], some),
                  row(1, 2, [], []))  # fmt: skip
    assert {value.is_state_inferred for value in reported} == {True}
    assert [value.state for value in reported] == [
        "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS", "UNRELEASED_PARTITIONS"
    ]  # fmt: skip


def test_patterns_go_by_their_text() -> None:
    row = {"regular_expression": "a.*", "topics": ["b", "a"], "metadata_version": 1, "resolved_time": 0}
    ((_, record),) = read("group_regular_expressions", row)
    assert (record.type, record.member, record.value) == (16, "a.*", Pattern(("b", "a")))


def test_of_share_groups_only_initialized_topics_count() -> None:
    def topic(state: str, name: str, **more: Any) -> dict[str, Any]:
        return {"state": state, "topic_id": "x", "topic_name": name, **more}

    rows = [
        {"group_type": "share", "topics": [topic("initializing", "a", partitions=[1, 0]),
                                           topic("initializing", "<UNKNOWN>", partitions=[3]),
                                           topic("initialized", "c", partitions=[0, 1]),
                                           topic("initialized", "b", partitions=[0]), topic("deleting", "d")]},
        {"group_type": "consumer", "topics": [topic("subscribed", "a", num_partitions=12)]},
        {"group_type": "share", "topics": []},
    ]  # fmt: skip
    result = read("group_partition_metadata", *rows)
    assert [(record.type, record.value) for _, record in result] == [
        (15, Topics((Topic("c", 2, "x"), Topic("b", 1, "x")), ((0, 1), (0,)),
                    being_set_up=(BeingSetUp("a", "x", (0, 1)), BeingSetUp("x", "x", (3,))))),
        (4, Topics((Topic("a", 12, "x"),))),
        (15, Topics((), ())),
    ]  # fmt: skip
    assert [record.value.counts() for _, record in result] == [{"c": 2, "b": 1}, {"a": 12}, {}]


def test_topics_have_the_racks_of_their_partitions_and_the_number_that_is_known() -> None:
    listed = {"state": "subscribed", "topic_id": "x", "topic_name": "a", "num_partitions": 2,
              "partition_metadata": [{"partition": 1, "racks": ["r"]}]}  # fmt: skip
    initialized = {"state": "initialized", "topic_id": "x", "topic_name": "a", "partitions": [5, 3]}
    first, second = values(
        "group_partition_metadata", {"topics": [listed]}, {"group_type": "share", "epoch": 1, "topics": [initialized]}
    )
    assert first == Topics((Topic("a", 2, "x", ((), ("r",))),))
    assert second == Topics((Topic("a", 6, "x"),), ((5, 3),), is_early=True)
    # What can be assigned is less than what there must be.
    assert second.counts() == {"a": 2}


def test_a_subtopology_reads_its_source_and_its_repartition_topics() -> None:
    def part(name: str, sources: list[str], repartition: list[str]) -> dict[str, Any]:
        return {"subtopology_id": name, "source_topics": sources,
                "repartition_source_topics": [{"name": each} for each in repartition]}  # fmt: skip

    rows = [
        {"epoch": 1, "subtopologies": [part("0", ["a"], []), part("1", ["b"], ["r", "s"])]},
        {"is_tombstone": True},
        {"epoch": 2, "subtopologies": [part("0", [], ["t"])]},
    ]
    result = read("streams_group_topologies", *rows)
    assert [(record.type, record.value) for _, record in result] == [
        (23, Topology(1, {"0": ("a",), "1": ("b", "r", "s")})), (23, None), (23, Topology(2, {"0": ("t",)}))
    ]  # fmt: skip


def test_texts_may_come_as_dictionaries_and_tables_in_slices() -> None:
    schema = table_schema(TABLES["current_member_assignments"])
    rows = [
        {**EVERY, "record_offset": at, "member_id": f"m{at}", "member_epoch": at,
         "assigned_partitions": [named("id-of-a", at)]}
        for at in range(6)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema)
    place = table.column_names.index("group_id")
    coded = table.set_column(place, "group_id", table["group_id"].dictionary_encode())
    records = modern_records(
        {"current_member_assignments": pa.concat_tables([coded.slice(3, 1), coded.slice(1, 2)])}, CODES
    )
    assert [(group, record.offset, record.value.assigned) for group, record in records] == [
        ("g", at, {None: Partitions.of([A | at])}) for at in (1, 2, 3)
    ]
