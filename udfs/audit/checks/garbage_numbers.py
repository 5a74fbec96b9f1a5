"""Partition numbers that are garbage. How many partitions a topic has is often known only by the highest one that
records name: one garbage number would be an assignment of millions, computed once for every release."""

from typing import Final

# Every partition has an owner, or members that claim it. So records name most of what there is.
ALWAYS_BELIEVED: Final = 1_000
BELIEVED_FOR_EACH: Final = 100


def most_believed(num_named: int) -> int:
    """The most partitions that can be believed of topics of which records name so many partitions."""
    return ALWAYS_BELIEVED + BELIEVED_FOR_EACH * num_named
