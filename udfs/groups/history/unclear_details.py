"""Details of rebalances whose members either left or timed out. Commits may show which, and they are read after the
groups' own records."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from udfs.groups.history.change_details import DEPARTED, Change, detail, from_plain

# For members that left or timed out, by id and record: which of the two it was, where times show it.
HowLeft = Mapping[tuple[str, int], str]


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


def settled_details(unclear: pa.Table, left: Mapping[str, HowLeft]) -> dict[tuple[str, int], str | None]:
    """By group and assignment: details that say more now. `left` is by group."""
    details: dict[tuple[str, int], str | None] = {}
    for row in unclear.to_pylist():
        group_id = row["group_id"]
        if group_id in left:
            changes = [settle_detail(from_plain(each), left[group_id]) for each in json.loads(row["changes"])]
            details[group_id, row["assignment_offset"]] = detail(row["trigger"], changes)
    return details


def settle_detail(change: Change, left: HowLeft) -> Change:
    """The detail with what times show."""
    if change.gone is None:
        return change
    kind = left.get(change.gone)
    return change._replace(gone=None) if kind is None else change._replace(text=DEPARTED[kind], gone=None)
