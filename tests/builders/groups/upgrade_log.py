"""Logs of groups as decoded tables hold them, and their upgrades.

    log = Log()
    log.write(0, value(1, [member("a", "t0")]))
    upgrades_of(log)["g", "classic_to_consumer"].phase

Times are milliseconds. Every log is also taken in two runs, cut after each of its operations, and must give the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from jobs.replaying.log.partition import COLUMNS
from schemas.tables import SUBJECTS
from tests.builders.groups import classic_log
from tests.builders.groups.classic_log import START, at, member
from tests.builders.groups.stored_states import again
from udfs.arrays.arrow_schema import table_schema
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades import Upgrade, Upgrades

SCHEMAS = {table.name: table_schema(table) for table in SUBJECTS["decoded"] if table.name in COLUMNS}
CLASSIC, EPOCHS, MEMBERS = "classic_group_metadata", "group_metadata", "group_member_metadata"
Row = dict[str, Any]
Written = tuple[str, Row]
UpgradesByGroup = dict[tuple[str, str], Upgrade]


class Log:
    def __init__(self) -> None:
        self.operations: list[list[tuple[str, Row]]] = []
        self.offset = 0

    def write(self, time_ms: int | None, *written: Written) -> None:
        """One operation."""
        batch, rows = self.offset, []
        for table, row in written:
            reported = {"record_offset": self.offset, "record_time": at(time_ms), "batch_first_offset": batch}
            rows.append((table, {"cluster": "c", "offsets_partition": 0, "group_id": "g", **row, **reported}))
            self.offset += 1
        self.operations.append(rows)


def value(
    generation: int, members: Sequence[Row], protocol: str = "range", protocol_type: str = "consumer", group: str = "g"
) -> Written:
    made = classic_log.value(0, 0, generation, members, protocol=protocol, protocol_type=protocol_type, group=group)
    return CLASSIC, made


def gone(group: str = "g") -> Written:
    return CLASSIC, classic_log.tombstone(0, 0, group=group)


def epoch(number: int | None, group_type: str = "consumer") -> Written:
    """None: the group's deletion."""
    return EPOCHS, {"group_type": group_type, "group_epoch": number, "is_tombstone": number is None}


def native(member_id: str, group_type: str = "consumer", **more: Any) -> Written:
    reported = {"group_type": group_type, "member_id": member_id, "client_id": f"client-{member_id}"}
    return MEMBERS, {**reported, "client_host": "/10.0.0.1", "is_tombstone": False, **more}


def classic(member_id: str, *versions: int, **more: Any) -> Written:
    """A member that still speaks the classic protocol; versions of the subscriptions that it offers."""
    offered = [{"name": "range", "metadata": version.to_bytes(2, "big") + bytes(8)} for version in versions or (3,)]
    reported = {"session_timeout_ms": 45_000, "supported_protocols": offered}
    return native(member_id, classic_member=reported, **more)


def left(member_id: str) -> Written:
    return MEMBERS, {"group_type": "consumer", "member_id": member_id, "is_tombstone": True}


def window(operations: Iterable[list[tuple[str, Row]]]) -> dict[str, pa.Table]:
    rows: dict[str, list[Row]] = {}
    for operation in operations:
        for table, row in operation:
            rows.setdefault(table, []).append(row)
    return {name: pa.Table.from_pylist(of, SCHEMAS[name]).select(COLUMNS[name]) for name, of in rows.items()}


def upgrades_of(log: Log, facts: Facts | None = None) -> UpgradesByGroup:
    """By group and migration."""
    whole, _ = run(log.operations, {}, facts)
    for cut in range(1, len(log.operations)):
        first, states = run(log.operations[:cut], {}, facts)
        second, more = run(log.operations[cut:], again("upgrades", states), facts)
        kept = {key: row for key, row in first.items() if key[0] not in more}
        assert kept | second == whole, f"cut behind operation {cut}"
    return whole


def run(
    operations: Sequence[list[tuple[str, Row]]], states: Mapping[str, Any], facts: Facts | None
) -> tuple[UpgradesByGroup, dict[str, Any]]:
    fold = Upgrades(facts or Facts(), states)
    fold.take(window(operations))
    return {(row.group_id, row.migration): row for row in fold.rows()}, fold.states()


def ids(members: Iterable[Any]) -> set[str]:
    return {member.member_id for member in members}


COOPERATIVE, TO_CONSUMER, TO_CLASSIC = (
    ("g", migration) for migration in ("eager_to_cooperative", "classic_to_consumer", "consumer_to_classic")
)
HOUR, DAY = 3_600_000, 24 * 3_600_000
STICKY = "cooperative-sticky"


def micros(time_ms: int) -> int:
    """As `Log.write` counts."""
    return round(START.timestamp() * 1_000_000) + time_ms * 1000


def turning() -> Log:
    """Two members of range; one of them starts anew and turns the group."""
    log = Log()
    log.write(0, value(1, [member("old", "t0 t1"), member("gone", "t2 t3")]))
    log.write(1000, value(2, [member("old", "t0 t1 t2 t3", generation=1)]))
    log.write(2000, value(3, [member("old", "t0 t1", generation=2), member("new", "t2 t3")], STICKY))
    return log
