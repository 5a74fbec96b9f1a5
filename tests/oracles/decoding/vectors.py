"""Record values as hex with what they say: written by Kafka 4.3.0, or made by hand where it does not write them."""

from typing import Any

T_HEX = "0102030405060708090a0b0c0d0e0f10"
T = "AQIDBAUGBwgJCgsMDQ4PEA"

GROUP_KEY = "0001 67"  # without its prefix: group "g"
MEMBER_KEY = "0001 67 0001 6d"  # group "g", member "m"
COMMIT_KEY = "0001 67 0001 74 00000003"  # group "g", topic "t", partition 3

KEY_OF_TYPE = {
    **dict.fromkeys((0, 1), COMMIT_KEY),
    **dict.fromkeys((2, 3, 4, 6, 9, 11, 12, 15, 17, 18, 20, 23), GROUP_KEY),
    **dict.fromkeys((5, 7, 8, 10, 13, 14, 19, 21, 22), MEMBER_KEY),
    16: "0001 67 0003 742e2a",
}


def key_of(record_type: int) -> bytes:
    return record_type.to_bytes(2, "big") + bytes.fromhex(KEY_OF_TYPE[record_type])


# Here and in CLASSIC_GROUPS, v2 (and v1 of a group) was not written by Kafka 4.3.0 but follows from its neighbours.
OFFSET_COMMITS: dict[str, tuple[str, dict[str, Any]]] = {
    "v0": ("0000000000000000000500016d00000000000003e8", {"offset": 5, "metadata": "m", "commit_timestamp": 1000}),
    "v1": (
        "0001000000000000000500016d00000000000003e800000000000007d0",
        {"offset": 5, "metadata": "m", "commit_timestamp": 1000, "expire_timestamp": 2000},
    ),
    "v2": ("0002000000000000000500016d00000000000003e8", {"offset": 5, "metadata": "m", "commit_timestamp": 1000}),
    "v3": (
        "000300000000000000050000000700016d00000000000003e8",
        {"offset": 5, "leader_epoch": 7, "metadata": "m", "commit_timestamp": 1000},
    ),
    "v4": (
        "0004000000000000000500000007026d00000000000003e80100100102030405060708090a0b0c0d0e0f10",
        {"offset": 5, "leader_epoch": 7, "metadata": "m", "commit_timestamp": 1000, "topic_id": T},
    ),
    "v4 bare": (
        "00040000000000000005ffffffff0100000000000003e800",
        {"offset": 5, "leader_epoch": -1, "metadata": "", "commit_timestamp": 1000},
    ),
}


MEMBER: dict[str, Any] = {
    "member_id": "m1",
    "client_id": "c",
    "client_host": "/h",
    "session_timeout": 45,
    "subscription": b"\x01\x02",
    "assignment": b"",
}
GENERATION_2: dict[str, Any] = {"protocol_type": "consumer", "generation": 2, "protocol": "range", "leader": "m1"}
MEMBER_V3 = {**MEMBER, "group_instance_id": "i1", "rebalance_timeout": 300}
HEAD = "0008636f6e73756d657200000002000572616e676500026d31"

CLASSIC_GROUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "v0": (
        f"0000{HEAD}0000000100026d3100016300022f680000002d00000002010200000000",
        {**GENERATION_2, "members": [MEMBER]},
    ),
    "v1": (
        f"0001{HEAD}0000000100026d3100016300022f680000012c0000002d00000002010200000000",
        {**GENERATION_2, "members": [{**MEMBER, "rebalance_timeout": 300}]},
    ),
    "v2": (
        f"0002{HEAD}00000000000003e80000000100026d3100016300022f680000012c0000002d00000002010200000000",
        {**GENERATION_2, "current_state_timestamp": 1000, "members": [{**MEMBER, "rebalance_timeout": 300}]},
    ),
    "v3": (
        "00030008636f6e73756d657200000002000572616e676500026d3100000000000003e80000000100026d31000269310001630002"
        "2f680000012c0000002d00000002010200000000",
        {**GENERATION_2, "current_state_timestamp": 1000, "members": [MEMBER_V3]},
    ),
    "v4": (
        "000409636f6e73756d6572000000020672616e6765036d3100000000000003e802036d310369310263032f680000012c0000002d"
        "030102010000",
        {**GENERATION_2, "current_state_timestamp": 1000, "members": [MEMBER_V3]},
    ),
    "v3 of a new group": (
        "0003000000000000ffffffff00000000000003e800000000",
        {
            "protocol_type": "",
            "generation": 0,
            "protocol": None,
            "leader": None,
            "current_state_timestamp": 1000,
            "members": [],
        },
    ),
}


