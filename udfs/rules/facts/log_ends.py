"""Where the logs of partitions began and ended around a time, by the snapshot before it and the one after it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.lag.as_of import NOWHERE, at
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.at_offset import joined

# A snapshot is taken after the time that it gives itself: what it says may have become so a little later.
SNAPSHOT_TAKES_US = 10_000_000


@dataclass(frozen=True)
class LogEnds:
    """Of one snapshot a row; NONE: there is no snapshot, it does not say, or it is of another topic of this name.
    `topic_id`: a place in the ids of all snapshots; below 0: not known."""

    start: Numbers
    end: Numbers
    leader_epoch: Numbers
    topic_id: Numbers

    @classmethod
    def of(cls, watermarks: Watermarks, rows: Numbers) -> "LogEnds":
        start, end, leader_epoch = (
            at(values, rows) for values in (watermarks.starts, watermarks.end_offsets, watermarks.leader_epochs)
        )
        return cls(start, end, leader_epoch, watermarks.known_topics[rows].astype(np.int64))

    def take(self, which: Numbers) -> "LogEnds":
        return LogEnds(self.start[which], self.end[which], self.leader_epoch[which], self.topic_id[which])


@dataclass(frozen=True)
class EndsAround:
    """`is_other_topic`: the two snapshots, or a snapshot and the commit, name the topic by different ids: it was made
    anew, or the snapshot is older or younger than the topic of the commit."""

    before: LogEnds
    after: LogEnds
    is_other_topic: Flags

    @classmethod
    def of(cls, watermarks: Watermarks, commits: pa.Table, times: Numbers, earlier_by: int = 0) -> "EndsAround":
        """`commits`: `topic`, `topic_id`, `partition`. `earlier_by`: how much before the time its first snapshot is."""
        has_time = times != NONE
        places = watermarks.first_places(commits)
        before = LogEnds.of(
            watermarks, np.where(has_time, watermarks.at(places, times - earlier_by * has_time), NOWHERE)
        )
        after = LogEnds.of(watermarks, np.where(has_time, watermarks.after(places, times), NOWHERE))
        own = watermarks.codes_of_ids(commits.column("topic_id"))
        other = [
            differ(one, two)
            for one, two in ((before.topic_id, after.topic_id), (before.topic_id, own), (after.topic_id, own))
        ]
        return cls(before, after, np.logical_or.reduce(other))

    def take(self, which: Numbers) -> "EndsAround":
        return EndsAround(self.before.take(which), self.after.take(which), self.is_other_topic[which])

    @staticmethod
    def together(parts: Sequence["EndsAround"]) -> "EndsAround":
        """Places of ids are those of the ids that each part knew."""
        before, after = (LogEnds(*joined([getattr(each, side) for each in parts])) for side in ("before", "after"))
        return EndsAround(before, after, np.concatenate([each.is_other_topic for each in parts]))

    def is_at_start(self, offsets: Numbers) -> Flags:
        """Equal to the first offset of the log, or between those of both snapshots when it has moved. One snapshot is
        enough when it has this very offset: the start of a log does not go back."""
        low = np.where(self.before.start == NONE, self.after.start, self.before.start)
        high = np.where(self.after.start == NONE, self.before.start, self.after.start)
        return self.is_between(low, high, offsets)

    def is_at_end(self, offsets: Numbers) -> Flags:
        """From the end before to the end after."""
        return self.is_between(self.before.end, self.after.end, offsets)

    def is_between(self, low: Numbers, high: Numbers, offsets: Numbers) -> Flags:
        is_known = (low != NONE) & (high != NONE) & ~self.is_other_topic
        return np.asarray(is_known & (low <= offsets) & (offsets <= high), np.bool_)


def differ(one: Numbers, two: Numbers) -> Flags:
    """Both are known and are not the same."""
    return np.asarray((one != two) & (one >= 0) & (two >= 0), np.bool_)
