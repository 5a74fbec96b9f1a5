"""Known defects of upgrades: signatures in the operation in which a coordinator copies a classic group with members and
lets a member of the consumer protocol in."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records.registry import types_by_group_type
from schemas.words.records import GroupType
from udfs.assignors.questions import LEADERS
from udfs.audit.modern.questions import Question
from udfs.audit.modern.targets import TargetResult
from udfs.groups.readers.modern_values import Current
from udfs.groups.readers.records import Record

EPOCH_TYPE, CURRENT_TYPE = (
    types_by_group_type(table)[GroupType.CONSUMER] for table in ("group_metadata", "current_member_assignments")
)
MEMBERS_TABLE: Final = "group_member_metadata"
Operation = tuple[str, int, int | None]


def with_upgrade_defects(
    results: Sequence[TargetResult], records: Iterable[tuple[str, Record]], tables: Mapping[str, pa.Table]
) -> list[TargetResult]:
    """`records`: of the run, which has operations whole; `tables`: those with rows."""
    upgrades = {key_of(result.group_id, result.record): result for result in results if is_sound_copy(result)}
    after: dict[Operation, list[Record]] = {key: [] for key in upgrades}
    for group_id, record in records if upgrades else ():
        key = key_of(group_id, record)
        if key in upgrades and record.offset > upgrades[key].record.offset:
            after[key].append(record)
    defects = {id(result): upgrade_defect(result, after[key], tables) for key, result in upgrades.items()}
    return [
        replace(result, known_defect=defects[id(result)]) if id(result) in defects else result for result in results
    ]


def key_of(group_id: str, record: Record) -> Operation:
    return group_id, record.batch, record.time


def is_sound_copy(result: TargetResult) -> bool:
    return result.is_copied and result.missing is None and result.known_defect is None


def upgrade_defect(result: TargetResult, after: Sequence[Record], tables: Mapping[str, pa.Table]) -> str | None:
    """`after`: the records of the operation that follow the copy."""
    copy, question = result.record, result.answer.question
    last = next((record for record in reversed(after) if is_current(record)), None)
    # The cleaner may have taken records from the operation, but then not its last one alone.
    if question is None or last is None or not are_consecutive([copy, *after]):
        return None
    if kept_epoch_zero(after):
        return "KAFKA-21581"
    is_joined = last.member not in question.inputs.members
    has_epoch = any(record.type == EPOCH_TYPE for record in after)
    is_stale = is_joined and not has_epoch and leaves_out(question)
    return "KAFKA-21582" if is_stale and are_of_kafka(offered(tables[MEMBERS_TABLE], result)) else None


def is_current(record: Record) -> bool:
    return record.type == CURRENT_TYPE and record.value is not None


def are_consecutive(records: Sequence[Record]) -> bool:
    return all(later.offset == record.offset + 1 for record, later in pairwise(records))


def kept_epoch_zero(after: Iterable[Record]) -> bool:
    """KAFKA-21581: the member that comes back has epoch 0 first, and keeps it."""
    epochs: dict[str | None, int] = {}
    for record in after:
        if is_current(record):
            value: Current = record.value
            epochs[record.member] = value.epoch
    return 0 in epochs.values()


def leaves_out(question: Question) -> bool:
    """KAFKA-21582: the copied assignment is of the generation before. A member that joined since has nothing, although
    another one has several partitions of a topic that it subscribes to: no assignor of Kafka ends so."""
    recorded, num_members = question.recorded, len(question.inputs.members)
    has_nothing = np.bincount(recorded.members, minlength=num_members) == 0
    pairs, sizes = np.unique(np.stack([recorded.topics, recorded.members]), axis=1, return_counts=True)
    shared = set(pairs[0][sizes > 1].tolist())
    classes = question.class_of_member.tolist()
    return any(
        shared.intersection(question.topics_of_class[classes[member]].tolist())
        for member in np.flatnonzero(has_nothing).tolist()
    )


def offered(members: pa.Table, result: TargetResult) -> set[str | None]:
    """Names of the assignors that the copied members offered."""
    is_of_copy = pc.and_(
        pc.equal(members["group_id"], result.group_id),
        pc.and_(
            pc.greater_equal(members["record_offset"], result.first_offset),
            pc.less(members["record_offset"], result.record.offset),
        ),
    )
    classic = members.filter(is_of_copy)["classic_member"].to_pylist()
    return {each["name"] for member in classic if member for each in member["supported_protocols"] or ()}


def are_of_kafka(names: Collection[str | None]) -> bool:
    """Others may leave out whom they want."""
    return bool(names) and set(names) <= set(LEADERS)
