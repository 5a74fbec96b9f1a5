"""The cost of a change of a group: who had each partition, who gets it, and which assignor costs least."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from udfs.audit.whatif.questions import TopicPartition
from udfs.sentences.counts import counted

Lists = Mapping[str, Sequence[TopicPartition]]


@dataclass(frozen=True)
class Move:
    """A partition and who has it, before and after. All members, in share groups and with assignors that assign a
    partition to several."""

    partition: TopicPartition
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        return self.before != self.after


def moves_between(before: Lists, after: Lists) -> list[Move]:
    """Every partition that a member has before or after, in order."""
    old, new = by_partition(before), by_partition(after)
    partitions = sorted(old.keys() | new.keys())
    return [Move(each, tuple(sorted(old.get(each, ()))), tuple(sorted(new.get(each, ())))) for each in partitions]


def by_partition(members: Lists) -> dict[TopicPartition, set[str]]:
    owners: dict[TopicPartition, set[str]] = {}
    for member, partitions in members.items():
        for partition in partitions:
            owners.setdefault(partition, set()).add(member)
    return owners


def num_moved(moves: Collection[Move]) -> int:
    """Partitions that a member loses."""
    return sum(not set(each.before) <= set(each.after) for each in moves)


def num_stopped(moves: Collection[Move], *, is_eager: bool) -> int:
    """Partitions that are unread until their new owner reads them."""
    return sum(bool(each.before) and (is_eager or not set(each.before) & set(each.after)) for each in moves)


def best(rows: Sequence[Mapping[str, Any]], in_force: tuple[str, str] | None) -> str | None:
    """The sentence that says which assignor is best and what it costs; None: none is possible. `in_force`: protocol and
    name."""
    possible = [row for row in rows if row["is_possible"]]
    if not possible:
        return None

    def is_other(row: Mapping[str, Any]) -> bool:
        return (row["group_protocol"], row["assignor"]) != in_force

    evenest = min(possible, key=lambda row: (*balance_first(row), is_other(row)))
    cheapest = min(possible, key=lambda row: (*cost_first(row), is_other(row)))
    if evenest is cheapest:
        parts = [f"{name_of(evenest, in_force)} has the best balance and moves the fewest partitions: {price(evenest)}"]
    else:
        parts = [
            f"{name_of(evenest, in_force)} has the best balance: {price(evenest)}",
            f"{name_of(cheapest, in_force)} moves and stops the fewest partitions: {price(cheapest)}",
        ]
    others = [row for row in possible if row is not evenest and row is not cheapest and not is_other(row)]
    parts += [f"{name_of(row, in_force)}: {price(row)}" for row in others]
    return "; ".join(parts) + "."


def balance_first(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["imbalance"], row["partitions_stopped"], row["moves_from_current"]


def cost_first(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["partitions_stopped"], row["moves_from_current"], row["imbalance"]


def name_of(row: Mapping[str, Any], in_force: tuple[str, str] | None) -> str:
    named = f"{row['assignor']} of the {row['group_protocol']} protocol"
    return f"{named} (in force)" if (row["group_protocol"], row["assignor"]) == in_force else named


def price(row: Mapping[str, Any]) -> str:
    moved, stopped = row["moves_from_current"], row["partitions_stopped"]
    changes = "changes its owner" if moved == 1 else "change their owner"
    stops = f"{stopped} not read during the rebalance"
    return f"members with the same topics {spread(row['imbalance'])}, {counted(moved, 'partition')} {changes}, {stops}"


def balance(sizes: Sequence[int], imbalance: int) -> str:
    """Members with other topics may rightly have other numbers, so only those with the same topics are compared."""
    least, most = min(sizes, default=0), max(sizes, default=0)
    each = counted(most, "partition") if least == most else f"{least} to {counted(most, 'partition')}"
    return f"{each} a member; members with the same topics {spread(imbalance)}"


def spread(imbalance: int) -> str:
    return f"differ by up to {counted(imbalance, 'partition')}" if imbalance else "have equally many"


def reasons(rows: Sequence[Mapping[str, Any]], in_force: tuple[str, str] | None) -> list[str]:
    """Why assignors are not possible, or their answers not certain: a sentence for each reason, with all it is for."""
    named: dict[tuple[bool, str], list[str]] = {}
    for row in rows:
        if row["reason"] is not None:
            named.setdefault((row["is_possible"], row["reason"]), []).append(name_of(row, in_force))
    return [
        f"{'Not certain' if is_possible else 'Not possible'}: "
        f"{'any assignor' if len(names) == len(rows) else ', '.join(names)}: {reason}."
        for (is_possible, reason), names in named.items()
    ]
