"""How sure rows are that rest on other rows: never surer than any of these."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import Confidence
from udfs.arrays.nullable import Flags, Numbers
from udfs.arrays.texts import is_value, of_texts, texts_of_codes
from udfs.lag.partition_history import PartitionHistory

# From sure to unsure: a place here is a doubt, and of several the largest counts.
CONFIDENCES = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)
CERTAIN, LIKELY, POSSIBLE = range(3)
NAMES = [each.value for each in CONFIDENCES]


def doubts(column: pa.ChunkedArray) -> Numbers:
    """NULL, where there is no row, raises none."""
    return np.asarray(of_texts(column, lambda texts: pc.index_in(texts, value_set=pa.array(NAMES)), CERTAIN), np.int64)


def named(doubts: Numbers) -> pa.DictionaryArray:
    return texts_of_codes(doubts, NAMES)


def weakest(confidences: Sequence[str]) -> str:
    return max(confidences, key=NAMES.index)


def are_possible(rows: pa.Table) -> Flags:
    """Rows of offset_history whose commit may be of an aborted transaction: the archive does not show it. How an offset
    ended may be likely only, but that is about a later time."""
    return is_value(rows.column("confidence"), Confidence.POSSIBLE)


def possible_steps(history: PartitionHistory) -> Flags:
    """Of each row of offset_history: whether its commit, or the one before, which it is compared with, is only
    possible."""
    return history.once("possible_steps", steps_of)


def steps_of(history: PartitionHistory) -> Flags:
    offsets = history.table("offset_history")
    is_possible = are_possible(offsets)
    if not is_possible.any():
        return is_possible
    # Rows of a key follow each other.
    has_previous = offsets.column("previous_offset").is_valid().to_numpy()
    return np.asarray(is_possible | (has_previous & np.append(False, is_possible[:-1])), np.bool_)


def possible_commits(commits: pa.Table) -> Flags:
    """Raw commits of which neither flag nor producer shows whether they are of a transaction."""
    unknown = (commits.column(name).is_null() for name in ("is_transactional", "producer_id"))
    return np.asarray(pc.and_(*unknown).to_numpy(), np.bool_)
