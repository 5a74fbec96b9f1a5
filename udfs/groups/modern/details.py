"""Describes changes of a consumer, share or streams group in words, with names, from its records."""

from collections.abc import Mapping, Sequence

from schemas.words.history import RebalanceTrigger
from schemas.words.records import GroupType
from udfs.groups.history.change_details import (
    PLAIN,
    Change,
    member_name,
    name_list,
    partition_changes,
    subscription,
    topic_changes,
)
from udfs.groups.readers.modern_values import About, GroupEpoch, Topics
from udfs.groups.states.modern import Base, Member
from udfs.topics.partition_codes import TopicCodes

METADATA, SUBSCRIPTION = RebalanceTrigger.METADATA_CHANGED, RebalanceTrigger.SUBSCRIPTION_CHANGED
# What it means for a group that a topic appears in the list, and that it disappears.
LISTED = {
    GroupType.CONSUMER: ("created", "deleted"),
    GroupType.SHARE: ("share state initialized", "share state removed"),
    GroupType.STREAMS: ("created", "deleted"),
}


def name_of(member_id: str, member: Member) -> str:
    return member_id if member.about is None else about_name(member_id, member.about)


def about_name(member_id: str, about: About) -> str:
    return member_name(member_id, about.client_id, about.client_host, about.group_instance_id)


def member_changes(member_id: str, before: About, about: About) -> list[Change]:
    """A new client, host or rack does not cause a rebalance."""
    name = about_name(member_id, about)
    changes = subscription(name, before.topics or (), about.topics or ())
    if before.regex != about.regex:
        new = f"subscribes to pattern {about.regex}"
        pattern = new if about.regex else f"no longer subscribes to pattern {before.regex}"
        changes.append(Change(SUBSCRIPTION, pattern, name))
    if before.topology_epoch != about.topology_epoch:
        epochs = f"{text_or_none(before.topology_epoch)} → {text_or_none(about.topology_epoch)}"
        changes.append(Change(SUBSCRIPTION, f"runs another topology: epoch {epochs}", name))
    if before.assignor != about.assignor:
        wanted = (
            f"asks for assignor {about.assignor}" if about.assignor else "leaves the choice of assignor to the broker"
        )
        changes.append(Change(RebalanceTrigger.ASSIGNOR_CHANGED, wanted, name))
    return changes


def pattern_changes(pattern: str, before: Sequence[str] | None, after: Sequence[str]) -> list[Change]:
    if before is not None and {*before} == {*after}:
        return []
    added, removed = sorted({*after} - {*(before or ())}), sorted({*(before or ())} - {*after})
    texts = [f"pattern {pattern} {'matches' if before is None else 'now matches'} {name_list(added)}"] if added else []
    texts += [f"pattern {pattern} no longer matches {name_list(removed)}"] if removed else []
    texts = texts or [f"pattern {pattern} matches no topic"]
    return [Change(RebalanceTrigger.REGEX_RESOLVED, PLAIN, text) for text in texts]


def listed_topics_changes(group_type: GroupType, before: Topics, after: Topics) -> list[Change]:
    needs_trigger = group_type != GroupType.SHARE
    return topic_changes(before.counts(), after.counts(), *LISTED[group_type], needs_trigger=needs_trigger)


def set_up_changes(before: Topics, after: Topics) -> list[Change]:
    """A share group's members are given new partitions only when these have share state. So this record, and no target
    yet, shows which ones made its epoch. The same stands in each record until all are set up."""
    known = {each.topic_id or each.topic: {*each.partitions} for each in before.being_set_up}
    lines = []
    for each in after.being_set_up:
        new = [number for number in each.partitions if number not in known.get(each.topic_id or each.topic, ())]
        if new:
            lines.append(f"share state of {numbered(new)} of topic {each.topic} is being set up")
    return [Change(METADATA, PLAIN, line, needs_trigger=True) for line in sorted(lines)]


def numbered(partitions: Sequence[int]) -> str:
    """`partitions`: ascending."""
    first, last = partitions[0], partitions[-1]
    if first == last:
        return f"partition {first:,}"
    is_gapless = len(partitions) == last - first + 1
    return f"partitions {f'{first:,} to {last:,}' if is_gapless else name_list([f'{each:,}' for each in partitions])}"


def other_topology(before: int, after: int) -> Change:
    return Change(SUBSCRIPTION, PLAIN, f"topology epoch {before} → {after}")


def epoch_changes(before: GroupEpoch, value: GroupEpoch) -> list[Change]:
    """For streams groups: the topology that the coordinator validated, and its settings for assignments."""
    changes = []
    validated = value.validated_topology_epoch
    if validated is not None and validated >= 0 and validated != before.validated_topology_epoch:
        changes.append(Change(METADATA, PLAIN, f"all topics of topology epoch {validated} exist"))
    settings, wanted = dict(before.configs or ()), dict(value.configs or ())
    for name in sorted(wanted) if before.configs is not None else ():
        if settings.get(name) != wanted[name]:
            text = f"{name} {text_or_none(settings.get(name))} → {wanted[name]}"
            changes.append(Change(RebalanceTrigger.ASSIGNOR_CHANGED, PLAIN, text))
    return changes


def target_changes(
    trigger: str, changes: Sequence[Change], base: Mapping[str, Base], target: Mapping[str, Base], topics: TopicCodes
) -> list[Change]:
    """From 4.1 on no record lists the partitions of topics. Only targets show how many there are."""
    if not base or not target or any(each.trigger == METADATA for each in changes):
        return []
    is_cause = trigger == METADATA
    before, after = (frozenset().union(*(each.assigned for each in of.values())) for of in (base, target))
    if len(before) == len(after) and not is_cause:
        return []
    of_partitions = partition_changes(before, after, topics, is_cause=is_cause)
    if is_cause and not of_partitions:
        of_partitions.append(
            Change(
                METADATA,
                PLAIN,
                "the metadata hash changed, but no partition count: racks or ids of subscribed topics changed",
            )
        )
    return of_partitions


def text_or_none(value: object) -> str:
    return "none" if value is None else str(value)
