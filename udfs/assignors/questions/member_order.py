"""The order in which range and round robin take members, in clients and in coordinators."""

from collections.abc import Callable, Sequence

import numpy as np

from udfs.assignors.java.hashes import Positions, java_sort_keys, java_sorted


def statically_sorted(
    members: Sequence[str], instances: Sequence[str | None], walked: Callable[[], Positions]
) -> Positions:
    """The members by instance id, then those without one by member id."""
    if instances.count(None) == len(instances):
        return java_sorted(members)
    instance_keys = java_sort_keys([instance or "" for instance in instances])
    ids = java_sort_keys(members)
    keys = [(0, instance_keys[m]) if instances[m] is not None else (1, ids[m]) for m in range(len(members))]
    # Two with one instance id are equal to Kafka: its sort leaves them as its map is walked.
    return np.array(sorted(walked().tolist(), key=keys.__getitem__), np.intp)
