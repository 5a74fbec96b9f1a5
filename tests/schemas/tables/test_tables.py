"""The declared tables hold what the contract promises: its columns are written down here by hand, with their types."""

from collections.abc import Iterator

import pytest

from schemas.contract.tables import CONTRACT_VERSION, TABLES, USER_TABLES
from schemas.declarations.columns import Column, ColumnType, ListOf, MapOf, StructOf, Table, Type, sql_type
from tests.oracles.contract.assignment_contract import ASSIGNMENTS
from tests.oracles.contract.history_contract import HISTORY
from tests.oracles.contract.lag_contract import FLAGS, GATE, LAG
from tests.oracles.contract.lag_contract import MAY_BE_NULL as OF_LAG_MAY_BE_NULL
from tests.oracles.contract.lag_contract import STATES as STATES_OF_LAG

COMMON = {
    "cluster": "STRING",
    "offsets_partition": "INT",
    "record_offset": "BIGINT",
    "record_time": "TIMESTAMP",
    "partition_leader_epoch": "INT",
    "batch_first_offset": "BIGINT",
    "batch_bytes": "INT",
    "record_bytes": "INT",
    "producer_id": "BIGINT",
    "producer_epoch": "INT",
    "is_transactional": "BOOLEAN",
    "is_tombstone": "BOOLEAN",
    "value_version": "INT",
    "run_id": "STRING",
    "out_of_range": "ARRAY<STRUCT<field: STRING, value: BIGINT>>",
}
GROUP = {"group_type": "STRING", "group_id": "STRING"}
MEMBER = {**GROUP, "member_id": "STRING"}
EARLY = {"error": "INT", "metadata_version": "INT", "metadata_bytes": "BINARY"}
TOPIC_PARTITIONS = "ARRAY<STRUCT<topic_id: STRING, partitions: ARRAY<INT>>>"
NAMED_PARTITIONS = "ARRAY<STRUCT<topic: STRING, partitions: ARRAY<INT>>>"
OWNED = "ARRAY<STRUCT<topic_id: STRING, partitions: ARRAY<INT>, assignment_epochs: ARRAY<INT>>>"
TASKS = "ARRAY<STRUCT<subtopology_id: STRING, partitions: ARRAY<INT>>>"
OWNED_TASKS = "ARRAY<STRUCT<subtopology_id: STRING, partitions: ARRAY<INT>, assignment_epochs: ARRAY<INT>>>"
KEY_VALUES = "ARRAY<STRUCT<key: STRING, value: STRING>>"
TOPIC_INFOS = f"ARRAY<STRUCT<name: STRING, partitions: INT, replication_factor: INT, topic_configs: {KEY_VALUES}>>"

