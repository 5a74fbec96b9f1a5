"""Rows of a history made by hand: group `billing` and others, at the edges of intervals."""

from typing import Any

from tests.builders.tables.history import at, coverage, interval, rebalance

GROUP = {"group_id": "billing"}
ONE = {"member_id": "one", "client_id": "c1", "client_host": "/10.0.0.1"}
TWO = {"member_id": "two", "client_id": "c2", "client_host": "/10.0.0.2", "group_instance_id": "second"}
STATE = {**GROUP, "protocol_type": "consumer", "num_members": 0}
MODERN = {"group_id": "modern", "group_type": "consumer"}
STREAMS = {"group_id": "words", "group_type": "streams"}
OWNED = {**GROUP, "topic": "orders", "phase": "assigned"}
PAYLOAD = {"version": 3, "owned_partitions": [], "generation_id": 1, "rack_id": None, "user_data": None}
SUBSCRIBED = {
    "rebalance_timeout_ms": 300_000,
    "session_timeout_ms": 45_000,
    "subscription": {**PAYLOAD, "topics": ["orders"]},
    "assignment": None,
    "subscription_bytes": b"",
    "assignment_bytes": b"",
    "payload_json": None,
}
COMMIT = {**GROUP, "topic": "orders", "via": "plain", "num_commits": 1}


