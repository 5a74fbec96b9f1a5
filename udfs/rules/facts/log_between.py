"""What became of the logs of partitions between two commits each, by the snapshots around both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers, flags, numbers
from udfs.arrays.number_ranges import ranges
from udfs.arrays.texts import as_texts
from udfs.lag.as_of import NOWHERE, at
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.at_offset import joined
from udfs.rules.facts.log_ends import differ


@dataclass(frozen=True)
class LogBetween:
    """Of two commits of one partition a row. `is_anew`: the topic was made anew. `is_cut`: the log lost its end below
    the earlier offset. `end_before`, `end_after`: its end at the snapshots around the earlier commit; NONE: no snapshot
    says."""

    is_anew: Flags
    is_cut: Flags
    end_before: Numbers
    end_after: Numbers

    @classmethod
    def of(
        cls, watermarks: Watermarks, earlier: pa.Table, later: pa.Table, earlier_times: Numbers, times: Numbers
    ) -> "LogBetween":
        """`later`: `topic`, `topic_id`, `partition`, `previous_offset`; `earlier`: `topic_id`. An earlier commit whose
        time is NONE counts as one just before the later one; of a later one without a time nothing is known."""
        span = Span.of(watermarks, earlier, later, earlier_times, times)
        previous = numbers(later.column("previous_offset"))
        ends = watermarks.end_offsets
        return cls(
            is_anew=span.is_anew,
            is_cut=span.is_cut_at_once(previous) | span.is_cut_later(previous),
            end_before=at(ends, span.low),
            end_after=at(ends, np.where(span.has_first, span.first, NOWHERE)),
        )

    def take(self, which: Numbers) -> "LogBetween":
        return LogBetween(self.is_anew[which], self.is_cut[which], self.end_before[which], self.end_after[which])

    @staticmethod
    def together(parts: Sequence["LogBetween"]) -> "LogBetween":
        return LogBetween(*joined(parts))


@dataclass(frozen=True)
class Span:
    """Of two commits rows of snapshots, or NOWHERE. `low`, `first`: around the earlier one. `high`: after the later
    one, else before it. `is_anew`: as of `LogBetween`."""

    watermarks: Watermarks
    low: Numbers
    first: Numbers
    high: Numbers
    is_anew: Flags

    @classmethod
    def of(
        cls, watermarks: Watermarks, earlier: pa.Table, later: pa.Table, earlier_times: Numbers, times: Numbers
    ) -> "Span":
        places = watermarks.first_places(later)
        theirs, own = (watermarks.codes_of_ids(each.column("topic_id")) for each in (earlier, later))
        has_time = times != NONE
        until = np.where(has_time, times, 0)
        since = np.where(earlier_times == NONE, until, earlier_times)
        low = of_topic(watermarks, watermarks.at(places, since), theirs)
        after, before = (of_topic(watermarks, look(places, until), own) for look in (watermarks.after, watermarks.at))
        high = np.where(has_time, np.where(after == NOWHERE, before, after), NOWHERE)
        low = np.where(has_time, low, NOWHERE)
        first = np.where(low == NOWHERE, watermarks.own_after(places, since), low + 1)
        # Ids that no snapshot has are all one number.
        is_named_alike = flags(pc.equal(*(as_texts(each).column("topic_id") for each in (earlier, later))))
        is_anew = are_anew(watermarks, low, first, high, theirs, own) & ~is_named_alike
        return cls(watermarks, low, first, high, is_anew)

    @property
    def has_first(self) -> Flags:
        return np.asarray((self.first != NOWHERE) & (self.first <= self.high), np.bool_)

    def is_cut_at_once(self, previous: Numbers) -> Flags:
        """Right after the earlier commit: it may have been of messages that no snapshot saw. An end that did not fall
        is still too low if another leader came."""
        marks, low, first = self.watermarks, self.low, np.where(self.has_first, self.first, NOWHERE)
        end, epochs = at(marks.end_offsets, first), marks.known_epochs
        is_known = (low != NOWHERE) & (first != NOWHERE) & ~at(marks.is_other_topic, first, False)
        epoch_before = at(epochs, low)
        has_new_leader = (epoch_before != NONE) & (at(epochs, first) > epoch_before)
        return np.asarray(is_known & (end < previous) & ((end < at(marks.end_offsets, low)) | has_new_leader), np.bool_)

    def is_cut_later(self, previous: Numbers) -> Flags:
        """The end fell from the earlier offset, or from above it, to below it."""
        falls, ends = self.watermarks.falls, self.watermarks.end_offsets
        begin = np.searchsorted(falls, self.first, "right")
        number = np.where(self.has_first, np.searchsorted(falls, self.high, "right") - begin, 0)
        row, fall = np.repeat(np.arange(len(number)), number), falls[ranges(begin, number)]
        is_below = (ends[fall - 1] >= previous[row]) & (ends[fall] < previous[row])
        is_cut = np.zeros(len(number), np.bool_)
        is_cut[row[is_below]] = True
        return is_cut


def of_topic(watermarks: Watermarks, rows: Numbers, topics: Numbers) -> Numbers:
    """Without the rows of another topic than the one that the commit names."""
    return np.where(differ(watermarks.known_topics[rows], topics), NOWHERE, rows)


def are_anew(
    watermarks: Watermarks, low: Numbers, first: Numbers, high: Numbers, theirs: Numbers, own: Numbers
) -> Flags:
    """`theirs`, `own`: topics that the earlier and the later commit name."""
    begin = np.where(low == NOWHERE, first, low)
    is_seen = (begin != NOWHERE) & (high != NOWHERE)
    is_anew = is_seen & (at(watermarks.num_made_anew, high) > at(watermarks.num_made_anew, begin))
    is_anew |= differ(watermarks.known_topics[low], own) | differ(theirs, watermarks.known_topics[high])
    return np.asarray(is_anew, np.bool_)
