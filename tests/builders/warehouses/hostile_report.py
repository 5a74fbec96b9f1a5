"""A warehouse in which every text that somebody may choose is a hostile name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.tables import TABLES
from tests.builders.warehouses.for_reports import FINDING, LATER, judged, state
from tests.make.tables import NOW, Rows

HISTORY = ("membership_intervals", "ownership_intervals", "rebalances", "partition_moves", "generation_members")
CHOSEN = (
    "group_id", "member_id", "client_id", "client_host", "topic", "trigger_detail", "from_member_id", "to_member_id",
    "group_instance_id", "unread_basis",
)  # fmt: skip


def hostile_warehouse(root: Path, names: Sequence[str], more: Mapping[str, Rows] | None = None) -> None:
    """With a finding and a history for each name. `more`: rows of other tables."""
    findings = [
        FINDING
        | {"rank": rank, "group_id": name, "topic": name, "message": f"said {name}", "query": f"SELECT '{name}'"}
        for rank, name in enumerate(names, 1)
    ]
    rows: dict[str, Rows] = {"findings": findings, "group_state_intervals": [state(name) for name in names]}
    judged(root, rows | dict(more or {}) | {table: [hostile(name, table) for name in names] for table in HISTORY})


def hostile(name: str, table: str) -> dict[str, Any]:
    row = {
        **dict.fromkeys(CHOSEN, name), "from_time": NOW, "start_time": NOW, "end_time": LATER, "move_time": LATER,
        "members_joined": [name], "members_departed": [name], "previous_assigned": [],
        "assigned": [{"topic": name, "topic_id": None, "partitions": [0]}], "trigger": "member_joined",
        "outcome": "completed", "group_type": "classic", "kind": "moved", "phase": "assigned", "change": "joined",
        "unread_low_ms": 5, "unread_high_ms": 9_000, "unread_partition_high_ms": 9_000, "num_moved": 1,
        "num_partitions": 1,
    }  # fmt: skip
    return {column.name: row[column.name] for column in TABLES[table].columns if column.name in row}
