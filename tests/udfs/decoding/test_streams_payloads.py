"""The independent decoder on the payloads of Kafka Streams: vectors of Kafka 4.3.0, the others made by hand."""

from typing import Any

import pytest

from tests.oracles.decoding.payload_parts import T_HEX, T, user_data

PREVIOUS = "00000001 00000002 00000003"  # task 2_3
PREVIOUS_TASKS: dict[str, Any] = {"prev_tasks": [{"topic_group_id": 2, "partition": 3}], "standby_tasks": []}
SUMS_V7 = "00000001 00000002 00000001 00000003 fffffffffffffffd"
SUMS_V7_DECODED = [{"topic_group_id": 2, "partition_to_offset_sum": [{"partition": 3, "offset_sum": -3}]}]
SUMS_V10 = "00000001 00000002 00000003 0000000000000064 0001 6e"
SUMS_V10_DECODED = [{"topic_group_id": 2, "partition": 3, "offset_sum": 100, "named_topology": "n"}]

SUBSCRIPTION_INFOS: dict[int, tuple[str, dict[str, Any]]] = {
    1: (f"00000001 {T_HEX} {PREVIOUS} 00000000", PREVIOUS_TASKS),
    2: (f"00000002 {T_HEX} {PREVIOUS} 00000000 00000000", {**PREVIOUS_TASKS, "user_end_point": b""}),
    **{
        version: (
            f"{version:08x} 0000000b {T_HEX} {PREVIOUS} 00000000 00000003 683a31",
            {"latest_supported_version": 11, **PREVIOUS_TASKS, "user_end_point": b"h:1"},
        )
        for version in (3, 4, 5, 6)
    },
    7: (
        f"00000007 00000007 {T_HEX} 00000000 {SUMS_V7}",
        {"latest_supported_version": 7, "user_end_point": b"", "task_offset_sums": SUMS_V7_DECODED},
    ),
    8: (
        f"00000008 00000008 {T_HEX} 00000000 {SUMS_V7} ff",
        {"latest_supported_version": 8, "user_end_point": b"", "task_offset_sums": SUMS_V7_DECODED, "unique_field": -1},
    ),
    9: (
        f"00000009 00000009 {T_HEX} 00000000 {SUMS_V7} 01 00000002",
        {
            "latest_supported_version": 9,
            "user_end_point": b"",
            "task_offset_sums": SUMS_V7_DECODED,
            "unique_field": 1,
            "error_code": 2,
        },
    ),
    10: (
        f"0000000a 0000000a {T_HEX} 00000000 {SUMS_V10} 01 00000000",
        {
            "latest_supported_version": 10,
            "user_end_point": b"",
            "task_offset_sums": SUMS_V10_DECODED,
            "unique_field": 1,
            "error_code": 0,
        },
    ),
    11: (
        "0000000b0000000b0102030405060708090a0b0c0d0e0f1000000003683a31000000010000000000000001fffffffffffffffeffff01"
        "0000000000000001000000016b0000000176",
        {
            "latest_supported_version": 11,
            "user_end_point": b"h:1",
            "task_offset_sums": [{"topic_group_id": 0, "partition": 1, "offset_sum": -2, "named_topology": None}],
            "unique_field": 1,
            "error_code": 0,
            "client_tags": [{"key": b"k", "value": b"v"}],
        },
    ),
}


@pytest.mark.parametrize("version", range(1, 12))
def test_trap_09_streams_subscription_info_has_an_int32_version(version: int) -> None:
    data_hex, expected = SUBSCRIPTION_INFOS[version]
    decoded = user_data("stream", "subscription", data_hex)
    assert decoded == {"version": version, "process_id": T, **expected}


def test_of_a_newer_streams_subscription_only_both_versions_are_read() -> None:
    expected = {"version": 12, "latest_supported_version": 13}
    assert user_data("stream", "subscription", "0000000c 0000000d ffff") == expected
    assert user_data("stream", "subscription", "00000000 0000000d") is None
    assert user_data("stream", "subscription", "0000000c 0000") is None


