"""Stores a consumer, share or streams group between runs, as JSON."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from schemas.words.records import GroupType
from udfs.assignors.questions.specs import Topic
from udfs.audit.modern.events import NOTHING, Held, ListedTopics, Subscriber, Tasks
from udfs.audit.modern.group import Bump, Member, ModernGroup, Newest
from udfs.audit.modern.owner_watch import Watch, pairs_of
from udfs.topics.partition_codes import TopicCodes

# Fields that JSON can store as they are.
PLAIN = ("missing", "epoch", "metadata_hash", "target_epoch", "names", "inferred")


def plain(group: ModernGroup, codes: TopicCodes) -> dict[str, Any]:
    """Only between operations: a half-read operation cannot be stored."""
    group.settle()
    listed = group.listed
    return {
        "group_type": group.group_type,
        **{name: getattr(group, name) for name in PLAIN},
        "room": group.room,
        "watch": [group.watch.renamed, group.watch.issues, group.watch.faults],
        "members": [
            [member_id, each.about, each.epoch, plain_held(each.assigned, codes), plain_held(each.pending, codes)]
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
        "bumps": [[epoch, bump.members, bump.metadata_hash] for epoch, bump in group.bumps.items()
                  if group.target_epoch is None or epoch > group.target_epoch],
        "variant": None if group.variant is None else group.variant[:3],
        "newest": group.newest,
    }  # fmt: skip


def from_plain(found: dict[str, Any] | None, codes: TopicCodes) -> ModernGroup | None:
    if found is None:
        return None
    group = ModernGroup(
        next(each for each in GroupType if each == found["group_type"]), **{name: found[name] for name in PLAIN}
    )
    group.room = found["room"]
    for member_id, about, epoch, assigned, pending in found["members"]:
        group.members[member_id] = Member(
            subscriber(about), epoch, held_of(assigned, codes), held_of(pending, codes)
        )  # fmt: skip
    renamed, issues, faults = found["watch"]
    group.watch = Watch({}, renamed, issues, faults)
    for each, member in group.members.items():
        group.watch.move(each, [], pairs_of(member.assigned, member.pending))
    group.targets = {each: target_of(target, codes) for each, target in found["targets"].items()}
    group.base = {
        each: group.targets[each] if target is None else target_of(target, codes)
        for each, target in found["base"].items()
    }
    group.patterns = {each: tuple(topics) for each, topics in found["patterns"].items()}
    group.listed = listed_of(found["listed"])
    group.bumps = {
        epoch: Bump({each: subscriber(about) for each, about in members.items()}, metadata_hash)
        for epoch, members, metadata_hash in found["bumps"]
    }
    if found["variant"] is not None:
        assignor, release, jdk = found["variant"]
        group.variant = (assignor, tuple(release), jdk)
    if found["newest"] is not None:
        newest = Newest(*found["newest"])
        group.newest = newest._replace(topics={name: (count, id_) for name, (count, id_) in newest.topics.items()})
    return group


def subscriber(about: list[Any] | None) -> Subscriber | None:
    return None if about is None else Subscriber(about[0], about[1], tuple(about[2]), *about[3:])


def listed_of(found: list[Any] | None) -> ListedTopics | None:
    if found is None:
        return None
    topics, assignable, is_early = found
    return ListedTopics(
        tuple(
            Topic(name, count, topic_id, None if racks is None else tuple(tuple(each) for each in racks))
            for name, count, topic_id, racks in topics
        ),
        None if assignable is None else tuple(tuple(each) for each in assignable),
        is_early,
    )


def plain_target(target: Held | Tasks, codes: TopicCodes) -> Any:
    return {"tasks": target.active} if isinstance(target, Tasks) else plain_held(target, codes)


def target_of(found: Any, codes: TopicCodes) -> Held | Tasks:
    if isinstance(found, Mapping):
        return Tasks(tuple((subtopology, partition) for subtopology, partition in found["tasks"]))
    return held_of(found, codes)


def plain_held(held: Held, codes: TopicCodes) -> list[Any]:
    """Topics by id with their partitions, in the record's order."""
    pairs = zip(held.topics.tolist(), held.partitions.tolist(), strict=True)
    return [[codes.topics[code][1], [each for _, each in some]] for code, some in groupby(pairs, key=lambda p: p[0])]


def held_of(found: list[Any], codes: TopicCodes) -> Held:
    if not found:
        return NOTHING
    sizes = [len(partitions) for _, partitions in found]
    topics = np.repeat(np.array([codes.of_id(topic_id) for topic_id, _ in found], np.int64), sizes)
    return Held(topics, np.array([each for _, partitions in found for each in partitions], np.int32))
