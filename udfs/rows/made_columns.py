"""Columns whose values depend on more than one field: on the record type, or on several lists."""

import numpy as np
import pyarrow as pa

from schemas.records import GROUP_TYPES
from schemas.words.records import ControlType, GroupType, MemberState, TopicState
from udfs.arrays.arrow_buffers import list_array
from udfs.arrays.big_endian import Positions
from udfs.decoding.decoded import Part
from udfs.rows.typed_arrays import bounds_of, fit_type, items_of

# By the number in the record, from 0; streams groups have numbers of their own.
MEMBER_STATES = (MemberState.STABLE, MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS)
STREAMS_MEMBER_STATES = (
    MemberState.UNKNOWN,
    MemberState.STABLE,
    MemberState.UNREVOKED_TASKS,
    MemberState.UNRELEASED_TASKS,
)

TOPIC_LISTS = {
    "topics": TopicState.SUBSCRIBED,
    "initializing_topics": TopicState.INITIALIZING,
    "initialized_topics": TopicState.INITIALIZED,
    "deleting_topics": TopicState.DELETING,
}


def key_version(part: Part, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(part.record_type, kind), len(part.rows))


def group_type(part: Part, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(GROUP_TYPES[part.record_type], kind), len(part.rows))


def marker(part: Part, kind: pa.DataType) -> pa.Array:
    names = pa.array([each.name for each in sorted(ControlType)], kind)
    return names.take(part.key.field("type"))


def member_state(part: Part, kind: pa.DataType) -> pa.Array:
    if part.value is None or part.value.type.get_field_index("state") < 0:
        return pa.nulls(len(part.rows), kind)
    is_streams = GROUP_TYPES[part.record_type] is GroupType.STREAMS
    states = STREAMS_MEMBER_STATES if is_streams else MEMBER_STATES
    numbers = part.value.field("state").to_numpy()
    is_known = (numbers >= 0) & (numbers < len(states))
    names = pa.array([*states, MemberState.UNKNOWN], kind)
    return names.take(pa.array(np.where(is_known, numbers, len(states))))


def topics(part: Part, kind: pa.ListType) -> pa.Array:
    """The lists of a value as one, each topic with the state that its list stands for."""
    if part.value is None:
        return pa.nulls(len(part.rows), kind)
    owners: list[Positions] = []
    items: list[pa.StructArray] = []
    counts = np.zeros(len(part.rows), np.int64)
    for name, state in TOPIC_LISTS.items():
        if part.value.type.get_field_index(name) >= 0:
            lists = part.value.field(name)
            structs, owner = items_of(lists)
            items.append(with_state(structs, state, kind.value_type))
            owners.append(owner)
            counts += np.diff(bounds_of(lists))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return fit_type(list_array(counts, pa.concat_arrays(items).take(pa.array(order))), kind)


def with_state(items: pa.StructArray, state: TopicState, kind: pa.StructType) -> pa.StructArray:
    states = pa.repeat(pa.scalar(state, pa.string()), len(items))
    named = pa.StructArray.from_arrays([states, *items.flatten()], ["state", *items.type.names])
    return fit_type(named, kind)
