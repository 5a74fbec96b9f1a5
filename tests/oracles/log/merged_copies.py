"""An independent merge of copies: one record at a time, over dictionaries, sharing nothing with `udfs`.

Rows are (table, row). All rows of one offset and leader epoch are one record; where some of them are decoded the first
of these is its winner, else the first rejected one. Rows of the warehouse come before those of copies. Rows without an
epoch are also of the record with the highest epoch whose winner has all that theirs has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Named = tuple[str, Row]
# With the number of its source; 0 is the warehouse.
Told = tuple[int, str, Row]
Key = tuple[int, int | None]

REJECTED = "rejected_records"
# The record itself, as far as a row of rejected_records has it; why it was rejected changes from release to release.
OF_REJECTED = ("record_time", "is_control", "is_tombstone", "record_bytes", "key_bytes", "value_bytes")
OF_BOTH = ("record_time", "is_tombstone", "record_bytes")
OF_THE_COPY = ("run_id", "batch_first_offset", "batch_bytes", "partition_leader_epoch")
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
    # Offsets of decoded rows of the warehouse that lack an epoch and go; rows that come for rows of their kind.
    replaced: set[int] = field(default_factory=set)
    again: list[Named] = field(default_factory=list)
    conflicts: list[int] = field(default_factory=list)


def slow_merge(known: Iterable[Named], copies: Sequence[Iterable[Named]]) -> SlowMerged:
    by_offset: dict[int, dict[int | None, list[Told]]] = {}
    for source, rows in enumerate([known, *copies]):
        for name, row in rows:
            of_epochs = by_offset.setdefault(row["record_offset"], {})
            of_epochs.setdefault(row["partition_leader_epoch"], []).append((source, name, row))
    merged, differences = SlowMerged(), set()
    for offset, of_epochs in sorted(by_offset.items()):
        for epoch, told in of_epochs.items():
            winner = winner_of(told)
            differences |= {((offset, epoch), column) for each in told for column in different(winner, each)}
        records = with_epochs(of_epochs)
        for told in records.values():
            add(merged, winner_of(told), told)
        kept = [winner_of(told)[0] for epoch, told in records.items() if epoch is not None]
        if len(kept) > 1 and any(kept):
            merged.conflicts.append(offset)
    if differences:
        raise Differs(differences)
    return merged


def with_epochs(of_epochs: dict[int | None, list[Told]]) -> dict[int | None, list[Told]]:
    """Rows without an epoch come last of their record."""
    records = {epoch: told for epoch, told in of_epochs.items() if epoch is not None}
    if unknown := of_epochs.get(None):
        winner = winner_of(unknown)
        for epoch in sorted(epoch for epoch in records if epoch is not None)[::-1]:
            if has_all_of(winner_of(records[epoch]), winner):
                records[epoch] = [*records[epoch], *unknown]
                return records
        records[None] = unknown
    return records


def winner_of(told: list[Told]) -> Told:
    return next((each for each in told if each[1] != REJECTED), told[0])


def add(merged: SlowMerged, winner: Told, told: list[Told]) -> None:
    if winner[0]:
        merged.new.setdefault(winner[1], []).append(winner[2])
    epoch, is_again = winner[2]["partition_leader_epoch"], False
    for _, name, row in (each for each in told if each[0] == 0 and each is not winner):
        key = row["record_offset"], row["partition_leader_epoch"]
        is_unknown = key[1] is None and epoch is not None
        if name == REJECTED and (winner[1] != REJECTED or is_unknown):
            merged.retracted.add(key)
        elif name != REJECTED and is_unknown:
            merged.replaced.add(key[0])
        is_again |= bool(winner[0]) and is_unknown and (name == REJECTED) == (winner[1] == REJECTED)
    merged.again += [winner[1:]] if is_again else []
    merged.num_known += sum(1 for each in told if each[0]) - (bool(winner[0]) and not is_again)


def has_all_of(one: Told, other: Told) -> bool:
    (_, name, row), (_, other_name, other_row) = one, other
    if other_name not in (name, REJECTED):
        return False
    if other_row["is_transactional"] is not None and any(row[column] != other_row[column] for column in PRODUCERS):
        return False
    if name == other_name:
        return not different(one, other)
    return all(row[column] == other_row[column] for column in OF_BOTH)


def different(one: Told, other: Told) -> list[str | None]:
    (_, name, row), (_, other_name, other_row) = one, other
    if (name == REJECTED) != (other_name == REJECTED):
        return []
    if name != other_name:
        return [None]
    columns = OF_REJECTED if name == REJECTED else [each for each in row if each not in OF_THE_COPY]
    columns = [each for each in columns if each not in PRODUCERS]
    if row["is_transactional"] is not None and other_row["is_transactional"] is not None:
        columns += PRODUCERS
    return [column for column in columns if row[column] != other_row[column]]