DECODED = {
    "offset_commits": {
        "group_id": "STRING",
        "topic": "STRING",
        "partition": "INT",
        "key_version": "INT",
        "committed_offset": "BIGINT",
        "leader_epoch": "INT",
        "metadata": "STRING",
        "topic_id": "STRING",
        "commit_time": "TIMESTAMP",
        "expire_time": "TIMESTAMP",
    },
    "classic_group_metadata": {
        "group_id": "STRING",
        "protocol_type": "STRING",
        "generation": "INT",
        "protocol": "STRING",
        "leader": "STRING",
        "current_state_time": "TIMESTAMP",
        "members": "ARRAY<STRUCT<member_id: STRING, group_instance_id: STRING, client_id: STRING, client_host: STRING, "
        "rebalance_timeout_ms: INT, session_timeout_ms: INT, "
        f"subscription: STRUCT<version: INT, topics: ARRAY<STRING>, owned_partitions: {NAMED_PARTITIONS}, "
        "generation_id: INT, rack_id: STRING, user_data: BINARY>, "
        f"assignment: STRUCT<version: INT, partitions: {NAMED_PARTITIONS}, user_data: BINARY>, "
        "subscription_bytes: BINARY, assignment_bytes: BINARY, payload_json: STRING>>",
    },
    "group_metadata": {
        **GROUP,
        "group_epoch": "INT",
        "metadata_hash": "BIGINT",
        "validated_topology_epoch": "INT",
        "stored_description_topology_epoch": "INT",
        "failed_description_topology_epoch": "INT",
        "last_assignment_configs": KEY_VALUES,
    },
    "group_member_metadata": {
        **MEMBER,
        "group_instance_id": "STRING",
        "rack_id": "STRING",
        "client_id": "STRING",
        "client_host": "STRING",
        "subscribed_topic_names": "ARRAY<STRING>",
        "subscribed_topic_regex": "STRING",
        "rebalance_timeout_ms": "INT",
        "server_assignor": "STRING",
        "classic_member": "STRUCT<session_timeout_ms: INT, "
        "supported_protocols: ARRAY<STRUCT<name: STRING, metadata: BINARY>>>",
        "assignors": "ARRAY<STRUCT<name: STRING, minimum_version: INT, maximum_version: INT, reason: INT, "
        "version: INT, metadata: BINARY>>",
        "topology_epoch": "INT",
        "process_id": "STRING",
        "user_endpoint": "STRUCT<host: STRING, port: INT>",
        "client_tags": KEY_VALUES,
    },
    "target_assignment_metadata": {**GROUP, "assignment_epoch": "INT", "assignment_time": "TIMESTAMP"},
    "target_assignment_members": {
        **MEMBER,
        "topic_partitions": TOPIC_PARTITIONS,
        "active_tasks": TASKS,
        "standby_tasks": TASKS,
        "warmup_tasks": TASKS,
        **EARLY,
    },
    "current_member_assignments": {
        **MEMBER,
        "member_epoch": "INT",
        "previous_member_epoch": "INT",
        "member_state": "STRING",
        "assigned_partitions": OWNED,
        "partitions_pending_revocation": OWNED,
        "target_member_epoch": "INT",
        "partitions_pending_assignment": TOPIC_PARTITIONS,
        "active_tasks": OWNED_TASKS,
        "standby_tasks": OWNED_TASKS,
        "warmup_tasks": OWNED_TASKS,
        "active_tasks_pending_revocation": OWNED_TASKS,
        "standby_tasks_pending_revocation": OWNED_TASKS,
        "warmup_tasks_pending_revocation": OWNED_TASKS,
        **EARLY,
    },
    "group_partition_metadata": {
        **GROUP,
        "epoch": "INT",
        "topics": "ARRAY<STRUCT<state: STRING, topic_id: STRING, topic_name: STRING, num_partitions: INT, "
        "partitions: ARRAY<INT>, partition_metadata: ARRAY<STRUCT<partition: INT, racks: ARRAY<STRING>>>>>",
    },
    "group_regular_expressions": {
        "group_id": "STRING",
        "regular_expression": "STRING",
        "topics": "ARRAY<STRING>",
        "metadata_version": "BIGINT",
        "resolved_time": "TIMESTAMP",
    },
    "streams_group_topologies": {
        "group_id": "STRING",
        "epoch": "INT",
        "subtopologies": "ARRAY<STRUCT<subtopology_id: STRING, source_topics: ARRAY<STRING>, "
        f"source_topic_regex: ARRAY<STRING>, state_changelog_topics: {TOPIC_INFOS}, "
        f"repartition_sink_topics: ARRAY<STRING>, repartition_source_topics: {TOPIC_INFOS}, copartition_groups: "
        "ARRAY<STRUCT<source_topics: ARRAY<INT>, source_topic_regex: ARRAY<INT>, "
        "repartition_source_topics: ARRAY<INT>>>>>",
    },
    "transaction_markers": {"coordinator_epoch": "INT", "marker": "STRING"},
    "rejected_records": {
        "record_type": "INT",
        "key_bytes": "BINARY",
        "value_bytes": "BINARY",
        "part": "STRING",
        "field": "STRING",
        "reason": "STRING",
        "detail": "STRING",
        "source_file": "STRING",
        "byte_position": "BIGINT",
        "size_bytes": "BIGINT",
        "num_records": "BIGINT",
        # Beyond the contract: whether num_records is an estimate.
        "is_num_records_estimated": "BOOLEAN",
        # Beyond the contract: without it the bytes of a marker would pass for a commit when they are decoded again.
        "is_control": "BOOLEAN",
        "from_offset": "BIGINT",
        "to_offset": "BIGINT",
    },
}

COLUMNS = {
    **{name: {**COMMON, **columns} for name, columns in DECODED.items()},
    **HISTORY,
    **ASSIGNMENTS,
    **LAG,
    **GATE,
    "source_files": {
        "cluster": "STRING",
        "run_id": "STRING",
        "offsets_partition": "INT",
        "source_file": "STRING",
        "kind": "STRING",
        "size_bytes": "BIGINT",
        "modified_time": "TIMESTAMP",
        "first_offset": "BIGINT",
        "last_offset": "BIGINT",
        "num_records": "BIGINT",
        "num_batches": "BIGINT",
        "num_tombstones": "BIGINT",
        "num_delete_horizon_batches": "BIGINT",
        "torn_tail_bytes": "BIGINT",
        "read_from_position": "BIGINT",
        "read_to_position": "BIGINT",
        "first_batch_crc": "BIGINT",
        "last_batch_position": "BIGINT",
        "last_batch_crc": "BIGINT",
        "file_id": "STRING",
        "cluster_id": "STRING",
        "offsets_topic_id": "STRING",
        "skipped_reason": "STRING",
    },
    "cluster_snapshots": {
        "cluster": "STRING",
        "run_id": "STRING",
        "captured_time": "TIMESTAMP",
        "brokers": "ARRAY<STRUCT<id: INT, host: STRING, port: INT, rack: STRING>>",
        "offsets_partitions": "ARRAY<STRUCT<partition: INT, leader: INT>>",
        "settings": "MAP<STRING, STRING>",
        "group_settings": "ARRAY<STRUCT<group_id: STRING, settings: MAP<STRING, STRING>>>",
        "cluster_id": "STRING",
        "offsets_topic_id": "STRING",
    },
    "topic_snapshots": {
        "cluster": "STRING",
        "run_id": "STRING",
        "captured_time": "TIMESTAMP",
        "topic": "STRING",
        "topic_id": "STRING",
        "partition": "INT",
        "log_start_offset": "BIGINT",
        "log_end_offset": "BIGINT",
        "leader_epoch": "INT",
        "racks": "ARRAY<STRING>",
    },
    "runs": {
        "cluster": "STRING",
        "run_id": "STRING",
        "job": "STRING",
        "started_time": "TIMESTAMP",
        "finished_time": "TIMESTAMP",
        "as_of_time": "TIMESTAMP",
        "verdict": "STRING",
        "exit_code": "INT",
        "contract_version": "INT",
        "config_hash": "STRING",
        "num_offsets_partitions": "INT",
        "num_files_unchanged": "BIGINT",
        "ingest_counts": "ARRAY<STRUCT<offsets_partition: INT, read: BIGINT, decoded: BIGINT, rejected: BIGINT, "
        "already_known: BIGINT, damaged: BIGINT, first_offset: BIGINT, last_offset: BIGINT, gaps: BIGINT>>",
        "table_versions": "MAP<STRING, BIGINT>",
    },
}

