"""The question of a coordinator to its assignor as arrays: positions instead of names."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import (
    Hashes,
    Positions,
    RankOf,
    by_text,
    copied_set_capacity,
    put_order,
    ranks,
    string_hashes,
    uuid_hashes,
)
from udfs.assignors.questions.problems import ABSENT, Assignment, Codes, Numbers, Rows, as_sets, owned_rows
from udfs.assignors.questions.specs import JDKS, NEWEST_RELEASE, GroupProtocol, Release, Spec


@dataclass(frozen=True)
class ServerProblem:
    """Members are in the order in which the coordinator puts them into its map.

    `topics` holds every topic that somebody subscribes to or has a target on; one that the metadata lacks has a count
    of 0. Members that subscribe to the same topics share a class: `topics_of_class` are its topics as they were listed.
    `ids` are the topics' ids as pairs of 64 bits, big-endian. `targets` are the members' targets of the epoch before.
    In those of share groups a topic without partitions is a row whose partition is ABSENT.
    """

    members: Sequence[str]
    instances: Sequence[str | None]
    topics: Sequence[str]
    counts: Numbers
    ids: NDArray[np.int64]
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    targets: Rows
    # Share groups: rows of which only topics and partitions count; None where all may be assigned.
    assignable: Rows | None = None
    release: Release = NEWEST_RELEASE
    jdk: int = JDKS[0]

    @cached_property
    def walked(self) -> Positions:
        """The members as Kafka walks its map of them."""
        return put_order(string_hashes(self.members), rank_of=by_text(self.members))

    @cached_property
    def places(self) -> Positions:
        """The place of each member in that walk."""
        return ranks(self.walked)

    @cached_property
    def id_hashes(self) -> Hashes:
        return uuid_hashes(self.ids[:, 0], self.ids[:, 1])

    def by_id(self, topics: Positions) -> RankOf:
        """Uuid.compareTo among the topics."""
        return lambda position: tuple(self.ids[topics[position]].tolist())

    @property
    def is_homogeneous(self) -> bool:
        """Kafka counts subscribers of each name, known or not: the order of the lists is not looked at."""
        if len(self.topics_of_class) == 1:
            return True
        names = (frozenset(listed.tolist()) for listed in self.topics_of_class)
        first = next(names, None)
        return first is not None and all(each == first for each in names)

    @cached_property
    def subscribed(self) -> Sequence[Positions]:
        """For each class the ids of what the metadata knows, as a walk over Kafka's set of names meets them."""
        hashes = string_hashes(self.topics)
        walks = []
        for listed in self.topics_of_class:
            capacity = copied_set_capacity(len(listed), self.jdk)
            walked = listed[put_order(hashes[listed], capacity, by_text(self.topics, listed))]
            walks.append(walked[self.counts[walked] > 0].astype(np.intp))
        return walks

    @cached_property
    def takes(self) -> NDArray[np.bool_]:
        """Class by topic: who subscribes to what the metadata knows."""
        is_known = np.zeros((len(self.topics_of_class), len(self.topics)), np.bool_)
        for row, listed in zip(is_known, self.topics_of_class, strict=True):
            row[listed] = self.counts[listed] > 0
        return is_known

    @cached_property
    def walked_targets(self) -> Rows:
        """The targets with members as places in the walk, and in its order."""
        members = self.places[self.targets.members].astype(np.int32)
        rows = Rows(members, self.targets.topics, self.targets.partitions)
        if (members[1:] >= members[:-1]).all():
            return rows
        # NumPy sorts 16-bit numbers by radix, several times as fast.
        key = members.astype(np.uint16) if len(self.members) <= 1 << 16 else members
        return rows.take(np.argsort(key, kind="stable"))

    def assignment_of(self, places: NDArray[np.integer], topics: Codes, partitions: Codes) -> Assignment:
        return Assignment(self.walked[places].astype(np.int32), topics, partitions)


def server_problem_of(spec: Spec) -> ServerProblem:
    names: dict[str, int] = {topic.name: position for position, topic in enumerate(spec.topics)}
    classes: dict[tuple[str, ...], int] = {}
    # Sets to the coordinator: a name that a record has twice counts once.
    subscribed = [tuple(dict.fromkeys(member.subscribed_topics)) for member in spec.members]
    class_of_member = [classes.setdefault(listed, len(classes)) for listed in subscribed]
    topics_of_class = [
        np.array([names.setdefault(name, len(names)) for name in listed], np.int32) for listed in classes
    ]
    targets = targets_of(spec, names)
    assignable = None if spec.assignable is None else owned_rows([spec.assignable], names)
    unknown = len(names) - len(spec.topics)
    raw = b"".join(base64.urlsafe_b64decode(f"{topic.topic_id}==") for topic in spec.topics) + bytes(16 * unknown)
    return ServerProblem(
        members=[member.member_id for member in spec.members],
        instances=[member.group_instance_id for member in spec.members],
        topics=list(names),
        counts=np.array([topic.partitions for topic in spec.topics] + [0] * unknown, np.int64),
        ids=np.frombuffer(raw, ">i8").astype(np.int64).reshape(-1, 2),
        class_of_member=np.array(class_of_member, np.int32),
        topics_of_class=topics_of_class,
        targets=targets,
        assignable=assignable,
        release=spec.release,
        jdk=spec.jdk,
    )


def targets_of(spec: Spec, names: dict[str, int]) -> Rows:
    """Only coordinators of share groups write topics without partitions, which take room in Java's maps."""
    targets = [member.target for member in spec.members]
    if spec.group_protocol != GroupProtocol.SHARE or all(partitions for target in targets for _, partitions in target):
        return as_sets(owned_rows(targets, names))
    rows = as_sets(owned_rows([tuple((topic, of or (ABSENT,)) for topic, of in target) for target in targets], names))
    # A topic that a record lists twice may have partitions after all.
    sets, sizes = np.unique(rows.members.astype(np.int64) << 32 | rows.topics, return_counts=True)
    of_row = np.searchsorted(sets, rows.members.astype(np.int64) << 32 | rows.topics)
    return rows.take((rows.partitions != ABSENT) | (sizes[of_row] == 1))