T_0_1 = {"topic_id": T, "partitions": [0, 1]}
MEMBER_METADATA: dict[str, Any] = {
    "client_id": "c",
    "client_host": "/h",
    "subscribed_topic_names": ["t"],
    "rebalance_timeout_ms": 300,
}

WRITTEN_BY_KAFKA: dict[str, tuple[int, str, dict[str, Any]]] = {
    "3 without hash": (3, "00000000000900", {"epoch": 9}),
    "3 with hash": (3, "0000000000090100081122334455667788", {"epoch": 9, "metadata_hash": 0x1122334455667788}),
    "5 consumer protocol": (
        5,
        "00000002720263032f68020274010000012c0000",
        {
            **MEMBER_METADATA,
            "instance_id": None,
            "rack_id": "r",
            "subscribed_topic_regex": "",
            "server_assignor": None,
        },
    ),
    "5 classic protocol": (
        5,
        "00000269000263032f68020274000000012c08756e69666f726d010011010000002d020672616e67650301020000",
        {
            **MEMBER_METADATA,
            "instance_id": "i",
            "rack_id": None,
            "subscribed_topic_regex": None,
            "server_assignor": "uniform",
            "classic_member_metadata": {
                "session_timeout_ms": 45,
                "supported_protocols": [{"name": "range", "metadata": b"\x01\x02"}],
            },
        },
    ),
    "6": (6, "00000000000901000800000000000003e8", {"assignment_epoch": 9, "assignment_timestamp": 1000}),
    "7": (7, f"000002{T_HEX}0300000000000000010000", {"topic_partitions": [T_0_1]}),
    "8 without epochs": (
        8,
        f"000000000009000000080102{T_HEX}030000000000000001000100",
        {
            "member_epoch": 9,
            "previous_member_epoch": 8,
            "state": 1,
            "assigned_partitions": [T_0_1],
            "partitions_pending_revocation": [],
        },
    ),
    "8 with epochs": (
        8,
        f"000000000009000000080002{T_HEX}0300000000000000010100090300000009000000070100",
        {
            "member_epoch": 9,
            "previous_member_epoch": 8,
            "state": 0,
            "assigned_partitions": [{**T_0_1, "assignment_epochs": [9, 7]}],
            "partitions_pending_revocation": [],
        },
    ),
    "15": (
        15,
        f"00000102{T_HEX}027402000000000002{T_HEX}02740000",
        {
            "initializing_topics": [],
            "initialized_topics": [{"topic_id": T, "topic_name": "t", "partitions": [0]}],
            "deleting_topics": [{"topic_id": T, "topic_name": "t"}],
        },
    ),
    "16": (16, "0000020274000000000000004d00000000000003e800", {"topics": ["t"], "version": 77, "timestamp": 1000}),
    "17": (
        17,
        "000000000009000000000000000102000400000004010602026b027600",
        {
            "epoch": 9,
            "metadata_hash": 1,
            "validated_topology_epoch": 4,
            "last_assignment_configs": [{"key": "k", "value": "v"}],
        },
    ),
    "19 with endpoint": (
        19,
        "000000000263032f680000012c000000010270010268ffff000100",
        {
            "instance_id": None,
            "rack_id": None,
            "client_id": "c",
            "client_host": "/h",
            "rebalance_timeout_ms": 300,
            "topology_epoch": 1,
            "process_id": "p",
            "user_endpoint": {"host": "h", "port": 65535},
            "client_tags": [],
        },
    ),
    "19 without endpoint": (
        19,
        "000000000263032f680000012c000000010270ff0100",
        {
            "instance_id": None,
            "rack_id": None,
            "client_id": "c",
            "client_host": "/h",
            "rebalance_timeout_ms": 300,
            "topology_epoch": 1,
            "process_id": "p",
            "user_endpoint": None,
            "client_tags": [],
        },
    ),
}