def subtopology(number: str, sources: list[str], repartitioned: list[str]) -> dict[str, Any]:
    topics = [{"name": name, "partitions": 0, "replication_factor": -1, "topic_configs": []} for name in repartitioned]
    nothing = ("source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "copartition_groups")
    return {"subtopology_id": number, "source_topics": sources, "repartition_source_topics": topics} | {
        name: [] for name in nothing
    }


ROWS: dict[str, list[dict[str, Any]]] = {
    # Empty, one member, two members after a rebalance, deleted, then there again behind a hole.
    "group_state_intervals": [
        {**interval(0, 10, 0), **STATE, "state": "Empty", "generation_or_epoch": 0},
        {**interval(10, 40, 2), **STATE, "state": "Stable", "generation_or_epoch": 1, "assignor": "range"}
        | {"num_members": 1},
        {**interval(40, 41, 9), **STATE, "state": "CompletingRebalance", "generation_or_epoch": 2, "num_members": 2},
        {**interval(41, 60, 9), **STATE, "state": "Stable", "generation_or_epoch": 2, "assignor": "range"}
        | {"num_members": 2},
        {**interval(60, 70, 14, "deleted"), **STATE, "state": "Empty", "generation_or_epoch": 3},
        {**interval(80, 90, 20, "coverage_hole"), **STATE, "state": "Empty", "generation_or_epoch": 0},
        {**interval(99, None, 50), **STATE, "state": "Empty", "generation_or_epoch": 5},
        {**interval(0, None, 1), "group_id": "offsets alone", "state": "Empty", "num_members": 0},
        {**interval(50, None, 10), **MODERN, "state": "Stable", "generation_or_epoch": 7, "num_members": 2},
        {**interval(62, 66, 30, "deleted"), **STREAMS, "state": "Stable", "generation_or_epoch": 3, "num_members": 1},
        {**interval(50, None, 11), "group_id": "connect", "state": "Empty", "protocol_type": "connect"}
        | {"num_members": 0},
    ],
    "membership_intervals": [
        {**interval(10, 60, 2, "left_or_timed_out"), **GROUP, **ONE, "leave_kind": "left_or_timed_out"},
        {**interval(41, 60, 9, "left_or_timed_out"), **GROUP, **TWO, "leave_kind": "left_or_timed_out"},
        {**interval(50, None, 10), **MODERN, **ONE, "group_type": "consumer"},
        {
            **interval(50, None, 10),
            **MODERN,
            "member_id": "old",
            "group_type": "consumer",
            "client_library": "java",
            "client_library_confidence": "possible",
        },
        {**interval(62, 66, 30, "group_deleted"), **STREAMS, **ONE},
        # Of records without times, and over.
        {**interval(0, 1, 2), **GROUP, "member_id": "timeless", "from_time": None, "to_time": None},
    ],
    "ownership_intervals": [
        *({**interval(10, 60, 2, "revoked"), **OWNED, **ONE, "partition": p} for p in (0, 2)),
        {**interval(10, 41, 2, "reassigned"), **OWNED, **ONE, "partition": 1},
        {**interval(41, 60, 9, "revoked"), **OWNED, **TWO, "partition": 1},
        {**interval(41, 60, 9, "revoked"), **OWNED, **ONE, "partition": 5, "phase": "revoking"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 1, "phase": "assigned"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "refunds", "partition": 3, "phase": "held"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 4, "phase": "revoking"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 5, "phase": "assigned"}
        | {"role": "standby"},
        {**interval(50, None, 10), **MODERN, "member_id": "old", "topic": "orders", "partition": 0}
        | {"phase": "assigned"},
    ],
    "offset_history": [
        {**interval(12, 45, 3, "commit"), **COMMIT, "partition": 0, "committed_offset": 100, "leader_epoch": 4},
        {**interval(45, 70, 12, "deleted"), **COMMIT, "partition": 0, "committed_offset": 90},
        {**interval(13, 70, 4, "deleted"), **COMMIT, "partition": 1, "committed_offset": -1, "topic_id": "new"},
        {**interval(14, 70, 5, "deleted"), **COMMIT, "partition": 7, "committed_offset": 7, "topic_id": "new"},
        {**interval(31, None, 7), **COMMIT, "group_id": "connect", "partition": 1, "committed_offset": 200},
        {**interval(10, None, 2), **COMMIT, "group_id": "connect", "partition": 2, "committed_offset": 130},
        {**interval(5, None, 1), **COMMIT, "group_id": "offsets alone", "partition": 0, "committed_offset": 1},
        {**interval(55, None, 12), **COMMIT, **MODERN, "partition": 0, "committed_offset": 5},
        {**interval(65, None, 13), **COMMIT, **MODERN, "partition": 3, "committed_offset": 1},
    ],
    "rebalances": [
        rebalance("billing", 2, 9, 10, from_generation=None, trigger="group_created", members_joined=["one"]),
        rebalance("billing", 9, 40, 41, from_generation=1, to_generation=2, members_joined=["two"], num_moved=1)
        | {"trigger_detail": "member two (10.0.0.2) joined"}
        | {"num_partitions": 3, "stopped_partition_ms": 1000, "leader_after": "two", "mode": "eager"},
    ],
    "classic_group_metadata": [
        {**GROUP, "offsets_partition": 3, "record_offset": 9, "record_time": at(41), "generation": 2}
        | {"members": [{**ONE, "group_instance_id": None, **SUBSCRIBED}, {**TWO, **SUBSCRIBED}]}
    ],
    "generation_members": [
        {**GROUP, "group_type": "classic", "assignment_offset": offset, "member_id": member, "change": "joined"}
        | {"assigned": [{"topic": "orders", "topic_id": None, "partitions": partitions}]}
        for offset, member, partitions in ((2, "one", [2, 0, 1]), (2, "gone", [3]), (9, "one", [0, 2]))
    ],
    "partition_moves": [
        {**GROUP, "group_type": "classic", "assignment_offset": 9, "topic": "orders", "partition": 1, "kind": "moved"}
        | {"from_member_id": "one", "to_member_id": "two", "idle_ms": 1000, "commit_gap_ms": 32000},
        {**GROUP, "group_type": "classic", "assignment_offset": 9, "topic": "orders", "partition": 0, "kind": "lost"}
        | {"from_member_id": "one", "to_member_id": "one"},
    ],
    "history_coverage": [coverage(0, 30, 0, 90), coverage(50, 60, 99, 100)],
    "topic_snapshots": [
        *({"captured_time": at(15), "topic": "orders", "partition": p, "log_end_offset": 120 + p} for p in range(4)),
        *({"captured_time": at(30), "topic": "orders", "partition": p, "log_end_offset": 130 + p} for p in (0, 1)),
        {"captured_time": at(30), "topic": "orders", "partition": 7, "log_end_offset": 9, "topic_id": "old"},
        {"captured_time": at(55), "topic": "orders", "partition": 0, "log_end_offset": 999},
    ],
    "cluster_snapshots": [
        {"captured_time": at(second), "offsets_partitions": [{"partition": 3, "leader": broker}]}
        | {"brokers": [{"id": broker, "host": f"host-{broker}", "port": 9092, "rack": None}]}
        for second, broker in ((15, 1), (42, 2))
    ],
    "target_assignment_metadata": [
        {
            **MODERN,
            "offsets_partition": 3,
            "record_offset": offset,
            "record_time": at(second),
            "assignment_epoch": epoch,
        }
        for offset, second, epoch in ((11, 50, 6), (12, 51, 7), (13, 99.5, 8))
    ]
    + [  # Of another kind of group that had the name.
        {**MODERN, "offsets_partition": 3, "record_offset": 12, "record_time": at(52), "assignment_epoch": 99}
        | {"group_type": "share"},
    ],
    "current_member_assignments": [
        {**MODERN, "offsets_partition": 3, "record_offset": 12, "record_time": at(51), **ONE, "member_epoch": 7},
    ],
    "target_assignment_members": [
        {**MODERN, "offsets_partition": 3, "record_offset": 11, "record_time": at(50), "member_id": "one"}
        | {"topic_partitions": [{"topic_id": "id-1", "partitions": [2, 1]}, {"topic_id": "id-2", "partitions": [0]}]},
        {**STREAMS, "offsets_partition": 3, "record_offset": 31, "record_time": at(62), "member_id": "one"}
        | {"active_tasks": [{"subtopology_id": "0", "partitions": [1, 0]}, {"subtopology_id": "1", "partitions": [2]}]}
        | {"standby_tasks": [{"subtopology_id": "1", "partitions": [3]}]},
    ],
    "streams_group_topologies": [
        {"group_id": "words", "offsets_partition": 3, "record_offset": offset, "record_time": at(second)}
        | {"subtopologies": [subtopology("0", [source], []), subtopology("1", [], ["words-by-key"])]}
        for offset, second, source in ((29, 61, "before"), (30, 62, "text"), (33, 65, "later"))
    ],
    "group_member_metadata": [
        {**MODERN, "offsets_partition": 3, "record_offset": 9, "record_time": at(50), **ONE},
        {**MODERN, "offsets_partition": 3, "record_offset": 10, "record_time": at(50), "member_id": "old"}
        | {"classic_member": {"session_timeout_ms": 1, "supported_protocols": []}},
    ],
    "topics": [{"topic": "orders", "topic_id": "id-1", "source": "snapshot", "is_provisional": True}],
}
