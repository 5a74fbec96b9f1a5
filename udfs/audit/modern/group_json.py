"""Stores a consumer, share or streams group between runs, as JSON."""

from collections.abc import Mapping
from typing import Any

from schemas.words.history import TaskRole
from schemas.words.records import GroupType
from udfs.assignors.questions.specs import Topic
from udfs.audit.modern.group import Bump, ModernGroup, Newest
from udfs.audit.modern.owner_watch import Watch, all_partitions
from udfs.groups.readers.modern_values import About, Topics
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Tasks, partitions_of
from udfs.groups.states.modern import Member
from udfs.topics.partition_codes import TopicCodes

# Fields that JSON can store as they are.
PLAIN = ("missing", "epoch", "metadata_hash", "target_epoch", "names", "inferred")


def plain(group: ModernGroup, codes: TopicCodes) -> dict[str, Any]:
    """Only between operations: a half-read operation cannot be stored."""
    group.settle()
    listed = group.topics
    return {
        "group_type": group.group_type,
        **{name: getattr(group, name) for name in PLAIN},
        "room": group.room,
        "watch": [group.watch.renamed, group.watch.issues, group.watch.faults],
        "members": [
            [member_id, subscriber(each.about), each.epoch, plain_target(each.assigned, codes),
             plain_target(each.pending, codes)]
            for member_id, each in group.members.items()
        ],
        "targets": {each: plain_target(target, codes) for each, target in group.targets.items()},
        # Mostly equal to the targets themselves.
        "base": {
            each: None if target is group.targets.get(each) else plain_target(target, codes)
            for each, target in group.base.items()
        },
        "patterns": group.patterns,
        "listed": None if listed is None else [[[each.name, each.partitions, each.topic_id, each.racks]
                                                for each in listed.topics],
                                               listed.assignable, listed.is_early],
        "bumps": [[epoch, {each: subscriber(about) for each, about in bump.members.items()}, bump.metadata_hash]
                  for epoch, bump in group.bumps.items()
                  if group.target_epoch is None or epoch > group.target_epoch],
        "variant": None if group.variant is None else group.variant[:3],
        "newest": group.newest,
    }  # fmt: skip


def from_plain(state: dict[str, Any] | None, codes: TopicCodes) -> ModernGroup | None:
    if state is None:
        return None
    group = ModernGroup(
        next(each for each in GroupType if each == state["group_type"]), **{name: state[name] for name in PLAIN}
    )
    group.room = state["room"]
    for member_id, about, epoch, assigned, pending in state["members"]:
        group.members[member_id] = Member(
            about_of(about), epoch, assigned=target_of(assigned, codes), pending=target_of(pending, codes)
        )
    renamed, issues, faults = state["watch"]
    group.watch = Watch({}, renamed, issues, faults)
    for each, member in group.members.items():
        group.watch.move(each, (), all_partitions(member.assigned, member.pending))
    group.targets = {each: target_of(target, codes) for each, target in state["targets"].items()}
    group.base = {
        each: group.targets[each] if target is None else target_of(target, codes)
        for each, target in state["base"].items()
    }
    group.patterns = {each: tuple(topics) for each, topics in state["patterns"].items()}
    group.topics = listed_of(state["listed"])
    group.bumps = {
        epoch: Bump({each: about_of(about) for each, about in members.items()}, metadata_hash)
        for epoch, members, metadata_hash in state["bumps"]
    }
    if state["variant"] is not None:
        assignor, release, jdk = state["variant"]
        group.variant = (assignor, tuple(release), jdk)
    if state["newest"] is not None:
        newest = Newest(*state["newest"])
        group.newest = newest._replace(topics={name: (count, id_) for name, (count, id_) in newest.topics.items()})
    return group


def subscriber(about: About | None) -> list[Any] | None:
    """What the audit needs of it."""
    if about is None:
        return None
    return [about.group_instance_id, about.rack_id, about.topics or (), about.regex, about.assignor, about.is_classic]


def about_of(values: list[Any] | None) -> About | None:
    if values is None:
        return None
    instance, rack, topics, regex, assignor, is_classic = values
    return About(
        group_instance_id=instance,
        rack_id=rack,
        client_id=None,
        client_host=None,
        rebalance_timeout_ms=None,
        topics=tuple(topics),
        regex=regex,
        assignor=assignor,
        is_classic=is_classic,
    )


def listed_of(values: list[Any] | None) -> Topics | None:
    if values is None:
        return None
    topics, assignable, is_early = values
    return Topics(
        tuple(
            Topic(name, count, topic_id, None if racks is None else tuple(tuple(each) for each in racks))
            for name, count, topic_id, racks in topics
        ),
        None if assignable is None else tuple(tuple(each) for each in assignable),
        is_early,
    )


def plain_target(share: ByRole, codes: TopicCodes) -> Any:
    """Topics by id with their partitions, in the record's order; of streams groups the active tasks."""
    tasks = share.get(TaskRole.ACTIVE)
    if isinstance(tasks, Tasks):
        return {"tasks": tasks.listed}
    return [[topic_id, partitions] for _, topic_id, partitions in partitions_of(share).plain(codes)]


def target_of(values: Any, codes: TopicCodes) -> ByRole:
    if isinstance(values, Mapping):
        return {TaskRole.ACTIVE: Tasks((subtopology, partition) for subtopology, partition in values["tasks"])}
    return {None: Partitions.from_plain([(None, topic_id, partitions) for topic_id, partitions in values], codes)}
