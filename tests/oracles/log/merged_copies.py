"""An independent merge of copies: one record at a time, over dictionaries, sharing nothing with `udfs`.

Rows are (table, row). All rows of one offset and leader epoch are one record; where some of them are decoded the first
of these stands for it, else the first rejected one. Rows of the warehouse come before those of copies.

A row without an epoch belongs to the record with the highest epoch at its offset to which it is equal, and comes after
the rows that have the epoch. It may be a record of its own only if there is none with an epoch, if that one does not
count because a higher epoch has begun before, or if the warehouse has rows of both kinds at the offset.
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
OF_THE_COPY = ("run_id", "batch_first_offset", "partition_leader_epoch")
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
    # Offsets of decoded rows of the warehouse without an epoch, for which rows with one come.
    replaced: set[int] = field(default_factory=set)
    conflicts: list[int] = field(default_factory=list)


def slow_merge(known: Iterable[Named], copies: Sequence[Iterable[Named]]) -> SlowMerged:
    by_offset: dict[int, list[Told]] = {}
    for source, rows in enumerate([known, *copies]):
        for name, row in rows:
            by_offset.setdefault(row["record_offset"], []).append((source, name, row))
    merged, differences, highest = SlowMerged(), set(), -1
    for offset, told in sorted(by_offset.items()):
        records, unequal = records_at(told, highest)
        differences |= {((offset, None), column) for column in unequal}
        highest = max([highest, *(epoch for epoch in records if epoch is not None)])
        for result in records.values():
            winner = standing(result)
            differences |= {((offset, epoch_of(each)), column) for each in result for column in different(winner, each)}
            add(merged, winner, result)
        kept = [standing(result)[0] for epoch, result in records.items() if epoch is not None]
        if len(kept) > 1 and any(kept):
            merged.conflicts.append(offset)
    if differences:
        raise Differs(differences)
    return merged


def records_at(told: list[Told], highest: int) -> tuple[dict[int | None, list[Told]], list[str | None]]:
    """Of one offset, by epoch, and what is different in rows that can be of none. `highest`: epoch at lower offsets."""
    records: dict[int | None, list[Told]] = {}
    for each in sorted(told, key=lambda each: (epoch_of(each) is None, -(epoch_of(each) or 0), each[0])):
        if epoch_of(each) is not None:
            records.setdefault(epoch_of(each), []).append(each)
    named = {epoch: standing(rows) for epoch, rows in records.items()}
    is_held_twice = {True, False} == {epoch_of(each) is None for each in told if each[0] == 0}
    unequal: list[str | None] = []
    for each in (each for each in told if epoch_of(each) is None):
        equal = next((epoch for epoch, other in named.items() if not different(other, each)), None)
        if equal is None and named and not is_held_twice and highest <= max(records, default=-1, key=epoch_or_none):
            unequal += different(named[max(named, key=epoch_or_none)], each)
        else:
            records.setdefault(equal, []).append(each)
    return records, unequal


def epoch_or_none(epoch: int | None) -> int:
    return -1 if epoch is None else epoch


def epoch_of(told: Told) -> int | None:
    epoch: int | None = told[2]["partition_leader_epoch"]
    return epoch


def standing(result: list[Told]) -> Told:
    return next((each for each in result if each[1] != REJECTED), result[0])


def add(merged: SlowMerged, winner: Told, result: list[Told]) -> None:
    if winner[0]:
        merged.new.setdefault(winner[1], []).append(winner[2])
    gone = [each for each in result if each[0] == 0 and each is not winner]
    for _, name, row in gone:
        key = row["record_offset"], row["partition_leader_epoch"]
        if name != REJECTED and winner[0]:
            merged.replaced.add(key[0])
        elif name == REJECTED and (winner[1] != REJECTED or winner[0]):
            merged.retracted.add(key)
    # A record of which the warehouse gets a better row was known.
    was_known = any(name != REJECTED for _, name, _ in gone)
    merged.num_known += sum(1 for each in result if each[0]) - (bool(winner[0]) and not was_known)


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
