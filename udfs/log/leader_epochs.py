"""Which records of an offsets partition count: a leader epoch ends where the next higher one begins.

A leader may write records before it notices that it lost its role. Its successor truncates them, but they stay in
copies of its log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.log.coverage import NO_TIME

# For NULL: written before 0.11, or by an archive without epochs.
NO_EPOCH = -1


@dataclass
class Epoch:
    first_offset: int
    # The last offset that counts; None if no record does.
    last_offset: int | None = None
    from_time: int | None = None
    to_time: int | None = None


@dataclass
class LeaderEpochs:
    of: dict[int, Epoch] = field(default_factory=dict)

    def begin(self, epoch: int, offset: int) -> None:
        """Records that the epoch has a record at this offset."""
        if epoch != NO_EPOCH:
            of_epoch = self.of.setdefault(epoch, Epoch(offset))
            of_epoch.first_offset = min(of_epoch.first_offset, offset)

    def failovers(self) -> list[tuple[int, int]]:
        """The first record of each leader after the first one, with its time; ascending."""
        counting = sorted(
            (each.first_offset, each.from_time) for each in self.of.values() if each.from_time is not None
        )
        return [(offset, time) for offset, time in counting[1:] if time is not None]

    def ends(self) -> list[tuple[int, int]]:
        """Each epoch with the offset from which on it does not count; epochs ascend."""
        ends: list[tuple[int, int]] = []
        end = np.iinfo(np.int64).max
        for epoch in sorted(self.of, reverse=True):
            ends.append((epoch, int(end)))
            end = min(end, self.of[epoch].first_offset)
        return ends[::-1]

    def counting(self, offsets: NDArray[np.int64], epochs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each record counts by its epoch. Records without one count."""
        ends = self.ends()
        if not ends:
            return np.ones(len(offsets), np.bool_)
        if len(distinct(epochs)) == 1:
            epochs = epochs[:1]
        places = np.searchsorted(np.array([epoch for epoch, _ in ends]), epochs)
        limits = np.array([end for _, end in ends], np.int64)[np.minimum(places, len(ends) - 1)]
        counts: NDArray[np.bool_] = (epochs == NO_EPOCH) | (offsets < limits)
        return counts

    def add(self, offsets: NDArray[np.int64], epochs: NDArray[np.int32], times: NDArray[np.int64]) -> None:
        """Adds records that count, in log order. Their epochs never decrease."""
        for epoch in distinct(epochs):
            if epoch == NO_EPOCH:
                continue
            places = np.flatnonzero(epochs == epoch)
            of_epoch = self.of[epoch]
            of_epoch.last_offset = int(offsets[places[-1]])
            first, last = int(times[places[0]]), int(times[places[-1]])
            if of_epoch.from_time is None and first != NO_TIME:
                of_epoch.from_time = first
            of_epoch.to_time = of_epoch.to_time if last == NO_TIME else last


def distinct(epochs: NDArray[np.int32]) -> list[int]:
    """Mostly there is one, which a sort would take long to find."""
    if len(epochs) and bool((epochs == epochs[0]).all()):
        return [int(epochs[0])]
    return list(np.unique(epochs).tolist())


def epoch_rows(cluster: str, partition: int, epochs: Iterable[tuple[int, Epoch]]) -> list[dict[str, Any]]:
    """Rows of coordinator_epochs. The newest may still grow."""
    counting = [(number, each) for number, each in sorted(epochs) if each.last_offset is not None]
    return [
        {
            "cluster": cluster,
            "offsets_partition": partition,
            "partition_leader_epoch": number,
            "first_offset": each.first_offset,
            "last_offset": each.last_offset,
            "from_time": each.from_time,
            "to_time": each.to_time,
            "is_provisional": number == counting[-1][0],
        }
        for number, each in counting
    ]
