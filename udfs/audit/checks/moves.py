"""What moved from one assignment to the next, and the minimum that had to move (the KIP-429 measures of cost)."""

from dataclasses import dataclass

import numpy as np

from udfs.assignors.groups import NOBODY, Numbers, Rows


@dataclass(frozen=True)
class Owners:
    """Owners before and now, by place: the partitions of subscribed topics are numbered consecutively. NOBODY: no
    owner. GONE, only before: a member that left."""

    before: Numbers
    now: Numbers


# The previous owner has left the group, so its partitions move in any case.
GONE = -2


def owners_by_place(rows: Rows, counts: Numbers) -> Numbers:
    """For partitions that exist, topic after topic; of several owners the last."""
    starts = np.cumsum(counts) - counts
    owners = np.full(int(counts.sum()), NOBODY, np.int64)
    rows = rows.take((rows.partitions >= 0) & (rows.partitions < counts[rows.topics]))
    owners[starts[rows.topics] + rows.partitions] = rows.members
    return owners


def moves_made(owners: Owners) -> int:
    """Partitions that an owner lost: to another one or, in cooperative groups, to nobody for a while."""
    return int(np.count_nonzero((owners.before != NOBODY) & (owners.before != owners.now)))


def moves_needed(before: Numbers, num_members: int) -> int:
    """The minimum of moves to a balanced assignment, if all members subscribe to the topics of all places.

    A member keeps up to its share of a balanced assignment, and as many members as there are partitions left over keep
    one more.
    """
    if not num_members:
        return 0
    share, extra = divmod(len(before), num_members)
    sizes = np.bincount(before[before >= 0], minlength=num_members)
    kept = int(np.minimum(sizes, share).sum()) + min(extra, int(np.count_nonzero(sizes > share)))
    return int(np.count_nonzero(before != NOBODY)) - kept
