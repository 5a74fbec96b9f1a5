"""Stores a consumer, share or streams group between runs, as JSON."""

from collections.abc import Mapping
from typing import Any

from schemas.words.history import TaskRole
from schemas.words.records import GroupType
from udfs.assignors.questions import Topic
from udfs.audit.checks.trials import Trial
from udfs.audit.modern.group import Inputs, ModernGroup, Newest
from udfs.audit.modern.owner_watch import Watch, all_partitions
from udfs.groups.readers.modern_values import About, Topics
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Tasks, partitions_of
from udfs.groups.states.modern import Member
from udfs.topics.partition_codes import TopicCodes

# Fields that JSON can store as they are.
PLAIN = ("missing", "epoch", "metadata_hash", "target_epoch", "names", "inferred", "is_cut")


def plain(group: ModernGroup, codes: TopicCodes) -> dict[str, Any]:
    """Only between operations: a half-read operation cannot be stored."""
    group.settle()
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
        "listed": plain_topics(group.topics),
        "inputs": [plain_inputs(each, group, codes) for each in group.inputs],
        "trials": {name: [each.num_equal, each.num_unequal] for name, each in group.trials.items()},
        "variant": None if group.variant is None else group.variant[:3],
        "newest": group.newest,
    }  # fmt: skip


def from_plain(state: dict[str, Any] | None, codes: TopicCodes) -> ModernGroup | None:
    """What-ifs also read what an older release stored: without inputs and trials."""
    if state is None:
        return None
    group = ModernGroup(
        next(each for each in GroupType if each == state["group_type"]),
        **{name: state[name] for name in PLAIN if name in state},
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
    group.inputs = [inputs_of(each, group, codes) for each in state.get("inputs", ())]
    group.trials = {
        name: Trial(equal, unequal, (equal, unequal)) for name, (equal, unequal) in state.get("trials", {}).items()
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


def plain_inputs(was: Inputs, group: ModernGroup, codes: TopicCodes) -> list[Any]:
    """None: as it still is, like most of it."""
    now = group.abouts
    return [
        was.epoch,
        [[each, None if each in now and about is now[each] else [subscriber(about)]]
         for each, about in was.members.items()],
        was.joined, was.room, was.metadata_hash,
        {each: None if target is group.targets.get(each) else plain_target(target, codes)
         for each, target in was.targets.items()},
        None if was.patterns == group.patterns else was.patterns,
        None if was.topics is group.topics else [plain_topics(was.topics)],
    ]  # fmt: skip


def inputs_of(values: list[Any], group: ModernGroup, codes: TopicCodes) -> Inputs:
    epoch, members, joined, room, metadata_hash, targets, patterns, topics = values
    return Inputs(
        epoch=epoch,
        members={each: group.members[each].about if own is None else about_of(own[0]) for each, own in members},
        joined=tuple(joined),
        room=room,
        metadata_hash=metadata_hash,
        targets={
            each: group.targets[each] if target is None else target_of(target, codes)
            for each, target in targets.items()
        },
        patterns={each: tuple(of) for each, of in (group.patterns if patterns is None else patterns).items()},
        topics=group.topics if topics is None else listed_of(topics[0]),
    )


def plain_topics(listed: Topics | None) -> list[Any] | None:
    if listed is None:
        return None
    return [[[each.name, each.partitions, each.topic_id, each.racks] for each in listed.topics], listed.assignable,
            listed.is_early]  # fmt: skip


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
