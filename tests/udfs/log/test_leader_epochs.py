"""Which records count when leaders wrote past the start of their successors, by rules written down by hand."""

import numpy as np

from udfs.log.coverage import NO_TIME
from udfs.log.leader_epochs import NO_EPOCH, LeaderEpochs, epoch_rows


def begun(*places: tuple[int, int]) -> LeaderEpochs:
    """Epochs with the offset of a record of each."""
    epochs = LeaderEpochs()
    for epoch, offset in places:
        epochs.begin(epoch, offset)
    return epochs


def test_an_epoch_ends_where_the_next_higher_one_begins() -> None:
    epochs = begun((3, 10), (5, 20), (3, 4), (NO_EPOCH, 1))
    most = np.iinfo(np.int64).max
    assert epochs.ends() == [(3, 20), (5, most)]
    # A later epoch that began earlier ends all before it.
    assert begun((1, 0), (2, 50), (3, 30)).ends() == [(1, 30), (2, 30), (3, most)]


def test_records_that_an_old_leader_wrote_too_late_do_not_count() -> None:
    epochs = begun((3, 4), (5, 20))
    offsets, of = np.array([4, 19, 20, 21, 20, 30, 22]), np.array([3, 3, 3, 3, 5, 5, NO_EPOCH], np.int32)
    assert epochs.counting(offsets, of).tolist() == [True, True, False, False, True, True, True]
    assert LeaderEpochs().counting(offsets, of).all()


def test_rows_hold_the_records_that_count_and_the_newest_is_open() -> None:
    epochs = begun((3, 4), (4, 9), (5, 20))
    epochs.add(np.array([4, 6]), np.array([3, 3], np.int32), np.array([NO_TIME, 600]))
    epochs.add(np.array([7, 20]), np.array([3, 5], np.int32), np.array([NO_TIME, 2000]))
    rows = epoch_rows("c", 1, epochs.of.items())
    # Of epoch 4 no record counts.
    names = ("partition_leader_epoch", "first_offset", "last_offset", "from_time", "to_time", "is_provisional")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (3, 4, 7, None, 600, False),
        (5, 20, 20, 2000, 2000, True),
    ]
    assert {(row["cluster"], row["offsets_partition"]) for row in rows} == {("c", 1)}
