"""A PartitionHistory from a few plain rows: times in seconds, by default of group g, topic t, partition 0."""

from typing import Any

import pyarrow as pa

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.lag.doubtful_times import Doubt, DoubtfulTimes
from udfs.lag.partition_history import COMMITS, READ, PartitionHistory
from udfs.lag.watermarks import COLUMNS, Watermarks

SECOND = 1_000_000
Row = dict[str, Any]

KEY: Row = {"group_id": "g", "topic": "t", "topic_id": None, "partition": 0}
DEFAULTS: dict[str, Row] = {
    "offset_history": {**KEY, "is_provisional": True, "is_from_exact": True, "is_to_exact": True, "num_commits": 1,
                       "via": "plain", "confidence": "certain"},
    "group_state_intervals": {"group_id": "g", "group_type": "classic", "state": "Stable", "num_members": 1,
                              "protocol_type": "consumer", "generation_or_epoch": 1, "from_time": 0,
                              "from_record_offset": 0},
    "ownership_intervals": {**KEY, "group_type": "classic", "member_id": "m", "phase": "assigned",
                                "from_record_offset": 0},
    "membership_intervals": {"group_id": "g", "member_id": "m", "client_id": "p1",
    "client_host": "/10.0.0.7",
                             "from_time": 0, "from_record_offset": 0},
    "generation_members": {"group_id": "g", "group_type": "classic", "assignment_offset": 0, "member_id": "m",
                           "change": "kept", "subscribed_topics": ["t"]},
    "transactions": {"groups": ["g"]},
    "history_coverage": {"offsets_partition": 7, "last_offset": 999},
    "offset_commits": {**KEY, "is_tombstone": False, "is_transactional": False, "metadata": ""},
    "topic_snapshots": {"topic": "t", "topic_id": None, "partition": 0, "log_start_offset": 0},
}  # fmt: skip


def history(
    as_of: float,
    *,
    commits: list[Row] = [],  # noqa: B006
    ends: list[Row] = [],  # noqa: B006
    doubts: tuple[Doubt, ...] = (),
    **tables: list[Row],
) -> PartitionHistory:
    return PartitionHistory(
        7,
        {name: rows(name, tables.get(name, []), names) for name, names in READ.items()},
        rows("offset_commits", commits, COMMITS),
        Watermarks.of(rows("topic_snapshots", ends, COLUMNS)),
        int(as_of * SECOND),
        doubtful=DoubtfulTimes(doubts),
    )


def rows(name: str, given: list[Row], names: tuple[str, ...]) -> pa.Table:
    schema = table_schema(TABLES[name])
    full = [DEFAULTS[name] | row for row in given]
    unknown = {field for row in full for field in row} - set(schema.names)
    assert not unknown, unknown
    return pa.table({
        field: pa.array([in_micros(field, row.get(field)) for row in full], schema.field(field).type)
        for field in names
    })  # fmt: skip


def in_micros(field: str, value: Any) -> Any:
    return None if value is None else round(value * SECOND) if field.endswith("_time") else value


def committed(*steps: tuple[float, int], first_offset: int = 100, **about: Any) -> dict[str, list[Row]]:
    """Commits at these times of these offsets, as raw commits and as rows of offset_history."""
    commits = [
        {"record_offset": first_offset + place, "record_time": time, "commit_time": time, "committed_offset": offset}
        | about
        for place, (time, offset) in enumerate(steps)
    ]
    held: list[Row] = []
    for commit in commits:
        if held and held[-1]["committed_offset"] == commit["committed_offset"]:
            held[-1] |= {"last_commit_time": commit["commit_time"], "num_commits": held[-1]["num_commits"] + 1}
            continue
        if held:
            held[-1] |= {"to_time": commit["record_time"], "to_record_offset": commit["record_offset"],
            "ended_by": "commit",
                         "is_provisional": False}  # fmt: skip
        before = held[-1]["committed_offset"] if held else None
        held.append({
            **{name: commit[name] for name in KEY if name in commit}, "committed_offset": commit["committed_offset"],
            "from_time": commit["record_time"], "from_record_offset": commit["record_offset"], "num_commits": 1,
            "commit_time": commit["commit_time"], "last_commit_time": commit["commit_time"],
            "previous_offset": before, "delta": None if before is None else commit["committed_offset"] - before,
        })  # fmt: skip
    return {"commits": commits, "offset_history": held}


def ends(*points: tuple[float, int], **about: Any) -> list[Row]:
    return [{"captured_time": time, "log_end_offset": end} | about for time, end in points]
