"""Whether a partition ends early, one step on each side of every bound."""

import pytest

from udfs.log.partition_ends import KnownEnd, PartitionEnd, newest_of, reading_of

SECOND = 1_000_000
AS_OF = 1_000 * SECOND
AT = {"last_offset": 99, "newest": 900 * SECOND}


def early(others, **end):
    return PartitionEnd(**(AT | end)).early_end(others * SECOND, AS_OF)


def known(second, end, start=0):
    return KnownEnd(second * SECOND, start, end)


@pytest.mark.parametrize(("others", "gap", "answer"), [
    (960, None, None), (961, None, "before_others"),
    # Ten usual gaps of 7 s are longer than a minute.
    (970, 7 * SECOND, None), (971, 7 * SECOND, "before_others"),
])  # fmt: skip
def test_who_ends_long_before_others_may_be_cut(others, gap, answer):
    assert early(others, usual_gap=gap) == answer


@pytest.mark.parametrize(("others", "gap", "answer"), [
    (901, None, None), (902, None, "torn_tail"), (910, SECOND, None), (911, SECOND, "torn_tail"),
])  # fmt: skip
def test_a_torn_batch_proves_it_where_others_go_on(others, gap, answer):
    assert early(others, usual_gap=gap, torn_bytes=7) == answer


def test_a_snapshot_proves_it_by_its_end():
    assert early(911, ends=[known(905, 101)]) == "known_end"
    assert early(910, ends=[known(905, 101)], newest=941 * SECOND) is None
    # Ours is the end that it shows, so the partition is known up to the snapshot.
    assert early(1000, ends=[known(905, 101), known(945, 100)]) is None
    assert early(1000, ends=[known(905, 101), known(939, 100)]) == "before_others"


def test_all_may_end_before_the_newest_snapshot():
    """Then no partition ends before others, and the snapshot alone shows what is missing."""
    assert early(900, ends=[known(999, 101)]) == "known_end"
    assert early(900, ends=[known(999, 101)], usual_gap=10 * SECOND) is None


def test_what_is_not_known_ends_nowhere():
    assert PartitionEnd().early_end(AS_OF, AS_OF) is None
    assert newest_of([PartitionEnd(), PartitionEnd(**AT), PartitionEnd(**AT, ends=[known(950, 100)])]) == 950 * SECOND


@pytest.mark.parametrize(("has_source", "can_be_empty", "end", "reading"), [
    (True, False, None, "read"),
    (False, False, None, "never_read"),
    (False, True, None, "unknown"),
    (False, True, known(990, 5), "never_read"),
    (False, False, known(990, 5, start=5), "empty"),
    # That was too long ago.
    (False, False, known(900, 0), "unknown"),
])  # fmt: skip
def test_partitions_without_a_source_are_empty_or_were_never_read(has_source, can_be_empty, end, reading):
    asked = {"has_source": has_source, "can_be_empty": can_be_empty, "known_end": end}
    assert reading_of(**asked, others_until=AS_OF) == reading
