"""Columns of history tables as the contract promises them, written down by hand, with their types."""

EVIDENCE = {
    "evidence_partition": "INT",
    "evidence_first_offset": "BIGINT",
    "evidence_last_offset": "BIGINT",
    "confidence": "STRING",
}
INTERVAL = {
    "from_time": "TIMESTAMP",
    "to_time": "TIMESTAMP",
    "from_offset": "BIGINT",
    "to_offset": "BIGINT",
    "is_open": "BOOLEAN",
    "is_from_exact": "BOOLEAN",
    "is_to_exact": "BOOLEAN",
    "ended_by": "STRING",
}
CLUSTER = {"cluster": "STRING"}
GROUP = {**CLUSTER, "group_id": "STRING", "group_type": "STRING"}
TOPIC_PARTITION = {"topic": "STRING", "topic_id": "STRING", "partition": "INT"}
CLIENT = {"group_instance_id": "STRING", "client_id": "STRING", "client_host": "STRING"}
LISTS = "ARRAY<STRUCT<topic: STRING, topic_id: STRING, partitions: ARRAY<INT>>>"


def typed(kind: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


HISTORY = {
    "group_state_intervals": {
        **GROUP,
        **INTERVAL,
        **EVIDENCE,
        **typed("STRING", "state protocol_type assignor"),
        **typed("INT", "generation_or_epoch num_members"),
    },
    "membership_intervals": {
        **GROUP,
        **INTERVAL,
        **EVIDENCE,
        **CLIENT,
        **typed("STRING", "member_id rack_id leave_kind client_library client_library_confidence"),
        **typed("INT", "joined_generation left_generation"),
        "away_since_time": "TIMESTAMP",
    },
    "ownership_intervals": {
        **GROUP,
        **INTERVAL,
        **EVIDENCE,
        **CLIENT,
        **TOPIC_PARTITION,
        **typed("STRING", "member_id phase role subtopology_id"),
        **typed("TIMESTAMP", "reader_certain_until_time reader_doubt_from_time"),
        **typed("BIGINT", "start_offset end_offset"),
        "generation_or_epoch": "INT",
    },
    "rebalances": {
        **GROUP,
        **EVIDENCE,
        **typed("BIGINT", "assignment_offset duration_ms sync_ms stopped_partition_ms"),
        **typed("INT", "from_generation to_generation num_members_before num_members_after num_partitions num_moved"),
        **typed("INT", "num_returned num_withheld num_maybe_revoking num_ready_to_migrate num_unknown_owned"),
        **typed("INT", "num_unowned unpersisted_rounds"),
        **typed("TIMESTAMP", "start_time end_time"),
        **typed("BOOLEAN", "is_start_exact is_open is_follow_up"),
        **typed("STRING", "outcome trigger mode leader_before leader_after assignor_before assignor_after"),
        **typed("BIGINT", "unread_partition_low_ms unread_partition_high_ms longest_unread_high_ms"),
        "trigger_detail": "STRING",
        **typed("ARRAY<STRING>", "members_joined members_departed"),
    },
    "generation_members": {
        **GROUP,
        **EVIDENCE,
        **typed("STRING", "member_id change group_instance_id"),
        **typed(LISTS, "previous_assigned claimed_owned assigned added revoked kept lost dropped_before_join"),
        "assignment_offset": "BIGINT",
        "generation_or_epoch": "INT",
        "is_leader": "BOOLEAN",
        "is_open": "BOOLEAN",
        "subscribed_topics": "ARRAY<STRING>",
    },
    "partition_moves": {
        **GROUP,
        **EVIDENCE,
        **TOPIC_PARTITION,
        **typed("BIGINT", "assignment_offset idle_ms commit_gap_ms unread_low_ms unread_high_ms"),
        **typed("STRING", "from_member_id to_member_id kind"),
        # Beyond the contract: a partition of a streams group moves in each role, and later than the assignment.
        # And what bounds the time that it was unread.
        **typed("STRING", "role unread_basis"),
        "move_offset": "BIGINT",
        "move_time": "TIMESTAMP",
        "is_open": "BOOLEAN",
    },
    "offset_history": {
        **CLUSTER,
        **INTERVAL,
        **EVIDENCE,
        **TOPIC_PARTITION,
        **typed("STRING", "group_id metadata via"),
        **typed("BIGINT", "committed_offset previous_offset delta num_commits producer_id"),
        **typed("TIMESTAMP", "commit_time last_commit_time last_expire_time"),
        "leader_epoch": "INT",
    },
    "transactions": {
        **CLUSTER,
        **EVIDENCE,
        **typed("BIGINT", "producer_id first_offset num_commits num_superseded duration_ms"),
        **typed("TIMESTAMP", "first_time end_time"),
        "producer_epoch": "INT",
        "is_open": "BOOLEAN",
        "outcome": "STRING",
        "groups": "ARRAY<STRING>",
    },
    "topics": {
        **CLUSTER,
        **typed("STRING", "topic topic_id source confidence"),
        **typed("TIMESTAMP", "from_time to_time"),
        "is_open": "BOOLEAN",
        "num_partitions": "INT",
    },
    "coordinator_epochs": {
        **CLUSTER,
        **typed("INT", "offsets_partition partition_leader_epoch"),
        **typed("BIGINT", "first_offset last_offset"),
        **typed("TIMESTAMP", "from_time to_time"),
        "is_open": "BOOLEAN",
    },
    "history_coverage": {
        **CLUSTER,
        **typed("BIGINT", "first_offset last_offset compacted_records_estimate damaged_records"),
        **typed("BIGINT", "complete_from_offset num_records"),
        **typed("TIMESTAMP", "from_time to_time complete_from_time"),
        "offsets_partition": "INT",
        "has_transactions": "BOOLEAN",
        "is_open": "BOOLEAN",
    },
    "replay_anomalies": {
        **CLUSTER,
        **EVIDENCE,
        **typed("STRING", "group_id kind severity message"),
        "record_offset": "BIGINT",
        "record_time": "TIMESTAMP",
    },
}
