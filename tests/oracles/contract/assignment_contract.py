"""Columns of the tables of recomputed assignments as the contract promises them, written down by hand."""

from tests.oracles.contract.history_contract import EVIDENCE, GROUP, typed

WHO = "ARRAY<STRUCT<member_id: STRING, group_instance_id: STRING, client_id: STRING, client_host: STRING>>"

ASSIGNMENTS = {
    "assignment_audit": {
        **GROUP,
        **EVIDENCE,
        **typed("BIGINT", "assignment_offset"),
        **typed("TIMESTAMP", "record_time"),
        **typed("STRING", "assignor assignor_source algorithm verdict reason"),
        **typed("STRING", "partition_counts_source variant known_defect"),
        **typed("ARRAY<STRING>", "stale_topics"),
        **typed("INT", "generation_or_epoch num_partitions num_different num_unowned num_owned_twice num_nonexistent"),
        **typed("INT", "num_idle_members imbalance moves_made moves_needed"),
        "differences": "ARRAY<STRUCT<topic: STRING, partition: INT, recorded_member_id: STRING, "
        "expected_member_id: STRING>>",
        "checks": "ARRAY<STRUCT<name: STRING, is_ok: BOOLEAN, detail: STRING>>",
    },
    "assignment_whatif": {
        **GROUP,
        **EVIDENCE,
        **typed("BIGINT", "assignment_offset"),
        **typed("STRING", "group_protocol assignor reason"),
        **typed("INT", "imbalance moves_from_current partitions_stopped"),
        **typed("BOOLEAN", "is_possible"),
    },
    "assignor_upgrades": {
        **GROUP,
        **EVIDENCE,
        **typed("STRING", "migration phase readiness"),
        **typed(WHO, "members_done members_remaining"),
        **typed("TIMESTAMP", "started_time finished_time"),
        "blockers": "ARRAY<STRUCT<kind: STRING, member_id: STRING, detail: STRING>>",
    },
}
