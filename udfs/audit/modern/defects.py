"""Known defects that targets of consumer and share groups show: of the coordinator's assignors, and of the upgrade in
which a coordinator copies a classic group with members and lets a member of the consumer protocol in. Those that
members' own records show are in `group`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records import types_by_group_type
from schemas.words.assignments import Algorithm, Verdict
from schemas.words.records import GroupType
from udfs.assignors.groups import AssignorFailed, Rows
from udfs.assignors.questions import LEADERS, NEWEST_RELEASE, SpecError
from udfs.audit.checks.results import moves_made, owners_by_place
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import Question
from udfs.audit.modern.targets import BEFORE_4_0_1, Outcome, TargetResult, answer, keys
from udfs.groups.readers.records import Record

EPOCH_TYPE, CURRENT_TYPE = (
    types_by_group_type(table)[GroupType.CONSUMER] for table in ("group_metadata", "current_member_assignments")
)
MEMBERS_TABLE: Final = "group_member_metadata"


class TargetFacts(NamedTuple):
    """`is_old`: the coordinator hashed no topics yet. Those that do are correct."""

    question: Question
    outcome: Outcome
    is_old: bool


def needless_moves(of: TargetFacts) -> bool:
    """Only the form before 4.0.1 matches, and the later form moves less."""
    question, expected = of.question, of.outcome.expected
    if expected is None or of.outcome.variant.release != BEFORE_4_0_1:
        return False
    mended = later_form(of)
    if mended is None or np.array_equal(keys(question, mended), keys(question, expected)):
        return False
    before, recorded, now = (
        owners_by_place(rows, question.counts) for rows in (question.owned, question.recorded, mended)
    )
    return moves_made(before, recorded) > moves_made(before, now)


def sticky_range(of: TargetFacts) -> bool:
    """Before 3.9 each topic was spread evenly, but not over the same members as other topics with the same number of
    partitions."""
    question, expected = of.question, of.outcome.expected
    if of.outcome.verdict != Verdict.DRIFT or not of.is_old or expected is None:
        return False
    ours, theirs = (
        sorted((topic, size) for (topic, _), size in sizes(rows).items()) for rows in (question.recorded, expected)
    )
    if ours != theirs:
        return False
    counts, recorded = question.counts.tolist(), question.recorded
    owners: dict[int, dict[int, int]] = {topic: {} for topic in range(len(counts))}
    rows = zip(recorded.topics.tolist(), recorded.partitions.tolist(), recorded.members.tolist(), strict=True)
    for topic, partition, member in rows:
        if 0 <= partition < counts[topic]:
            owners[topic][partition] = member
    of_count: dict[int, dict[int, int]] = {}
    subscribed = range(len(question.metadata.topics))
    return any(of_count.setdefault(counts[topic], owners[topic]) != owners[topic] for topic in subscribed)


def uneven_load(of: TargetFacts) -> bool:
    """With unequal subscriptions, before 4.0, members' numbers differ by more than the later form leaves."""
    if of.outcome.question.algorithm != Algorithm.HETEROGENEOUS or not of.is_old or (mended := later_form(of)) is None:
        return False
    num_members = len(of.question.members)
    recorded, later = (
        int(np.ptp(np.bincount(rows.members, minlength=num_members))) for rows in (of.question.recorded, mended)
    )
    return recorded > 1 and later < recorded


def later_form(of: TargetFacts) -> Rows | None:
    """What later releases would have assigned."""
    try:
        return answer(of.question, of.outcome.variant._replace(assignor="uniform", release=NEWEST_RELEASE))
    except (AssignorFailed, SpecError):
        return None


def sizes(rows: Rows) -> Counter[tuple[int, int]]:
    """By topic and member, how many partitions it has."""
    return Counter(zip(rows.topics.tolist(), rows.members.tolist(), strict=True))


class UpgradeFacts(NamedTuple):
    """`after`: the records of the operation that follow the copy. `joined`: the member that they let in."""

    copy: TargetResult
    question: Question
    after: Sequence[Record]
    joined: str | None
    tables: Mapping[str, pa.Table]


def kept_epoch_zero(of: UpgradeFacts) -> bool:
    """The static member that comes back has epoch 0 first, and keeps it."""
    return 0 in {record.member: record.value.epoch for record in of.after if is_current(record)}.values()


