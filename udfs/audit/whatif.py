"""What Kafka's assignors would give a group with its members and topics of now: the balance, how many partitions would
move, and how many would stop during the change.

`assignment_whatif` has a row for each group and assignor. `groupscope whatif` asks the same about a changed group (see
`whatif_changes`), and prints the questions for `groupscope assign`, which gives the same answers.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from schemas.words.assignments import PartitionCountsSource
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.answers import ASSIGNORS, member_lists
from udfs.assignors.groups import Answer, Assignment, AssignorFailed, Group, Partition, group_of
from udfs.assignors.questions import LEADERS, MOST_PARTITIONS, GroupProtocol, Member, Owned, Spec, Topic, stand_in_id
from udfs.audit.checks.assignments import largest_difference
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.whatif_changes import costs
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
LOOK_AT_RACKS = frozenset({"range", "sticky", "cooperative-sticky"})
# From this version on, a subscription can say what the member owns. Clients up to 2.3 and kafka-python write 0.
OWNED_SINCE = 1
# All claims are of the same generation.
GENERATION = 1
# A second rebalance assigns what the first withheld. With unequal subscriptions there may be more, and rarely they
# never end.
MOST_ROUNDS = 10
MOST_NAMED = 3

Line = dict[str, Any]


@dataclass(frozen=True)
class WhatIf:
    """Fields are the columns of `assignment_whatif`."""

    group_id: str
    group_type: GroupType
    assignment_offset: int
    group_protocol: GroupProtocol
    assignor: str
    imbalance: int | None
    moves_from_current: int | None
    partitions_stopped: int | None
    is_possible: bool
    reason: str | None
    evidence_first_offset: int
    evidence_last_offset: int
    confidence: Confidence


def what_ifs(groups: Sequence[Latest], facts: Facts) -> list[WhatIf]:
    """By group, then by choice of assignor."""
    rows: list[WhatIf] = []
    with uncollected():
        for latest in groups:
            question = Question(at_present(latest, facts), facts)
            rows += [row(question, choice) for choice in CHOICES[latest.group_type]]
    return rows


def row(question: "Question", choice: Choice) -> WhatIf:
    latest, answer = question.latest, question.answer(choice)
    numbers: tuple[int | None, ...] = (None, None, None)
    if isinstance(answer, str):
        notes = [answer]
    else:
        numbers = (answer.imbalance, *costs(question.held, set(triples(answer.assigned)), is_eager=choice in EAGER))
        notes = list(left_out(latest, question.facts, choice))
    imbalance, num_moved, num_stopped = numbers
    return WhatIf(
        group_id=latest.group_id,
        group_type=latest.group_type,
        assignment_offset=latest.assignment_offset,
        group_protocol=choice[0],
        assignor=choice[1],
        imbalance=imbalance,
        moves_from_current=num_moved,
        partitions_stopped=num_stopped,
        is_possible=not isinstance(answer, str),
        reason="; ".join(notes) or None,
        evidence_first_offset=latest.evidence_first_offset,
        evidence_last_offset=latest.assignment_offset,
        confidence=Confidence.LIKELY if notes and not isinstance(answer, str) else Confidence.CERTAIN,
    )


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


# -- what keeps a group from an assignor, and an answer from being certain


def why_impossible(latest: Latest) -> str | None:
    """For any assignor. A log may contain what no client or broker writes."""
    if latest.group_type == GroupType.STREAMS:
        return "a streams group: its assignor gives tasks, not partitions"
    if latest.reason is not None:
        return latest.reason
    if not latest.members:
        return "no members"
    if (count := sum(topic.partitions for topic in latest.topics)) > MOST_PARTITIONS:
        return f"topics of {count} partitions together, more than a cluster can hold"
    met: set[str] = set()
    for member in latest.members:
        if member.member_id in met:
            return f"member {member.member_id} is in the group twice"
        met.add(member.member_id)
        for topic, partitions in member.owned:
            if min(partitions, default=0) < 0:
                return (
                    f"member {member.member_id} owns partition {min(partitions)} of {topic}; a partition number "
                    "cannot be negative"
                )
    return None


def why_refused(latest: Latest, choice: Choice) -> str | None:
    """For this assignor, if others are possible."""
    protocol, assignor = choice
    old = [
        member.member_id
        for member, version in zip(latest.members, latest.subscription_versions, strict=False)
        if version is not None and version < OWNED_SINCE
    ]
    if old and assignor == "cooperative-sticky":
        return f"subscription version 0 cannot say what a member owns: {list_names(old, MOST_NAMED)}"
    if old and protocol == GroupProtocol.CONSUMER:
        return f"subscription version 0 is of clients without the consumer protocol: {list_names(old, MOST_NAMED)}"
    return None


def left_out(latest: Latest, facts: Facts, choice: Choice) -> Iterator[str]:
    if latest.counts_source in (None, PartitionCountsSource.INFERRED):
        yield "partitions beyond the highest one that records name are not known"
    protocol, assignor = choice
    is_of_leader = protocol == GroupProtocol.CLASSIC
    has_racks = any(member.rack_id for member in latest.members)
    if is_of_leader and assignor in LOOK_AT_RACKS and has_racks and any(t.racks is None for t in latest.topics):
        yield "racks of the partitions' replicas are unknown; computed without racks, so Kafka's result may differ"
    if not is_of_leader and any(t.topic_id is None and known_id(t.name, facts) is None for t in latest.topics):
        yield "topic ids are unknown: their order decides assignments, so Kafka's real choice may differ"


# -- the question and its answer


@dataclass(frozen=True)
class WhatIfAnswer:
    """`assigned` is what each member gets, by positions of the group."""

    group: Group
    assigned: Assignment
    # Largest difference in numbers of partitions among members that subscribe to the same topics.
    imbalance: int

    @property
    def lists(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """By member: topics and partitions."""
        return dict(member_lists(self.group, self.assigned))


@dataclass
class Question:
    """About a group in its current state: members claim what they have, all in one generation."""

    latest: Latest
    facts: Facts
    groups: dict[GroupProtocol, Group] = field(default_factory=dict)

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
        """What members have, by positions of members and topics."""
        places = {topic.name: place for place, topic in enumerate(self.topics)}
        return {
            (place, places[topic], each)
            for place, member in enumerate(self.members)
            for topic, partitions in member.owned
            for each in partitions
        }

    @cached_property
    def obstacle(self) -> str | None:
        return why_impossible(self.latest)

    @cached_property
    def classes(self) -> list[int]:
        """The same number for members that subscribe to the same topics."""
        known: dict[frozenset[str], int] = {}
        return [known.setdefault(frozenset(each.subscribed_topics), len(known)) for each in self.members]

    def group(self, protocol: GroupProtocol) -> Group:
        """For all assignors of the protocol: the sticky one reads user data, the cooperative one reads owned
        partitions, the others read neither."""
        if protocol not in self.groups:
            self.groups[protocol] = group_of(Spec(protocol, "", self.topics, self.members))
        return self.groups[protocol]

    def rounds(self, choice: Choice) -> Iterator[tuple[Group, Answer]]:
        """The question of each rebalance and its answer. To cooperative-sticky, a moving partition is withheld until
        its owner has given it up: members join once more, and then it is assigned."""
        group, assignor = self.group(choice[0]), ASSIGNORS[choice]
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
        if (why := self.obstacle or why_refused(self.latest, choice)) is not None:
            return why
        *_, (group, answer) = self.rounds(choice)
        if isinstance(answer, AssignorFailed):
            return f"Kafka's assignor would end with an exception: {answer}"
        return WhatIfAnswer(group, answer, largest_difference(self.classes, list(map(len, answer))))


def triples(lists: Sequence[Sequence[Partition]]) -> Iterator[tuple[int, int, int]]:
    """Member, topic and partition."""
    return ((member, *partition) for member, own in enumerate(lists) for partition in own)


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


def spec_lines(question: Question, choice: Choice) -> Iterator[Line]:
    """One line; for cooperative-sticky one line per rebalance: later ones assign what the first withholds, so the
    answer to the last line is the answer of the what-if."""
    protocol, assignor = choice
    groups = [group for group, _ in question.rounds(choice)]
    for number, group in enumerate(groups, 1):
        members = question.members
        if number > 1:
            lists = member_lists(group, group.owned)
            members = tuple(replace(each, owned=by_topic(own)) for each, (_, own) in zip(members, lists, strict=True))
        step = f" rebalance {number}" if len(groups) > 1 else ""
        yield {
            "id": f"{question.latest.group_id} {protocol} {assignor}{step}",
            "group_protocol": str(protocol),
            "assignor": assignor,
            "topics": [topic_line(topic, protocol) for topic in question.topics],
            "members": [member_line(member, choice) for member in members],
        }


def by_topic(partitions: Sequence[tuple[str, int]]) -> Owned:
    lists: dict[str, list[int]] = {}
    for topic, partition in partitions:
        lists.setdefault(topic, []).append(partition)
    return in_order(tuple((topic, tuple(own)) for topic, own in lists.items()))


def topic_line(topic: Topic, protocol: GroupProtocol) -> Line:
    """Without a stand-in id: `assign` makes the same one, and says so."""
    is_known = protocol != GroupProtocol.CLASSIC and topic.topic_id != stand_in_id(topic.name)
    known_fields = {"topic_id": topic.topic_id if is_known else None, "racks": topic.racks}
    return {"name": topic.name, "partitions": topic.partitions} | without_none(known_fields)


def member_line(member: Member, choice: Choice) -> Line:
    fields: dict[str, Any] = {
        "group_instance_id": member.group_instance_id,
        "rack_id": member.rack_id,
        "subscribed_topics": member.subscribed_topics,
    }
    if choice[0] != GroupProtocol.CLASSIC:
        fields["target"] = member.target
    elif choice[1] == "sticky":
        fields["user_data"] = None if member.user_data is None else member.user_data.hex()
        fields["generation"] = member.generation
    else:
        fields["owned"], fields["generation"] = member.owned, member.generation
    return {"member_id": member.member_id} | without_none(fields)


def without_none(fields: Mapping[str, Any]) -> Line:
    return {name: value for name, value in fields.items() if value is not None}
