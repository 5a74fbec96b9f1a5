"""An independent merge of copies: one record at a time, over dictionaries, sharing nothing with `udfs`.

Rows are (table, row). All rows of one offset and leader epoch are one record; where some of them are decoded the first
of these stands for it, else the first rejected one. Rows of the warehouse come before those of copies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Named = tuple[str, Row]
Key = tuple[int, int | None]

REJECTED = "rejected_records"
# The record itself, as far as a row of rejected_records has it; why it was rejected changes from release to release.
OF_REJECTED = ("record_time", "is_control", "is_tombstone", "record_bytes", "key_bytes", "value_bytes")
PRODUCERS = ("is_transactional", "producer_id", "producer_epoch")


class Differs(Exception):
    """`differences` are all offsets, epochs and columns (None: the table) in which copies differ."""

    def __init__(self, differences: set[tuple[Key, str | None]]) -> None:
        super().__init__(str(differences))
        self.differences = differences


@dataclass
class SlowMerged:
    new: dict[str, list[Row]] = field(default_factory=dict)
    num_known: int = 0
    retracted: set[Key] = field(default_factory=set)
    conflicts: list[int] = field(default_factory=list)


def slow_merge(known: Iterable[Named], copies: Sequence[Iterable[Named]]) -> SlowMerged:
    records: dict[Key, list[tuple[int, str, Row]]] = {}
    for source, rows in enumerate([known, *copies]):
        for name, row in rows:
            records.setdefault((row["record_offset"], row["partition_leader_epoch"]), []).append((source, name, row))
    merged, differences = SlowMerged(), set()
    epochs: dict[int, list[tuple[int, bool]]] = {}
    for key, result in sorted(records.items(), key=lambda item: (item[0][0], -1 if item[0][1] is None else item[0][1])):
        decoded = [each for each in result if each[1] != REJECTED]
        winner = (decoded or result)[0]
        differences |= {(key, column) for each in result for column in different(winner, each)}
        if winner[0]:
            merged.new.setdefault(winner[1], []).append(winner[2])
        merged.num_known += sum(1 for each in result if each[0]) - bool(winner[0])
        if decoded and any(source == 0 and name == REJECTED for source, name, _ in result):
            merged.retracted.add(key)
        if key[1] is not None:
            epochs.setdefault(key[0], []).append((key[1], bool(winner[0])))
    if differences:
        raise Differs(differences)
    merged.conflicts = [
        offset for offset, kept in sorted(epochs.items()) if len(kept) > 1 and any(is_new for _, is_new in kept)
    ]
    return merged


def different(one: tuple[int, str, Row], other: tuple[int, str, Row]) -> list[str | None]:
    (_, name, row), (_, other_name, other_row) = one, other
    if (name == REJECTED) != (other_name == REJECTED):
        return []
    if name != other_name:
        return [None]
    columns = (
        OF_REJECTED if name == REJECTED else [each for each in row if each not in ("run_id", "batch_first_offset")]
    )
    columns = [each for each in columns if each not in PRODUCERS]
    if row["is_transactional"] is not None and other_row["is_transactional"] is not None:
        columns += PRODUCERS
    return [column for column in columns if row[column] != other_row[column]]
