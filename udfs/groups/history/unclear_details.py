"""Details of rebalances whose members either left or timed out. Only commits show which, and they are read after the
groups' own records."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from udfs.groups.history.change_details import Change, detail, from_plain, timed_out

# For members that left or timed out, by id and record: whether commits show a timeout.
Silent = Mapping[tuple[str, int], bool]


class UnclearDetail(NamedTuple):
    """The inputs of a text in `rebalances.trigger_detail`."""

    group_id: str
    assignment_offset: int
    trigger: str
    changes: Sequence[Change]


SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string()),
        pa.field("assignment_offset", pa.int64()),
        pa.field("trigger", pa.string()),
        # In the form for JSON.
        pa.field("changes", pa.string()),
    ]
)


NONE_UNCLEAR = SCHEMA.empty_table()


def is_unclear(changes: Iterable[Change]) -> bool:
    return any(each.gone is not None for each in changes)


def unclear_details_table(details: Sequence[UnclearDetail]) -> pa.Table:
    if not details:
        return NONE_UNCLEAR
    rows = [each._replace(changes=json.dumps(each.changes))._asdict() for each in details]  # type: ignore[arg-type]
    return pa.Table.from_pylist(rows, SCHEMA)


def settled_details(unclear: pa.Table, silent: Mapping[str, Silent]) -> dict[tuple[str, int], str | None]:
    """By group and assignment: details in which a member timed out. `silent` is by group."""
    details: dict[tuple[str, int], str | None] = {}
    groups = {group_id for group_id, of in silent.items() if any(of.values())}
    for row in unclear.to_pylist():
        group_id = row["group_id"]
        if group_id in groups:
            changes = [settle_detail(from_plain(each), silent[group_id]) for each in json.loads(row["changes"])]
            details[group_id, row["assignment_offset"]] = detail(row["trigger"], changes)
    return details


def settle_detail(change: Change, silent: Silent) -> Change:
    """The detail with what commits show."""
    if change.gone is None:
        return change
    return timed_out(change) if silent.get(change.gone, False) else change._replace(gone=None)
