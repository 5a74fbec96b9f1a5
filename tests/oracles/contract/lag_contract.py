"""Columns of the tables of lag, events and the gate as the contract promises them, written down by hand."""

from tests.oracles.contract.history_contract import EVIDENCE, GROUP, typed

RUN = {"cluster": "STRING", "run_id": "STRING"}
TOPIC = typed("STRING", "topic topic_id")
SUBJECT = {**GROUP, **TOPIC, "partition": "INT"}

LAG = {
    "lag_points": {
        **SUBJECT,
        **EVIDENCE,
        **typed("TIMESTAMP", "snapshot_time"),
        **typed("BIGINT", "committed_offset log_start_offset log_end_offset lag_raw lag_floor lag_available"),
        **typed("BIGINT", "lost_messages lag_data snapshot_age_ms time_lag_ms time_lag_low_ms time_lag_high_ms"),
        **typed("BOOLEAN", "is_open no_commit committed_beyond_end committed_negative"),
        **typed("STRING", "time_lag_method owner_member_id unknown_reason"),
        **typed("INT", "leader_epoch"),
    },
    "lag_days": {
        **GROUP,
        **TOPIC,
        **EVIDENCE,
        **typed("TIMESTAMP", "day_time"),
        **typed("BOOLEAN", "is_open"),
        **typed("BIGINT", "num_points num_minutes num_minutes_unknown num_minutes_known"),
        **typed("BIGINT", "lag_floor_p50 lag_floor_p95 lag_floor_p99 lag_floor_max"),
        **typed("BIGINT", "time_lag_ms_p50 time_lag_ms_p95 time_lag_ms_p99 time_lag_ms_max"),
        **typed("STRING", "time_lag_method"),
    },
    "lag_minutes": {
        **GROUP,
        **TOPIC,
        **EVIDENCE,
        **typed("TIMESTAMP", "minute_time day_time"),
        **typed("BOOLEAN", "is_open"),
        **typed("BIGINT", "num_points time_lag_ms_max open_time_lag_ms_min"),
    },
    "consumption_rates": {
        **GROUP,
        **TOPIC,
        **EVIDENCE,
        **typed("TIMESTAMP", "bucket_time"),
        **typed("BIGINT", "bucket_ms messages_consumed lag_floor eta_low_ms eta_high_ms"),
        **typed("BOOLEAN", "is_open"),
        **typed("INT", "num_partitions"),
        **typed("DOUBLE", "messages_consumed_per_s messages_produced_per_s"),
        **typed("STRING", "eta_unknown_reason"),
    },
    "offsets_partitions": {
        "cluster": "STRING",
        **typed("INT", "offsets_partition num_partitions"),
        **typed("STRING", "partitions_source reading early_end"),
        **typed("TIMESTAMP", "as_of_time newest_time log_until_time known_end_time"),
        **typed("BIGINT", "num_groups num_captured_groups last_offset usual_gap_ms torn_tail_bytes known_end_offset"),
        **typed("BIGINT", "ends_before_others_ms"),
    },
    "group_verdicts": {
        **SUBJECT,
        **EVIDENCE,
        **typed("TIMESTAMP", "as_of_time last_commit_time since_time"),
        **typed("STRING", "burrow_verdict burrow_rule own_verdict rule reason"),
        **typed("BIGINT", "lag_floor time_lag_ms freshness_objective_ms burrow_lag"),
        **typed("DOUBLE", "burrow_complete"),
    },
    "offset_resets": {
        **GROUP,
        **TOPIC,
        **EVIDENCE,
        **typed("TIMESTAMP", "at_time"),
        **typed("BOOLEAN", "is_open"),
        **typed("STRING", "kind actor actor_reason"),
        **typed("INT", "num_partitions signature_score num_members"),
        **typed("BIGINT", "messages_reread messages_skipped"),
        **typed("ARRAY<INT>", "partitions"),
        **typed("ARRAY<BIGINT>", "from_offsets to_offsets"),
    },
    "commit_findings": {
        **SUBJECT,
        **EVIDENCE,
        **typed("TIMESTAMP", "day_time first_time last_time"),
        **typed("BOOLEAN", "is_open"),
        **typed("STRING", "kind detail"),
        **typed("BIGINT", "num_commits num_messages last_committed_offset"),
    },
    "expiry_forecast": {
        **SUBJECT,
        **EVIDENCE,
        **typed("TIMESTAMP", "as_of_time base_time expires_time"),
        **typed("STRING", "rule settings_source"),
        **typed("BIGINT", "committed_offset messages_at_risk"),
        **typed("BOOLEAN", "blocked_by_transaction"),
    },
    "commit_volume": {
        "cluster": "STRING",
        **typed("INT", "offsets_partition"),
        **typed("STRING", "group_id"),
        **typed("TIMESTAMP", "hour_time"),
        **typed("BOOLEAN", "is_open"),
        **typed("BIGINT", "num_commits num_bytes num_unchanged peak_per_minute num_at_5_s"),
        **typed("DOUBLE", "share_unchanged"),
    },
}
GATE = {
    "gate_metrics": {**RUN, **typed("STRING", "table_name slice metric"), **typed("DOUBLE", "value")},
    "gate_runs": {
        **RUN,
        **typed("STRING", "suite verdict narrowed_by"),
        **typed("TIMESTAMP", "started_time finished_time"),
        **typed("INT", "num_expectations num_failed num_errors"),
    },
    "gate_results": {
        **RUN,
        **typed("STRING", "suite expectation column_name severity error observed threshold first_evidence query"),
        **typed("BOOLEAN", "success"),
        **typed("BIGINT", "num_unexpected"),
    },
    "gate_spans": {
        **typed("STRING", "cluster group_id topic suite verdict override_reason actor result_hash"),
        **typed("INT", "partition"),
        **typed("BIGINT", "from_offset to_offset num_rows_written"),
        **typed("TIMESTAMP", "until_time recorded_time"),
    },
    "marks": {
        **typed("STRING", "cluster text group_pattern"),
        **typed("TIMESTAMP", "mark_time recorded_time removed_time"),
    },
    "findings": {
        **RUN,
        **typed("STRING", "kind severity subject group_id topic message confidence waiver query"),
        **typed("BIGINT", "rank num_rows messages_waiting evidence_first_offset evidence_last_offset"),
        **typed("INT", "partition evidence_partition"),
        **typed("BOOLEAN", "is_new"),
        **typed("TIMESTAMP", "at_time since_time first_seen_time waived_until_time"),
        "owners": "ARRAY<STRUCT<member_id: STRING, client_id: STRING, client_host: STRING, num_partitions: BIGINT>>",
        "topic_partitions": "ARRAY<STRUCT<topic: STRING, topic_id: STRING, partitions: ARRAY<INT>>>",
    },
    "gate_limits": {**RUN, **typed("STRING", "setting"), **typed("BIGINT", "value")},
}
# Named by the contract as they are.
FLAGS = {"no_commit", "committed_beyond_end", "committed_negative", "blocked_by_transaction", "success"}
# A topic of which only the id is known, a topic without an id, a group as a whole.
MAY_BE_NULL = {
    **{name: {"topic", "topic_id"} for name in LAG if "topic" in LAG[name]},
    "group_verdicts": {"topic", "topic_id", "partition"},
    "offset_resets": {"topic", "topic_id"},
}
STATES = {"measured_partitions", "gated_inputs"}
