"""Groups with records in several offsets partitions, as after the number of these was changed. A coordinator reads only
one of them, and so do the answers."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from jobs.answers.table_reader import Condition, Row, TableReader, equal
from jobs.command_line.values import EPOCH
from jobs.output.failure import say, visible
from schemas.tables import TABLES, Table
from schemas.words.history import AnomalyKind
from schemas.words.records import OFFSETS_TOPIC
from udfs.groups.group_partition import partition_for
from udfs.sentences.counts import counted

STATES = "group_state_intervals"
# Columns that show in which offsets partition a group has its newest records.
TIMES = {STATES: ("from_time", "to_time"), "offset_history": ("from_time", "to_time", "last_commit_time")}
# Limit of lines on standard error; for more groups only their number is printed.
MOST_REPORTED = 3


@dataclass(frozen=True)
class Choice:
    partition: int
    among: tuple[int, ...]
    is_coordinators: bool

    def __str__(self) -> str:
        why = "the group's coordinator reads that one" if self.is_coordinators else "it has the newest record"
        return f"partitions {', '.join(map(str, self.among))}; this answer uses only {self.partition}, since {why}"


@dataclass
class Coordinators:
    reader: TableReader
    cluster: str
    reported_groups: set[str] = field(default_factory=set)

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """By group, for groups in several offsets partitions."""
        kind = equal("kind", str(AnomalyKind.GROUP_IN_WRONG_PARTITION))
        misplaced = self.arrow("replay_anomalies", ["group_id"], kind).column("group_id").unique()
        if not len(misplaced):
            return {}
        states = self.arrow(STATES, ["group_id", "evidence_partition"])
        states = states.filter(pc.is_in(states.column("group_id"), value_set=misplaced))
        among: dict[str, list[int]] = {}
        for row in states.group_by(["group_id", "evidence_partition"]).aggregate([]).to_pylist():
            among.setdefault(row["group_id"], []).append(row["evidence_partition"])
        return {group: self.choice(group, sorted(some)) for group, some in sorted(among.items()) if len(some) > 1}

    @property
    def left_out(self) -> dict[int, frozenset[str]]:
        """By offsets partition, the groups that have records there, but whose coordinator reads another one."""
        groups: dict[int, set[str]] = {}
        for group, choice in self.choices.items():
            for partition in {*choice.among} - {choice.partition}:
                groups.setdefault(partition, set()).add(group)
        return {partition: frozenset(some) for partition, some in groups.items()}

    def choice(self, group: str, among: Sequence[int]) -> Choice:
        own = None if self.num_partitions is None else partition_for(group, self.num_partitions)
        if own is not None and own in among:
            return Choice(own, tuple(among), is_coordinators=True)
        return Choice(self.newest(group), tuple(among), is_coordinators=False)

    @cached_property
    def num_partitions(self) -> int | None:
        """As the newest replay knew it."""
        rules = self.arrow("replayed_partitions", ["rules"]).column("rules").to_pylist()
        # After the JSON may come what the replay took from snapshots.
        decoded = (json.JSONDecoder().raw_decode(each)[0] for each in rules)
        numbers = (each.get("num_offsets_partitions") for each in decoded)
        return next((number for number in numbers if number is not None), None)

    def newest(self, group: str) -> int:
        """Records of the oldest format have no time: they count as the oldest."""
        records = []
        for table, columns in TIMES.items():
            rows = self.arrow(table, ["evidence_last_offset", "evidence_partition", *columns], equal("group_id", group))
            for row in rows.to_pylist():
                time = max((row[name] for name in columns if row[name] is not None), default=EPOCH)
                records.append((time, row["evidence_last_offset"], row["evidence_partition"]))
        return int(max(records)[-1])

    def arrow(self, table: str, columns: Sequence[str], *conditions: Condition) -> pa.Table:
        return self.reader.arrow(table, columns, equal("cluster", self.cluster), *conditions)

    def rows(self, table: str, columns: Sequence[str], *conditions: Condition) -> list[Row]:
        """Without rows from records that a coordinator does not read."""
        place = place_of(TABLES[table])
        if place is None or not self.choices:
            return self.reader.rows(table, columns, *conditions)
        rows = self.reader.rows(table, list(dict.fromkeys([*columns, "group_id", place])), *conditions)
        self.report_groups({row["group_id"] for row in rows})
        kept = (row for row in rows if self.is_read(row["group_id"], row[place]))
        return [{name: row[name] for name in columns} for row in kept]

    def is_read(self, group: str, partition: int) -> bool:
        return group not in self.choices or self.choices[group].partition == partition

    def report_groups(self, groups: Iterable[str]) -> None:
        """Prints each message once."""
        new = sorted(set(groups) & self.choices.keys() - self.reported_groups)
        self.reported_groups.update(new)
        for group in new[:MOST_REPORTED]:
            say(visible(f"group {group}: its records are in {OFFSETS_TOPIC}, {self.choices[group]}"))
        if len(new) > MOST_REPORTED:
            number = len(new) - MOST_REPORTED
            say(
                f"{counted(number, 'more group')} also {'has' if number == 1 else 'have'} records in several partitions"
            )


def place_of(table: Table) -> str | None:
    """The column with the offsets partition from which a row about a group comes."""
    names = {column.name for column in table.columns}
    places = [name for name in ("evidence_partition", "offsets_partition") if name in names]
    return places[0] if places and "group_id" in names else None