RACKS = "02 00000000 02 03 7231 00"  # partition 0 on rack r1
T_NAMED = {"topic_id": T, "topic_name": "t"}
T_RACKS = {**T_NAMED, "num_partitions": 2, "partition_metadata": [{"partition": 0, "racks": ["r1"]}]}
SUBTOPOLOGY_0 = {"subtopology_id": "0", "partitions": [1]}

MADE_BY_HAND: dict[str, tuple[int, str, dict[str, Any]]] = {
    "4": (4, f"0000 02 {T_HEX} 0274 00000002 {RACKS} 00 00", {"topics": [T_RACKS]}),
    "4 of 3.7": (4, f"0000 00000007 02 {T_HEX} 0274 00000002 {RACKS} 00 00", {"epoch": 7, "topics": [T_RACKS]}),
    "5 of 3.7": (
        5,
        "0000 00 0272 0263 032f68 020274 01 0000012c 00 02 0261 fffe 0001 02 0003 03 0102 00 00",
        {
            **MEMBER_METADATA,
            "instance_id": None,
            "rack_id": "r",
            "subscribed_topic_regex": "",
            "server_assignor": None,
            "assignors": [
                {
                    "name": "a",
                    "minimum_version": -2,
                    "maximum_version": 1,
                    "reason": 2,
                    "version": 3,
                    "metadata": b"\x01\x02",
                }
            ],
        },
    ),
    "6 without timestamp": (6, "0000 00000009 00", {"assignment_epoch": 9}),
    "7 of 3.7": (
        7,
        f"0000 00 02 {T_HEX} 03 00000000 00000001 00 0002 03 0102 00",
        {"error": 0, "topic_partitions": [T_0_1], "metadata_version": 2, "metadata_bytes": b"\x01\x02"},
    ),
    "8 of 3.7": (
        8,
        f"0000 00000009 00000008 0000000a 02 {T_HEX} 03 00000000 00000001 00 01 01 00 0002 01 00",
        {
            "member_epoch": 9,
            "previous_member_epoch": 8,
            "target_member_epoch": 10,
            "assigned_partitions": [T_0_1],
            "partitions_pending_revocation": [],
            "partitions_pending_assignment": [],
            "error": 0,
            "metadata_version": 2,
            "metadata_bytes": b"",
        },
    ),
    "9 of 4.0": (9, f"0000 02 {T_HEX} 0274 00000002 {RACKS} 00 00", {"topics": [T_RACKS]}),
    "9 of 3.9": (
        9,
        f"0000 02 {T_HEX} 0274 02 00000001 00 02 {T_HEX} 0274 00 00",
        {"initialized_topics": [{**T_NAMED, "partitions": [1]}], "deleting_topics": [T_NAMED]},
    ),
    "10": (
        10,
        "0000 00 0263 032f68 03 0274 0275 00",
        {"rack_id": None, "client_id": "c", "client_host": "/h", "subscribed_topic_names": ["t", "u"]},
    ),
    "11": (11, "0000 00000009 1122334455667788 00", {"epoch": 9, "metadata_hash": 0x1122334455667788}),
    "11 of an emptied group": (11, "0000 00000009 0000000000000000 00", {"epoch": 9, "metadata_hash": 0}),
    "11 of 4.0": (11, "0000 00000009 00", {"epoch": 9}),
    "12": (12, "0000 00000009 01 00 08 00000000000003e8", {"assignment_epoch": 9, "assignment_timestamp": 1000}),
    "13": (13, f"0000 02 {T_HEX} 03 00000000 00000001 00 00", {"topic_partitions": [T_0_1]}),
    "13 before any topic is initialized": (13, "0000 01 00", {"topic_partitions": []}),
    "14": (
        14,
        f"0000 00000009 00000008 02 02 {T_HEX} 03 00000000 00000001 00 00",
        {"member_epoch": 9, "previous_member_epoch": 8, "state": 2, "assigned_partitions": [T_0_1]},
    ),
    "15 of 4.0": (
        15,
        f"0000 02 {T_HEX} 0274 02 00000001 00 02 {T_HEX} 0274 00 00",
        {"initialized_topics": [{**T_NAMED, "partitions": [1]}], "deleting_topics": [T_NAMED]},
    ),
    "17 of 4.4": (
        17,
        "0000 00000009 0000000000000001 02 02 04 00000005 03 04 fffffffe",
        {
            "epoch": 9,
            "metadata_hash": 1,
            "stored_description_topology_epoch": 5,
            "failed_description_topology_epoch": -2,
        },
    ),
    "18": (18, f"0000 02 {T_HEX} 0274 00000003 00 00", {"topics": [{**T_NAMED, "num_partitions": 3}]}),
    "20": (20, "0000 00000009 00", {"assignment_epoch": 9}),
    "21": (
        21,
        "0000 02 0230 02 00000001 00 01 01 00",
        {"active_tasks": [SUBTOPOLOGY_0], "standby_tasks": [], "warmup_tasks": []},
    ),
    "22": (
        22,
        "0000 00000009 00000008 01 02 0230 02 00000001 01 00 05 02 00000009 01 01 01 01 02 0230 02 00000001 00 00",
        {
            "member_epoch": 9,
            "previous_member_epoch": 8,
            "state": 1,
            "active_tasks": [{**SUBTOPOLOGY_0, "assignment_epochs": [9]}],
            "standby_tasks": [],
            "warmup_tasks": [],
            "active_tasks_pending_revocation": [],
            "standby_tasks_pending_revocation": [],
            "warmup_tasks_pending_revocation": [SUBTOPOLOGY_0],
        },
    ),
    "23": (
        23,
        "0000 00000001 02 0230 020274 01 02 0263 00000000 0001 02 026b 0276 00 00 020273 02 0272 00000004 0000 01 00"
        " 02 02 0000 01 02 0001 00 00 00",
        {
            "epoch": 1,
            "subtopologies": [
                {
                    "subtopology_id": "0",
                    "source_topics": ["t"],
                    "source_topic_regex": [],
                    "state_changelog_topics": [
                        {
                            "name": "c",
                            "partitions": 0,
                            "replication_factor": 1,
                            "topic_configs": [{"key": "k", "value": "v"}],
                        }
                    ],
                    "repartition_sink_topics": ["s"],
                    "repartition_source_topics": [
                        {"name": "r", "partitions": 4, "replication_factor": 0, "topic_configs": []}
                    ],
                    "copartition_groups": [
                        {"source_topics": [0], "source_topic_regex": [], "repartition_source_topics": [1]}
                    ],
                }
            ],
        },
    ),
}

VECTORS = WRITTEN_BY_KAFKA | MADE_BY_HAND

ALL_VALUES: list[tuple[int, str]] = [
    *((1, value_hex) for value_hex, _ in OFFSET_COMMITS.values()),
    *((2, value_hex) for value_hex, _ in CLASSIC_GROUPS.values()),
    *((record_type, value_hex) for record_type, value_hex, _ in VECTORS.values()),
]