# What a run keeps for the next one: of no use to queries, and free to change.
STATES = {"replayed_partitions", "replayed_groups", "replayed_moves", "replayed_offsets"}
STATES |= {"recomputed_partitions", "recomputed_groups"} | STATES_OF_LAG
# Of history; facts beside it may have no name or no offset.
MAY_BE_NULL = {
    **OF_LAG_MAY_BE_NULL,
    "group_state_intervals": {"state"},
    "ownership_intervals": {"topic", "topic_id", "role"},
    "partition_moves": {"topic", "topic_id", "role", "from_member_id", "to_member_id"},
    "replayed_moves": {"topic", "topic_id", "role", "from_member_id", "to_member_id"},
    "replay_anomalies": {"group_id"},
    "topics": {"topic_id", "from_time"},
}

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)


def fields(kind: ColumnType) -> Iterator[Column]:
    """The fields of the structs in a type, however deep."""
    match kind:
        case ListOf(inner) | MapOf(_, inner):
            yield from fields(inner)
        case StructOf(own):
            for field in own:
                yield field
                yield from fields(field.type)


def test_every_table_of_the_contract_is_declared() -> None:
    assert set(TABLES) == set(COLUMNS) | STATES
    assert set(USER_TABLES) == set(COLUMNS)
    assert all(name == table.name for name, table in TABLES.items())
    assert CONTRACT_VERSION == 2


def test_state_lies_in_a_folder_of_its_own() -> None:
    assert {table.name: table.folder for table in TABLES.values()} == {
        **{name: name for name in COLUMNS},
        **{name: f"_state/{name}" for name in STATES},
    }


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_and_types_are_those_of_the_contract(name: str) -> None:
    table = TABLES[name]
    assert {column.name: sql_type(column.type) for column in table.columns} == COLUMNS[table.name]
    assert len(table.columns) == len(COLUMNS[table.name])


@every_table
def test_the_key_leads_and_is_not_null_where_the_log_has_it(table: Table) -> None:
    assert table.columns[0].name == "cluster"
    is_decoded = table.job == "ingest"
    may_be_null = MAY_BE_NULL.get(table.name, {"partition_leader_epoch"} if is_decoded else set())
    if table.name in ("rejected_records", "source_files"):
        may_be_null |= {"offsets_partition", "record_offset", "byte_position"}
        may_be_null |= {"source_file", "value_bytes"} if table.name == "rejected_records" else set()
    for name in table.key:
        assert table.column(name).is_nullable == (name in may_be_null), name
    assert {table.column(name).name for name in table.order} <= set(table.key)


@every_table
def test_every_column_has_a_comment_of_one_line_and_times_and_flags_are_named_so(table: Table) -> None:
    for column in fields(StructOf(table.columns)):
        assert column.comment.endswith("."), column
        assert "\n" not in column.comment
        assert (column.type is Type.TIMESTAMP) == column.name.endswith("_time"), column
        assert (column.type is Type.BOOLEAN) == (column.name.startswith(("is_", "has_")) or column.name in FLAGS), (
            column
        )
        assert column.name == column.name.lower()


@every_table
def test_a_column_that_is_never_null_does_not_say_when_it_is(table: Table) -> None:
    assert [each.name for each in table.columns if not each.is_nullable and "NULL:" in each.comment] == []


@every_table
def test_wide_columns_come_after_those_that_queries_filter_by(table: Table) -> None:
    is_wide = [not isinstance(column.type, Type) or column.type is Type.BINARY for column in table.columns]
    names = [column.name for column in table.columns]
    first_wide = is_wide.index(True) if True in is_wide else len(names)
    # Nobody filters by what distinguishes broken lines of one archive, or rows of one group in several offsets
    # partitions.
    assert set(names[:first_wide]) >= set(table.key) - {"value_bytes", "evidence_partition"}
    assert "run_id" in names[:first_wide] or "run_id" not in names
