"""Records of groups as the input of a replay, and the times at which they count."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple


class Record(NamedTuple):
    """One record of one group. `value` is None for a tombstone, else the class that its type has; `member` is the
    member id of its key (of type 16 the regular expression), None where the key has none."""

    offset: int
    # Microseconds; None: the record has none.
    time: int | None
    # First offset of its batch; its own where the source does not tell.
    batch: int
    leader_epoch: int
    type: int
    member: str | None
    value: Any
    # Partitions below 0 that it names, for people: its value is without them. None: it names none.
    left_out: str | None = None


class Moment(NamedTuple):
    """Where an operation stands: the offset of its last record, and history time in microseconds."""

    offset: int
    time: int | None


def operations(records: Iterable[Record]) -> Iterator[list[Record]]:
    """A group's records, in log order, cut into runs of equal batch and time: state is taken after the last of each."""
    for _, run in groupby(records, key=lambda record: (record.batch, record.time)):
        yield list(run)
