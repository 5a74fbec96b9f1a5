"""The offsets partition that a group belongs to. Its leader is the group's coordinator, and reads no other partition
for the group."""

from udfs.assignors.java.maps import string_hash

LOWEST = 1 << 31


def partition_for(group_id: str, num_partitions: int) -> int:
    return hash_of(group_id) % num_partitions


def hash_of(group_id: str) -> int:
    """The absolute value of the signed hash code. The lowest integer has no absolute value."""
    hash_code = string_hash(group_id)
    return 0 if hash_code == LOWEST else min(hash_code, 2 * LOWEST - hash_code)
