"""Logs of one group, written record by record, and the history that the fold makes of them.

    log = Log()
    log.write(0, about("a"), epoch(2), target("a", 0, 1), completed(2), owns("a", 2, 0, 1))
    history(log).rows("rebalances")

Partitions are of topic `orders` unless named otherwise; times are milliseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schemas.tables.history import TABLES
from tests.builders.groups.named_rows import named_rows
from udfs.assignors.questions.specs import Topic
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable, fields_of
from udfs.groups.readers.modern_values import (
    About,
    Current,
    GroupEpoch,
    Pattern,
    Target,
    TargetEpoch,
    Topics,
    Topology,
)
from udfs.groups.readers.recorded_lists import Partitions, Tasks
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Context
from udfs.log.gaps import Gaps
from udfs.topics.partition_codes import PARTITION_MASK, SHIFT, TopicCodes

GROUP = "g"
IDS = {"orders": "id-of-orders", "payments": "id-of-payments"}
CODES = TopicCodes({topic_id: name for name, topic_id in IDS.items()})
ORDERS, PAYMENTS = (CODES.of_id(IDS[name]) << SHIFT for name in ("orders", "payments"))
NAMED = {name: CODES.of_name(name) << SHIFT for name in ("orders", "payments", "repartition")}

# Type, member and value.
Written = tuple[int, str | None, Any]


class Log:
    def __init__(self, first_offset: int = 0) -> None:
        self.records: list[Record] = []
        self.offset = first_offset

    def write(self, time_ms: int | None, *written: Written) -> None:
        """One operation; answers nothing, `records` has it."""
        batch = self.offset
        for record_type, member, value in written:
            time = None if time_ms is None else time_ms * 1000
            self.records.append(Record(self.offset, time, batch, 0, record_type, member, value))
            self.offset += 1

    def skip(self, count: int) -> None:
        self.offset += count


def about(
    member: str,
    *,
    instance: str | None = None,
    topics: Sequence[str] | None = ("orders",),
    record_type: int = 5,
    **more: Any,
) -> Written:
    reported: dict[str, Any] = {
        "rebalance_timeout_ms": 300_000,
        "topics": None if topics is None else tuple(topics),
        **more,
    }
    return record_type, member, About(instance, None, f"client-{member}", "/127.0.0.1", **reported)


def epoch(number: int, metadata_hash: int | None = 7, record_type: int = 3, topology: int | None = None) -> Written:
    return record_type, None, GroupEpoch(number, metadata_hash, topology)


def completed(number: int, record_type: int = 6) -> Written:
    return record_type, None, TargetEpoch(number)


def target(member: str, *partitions: int, topic: int = ORDERS, record_type: int = 7) -> Written:
    return record_type, member, Target({None: listed(partitions, topic)})


def owns(
    member: str, at_epoch: int, *partitions: int, revoking: Iterable[int] = (), state: str | None = None,
    previous: int | None = None, topic: int = ORDERS, record_type: int = 8,
) -> Written:  # fmt: skip
    pending = listed(revoking, topic)
    reported = state or ("UNREVOKED_PARTITIONS" if len(pending) else "STABLE")
    before = at_epoch if previous is None else previous
    return record_type, member, Current(at_epoch, before, reported, {None: listed(partitions, topic)}, {None: pending})


def waits(member: str, at_epoch: int, *partitions: int, previous: int | None = None) -> Written:
    return owns(member, at_epoch, *partitions, state="UNRELEASED_PARTITIONS", previous=previous)


def pattern(text: str, *topics: str) -> Written:
    return 16, text, Pattern(topics)


def topics_known(*topics: str, record_type: int = 15) -> Written:
    return record_type, None, Topics(tuple(Topic(name, 0) for name in topics))


def topics_counted(record_type: int, **counts: int) -> Written:
    """Of share groups: so many partitions that can be assigned, from 0 on."""
    topics = tuple(Topic(name, count) for name, count in counts.items())
    assignable = tuple(tuple(range(count)) for count in counts.values())
    return record_type, None, Topics(topics, assignable if record_type == 15 else None)


def topology(number: int = 0, **sources: Sequence[str]) -> Written:
    return 23, None, Topology(number, {name.removeprefix("s"): tuple(topics) for name, topics in sources.items()})


def tasks(record_type: int, member: str, roles: Mapping[str, Iterable[tuple[str, int]]], *current: Any) -> Written:
    """Type 21, or with epoch, previous epoch and state type 22."""
    by_role = {role: Tasks(roles.get(role, ())) for role in ("active", "standby", "warmup")}
    if record_type == 21:
        return 21, member, Target(by_role)
    at_epoch, previous, state = current
    return 22, member, Current(at_epoch, previous, state, by_role, dict.fromkeys(by_role, Tasks()))


def dead(record_type: int, member: str | None = None) -> Written:
    return record_type, member, None


def leaves(member: str, *, types: tuple[int, int, int] = (8, 7, 5)) -> list[Written]:
    return [dead(each, member) for each in types]


def tps(partitions: Iterable[int], topic: int = ORDERS) -> frozenset[int]:
    return listed(partitions, topic).tps


def listed(partitions: Iterable[int], topic: int = ORDERS) -> Partitions:
    return Partitions.of(topic | partition for partition in partitions)


class History:
    def __init__(self, closed: RowsByTable, open_rows: RowsByTable, states: Mapping[str, str]) -> None:
        self.closed, self.open, self.states = closed, open_rows, states

    def rows(self, name: str, **only: Any) -> list[dict[str, Any]]:
        """In the order in which they began; times in milliseconds, partitions as (topic, partition)."""
        (table,) = (table for table in TABLES if table.name == name)
        fields = fields_of(table)
        reported = (*named_rows(self.closed, name), *named_rows(self.open, name))
        rows = [plain(row) for block in reported for row in taken_apart(block)]
        kept = [row for row in rows if all(row[field] == value for field, value in only.items())]
        first = next(field for field in ("from_offset", "move_offset", "assignment_offset", "record_offset")
                     if field in fields)  # fmt: skip
        return sorted(kept, key=lambda row: (int(row[first]), row.get("tp", ())))

    def select(self, name: str, *fields: str, **only: Any) -> list[Any]:
        """These fields of each row, one field as itself."""
        rows = self.rows(name, **only)
        return [row[fields[0]] if len(fields) == 1 else tuple(row[field] for field in fields) for row in rows]

    def all(self) -> dict[str, list[str]]:
        """Every row, in an order of its own."""
        return {table.name: sorted(map(repr, self.rows(table.name))) for table in TABLES}


def taken_apart(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row may stand for many partitions."""
    tp = row.get("tp")
    return [row] if tp is None or isinstance(tp, int) else [{**row, "tp": each} for each in tp]