def copied_the_generation_before(of: UpgradeFacts) -> bool:
    """A member that joined since has nothing, although another one has several partitions of a topic that it subscribes
    to: no assignor of Kafka ends so."""
    question = of.question
    if of.joined in question.members or any(record.type == EPOCH_TYPE for record in of.after):
        return False
    has_something = set(question.recorded.members.tolist())
    shared = {topic for (topic, _), size in sizes(question.recorded).items() if size > 1}
    is_left_out = any(
        member not in has_something and not shared.isdisjoint(question.topics_of_class[number].tolist())
        for member, number in enumerate(question.class_of_member.tolist())
    )
    # Other assignors may leave out whom they want.
    return is_left_out and bool(names := offered(of.tables[MEMBERS_TABLE], of.copy)) and names <= set(LEADERS)


def offered(members: pa.Table, copy: TargetResult) -> set[str | None]:
    """Names of the assignors that the copied members offered."""
    offsets = members["record_offset"]
    is_before = pc.and_(pc.greater_equal(offsets, copy.first_offset), pc.less(offsets, copy.record.offset))
    is_of_copy = pc.and_(pc.equal(members["group_id"], copy.group_id), is_before)
    classic = members.filter(is_of_copy)["classic_member"].to_pylist()
    return {each["name"] for member in classic if member for each in member["supported_protocols"] or ()}


def is_current(record: Record) -> bool:
    return record.type == CURRENT_TYPE and record.value is not None


# The first that fits, by the assignor's name.
TARGET_DEFECTS: Final[Mapping[str, tuple[str, Callable[[TargetFacts], bool]]]] = {
    "KAFKA-18688": ("uniform", needless_moves),
    "KAFKA-16944": ("range", sticky_range),
    "KAFKA-17710": ("uniform", uneven_load),
}
UPGRADE_DEFECTS: Final[Mapping[str, Callable[[UpgradeFacts], bool]]] = {
    "KAFKA-21581": kept_epoch_zero,
    "KAFKA-21582": copied_the_generation_before,
}


def defect_of_target(group: ModernGroup, result: TargetResult) -> str | None:
    """First what the assignor did, then what members' own records showed since the previous target."""
    of_records = next(iter(group.watch.issues), None)
    question, outcome = result.question, result.outcome
    if question is None or outcome is None or result.missing is not None or result.confirmation.why is not None:
        return of_records
    facts = TargetFacts(question, outcome, is_old=group.metadata_hash is None)
    of_assignor = (name for name, (assignor, fits) in TARGET_DEFECTS.items()
                   if result.assignor == assignor and fits(facts))  # fmt: skip
    return next(of_assignor, of_records)


def with_upgrade_defects(
    results: Sequence[TargetResult], records: Iterable[tuple[str, Record]], tables: Mapping[str, pa.Table]
) -> list[TargetResult]:
    """`records`: of the run, which has operations whole; `tables`: those with rows."""
    copies = {
        (each.group_id, each.record.batch, each.record.time): each
        for each in results
        if each.verdict == Verdict.CARRIED_OVER and each.missing is None and each.known_defect is None
    }
    after: dict[int, list[Record]] = {id(copy): [] for copy in copies.values()}
    for group_id, record in records if copies else ():
        copy = copies.get((group_id, record.batch, record.time))
        if copy is not None and record.offset > copy.record.offset:
            after[id(copy)].append(record)
    return [
        replace(each, known_defect=upgrade_defect(each, after[id(each)], tables)) if id(each) in after else each
        for each in results
    ]


def upgrade_defect(copy: TargetResult, after: Sequence[Record], tables: Mapping[str, pa.Table]) -> str | None:
    last = next((record for record in reversed(after) if is_current(record)), None)
    # The cleaner may have taken records from the operation, but then not its last one alone.
    are_whole = all(later.offset == record.offset + 1 for record, later in pairwise([copy.record, *after]))
    if copy.question is None or last is None or not are_whole:
        return None
    facts = UpgradeFacts(copy, copy.question, after, last.member, tables)
    return next((name for name, fits in UPGRADE_DEFECTS.items() if fits(facts)), None)
