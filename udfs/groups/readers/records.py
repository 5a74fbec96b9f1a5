"""Records of groups as the input of a replay, and the times at which they count."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple


class ImpossibleLog(Exception):
    """Records contradict each other in a way that no coordinator writes. The message is for people."""


class Record(NamedTuple):
    """One record of one group. `value` is None for a tombstone, else an object of the class for its type. `member` is
    the member id in the key (for type 16 the regular expression); None if the key has none."""

    offset: int
    # Microseconds; None: the record has no time.
    time: int | None
    # First offset of its batch; the record's own offset if the source has no batches.
    batch: int
    leader_epoch: int
    type: int
    member: str | None
    # Its class depends on `type`: the handler of the type names it.
    value: Any
    # Its partition numbers below 0, as text: the value does not contain them. None: there are none.
    left_out: str | None = None


class Moment(NamedTuple):
    """The place of an operation: the offset of its last record, and history time in microseconds."""

    offset: int
    time: int | None


def operations(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Cuts a group's records, in log order, into runs with the same batch and time. The state after the last record of
    a run counts."""
    for _, run in groupby(records, key=lambda record: (record.batch, record.time)):
        yield list(run)
