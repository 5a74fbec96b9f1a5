"""What is odd in the values of a classic group: each is an anomaly, and the replay goes on."""

from collections import Counter
from collections.abc import Iterable

from schemas.records import CONSUMER
from schemas.words.history import AnomalyKind, Severity
from udfs.groups.classic.rounds import Round
from udfs.groups.readers.classic_records import NOTHING, ClassicValue, Tps
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Group
from udfs.groups.states.kip429_sets import GroupSets


def once(group: Group, record: Record) -> ClassicValue:
    """The value as coordinators load it: they put the members one by one into a map by id."""
    value: ClassicValue = record.value
    members = {member.member_id: member for member in value.members}
    if len(members) == len(value.members):
        return value
    times = Counter(member.member_id for member in value.members)
    twice = ", ".join(each for each in members if times[each] > 1)
    line = f"member {twice} appears twice in generation {value.generation}: the last entry counts"
    group.anomaly(record, AnomalyKind.DUPLICATE_MEMBER, Severity.WARNING, line)
    return value._replace(members=tuple(members.values()))


def check_value(group: Group, value: ClassicValue, record: Record) -> None:
    instances = [member.group_instance_id for member in value.members if member.group_instance_id is not None]
    if len(set(instances)) != len(instances):
        twice = ", ".join(sorted(each for each, times in Counter(instances).items() if times > 1))
        line = f"static instance {twice} appears twice in generation {value.generation}"
        group.anomaly(record, AnomalyKind.DUPLICATE_INSTANCE, Severity.WARNING, line)
    if value.protocol_type == CONSUMER:
        unread = [member.member_id for member in value.members if member.assigned is None or member.topics is None]
        if unread:
            line = f"subscription or assignment of {', '.join(unread)} cannot be read"
            group.anomaly(record, AnomalyKind.FOREIGN_PAYLOAD, Severity.INFO, line)


def check_generation(round_: Round) -> None:
    before, now = round_.before, round_.now
    if before is not None and now.value.generation < before.value.generation:
        line = (
            f"generation {now.value.generation} comes after {before.value.generation}, but the group was not "
            "deleted between"
        )
        if now.leader_epoch > before.leader_epoch:
            line += ": the coordinator moved"
        round_.group.anomaly(round_.record, AnomalyKind.GENERATION_WENT_BACK, Severity.WARNING, line, before.offset)


# -- partitions that two members were assigned, or claim to own, at the same time


def check_claims(round_: Round, sets: GroupSets) -> None:
    members = round_.now.value.members
    if not sets.is_disjoint:
        for tp, ids in shared_by({member.member_id: member.assigned or NOTHING for member in members}).items():
            two_owners(round_, f"{names_of(round_, [tp])} was assigned to {' and '.join(ids)}")
    if not sets.claimed or sum([len(member.claimed or ()) for member in members]) == len(sets.claimed):
        return
    # A claim of an older generation does not count. Two claims of the same generation are a conflict.
    for generation in {member.generation_id for member in members if member.claimed}:
        of_one = {each.member_id: each.claimed or NOTHING for each in members if each.generation_id == generation}
        for tp, ids in shared_by(of_one).items():
            two_owners(round_, f"{names_of(round_, [tp])} was claimed by {' and '.join(ids)}", Severity.WARNING)


def shared_by(sets: dict[str, Tps]) -> dict[int, list[str]]:
    by_tp: dict[int, list[str]] = {}
    for member_id, tps in sorted(sets.items()):
        for tp in tps:
            by_tp.setdefault(tp, []).append(member_id)
    return {tp: ids for tp, ids in sorted(by_tp.items()) if len(ids) > 1}


def two_owners(round_: Round, line: str, severity: Severity = Severity.CRITICAL) -> None:
    round_.group.anomaly(round_.record, AnomalyKind.TWO_OWNERS, severity, line)


def names_of(round_: Round, tps: Iterable[int]) -> str:
    return ", ".join(sorted(map(round_.group.context.topics.partition_text, tps)))
