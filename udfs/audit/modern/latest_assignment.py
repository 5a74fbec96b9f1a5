"""A group's newest target assignment, for what-ifs."""

from collections.abc import Mapping

from schemas.words.assignments import PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.questions import Member, Owned, Topic
from udfs.audit.checks.results import Latest
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import member_order, subscription
from udfs.groups.readers.recorded_lists import Partitions, partitions_of
from udfs.topics.partition_codes import TopicCodes


def latest_of_group(group_id: str, group: ModernGroup | None, codes: TopicCodes) -> Latest | None:
    if group is None or group.newest is None or not group.members:
        return None
    newest = group.newest
    names = {topic_id: name for name, (_, topic_id) in newest.topics.items() if topic_id is not None}
    members = () if group.group_type == GroupType.STREAMS else tuple(
        member_of(group, member_id, names, codes) for member_id in member_order(group, list(group.members), ())
    )  # fmt: skip
    return Latest(
        group_id=group_id,
        group_type=group.group_type,
        assignment_offset=newest.assignment_offset,
        record_time=newest.record_time,
        assignor=newest.assignor,
        topics=tuple(Topic(name, count, topic_id) for name, (count, topic_id) in newest.topics.items()),
        members=members,
        counts_source=next((each for each in PartitionCountsSource if each == newest.counts_source), None),
        evidence_first_offset=newest.first_offset,
        reason=newest.reason,
    )


def member_of(group: ModernGroup, member_id: str, names: Mapping[str, str], codes: TopicCodes) -> Member:
    about = group.members[member_id].about
    has = owned_by_topic(partitions_of(group.targets.get(member_id, {})), names, codes)
    if about is None:
        return Member(member_id, owned=has, target=has)
    return Member(
        member_id,
        about.group_instance_id,
        about.rack_id or None,
        subscription(group, about),
        owned=has,
        target=has,
    )


def owned_by_topic(held: Partitions, names: Mapping[str, str], codes: TopicCodes) -> Owned:
    owned: dict[str, list[int]] = {}
    for code, partition in zip(held.topics.tolist(), held.partitions.tolist(), strict=True):
        name, topic_id = codes.topics[code]
        owned.setdefault(names.get(topic_id or "") or name or str(topic_id), []).append(partition)
    return tuple((topic, tuple(partitions)) for topic, partitions in owned.items())
