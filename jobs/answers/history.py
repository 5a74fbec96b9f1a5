"""The history of one cluster as of one time: what all commands about the past use."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from jobs.answers.coordinators import Coordinators
from jobs.answers.offsets_partitions import OffsetsPartitions
from jobs.answers.table_reader import Condition, Row, TableReader, equal
from jobs.command_line.values import EPOCH, instant
from jobs.output.failure import Failure, say, visible
from jobs.output.rows import Format, print_rows, time_text, write_lines
from jobs.output.zones import ZONES, with_zone
from jobs.runs.dropped_history import REBUILD, history_dropped_before
from jobs.storage.options import StorageOptions
from jobs.warehouses.any_warehouse import check_has_runs, known_cluster, reading
from schemas.tables import TABLES, Table
from schemas.words.exit_codes import ExitCode
from schemas.words.history import StateEnd
from udfs.sentences.suggestions import unknown

if TYPE_CHECKING:
    pass

# Snapshots have their own times, apart from those of records.
SNAPSHOTS = ("cluster_snapshots", "topic_snapshots")

# For a NULL number of members.
INCOMPLETE = "records of the group are missing from the warehouse"


@dataclass(frozen=True)
class History:
    reader: TableReader
    cluster: str

    @cached_property
    def coordinators(self) -> Coordinators:
        return Coordinators(self.reader, self.cluster)

    @cached_property
    def offsets_partitions(self) -> OffsetsPartitions:
        return OffsetsPartitions(self.coordinators)

    def rows(self, table: str, *conditions: Condition, columns: Sequence[str] | None = None) -> list[Row]:
        names = columns or [column.name for column in TABLES[table].columns]
        return self.coordinators.rows(table, names, equal("cluster", self.cluster), *conditions)

    def reader_rows(self, table: str, columns: Sequence[str]) -> list[Row]:
        """Rows of tables that are not about groups."""
        return self.reader.rows(table, columns, equal("cluster", self.cluster))

    def rows_at(
        self, table: str, at: datetime, *conditions: Condition, columns: Sequence[str] | None = None
    ) -> list[Row]:
        """The intervals that contain the time. `columns`: with `to_time` and `is_provisional`; None: all."""
        rows = self.rows(
            table,
            Condition("from_time", "<=", at, or_null=True),
            Condition("to_time", ">", at, or_null=True),
            *conditions,
            columns=columns,
        )
        # Records of the oldest format have no time, so an interval without an end time may still have ended.
        return [row for row in rows if row["to_time"] is not None or row["is_provisional"]]

    def distinct(self, table: str, column: str, *conditions: Condition) -> set[Any]:
        rows = self.reader.arrow(table, [column], equal("cluster", self.cluster), *conditions)
        return set(pc.unique(rows.column(0)).to_pylist())

    def newest_time(self) -> datetime | None:
        places = [("history_coverage", "to_time"), *((name, "captured_time") for name in SNAPSHOTS)]
        columns = (self.reader.arrow(table, [name], equal("cluster", self.cluster)) for table, name in places)
        times = [pc.max(column.column(0)).as_py() for column in columns]
        return max((each for each in times if each is not None), default=None)

    def now(self) -> datetime:
        """The end of what the warehouse knows, so that an old archive answers as of its own end: the as-of time of the
        newest run of `lag`, which for a live cluster is the current time, or a later record or snapshot."""
        runs = self.reader.warehouse.run_rows(["cluster", "run_id", "as_of_time"], "lag")
        as_of = {row["run_id"]: row["as_of_time"] for row in runs if row["cluster"] == self.cluster}
        ends = [self.newest_time(), as_of[max(as_of)] if as_of else None]
        return max((each for each in ends if each is not None), default=EPOCH)

    def time(self, text: str, flag: str) -> datetime:
        """Of a time as people type it."""
        return EPOCH + timedelta(milliseconds=instant(text, (self.now() - EPOCH) // timedelta(milliseconds=1), flag))

    def instant(self, text: str | None, flag: str = "--at") -> datetime:
        """A time that the history covers."""
        newest = self.newest_time()
        if newest is None:
            line = f"the warehouse has no history of cluster {self.cluster} yet; run `groupscope replay`"
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
        if text is None:
            return newest
        at = self.time(text, flag)
        # Whoever gives seconds sees it, and which time a short form is.
        shown = f"{flag} {text}"
        if text.isdigit():
            shown += f" (milliseconds: {time_text(at)})"
        elif "-" not in text[1:]:
            shown += f" ({time_text(at)})"
        if at > newest:
            say(f"{shown}: data ends at {time_text(newest)}; showing the last known state")
        self.check_covered(at, shown)
        return at

    def check_covered(self, at: datetime, line: str) -> None:
        first = min((row["from_time"] for row in self.coverage() if row["from_time"] is not None), default=None)
        if first is not None and at < first:
            raise Failure(ExitCode.USAGE, f"{line}: data begins at {time_text(first)}; give a later time")
        dropped = history_dropped_before(self.reader.warehouse, self.cluster)
        if dropped is not None and at < dropped:
            what = f"`groupscope maintain` dropped history before {time_text(dropped)}"
            raise Failure(ExitCode.USAGE, f"{line}: {what}; give a later time, or run {REBUILD}")

    def coverage(self, partition: int | None = None) -> list[Row]:
        where = [] if partition is None else [equal("offsets_partition", partition)]
        return self.rows("history_coverage", *where)


def open_history(arguments: argparse.Namespace, options: StorageOptions | None = None) -> History:
    warehouse = reading(arguments.warehouse, options)
    versions = warehouse.versions()
    check_has_runs(warehouse)
    cluster = known_cluster(warehouse, arguments.cluster)
    if "group_state_intervals" not in versions:
        line = f"{warehouse.address}: has no history yet; run `groupscope replay`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    return History(TableReader(warehouse, versions), cluster)


def state_at(history: History, group: str, at: datetime) -> Row:
    """The group's row of group_state_intervals, or a failure that says why there is none."""
    states = history.rows_at("group_state_intervals", at, equal("group_id", group))
    if states:
        return states[-1]
    why = why_absent(history, states_of(history, group), at)
    raise Failure(ExitCode.USAGE, visible(f"group {group} at {time_text(at)}: {why}"))