TASKS = "00000001 00000002 00000003 00000001 00000004 00000005 00000001 000174 00000001"
TASKS_DECODED: dict[str, Any] = {
    "active_tasks": [{"subtopology": 2, "partition": 3}],
    "standby_tasks": [{"subtopology": 4, "partition": 5, "topic_partitions": [{"topic": "t", "partition": 1}]}],
}
HOST_H = [{"host": "h", "port": 80, "topic_partitions": [{"topic": "t", "partition": 0}]}]
HOST_I = [{"host": "i", "port": 81, "topic_partitions": [{"topic": "u", "partition": 1}]}]
BY_NAME = "00000001 000168 00000050 00000001 000174 00000000"
DICTIONARY = "00000002 00000007 000174 00000000 000175"
BY_INDEX = "00000001 000168 00000050 00000001 00000007 00000000"
STANDBY_BY_INDEX = "00000001 000169 00000051 00000001 00000000 00000001"

NAMED_TASKS = (
    "00000002 00000002 00000003 00000000 00000002 00000003 00000002 006e 00e9"
    " 00000001 00000004 00000005 00000000 00000000"
)
NAMED_TASKS_DECODED: dict[str, Any] = {
    "active_tasks": [
        {"subtopology": 2, "partition": 3, "named_topology": None},
        {"subtopology": 2, "partition": 3, "named_topology": "né"},
    ],
    "standby_tasks": [{"subtopology": 4, "partition": 5, "named_topology": None, "topic_partitions": []}],
}
BOTH_HOSTS = {"partitions_by_host": HOST_H, "standby_partitions_by_host": HOST_I}

ASSIGNMENT_INFOS: dict[int, tuple[str, dict[str, Any]]] = {
    1: (f"00000001 {TASKS}", TASKS_DECODED),
    2: (f"00000002 {TASKS} {BY_NAME}", {**TASKS_DECODED, "partitions_by_host": HOST_H}),
    3: (
        f"00000003 00000009 {TASKS} {BY_NAME}",
        {"commonly_supported_version": 9, **TASKS_DECODED, "partitions_by_host": HOST_H},
    ),
    4: (
        f"00000004 00000009 {TASKS} {BY_NAME} 00000002",
        {"commonly_supported_version": 9, **TASKS_DECODED, "partitions_by_host": HOST_H, "err_code": 2},
    ),
    5: (
        f"00000005 00000009 {TASKS} {DICTIONARY} {BY_INDEX} 00000002",
        {"commonly_supported_version": 9, **TASKS_DECODED, "partitions_by_host": HOST_H, "err_code": 2},
    ),
    6: (
        f"00000006 00000009 {TASKS} {DICTIONARY} {BY_INDEX} {STANDBY_BY_INDEX} 00000000",
        {"commonly_supported_version": 9, **TASKS_DECODED, **BOTH_HOSTS, "err_code": 0},
    ),
    **{
        version: (
            f"{version:08x} 0000000b {tasks} {DICTIONARY} {BY_INDEX} {STANDBY_BY_INDEX} 00000000 7fffffffffffffff",
            {
                "commonly_supported_version": 11,
                **tasks_decoded,
                **BOTH_HOSTS,
                "err_code": 0,
                "next_rebalance_ms": 2**63 - 1,
            },
        )
        for version, tasks, tasks_decoded in (
            (7, TASKS, TASKS_DECODED),
            (8, TASKS, TASKS_DECODED),
            (9, TASKS, TASKS_DECODED),
            (10, NAMED_TASKS, NAMED_TASKS_DECODED),
            (11, NAMED_TASKS, NAMED_TASKS_DECODED),
        )
    },
}


@pytest.mark.parametrize("version", range(1, 12))
def test_trap_09_streams_task_ids_have_a_name_from_version_10_on(version: int) -> None:
    data_hex, expected = ASSIGNMENT_INFOS[version]
    assert user_data("stream", "assignment", data_hex) == {"version": version, **expected}


def test_a_streams_assignment_that_cannot_be_read_is_none() -> None:
    for version in ("00000000", "0000000c", "ffffffff"):
        assert user_data("stream", "assignment", f"{version} 0000000b {TASKS}") is None
    without_topic_7 = f"00000005 00000009 {TASKS} 00000001 00000000 000175 {BY_INDEX} 00000000"
    assert user_data("stream", "assignment", without_topic_7) is None


def test_java_writes_nul_in_two_bytes_and_an_emoji_in_six() -> None:
    hosts = "00000001 0008 c080 eda0bd edb880 00000050 00000000"
    decoded = user_data("stream", "assignment", f"00000002 00000000 00000000 {hosts}")
    assert decoded is not None
    assert decoded["partitions_by_host"][0]["host"] == "\x00\U0001f600"
    plain_utf8 = "00000001 0004 f09f9880 00000050 00000000"
    assert user_data("stream", "assignment", f"00000002 00000000 00000000 {plain_utf8}") is None