def plain(row: dict[str, Any]) -> dict[str, Any]:
    for name, value in row.items():
        if name.endswith("_time") and value is not None:
            row[name] = value // 1000
        elif name == "tp":
            row[name] = (CODES.name(value), value & PARTITION_MASK)
        elif isinstance(value, str):
            # A word of a schema and the same word out of a state are one.
            row[name] = str(value)
        elif isinstance(value, frozenset):
            row[name] = sorted(value & PARTITION_MASK if isinstance(value, int) else value for value in value)
    return row


def history(
    log: Log | list[Record], *, gaps: Gaps | None = None, cut: int | None = None, hole: int | None = None,
    first_epoch: int = 1,
) -> History:  # fmt: skip
    """With a cut: in two runs, of so many records in the first. With a hole: the log behind so many was not seen."""
    records = log.records if isinstance(log, Log) else log
    closed = RowsByTable()
    holes = () if hole is None else (records[hole - 1].offset,)
    context = Context(CODES, gaps or Gaps(), holes, closed, first_epoch)
    pieces = [records] if cut is None else [records[:cut], records[cut:]]
    states: Mapping[str, str] = {}
    open_rows = RowsByTable()
    for piece in pieces:
        fold = Fold(context, states)
        fold.take((GROUP, record) for record in piece[:hole])
        if hole is not None:
            fold.hole(piece[hole - 1].offset, None)
            fold.take((GROUP, record) for record in piece[hole:])
        # What was open is replaced by the newer run, if it met the group at all.
        result = RowsByTable()
        states = {**states, **fold.finish(result)}
        open_rows = result if piece else open_rows
    return History(closed, open_rows, states)
