"""The question of a coordinator to its assignor as arrays: positions instead of names."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hashes import string_hashes, utf_16, uuid_hash
from udfs.assignors.java.maps import Keys, copied_set, walked
from udfs.assignors.questions.problems import ABSENT, Codes, Numbers, Rows, as_sets, owned_rows
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
    def hash_codes(self) -> list[int]:
        """Of the members, then of the topics' names."""
        codes: list[int] = string_hashes([*self.members, *self.topics]).tolist()
        return codes

    @cached_property
    def walked(self) -> list[int]:
        """The members as Kafka walks its map of them."""
        return walked(self.hash_codes[: len(self.members)], lambda member: utf_16(self.members[member]))

    @cached_property
    def class_of_place(self) -> list[int]:
        """Of each member in that walk."""
        classes = self.class_of_member.tolist()
        return [classes[member] for member in self.walked]

    @cached_property
    def topic_keys(self) -> Keys[int]:
        """Uuid.hashCode and Uuid.compareTo."""
        codes = [uuid_hash(most, least) for most, least in self.ids.tolist()]
        return Keys(codes.__getitem__, lambda topic: tuple(self.ids[topic].tolist()))

    @property
    def is_homogeneous(self) -> bool:
        """Kafka counts subscribers of each name, known or not: the order of the lists is not looked at."""
        if len(self.topics_of_class) == 1:
            return True
        names = (frozenset(listed.tolist()) for listed in self.topics_of_class)
        first = next(names, None)
        return first is not None and all(each == first for each in names)

    @cached_property
    def subscribed(self) -> list[list[int]]:
        """For each class the topics that the metadata knows, as a walk over Kafka's set of names meets them."""
        codes, first = self.hash_codes, len(self.members)
        keys = Keys[int](lambda topic: codes[first + topic], lambda topic: utf_16(self.topics[topic]))
        counts = self.counts.tolist()
        return [
            [topic for topic in copied_set(keys, listed.tolist(), self.jdk).walk() if counts[topic]]
            for listed in self.topics_of_class
        ]


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
