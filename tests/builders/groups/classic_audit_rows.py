"""Few rows of classic groups under the audit, in the replay tests' short words: partitions are written "a0 b3"."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from tests.builders.groups.classic_log import SCHEMA, lists
from tests.builders.groups.classic_log import member as plain_member
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import AuditRow
from udfs.audit.classic_audit import ClassicAudit

TABLE: Final = "classic_group_metadata"
LATER: Final = 2 * 10**18
Row = dict[str, Any]


def member(member_id: str, assigned: str | None = "", owned: str = "", *, topics: str = "ab", **more: Any) -> Row:
    """`topics`: each letter is one. `rack`, `user_data`, `client`: not in the builders of the replay."""
    beside = {name: more.pop(name) for name in ("rack", "user_data", "client") if name in more}
    row = plain_member(member_id, assigned, owned, topics=tuple(topics), **more)
    if row["subscription"] is not None:
        row["subscription"] |= {"rack_id": beside.get("rack"), "user_data": beside.get("user_data")}
    return row | ({"client_id": beside["client"]} if "client" in beside else {})


def sticky_data(owned: str, generation: int | None = None) -> bytes:
    """The sticky assignor's user data; without a generation as before 2.3."""
    result = lists(owned)
    data = struct.pack(">i", len(result))
    for each in result:
        name, partitions = each["topic"].encode(), each["partitions"]
        data += struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
    return data if generation is None else data + struct.pack(">i", generation)


def synced(generation: int) -> bytes:
    """The cooperative assignor's user data."""
    return struct.pack(">i", generation)


def facts(
    counts: Mapping[str, int] | None = None, *, since: int = 0, until: int = LATER, **racks: Sequence[Sequence[str]]
) -> Facts:
    """Topics as snapshots found them, each letter with its number of partitions; the last one is after any record."""
    return Facts(
        topics={
            name: [
                KnownTopic(
                    Topic(name, count, None, tuple(map(tuple, racks[name])) if name in racks else None), since, until
                )
            ]
            for name, count in (counts or {}).items()
        },
        whole_times=(since, until),
    )


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def audited(rows: Sequence[Row], known: Facts | None = None, **others: pa.Table) -> list[AuditRow]:
    return ClassicAudit(known or Facts(), {}).take({TABLE: table(rows), **others})


def only(rows: Sequence[Row], known: Facts | None = None) -> AuditRow:
    """Of the last of the rows."""
    return audited(rows, known)[-1]


def failed(row: AuditRow) -> dict[str, str | None]:
    """Checks that do not hold, or cannot be decided."""
    return {str(each.name): each.detail for each in row.checks if each.is_ok is not True}