def states_of(history: History, group: str) -> list[Row]:
    """All rows, for a group that existed at some time."""
    known = history.rows("group_state_intervals", equal("group_id", group))
    if not known:
        if (missing := history.offsets_partitions.missing_of(group)) is not None:
            raise Failure(ExitCode.USAGE, visible(f"group {group}: {missing}"))
        names = sorted(history.distinct("group_state_intervals", "group_id"))
        raise Failure(ExitCode.USAGE, visible(unknown("group", group, names, lister(history, len(names)))))
    return known


def group_records(history: History, group: Row, until: Condition, table: str, columns: Sequence[str]) -> list[Row]:
    """Decoded records of one group, up to an offset or a time, in log order. `group` is a row with the group and its
    evidence."""
    rows = history.rows(
        table,
        equal("offsets_partition", group["evidence_partition"]),
        equal("group_id", group["group_id"]),
        until,
        columns=["record_offset", *columns],
    )
    return sorted(rows, key=lambda row: int(row["record_offset"]))


def lister(history: History, number: int) -> str:
    """The command that lists groups, and how many of all: it leaves out those that are gone."""
    newest = history.newest_time()
    rows = [] if newest is None else history.rows_at("group_state_intervals", newest)
    there = len({row["group_id"] for row in rows})
    return "groupscope groups" + ("" if there == number else f" lists the {there} at the end of the data")


def check_seen(history: History, group: str, at: datetime) -> None:
    """Checks that the group's log was read for that time, whether the group existed or not."""
    last = last_before(states_of(history, group), at)
    if last is not None and last["ended_by"] == StateEnd.COVERAGE_HOLE:
        state_at(history, group, at)


def has_unknown_members(history: History, group: str, at: datetime) -> bool:
    """Whether some members of the group are unknown at that time."""
    states = history.rows_at("group_state_intervals", at, equal("group_id", group))
    return bool(states) and states[-1]["num_members"] is None


def last_before(known: list[Row], at: datetime) -> Row | None:
    before = [row for row in known if row["to_time"] is not None and row["to_time"] <= at]
    return max(before, key=lambda row: (row["to_time"], row["from_record_offset"]), default=None)


def why_absent(history: History, known: list[Row], at: datetime) -> str:
    """For a group with intervals, none of which contains the time."""
    last = last_before(known, at)
    after = min(
        (row["from_time"] for row in known if row["from_time"] is not None and row["from_time"] > at), default=None
    )
    later = "" if after is None else f"; the group is known{' again' if last else ''} from {time_text(after)}"
    if last is not None:
        if last["ended_by"] == StateEnd.COVERAGE_HOLE:
            return f"records after {time_text(last['to_time'])} are missing from the warehouse{later}"
        return f"it did not exist any more; it was deleted at {time_text(last['to_time'])}{later}"
    stretches = history.coverage(known[0]["evidence_partition"])
    begins = min((row["from_time"] for row in stretches if row["from_time"] is not None), default=None)
    if begins is not None and at < begins:
        return f"before the history of its offsets partition, which begins at {time_text(begins)}"
    return f"it did not exist yet{later}"


def print_time(arguments: argparse.Namespace, at: datetime, label_width: int = 0) -> None:
    """The first line of an answer: the time that it is about, in full, if one was asked for or there is a zone."""
    if arguments.at is not None or ZONES.printed is not UTC:
        print_first_line("At", time_text(at), arguments.format, label_width)


def print_first_line(label: str, text: str, format: str, label_width: int = 0) -> None:
    """The only one that names the zone. Beside CSV and JSON, which programs read, it is on standard error."""
    line = with_zone(text)
    if format == Format.TABLE:
        write_lines([f"{label:{label_width}} {line}"])
    else:
        say(f"{label.lower()} {line}")


def say_as_kafka(row: Row) -> None:
    """The messages of kafka-consumer-groups. It always knows all members."""
    group, state = row["group_id"], row["state"]
    if row["num_members"] is None:
        what = "state and members are unknown" if state is None else "there may be more members"
        say(visible(f"Consumer group '{group}': {what}: {INCOMPLETE}."))
    if state == "Empty":
        say(visible(f"Consumer group '{group}' has no active members."))
    elif state in ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"):
        say(visible(f"Warning: Consumer group '{group}' is rebalancing."))


def print_answer(names: Sequence[str], rows: Sequence[Sequence[object]], format: str, *, is_wide: bool = False) -> None:
    """As in Kafka's tools, a table has a hyphen for a missing value."""
    print_rows(names, rows, format, missing="-", is_wide=is_wide)


def column_names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def cells_of(rows: Sequence[Mapping[str, object]], names: Sequence[str]) -> list[list[object]]:
    return [[row[name] for name in names] for row in rows]
