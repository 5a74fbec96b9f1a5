"""What the user data of all members of sticky groups says that they had."""

from collections.abc import Sequence

import numpy as np

from udfs.assignors.questions.problems import Numbers, Rows
from udfs.assignors.sticky_steps.user_data.kernels import said_rows


def read_together(
    data: Sequence[bytes | None], names: Sequence[str], num_members: Sequence[int], num_names: Sequence[int]
) -> tuple[Rows, Numbers, Numbers] | None:
    """What the members of groups had of the topics of the group's names, how many rows each group has, and the members'
    generations; None where names need a look one by one."""
    if not all(map(str.isascii, names)):
        return None
    said, starts = joined([each or b"" for each in data])
    known, name_starts = joined([name.encode() for name in names])
    of_members, of_names = np.array(num_members, np.int64), np.array(num_names, np.int64)
    members, topics, partitions, generations, ends = said_rows(said, starts, of_members, known, name_starts, of_names)
    return Rows(members, topics, partitions), np.diff(ends, prepend=0), generations


def joined(texts: Sequence[bytes]) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint8]], Numbers]:
    """The bytes of all, and where those of each start."""
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(list(map(len, texts)), out=starts[1:])
    return np.frombuffer(b"".join(texts), np.uint8), starts
