"""The view v_decode_coverage, row by row and without SQL."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from tests.oracles.decoding.kafka_names import NAMES

Row = Mapping[str, Any]
WEEK = timedelta(days=7)
GROUPS = {"consumer": "ConsumerGroup", "share": "ShareGroup", "streams": "StreamsGroup"}
SUFFIX = {
    "group_metadata": "Metadata",
    "group_member_metadata": "MemberMetadata",
    "target_assignment_metadata": "TargetAssignmentMetadata",
    "target_assignment_members": "TargetAssignmentMember",
    "current_member_assignments": "CurrentMemberAssignment",
    "group_partition_metadata": "PartitionMetadata",
}
ALONE = {"classic_group_metadata": 2, "group_regular_expressions": 16, "streams_group_topologies": 23}


def record_type(table: str, row: Row) -> int | None:
    if table == "rejected_records":
        return row["record_type"]
    if table == "offset_commits":
        return row["key_version"]
    if table == "transaction_markers":
        return None
    if table in ALONE:
        return ALONE[table]
    if (table, row["group_type"]) == ("group_partition_metadata", "share"):
        return 15
    name = GROUPS[row["group_type"]] + SUFFIX[table]
    return next(number for number, known in NAMES.items() if known == name)


def coverage(tables: Mapping[str, Iterable[Row]]) -> list[dict[str, Any]]:
    kinds: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for table, rows in tables.items():
        for row in rows:
            number = record_type(table, row)
            type_name = row["marker"] if table == "transaction_markers" else NAMES.get(number)  # type: ignore[arg-type]
            reason = row["reason"] if table == "rejected_records" else None
            kinds[row["cluster"], table, number, type_name, row["value_version"], reason].append(row)
    clusters = sorted({kind[0] for kind in kinds})
    return [row for cluster in clusters for row in of_cluster(cluster, kinds)]


def of_cluster(cluster: str, all_kinds: Mapping[tuple[Any, ...], list[Row]]) -> list[dict[str, Any]]:
    kinds = {kind: rows for kind, rows in all_kinds.items() if kind[0] == cluster}
    times = [row["record_time"] for rows in kinds.values() for row in rows if row["record_time"]]
    newest, oldest = max(times, default=None), min(times, default=None)
    num_all = sum(map(num_records, kinds.values()))
    num_decoded = sum(num_records(rows) for kind, rows in kinds.items() if kind[5] is None)
    result = [one_kind(kind, rows, kinds, newest, oldest) for kind, rows in kinds.items()]
    for row in result:
        row.update(as_of_time=newest, history_since_time=oldest, coverage_share=num_decoded / num_all)
    result.sort(key=worst_first)
    for rank, row in enumerate(result, 1):
        row["rank"] = rank
    return result


def num_records(rows: list[Row]) -> int:
    """Rows of rejected ranges of bytes are about several."""
    return sum(row.get("num_records", 1) for row in rows)


def one_kind(
    kind: tuple[Any, ...], rows: list[Row], kinds: Mapping[tuple[Any, ...], list[Row]], newest: Any, oldest: Any
) -> dict[str, Any]:
    cluster, table, number, type_name, version, reason = kind
    unknown = reason in ("unknown_record_type", "unknown_value_version")
    times = [row["record_time"] for row in rows if row["record_time"]]
    partitions = {row["offsets_partition"] for row in rows if row["offsets_partition"] is not None}
    lowest = min(partitions, default=None)
    offsets = [
        row["record_offset"] for row in rows if row["offsets_partition"] == lowest and row["record_offset"] is not None
    ]
    alike = sum(num_records(some) for other, some in kinds.items() if other[2:4] == (number, type_name))
    reaches_back = newest is not None and oldest <= newest - WEEK
    return {
        "cluster": cluster,
        "outcome": "decoded" if reason is None else "unknown" if unknown else "malformed",
        "reason": reason,
        "record_type": number,
        "type": type_name,
        "value_version": version,
        "num_records": num_records(rows),
        "share_of_type": num_records(rows) / alike,
        "num_offsets_partitions": len(partitions),
        "first_record_time": min(times, default=None),
        "last_record_time": max(times, default=None),
        "is_new_this_week": min(times) > newest - WEEK if reaches_back and times else None,
        "evidence_partition": lowest,
        "evidence_first_offset": min(offsets, default=None),
        "evidence_last_offset": max(offsets, default=None),
        "table_name": table,
    }


def worst_first(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        ["malformed", "unknown", "decoded"].index(row["outcome"]),
        not row["is_new_this_week"],
        -row["num_records"],
        (row["record_type"] is None, row["record_type"] or 0),
        (row["type"] is None, row["type"] or ""),
        (row["value_version"] is None, row["value_version"] or 0),
        (row["reason"] is None, row["reason"] or ""),
        row["table_name"],
    )
