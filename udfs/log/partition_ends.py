"""Whether the log of an offsets partition was read as far as it goes: compared with the other partitions, with its ends
in snapshots, and with how its file ends. What is missing at the end of a copy looks like silence of its groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.words.records import EarlyEnd, PartitionReading
from udfs.sentences.durations import SECOND

# In usual gaps between records of the partition.
LATE_GAPS: Final = 10
# Quiet partitions end earlier than others without a reason. Copies made one after the other, and the snapshot, are some
# seconds apart. A batch is torn where a copy was cut, and hardly ever where a broker was writing it.
LEAST_UNPROVEN, LEAST_KNOWN, LEAST_TORN = 60 * SECOND, 10 * SECOND, 1 * SECOND


@dataclass(frozen=True)
class KnownEnd:
    """The end of the partition in a snapshot. `start`: its first offset then."""

    time: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class PartitionEnd:
    """What is known of the end of one offsets partition. Times and durations in microseconds, at most the as-of time;
    None: not known. `newest`: the time of its newest record; `usual_gap`: the median time between its newest records;
    `torn_bytes`: of a batch that its file ends within; `ends`: those of snapshots up to the as-of time, by time."""

    last_offset: int | None = None
    newest: int | None = None
    usual_gap: int | None = None
    torn_bytes: int = 0
    ends: Sequence[KnownEnd] = ()

    @property
    def known_end(self) -> KnownEnd | None:
        return self.ends[-1] if self.ends else None

    @property
    def until(self) -> int | None:
        """The log is known up to its newest record, and further where a snapshot shows that nothing came since."""
        if self.last_offset is None or self.newest is None:
            return None
        confirmed = [each.time for each in self.ends if each.end <= self.last_offset + 1]
        return max([self.newest, *confirmed])

    @property
    def num_known_beyond(self) -> int:
        """Offsets that the newest snapshot shows after the last one that was read."""
        if self.known_end is None or self.last_offset is None:
            return 0
        return max(0, self.known_end.end - self.last_offset - 1)

    def lacks(self, time: int) -> int:
        """For how long before this time it is not known."""
        return 0 if self.until is None else max(0, time - self.until)

    def early_end(self, others_until: int, as_of: int) -> EarlyEnd | None:
        """None: it ends where it should. That a copy ends before the others is a reason to doubt it, not a proof."""
        usual = LATE_GAPS * (self.usual_gap or 0)
        before_others = self.lacks(others_until)
        if self.torn_bytes and before_others > max(usual, LEAST_TORN):
            return EarlyEnd.TORN_TAIL
        if self.num_known_beyond:
            is_late = self.lacks(as_of) > max(usual, LEAST_UNPROVEN)
            return EarlyEnd.KNOWN_END if is_late or before_others > max(usual, LEAST_KNOWN) else None
        return EarlyEnd.BEFORE_OTHERS if before_others > max(usual, LEAST_UNPROVEN) else None


def newest_of(ends: Iterable[PartitionEnd]) -> int | None:
    """Until when any of them is known."""
    return max((each.until for each in ends if each.until is not None), default=None)


def reading_of(
    *, has_source: bool, can_be_empty: bool, known_end: KnownEnd | None, others_until: int | None
) -> PartitionReading:
    """`has_source`: a file or a live log of the partition was read. `can_be_empty`: a source was read that names no
    partition without records: an archive. An old snapshot says nothing of what came since."""
    if has_source:
        return PartitionReading.READ
    if known_end is None:
        return PartitionReading.UNKNOWN if can_be_empty else PartitionReading.NEVER_READ
    if known_end.end > known_end.start:
        return PartitionReading.NEVER_READ
    is_new = others_until is None or known_end.time >= others_until - LEAST_UNPROVEN
    return PartitionReading.EMPTY if is_new else PartitionReading.UNKNOWN
