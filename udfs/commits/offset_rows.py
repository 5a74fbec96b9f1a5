"""Makes rows of offset_history: for offsets that were replaced, and for those in force at the end."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.tables import TABLES
from schemas.words.history import CommitVia, Confidence, OffsetEnd
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Flags, Numbers, every, integers, known_integers, times
from udfs.arrays.texts import same
from udfs.commits.effects.fields import E, H, K
from udfs.commits.key_states import KeyStates

SCHEMA = table_schema(TABLES["offset_history"])
TIMES = SCHEMA.field("to_time").type
VIA = pa.array([str(CommitVia.PLAIN), str(CommitVia.TRANSACTION)])
CONFIDENCE = pa.array([str(Confidence.CERTAIN), str(Confidence.LIKELY), str(Confidence.POSSIBLE)])
# Their places there.
CERTAIN, LIKELY, POSSIBLE = np.arange(3, dtype=np.int8)
ENDS = list(OffsetEnd)
END_NAMES = pa.array([str(end) for end in ENDS])
# The record shows that the offset was removed, but not why: these reasons are inferred.
CONCLUDED = np.array([end in (OffsetEnd.EXPIRED, OffsetEnd.DELETED, OffsetEnd.TOPIC_DELETED) for end in ENDS], np.bool_)


@dataclass(frozen=True)
class Ends:
    """How rows end; those that are still open have NULLs."""

    to_time: pa.Array
    to_record_offset: pa.Array
    is_exact: pa.Array
    ended_by: pa.Array
    evidence_last_offset: pa.Array
    is_provisional: bool = False


def closed_rows(states: KeyStates, ended: Numbers, ended_by: NDArray[np.int8]) -> pa.Table:
    """For values that were ended. `ended`: columns of `fields.E`. `ended_by`: indexes into ENDS."""
    to_record_offset = pa.array(ended[E.to_record_offset])
    is_exact = pa.array(ended[E.is_to_exact] == 1)
    ends = Ends(times(ended[E.to_time]), to_record_offset, is_exact, coded(ended_by, END_NAMES), to_record_offset)
    confidence = np.where(ended[K.is_certain] == 1, np.where(CONCLUDED[ended_by], LIKELY, CERTAIN), POSSIBLE)
    return history_rows(states, ended[E.key], ended, ends, confidence)


def held_rows(
    states: KeyStates, key: Numbers, columns: Numbers, hole: tuple[int, int | None] | None = None
) -> pa.Table:
    """Offsets in force, of these keys: open, or ended by missing records (last offset and time before them).
    `columns`: of `fields.H`."""
    ends = ends_at(columns, hole)
    return history_rows(states, key, columns, ends, np.where(columns[K.is_certain] == 1, CERTAIN, POSSIBLE))


def reloaded_rows(states: KeyStates, key: Numbers, columns: Numbers, at: tuple[int, int | None]) -> pa.Table:
    """Offsets that a coordinator of another release did not take over. `at`: its first record, and the time of that."""
    ends = ends_at(columns, at, OffsetEnd.RELOADED)
    return history_rows(states, key, columns, ends, np.where(columns[K.is_certain] == 1, CERTAIN, POSSIBLE))


def ends_at(columns: Numbers, hole: tuple[int, int | None] | None, why: OffsetEnd = OffsetEnd.COVERAGE_HOLE) -> Ends:
    size = columns.shape[1]
    if hole is None:
        none = pa.nulls(size, pa.int64())
        last_offset, ended_by = pa.array(columns[H.last_offset]), pa.nulls(size, pa.string())
        return Ends(none.cast(TIMES), none, every(True, pa.bool_(), size), ended_by, last_offset, is_provisional=True)
    offset, time = hole
    # History time never goes back.
    at = np.maximum(columns[K.from_time], NONE if time is None else time)
    to_record_offset, ended_by = every(offset, pa.int64(), size), every(str(why), pa.string(), size)
    return Ends(times(at), to_record_offset, every(False, pa.bool_(), size), ended_by, to_record_offset)


def history_rows(
    states: KeyStates, key: Numbers, columns: Numbers, ends: Ends, confidence: NDArray[np.signedinteger]
) -> pa.Table:
    """`columns`: the value fields of `fields.K`."""
    size = len(key)
    group, topic, partition = states.key_codes.known[:, key]
    return table(
        {
            "cluster": same(states.cluster, size),
            "group_id": states.group_names.column(group),
            "topic": states.topic_names.column(topic),
            "topic_id": states.topic_ids.column(columns[K.topic_id]),
            "partition": pa.array(partition.astype(np.int32)),
            "from_time": times(columns[K.from_time]),
            "to_time": ends.to_time,
            "from_record_offset": pa.array(columns[K.from_record_offset]),
            "to_record_offset": ends.to_record_offset,
            "is_provisional": every(ends.is_provisional, pa.bool_(), size),
            "is_from_exact": pa.array(columns[K.is_from_exact] == 1),
            "is_to_exact": ends.is_exact,
            "ended_by": ends.ended_by,
            **values(columns[K.committed], columns[K.previous_offset], columns[K.has_previous] == 1),
            "leader_epoch": integers(columns[K.leader_epoch], pa.int32()),
            "commit_time": times(columns[K.first_commit_time]),
            "num_commits": pa.array(columns[K.num_commits]),
            "last_commit_time": times(columns[K.commit_time]),
            "last_expire_time": times(columns[K.expire_time]),
            **origin(columns[K.producer_id]),
            "evidence_partition": every(states.partition, pa.int32(), size),
            "evidence_first_offset": pa.array(columns[K.first_record_offset]),
            "evidence_last_offset": ends.evidence_last_offset,
            "confidence": coded(confidence, CONFIDENCE),
            "metadata": states.texts.column(columns[K.text]),
        },
    )


def table(columns: dict[str, pa.Array]) -> pa.Table:
    schema = pa.schema([field.with_type(columns[field.name].type) for field in SCHEMA])
    return pa.table([columns[name] for name in SCHEMA.names], schema)


def coded(codes: NDArray[np.signedinteger], names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def values(committed: Numbers, previous: Numbers, has_previous: Flags) -> dict[str, pa.Array]:
    delta = committed - previous
    # A difference that does not fit into 64 bits becomes NULL.
    fits = ((committed ^ previous) & (committed ^ delta)) >= 0
    return {
        "committed_offset": pa.array(committed),
        "previous_offset": known_integers(previous, has_previous),
        "delta": known_integers(delta, has_previous & fits),
    }


def origin(producer_id: Numbers) -> dict[str, pa.Array]:
    is_plain = producer_id == NONE
    return {
        "via": coded((~is_plain).astype(np.int32), VIA),
        "producer_id": integers(producer_id),
    }
