"""The offsets partition that a group belongs to: its leader is the group's coordinator, and reads no other."""

import numpy as np


def java_hash(name: str) -> int:
    """Of a string of Java: over units of UTF-16, as a signed number of 32 bits."""
    found = 0
    for unit in np.frombuffer(name.encode("utf-16-le", "surrogatepass"), "<u2").tolist():
        found = (31 * found + unit) & 0xFFFFFFFF
    return found - (1 << 32) if found >= 1 << 31 else found


def partition_for(group_id: str, num_partitions: int) -> int:
    found = java_hash(group_id)
    return 0 if found == -(1 << 31) else abs(found) % num_partitions
