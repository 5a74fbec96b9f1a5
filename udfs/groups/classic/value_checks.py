"""What is odd in the values of a classic group: each is an anomaly, and the replay goes on."""

from collections import Counter

from schemas.records.payloads import CONSUMER
from schemas.words.history import AnomalyKind, Severity
from udfs.groups.classic.rounds import Round
from udfs.groups.readers.classic_records import ClassicValue
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Group


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
