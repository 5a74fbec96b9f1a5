"""What Kafka's assignors would give a group with its members and topics of now: the balance, how many partitions would
move, and how many would stop during the change.

`assignment_whatif` has a row for each group and assignor. `groupscope whatif` asks the same about a changed group (see
`whatif_changes`), and prints the questions for `groupscope assign`, which gives the same answers.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

from schemas.words.assignments import PartitionCountsSource
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.answers import ASSIGNORS, member_lists
from udfs.assignors.groups import Answer, AssignorFailed, Group, Lists, group_of
from udfs.assignors.questions import LEADERS, MOST_PARTITIONS, GroupProtocol, Member, Owned, Spec, Topic, stand_in_id
from udfs.audit.checks.assignments import largest_difference
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.whatif_changes import NO_CHANGE, GroupChange, apply_change, costs
from udfs.groups.readers.classic_columns import OWNED_SINCE
from udfs.groups.readers.pause_collector import uncollected
from udfs.sentences.name_lists import list_names

Choice = tuple[GroupProtocol, str]
# By group type: the group protocols whose assignors it could use.
BY_LEADERS = tuple((GroupProtocol.CLASSIC, name) for name in LEADERS)
BY_COORDINATORS = tuple((GroupProtocol.CONSUMER, name) for name in ("uniform", "range"))
CHOICES: Mapping[GroupType, Sequence[Choice]] = MappingProxyType(
    {
        GroupType.CLASSIC: (*BY_LEADERS, *BY_COORDINATORS),
        GroupType.CONSUMER: (*BY_LEADERS, *BY_COORDINATORS),
        GroupType.STREAMS: BY_COORDINATORS,
        GroupType.SHARE: ((GroupProtocol.SHARE, "simple"),),
    }
)
ALL_CHOICES = tuple(dict.fromkeys(choice for choices in CHOICES.values() for choice in choices))
# Members give up everything before they join again.
EAGER = frozenset({(GroupProtocol.CLASSIC, name) for name in ("range", "roundrobin", "sticky")})
COOPERATIVE = (GroupProtocol.CLASSIC, "cooperative-sticky")
# Assignors that look at racks: the leader's assignors since 3.5, except roundrobin.
LOOK_AT_RACKS = frozenset(BY_LEADERS) - {(GroupProtocol.CLASSIC, "roundrobin")}
# All claims are of the same generation.
GENERATION = 1
# A second rebalance assigns what the first withheld. With unequal subscriptions there may be more, and rarely they
# never end.
MOST_ROUNDS = 10
MOST_NAMED = 3


Line = dict[str, Any]


class WhatIf(SimpleNamespace):
    """Fields are the columns of `assignment_whatif`."""


def what_ifs(groups: Sequence[Latest], facts: Facts) -> list[WhatIf]:
    """By group, then by choice of assignor."""
    with uncollected():
        questions = (Question(at_present(latest, facts), facts) for latest in groups)
        return [question.row(choice) for question in questions for choice in CHOICES[question.latest.group_type]]


def at_present(latest: Latest, facts: Facts) -> Latest:
    """With topics as they are now, since a rebalance would assign these: as snapshots show them since the assignment,
    or with as many partitions as records name, if they name more. The racks of these are unknown."""
    since = latest.record_time
    newest = {topic.name: facts.topics[topic.name][-1] for topic in latest.topics if facts.topics.get(topic.name)}
    # By the first time: the last one changes with each snapshot, and all groups would have to be computed again.
    later = {name for name, known in newest.items() if since is not None and known.first_time > since}

    def now(topic: Topic) -> Topic:
        known = newest.get(topic.name)
        if known is None:
            return topic
        number = known.topic.partitions
        # If the assignment has no time, only more partitions are a change for certain: topics only grow.
        has_changed = number > topic.partitions if since is None else topic.name in later and number != topic.partitions
        topic = known.topic if has_changed else topic
        return replace(topic, partitions=known.beyond, racks=None) if known.beyond > topic.partitions else topic

    # Snapshots after the assignment show all partitions. But if records name more, there may be still more.
    names = [topic.name for topic in latest.topics if topic.name not in facts.deleted_topics]
    source = PartitionCountsSource.SNAPSHOT if names and later.issuperset(names) else latest.counts_source
    if any(newest[name].beyond for name in names if name in newest):
        source = PartitionCountsSource.INFERRED
    return replace(latest, topics=tuple(map(now, latest.topics)), counts_source=source)


def why_impossible(latest: Latest) -> str | None:
    """For any assignor. A log may contain what no client or broker writes."""
    if latest.group_type == GroupType.STREAMS:
        return "a streams group: its assignor gives tasks, not partitions"
    if latest.reason is not None or not latest.members:
        return latest.reason or "no members"
    if (count := sum(topic.partitions for topic in latest.topics)) > MOST_PARTITIONS:
        return f"topics of {count} partitions together, more than a cluster can hold"
    met: set[str] = set()
    for member in latest.members:
        if member.member_id in met:
            return f"member {member.member_id} is in the group twice"
        met.add(member.member_id)
        for topic, partitions in member.owned:
            if (lowest := min(partitions, default=0)) < 0:
                what = f"member {member.member_id} owns partition {lowest} of {topic}"
                return f"{what}; a partition number cannot be negative"
    return None


# -- the question and its answers


class WhatIfAnswer(NamedTuple):
    """`assigned` is what each member gets, by positions of the group."""

    group: Group
    assigned: Lists

    @property
    def lists(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """By member: topics and partitions."""
        return dict(member_lists(self.group, self.assigned))


@dataclass
class Question:
    """About a group in its current state, or after a change: members claim what they have, all in one generation."""

    current: Latest
    facts: Facts
    change: GroupChange = NO_CHANGE
    groups: dict[GroupProtocol, Group] = field(default_factory=dict)
    answers: dict[Choice, WhatIfAnswer | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.latest = apply_change(self.current, self.change)

    @cached_property
    def topics(self) -> tuple[Topic, ...]:
        """Topics that members have but that are deleted, or that no member subscribes to, come last: a coordinator
        knows them as deleted. Classic groups know only names. So an id is that of the newest snapshot, else a
        stand-in."""
        present = [topic for topic in self.latest.topics if topic.name not in self.facts.deleted_topics]
        others = {name for member in self.latest.members for name, _ in member.owned} - {each.name for each in present}
        return tuple(
            replace(topic, topic_id=topic.topic_id or known_id(topic.name, self.facts) or stand_in_id(topic.name))
            for topic in (*present, *(Topic(name, 0) for name in sorted(others)))
        )

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """As they would join: each claims what it has now, in the form of every assignor."""
        owned = [in_order(member.owned) for member in self.latest.members]
        return tuple(
            replace(member, owned=own, generation=GENERATION, user_data=sticky_data(own), target=own)
            for member, own in zip(self.latest.members, owned, strict=True)
        )

    @cached_property
    def held(self) -> set[tuple[int, int, int]]:
        """What members had before the change, by positions of members and topics; those that left come last."""
        topics = {topic.name: place for place, topic in enumerate(self.topics)}
        members = {member.member_id: place for place, member in enumerate(self.latest.members)}
        return {
            (members.setdefault(member.member_id, len(members)), topics.setdefault(topic, len(topics)), each)
            for member in self.current.members
            for topic, partitions in member.owned
            for each in partitions
        }

    @cached_property
    def classes(self) -> list[int]:
        """The same number for members that subscribe to the same topics."""
        known: dict[frozenset[str], int] = {}
        return [known.setdefault(frozenset(each.subscribed_topics), len(known)) for each in self.latest.members]

    @cached_property
    def is_lone(self) -> bool:
        """Whether one member has only partitions that exist, of topics that it subscribes to: any assignor gives it all
        that there are of these."""
        if len(self.latest.members) != 1 or self.change:
            return False
        (member,) = self.latest.members
        names = member.subscribed_topics
        counts = {topic.name: topic.partitions for topic in self.topics if topic.name in names}
        return len(set(names)) == len(names) and all(
            0 <= each < counts.get(topic, 0) for topic, partitions in member.owned for each in partitions
        )

    @cached_property
    def obstacle(self) -> str | None:
        return why_impossible(self.latest)

    @cached_property
    def old_members(self) -> list[str]:
        """Clients up to 2.3 and kafka-python write version 0 of the subscription."""
        versions = zip(self.latest.members, self.latest.subscription_versions, strict=False)
        return [member.member_id for member, version in versions if version is not None and version < OWNED_SINCE]

    def why_not(self, choice: Choice) -> str | None:
        if self.obstacle is not None or not self.old_members:
            return self.obstacle
        if choice == COOPERATIVE:
            return f"subscription version 0 cannot say what a member owns: {list_names(self.old_members, MOST_NAMED)}"
        if choice in BY_COORDINATORS:
            names = list_names(self.old_members, MOST_NAMED)
            return f"subscription version 0 is of clients without the consumer protocol: {names}"
        return None

    def rounds(self, choice: Choice) -> Iterator[tuple[Group, Answer]]:
        """The question of each rebalance and its answer. To cooperative-sticky, a moving partition is withheld until
        its owner has given it up: members join once more, and then it is assigned."""
        protocol, assignor = choice[0], ASSIGNORS[choice]
        if protocol not in self.groups:
            # For all assignors of the protocol: the sticky one reads user data, the cooperative one reads owned
            # partitions, the others read neither.
            self.groups[protocol] = group_of(Spec(protocol, "", self.topics, self.members))
        group = self.groups[protocol]
        for _ in range(1 + MOST_ROUNDS):
            answer = assignor.answer(group)
            yield group, answer
            if choice != COOPERATIVE or isinstance(answer, AssignorFailed):
                return
            if all(set(had) <= set(has) for had, has in zip(group.owned, answer, strict=True)):
                return
            # A member has a partition once, whatever a list says.
            group = replace(group, owned=[list(dict.fromkeys(own)) for own in answer])

    def answer(self, choice: Choice) -> WhatIfAnswer | str:
        """Or why there is none."""
        if choice not in self.answers:
            self.answers[choice] = self.why_not(choice) or self.last_answer(choice)
        return self.answers[choice]

    def last_answer(self, choice: Choice) -> WhatIfAnswer | str:
        *_, (group, assigned) = self.rounds(choice)
        if isinstance(assigned, AssignorFailed):
            return f"Kafka's assignor would end with an exception: {assigned}"
        return WhatIfAnswer(group, assigned)

    def numbers(self, choice: Choice) -> tuple[int, int, int] | str:
        """The imbalance, and the partitions that move and that stop; or why there is no answer."""
        is_eager = choice in EAGER
        if self.is_lone and self.why_not(choice) is None:
            return 0, 0, len(self.held) if is_eager else 0
        answer = self.answer(choice)
        if isinstance(answer, str):
            return answer
        sizes = [len(own) for own in answer.assigned]
        given = {(member, *partition) for member, own in enumerate(answer.assigned) for partition in own}
        return largest_difference(self.classes, sizes), *costs(self.held, given, is_eager=is_eager)

    def notes(self, choice: Choice) -> Iterator[str]:
        """What an answer leaves out."""
        members, topics = self.latest.members, self.latest.topics
        if self.latest.counts_source in (None, PartitionCountsSource.INFERRED):
            yield "partitions beyond the highest one that records name are not known"
        if choice in LOOK_AT_RACKS and any(each.rack_id for each in members) and any(t.racks is None for t in topics):
            yield "racks of the partitions' replicas are unknown; computed without racks, so Kafka's result may differ"
        if choice not in BY_LEADERS and not all(each.topic_id or known_id(each.name, self.facts) for each in topics):
            yield "topic ids are unknown: their order decides assignments, so Kafka's real choice may differ"
        if self.change.num_added:
            yield "assumed member ids new-1 and so on; assignors order members by id, so the real assignment may differ"

    def row(self, choice: Choice) -> WhatIf:
        latest, result = self.latest, self.numbers(choice)
        why_not = result if isinstance(result, str) else None
        imbalance, num_moved, num_stopped = (None, None, None) if isinstance(result, str) else result
        notes = [*self.notes(choice)] if why_not is None else [why_not]
        return WhatIf(
            group_id=latest.group_id,
            group_type=latest.group_type,
            assignment_offset=latest.assignment_offset,
            group_protocol=choice[0],
            assignor=choice[1],
            imbalance=imbalance,
            moves_from_current=num_moved,
            partitions_stopped=num_stopped,
            is_possible=why_not is None,
            reason="; ".join(notes) or None,
            evidence_first_offset=latest.evidence_first_offset,
            evidence_last_offset=latest.assignment_offset,
            confidence=Confidence.LIKELY if notes and why_not is None else Confidence.CERTAIN,
        )


def known_id(name: str, facts: Facts) -> str | None:
    known = (each.topic.topic_id for each in reversed(facts.topics.get(name, ())))
    return next((topic_id for topic_id in known if topic_id is not None), None)


def in_order(owned: Owned) -> Owned:
    """Clients sort what they own by topic and partition."""
    return tuple((topic, tuple(sorted(partitions))) for topic, partitions in sorted(owned))


def sticky_data(owned: Owned) -> bytes:
    """What the sticky assignor remembers of its last assignment; see `sticky_claims`."""
    parts = [struct.pack(">i", len(owned))]
    for topic, partitions in owned:
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions))
    return b"".join((*parts, struct.pack(">i", GENERATION)))


# -- the question as lines for `groupscope assign`

ABOUT_MEMBERS = ("member_id", "group_instance_id", "rack_id", "subscribed_topics")


def spec_lines(question: Question, choice: Choice) -> Iterator[Line]:
    """One line; for cooperative-sticky one line per rebalance: later ones assign what the first withholds, so the
    answer to the last line is the answer of the what-if."""
    protocol, assignor = choice
    if protocol == GroupProtocol.CLASSIC:
        names: tuple[str, ...] = (*ABOUT_MEMBERS, "user_data" if assignor == "sticky" else "owned", "generation")
    else:
        names = (*ABOUT_MEMBERS, "target")
    # Without a stand-in id: `assign` makes the same one, and says so.
    topics = [
        replace(topic, topic_id=None)
        if protocol == GroupProtocol.CLASSIC or topic.topic_id == stand_in_id(topic.name)
        else topic
        for topic in question.topics
    ]
    groups = [group for group, _ in question.rounds(choice)]
    members = question.members
    for number, group in enumerate(groups, 1):
        if number > 1:
            lists = member_lists(group, group.owned)
            members = tuple(replace(each, owned=by_topic(own)) for each, (_, own) in zip(members, lists, strict=True))
        step = f" rebalance {number}" if len(groups) > 1 else ""
        yield {
            "id": f"{question.latest.group_id} {protocol} {assignor}{step}",
            "group_protocol": str(protocol),
            "assignor": assignor,
            "topics": [known_fields(topic, ("name", "partitions", "topic_id", "racks")) for topic in topics],
            "members": [known_fields(member, names) for member in members],
        }


def by_topic(partitions: Sequence[tuple[str, int]]) -> Owned:
    lists: dict[str, list[int]] = {}
    for topic, partition in partitions:
        lists.setdefault(topic, []).append(partition)
    return in_order(tuple((topic, tuple(own)) for topic, own in lists.items()))


def known_fields(of: Topic | Member, names: Sequence[str]) -> Line:
    values = ((name, getattr(of, name)) for name in names)
    return {name: each.hex() if isinstance(each, bytes) else each for name, each in values if each is not None}
