"""What the history tables say of groups at an instant, read as anybody would read them: rows in, no code of the replay.

replayed = Replayed.of(warehouse)
replayed.state("orders-app", at)     # at: microseconds since 1970, or END
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable

from schemas.tables import SUBJECTS

Row = dict[str, Any]
# After everything: what is still so.
END: Final = math.inf
# By topic, or for streams by role and subtopology: partitions in order.
Owned = dict[Any, list[int]]


def read(warehouse: Path, name: str) -> list[Row]:
    """Times are microseconds."""
    table = DeltaTable(warehouse / name).to_pyarrow_table()
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.int64()))
    rows: list[Row] = table.to_pylist()
    return rows


def holds(row: Row, at: float) -> bool:
    begun = row["from_time"] is None or row["from_time"] <= at
    return begun and (row["is_provisional"] or (row["to_time"] is not None and at < row["to_time"]))


@dataclass(frozen=True)
class Replayed:
    tables: dict[str, list[Row]]

    @classmethod
    def of(cls, warehouse: Path) -> "Replayed":
        return cls({table.name: read(warehouse, table.name) for table in (*SUBJECTS["history"], *SUBJECTS["offsets"])})

    @cached_property
    def _by_group(self) -> dict[tuple[str, str], list[Row]]:
        result = defaultdict(list)
        for name, rows in self.tables.items():
            for row in rows:
                if "group_id" in row:
                    result[name, row["group_id"]].append(row)
        return result

    def rows(self, table: str, group: str) -> list[Row]:
        return self._by_group.get((table, group), [])

    @property
    def groups(self) -> set[str]:
        return {group for table, group in self._by_group if table in ("group_state_intervals", "offset_history")}

    def holding(self, table: str, group: str, at: float) -> Iterator[Row]:
        return (row for row in self.rows(table, group) if holds(row, at))

    @property
    def partitions(self) -> set[int]:
        """Of the offsets topic, as far as any of their records are known."""
        return {row["offsets_partition"] for row in self.tables["history_coverage"]}

    def is_whole(self, offsets_partition: int) -> bool:
        """Whether every record of it is known, from its first one on."""
        return all(
            row["first_offset"] == 0 and row["compacted_records_estimate"] == 0
            for row in self.tables["history_coverage"]
            if row["offsets_partition"] == offsets_partition
        )

    def state(self, group: str, at: float) -> Row | None:
        """None: the group is not there."""
        result = list(self.holding("group_state_intervals", group, at))
        assert len(result) <= 1, f"{group} has two states at {at}: {result}"
        return result[0] if result else None

    def members(self, group: str, at: float) -> dict[str, Row]:
        result = list(self.holding("membership_intervals", group, at))
        assert len({row["member_id"] for row in result}) == len(result), f"one member twice in {group} at {at}"
        return {row["member_id"]: row for row in result}

    def owned(self, group: str, at: float, phases: tuple[str, ...] = ("assigned", "held")) -> dict[str, Owned]:
        """By member, whoever owns nothing left out."""
        result: defaultdict[str, defaultdict[Any, set[int]]] = defaultdict(lambda: defaultdict(set))
        for row in self.holding("ownership_intervals", group, at):
            if row["phase"] in phases:
                place = row["topic"] if row["role"] is None else (row["role"], row["subtopology_id"])
                result[row["member_id"]][place].add(row["partition"])
        return {
            member: {place: sorted(partitions) for place, partitions in places.items()}
            for member, places in result.items()
        }

    def offsets(self, group: str, at: float) -> dict[tuple[str, int], tuple[int, int | None, str]]:
        """Offset, leader epoch and metadata by topic and partition."""
        result = list(self.holding("offset_history", group, at))
        places = [(row["topic"], row["partition"]) for row in result]
        assert len(set(places)) == len(places), f"two offsets of one partition in {group} at {at}"
        return {
            place: (row["committed_offset"], row["leader_epoch"], row["metadata"])
            for place, row in zip(places, result, strict=True)
        }

    def bounds(self, group: str) -> list[int]:
        """Every time at which anything about the group changes."""
        tables = ("group_state_intervals", "membership_intervals", "ownership_intervals", "offset_history")
        rows = (row for table in tables for row in self.rows(table, group))
        return sorted({time for row in rows for time in (row["from_time"], row["to_time"]) if time is not None})

    def rebalances(self, group: str) -> list[Row]:
        """In the order of the log."""
        return sorted(self.rows("rebalances", group), key=lambda row: int(row["assignment_offset"]))

    def assignment(self, group: str, assignment_offset: int) -> list[Row]:
        """Of the members that it has."""
        rows = (row for row in self.rows("generation_members", group) if row["change"] != "left")
        return [row for row in rows if row["assignment_offset"] == assignment_offset]
