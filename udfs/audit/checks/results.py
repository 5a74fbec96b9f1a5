"""What an audit gives: how a recorded assignment compares with an assignor's, what moved since the one before, a row of
`assignment_audit` with its checks, and a group's latest assignment for what-ifs."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Final, TypeVar

import numpy as np

from schemas.words.assignments import (
    AssignorSource,
    AuditReason,
    CheckName,
    PartitionCountsSource,
    Verdict,
)
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.groups import NOBODY, Numbers, Rows
from udfs.assignors.questions import Member, Topic
from udfs.audit.checks.assignments import (
    FINE,
    Check,
    Racks,
    RecordedAssignment,
    balanced,
    check,
    complete,
    cooperative_safe,
    owners_of,
    partition_list,
    required_checks,
    static_once,
    valid,
)
from udfs.audit.checks.facts import (
    ALL_CONFIRMED,
    UNKNOWN,
    Confirmation,
    Facts,
    Flags,
    GroupRule,
    are_whole,
    proved_numbers,
    rules_of,
)

MOST_DIFFERENCES = 1_000
# Of owners before: the member has left the group, so its partitions move in any case.
GONE = -2
NO_PLACES: Final = np.zeros(0, np.int64)
# So many targets that differ from Kafka's, while none is equal, are those of another class.
FEWEST_UNEQUAL = 3


@dataclass(frozen=True)
class Difference:
    topic: str
    partition: int
    recorded_member_id: str | None
    expected_member_id: str | None


class Balance(Enum):
    """What an assignor spreads evenly over the members that subscribe to the same topics."""

    EACH_TOPIC = auto()
    ALL_PARTITIONS = auto()


@dataclass
class Trial:
    """Whether the class that runs under an assignor's name is Kafka's, by how often the targets of one group are those
    of Kafka's class: a broker takes any class for `group.consumer.assignors`, and the class says its own name, so a
    name proves no class. `num_equal` counts only targets that another assignor would hardly give too."""

    num_equal: int = 0
    num_unequal: int = 0
    # Both numbers at the end of the previous run.
    before: tuple[int, int] = (0, 0)
    # Whether the brokers' setting lists a class that is not Kafka's, and whether that is the one in force.
    is_any_listed: bool = False
    is_listed: bool = False

    @property
    def is_kafkas(self) -> bool | None:
        """None: too few targets show it."""
        return self.is_kafkas_by(self.num_equal, self.num_unequal)

    def is_kafkas_by(self, num_equal: int, num_unequal: int) -> bool | None:
        if num_equal:
            return True
        return False if self.is_listed or num_unequal >= FEWEST_UNEQUAL else None

    @property
    def is_overturned(self) -> bool:
        """Whether this run changes what rows of earlier runs say."""
        return self.before[1] > 0 and self.is_kafkas_by(*self.before) is not self.is_kafkas


class AuditRow(SimpleNamespace):
    """Fields are the columns of `assignment_audit`; times are microseconds. Two are no columns: `is_unconfirmed` says
    that later snapshots may change the result, and a difference that other targets of the group may explain has their
    `trial` until it is `judged`."""

    trial: Trial | None = None


# Columns that are NULL if the record does not show who has what.
COUNTED = ("num_partitions", "num_unowned", "num_owned_twice", "num_nonexistent", "num_idle_members", "imbalance")


@dataclass(frozen=True)
class Latest:
    """A group's newest assignment. Members are in the order in which the assignor would see them; `owned` and `target`
    of each are what it has. Topics are the subscribed ones, with the numbers of partitions that were used."""

    group_id: str
    group_type: GroupType
    assignment_offset: int
    record_time: int | None
    # The assignor in force, if known.
    assignor: str | None
    topics: tuple[Topic, ...]
    members: tuple[Member, ...]
    counts_source: PartitionCountsSource | None
    evidence_first_offset: int
    # Classic groups: the version of each member's subscription, in the order of members.
    subscription_versions: tuple[int | None, ...] = ()
    # Why nothing can be recomputed: members whose subscription cannot be read, no topic id, …
    reason: str | None = None


# -- the record beside an answer


@dataclass(frozen=True)
class Comparison:
    verdict: Verdict
    num_different: int = 0
    differences: tuple[Difference, ...] = ()


def compare(members: Sequence[str], topics: Sequence[str], recorded: Rows, expected: Rows) -> Comparison:
    """Rows name members and topics by their positions in these, each member's in the order of its list."""
    recorded, expected = by_member(recorded), by_member(expected)
    if are_equal(recorded, expected) or are_equal(recorded, by_member(group_by_topic(expected))):
        return Comparison(Verdict.SAME)
    listed = recorded.triples()
    ours, theirs = set(listed), set(expected.triples())
    if len(recorded) == len(expected) and ours == theirs:
        return Comparison(Verdict.SAME_MEMBERS_OTHER_ORDER)
    # Partitions with other owners, and those that a member's list names twice.
    repeated = (each for each, times in Counter(listed).items() if times > 1)
    partitions = sorted(
        {(topic, partition) for _, topic, partition in (ours ^ theirs).union(repeated)},
        key=lambda each: (topics[each[0]], each[1]),
    )
    has, should = owners_of(ours), owners_of(theirs)
    differences = []
    for topic, partition in partitions[:MOST_DIFFERENCES]:
        of, to = has.get((topic, partition), set()), should.get((topic, partition), set())
        # A member that has it and should not, and one that should have it and does not; else any that has it.
        at = (min(of - to or of, default=None), min(to - of or to, default=None))
        differences.append(Difference(topics[topic], partition, *(None if one is None else members[one] for one in at)))
    return Comparison(Verdict.DRIFT, len(partitions), tuple(differences))


def by_member(rows: Rows) -> Rows:
    if (rows.members[1:] >= rows.members[:-1]).all():
        return rows
    return rows.take(np.argsort(rows.members, kind="stable"))


def group_by_topic(rows: Rows) -> Rows:
    """As lists are written: a member's topics in the order in which they first appear in its list, each with all its
    partitions."""
    keys = rows.members.astype(np.int64) << 32 | rows.topics
    num_stretches = np.count_nonzero(keys[1:] != keys[:-1]) + 1
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if num_stretches == max(1, len(first)):
        return rows
    return rows.take(np.argsort(first[which], kind="stable"))


def are_equal(ours: Rows, theirs: Rows) -> bool:
    return (
        len(ours) == len(theirs)
        and np.array_equal(ours.members, theirs.members)
        and np.array_equal(ours.topics, theirs.topics)
        and np.array_equal(ours.partitions, theirs.partitions)
    )


# -- the record beside the one before: the KIP-429 measures of cost


def owners_by_place(rows: Rows, counts: Numbers) -> Numbers:
    """For partitions that exist, topic after topic; of several owners the last."""
    starts = np.cumsum(counts) - counts
    owners = np.full(int(counts.sum()), NOBODY, np.int64)
    is_real = (rows.partitions >= 0) & (rows.partitions < counts[rows.topics])
    rows = rows if is_real.all() else rows.take(is_real)
    owners[starts[rows.topics] + rows.partitions] = rows.members
    return owners


def moves_made(before: Numbers, now: Numbers) -> int:
    """Partitions that an owner lost: to another one or, in cooperative groups, to nobody for a while. Both are owners
    by place."""
    return int(np.count_nonzero((before != NOBODY) & (before != now)))


def moves_needed(before: Numbers, num_members: int) -> int:
    """The minimum of moves to a balanced assignment, if all members subscribe to the topics of all places.

    A member keeps up to its share of a balanced assignment, and as many members as there are partitions left over keep
    one more.
    """
    if not num_members:
        return 0
    share, extra = divmod(len(before), num_members)
    sizes = np.bincount(before[before >= 0], minlength=num_members)
    kept = int(np.minimum(sizes, share).sum()) + min(extra, int(np.count_nonzero(sizes > share)))
    return int(np.count_nonzero(before != NOBODY)) - kept


def moves(before: Rows, recorded: RecordedAssignment, counts: Numbers) -> tuple[int, int | None]:
    """Made and needed. With unequal subscriptions the number of needed ones is unknown."""
    had = owners_by_place(before, counts)
    made = moves_made(had, owners_by_place(recorded.rows, counts))
    return made, moves_needed(had, len(recorded.members)) if len(recorded.topics_of_class) == 1 else None


# -- an assignment with all of that, and its row


def checked_numbers(
    topics: Sequence[str], used: Numbers, rows: Rows, is_subscribed: Flags, *, is_reproduced: bool, shown: Confirmation
) -> Numbers:
    """Numbers of partitions that can be held against the record. `used`: those it was recomputed with."""
    if is_reproduced:
        return proved_numbers(topics, used, is_subscribed, shown)
    if shown.why is None:
        return used
    # A topic that is not completely assigned could make somebody look wrong, so its number counts as unknown.
    return np.where(are_whole(rows, used, is_subscribed), used, UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Result(ABC):
    """A recorded assignment beside the closest answer of Kafka's assignor, and what that proves. What generations of
    classic groups and targets of other groups show in their own ways, their own classes say."""

    verdict: Verdict
    reason: str | None
    # What confirms the numbers of partitions.
    confirmation: Confirmation = ALL_CONFIRMED
    # Partitions that two members owned at the same time since the previous assignment; None: nothing shows it.
    faults: Sequence[str] | None = None

    @property
    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Of its row, those that only its own class knows."""

    @property
    @abstractmethod
    def compared(self) -> Comparison | None:
        """With the closest answer; None: there is none, or it proves nothing."""

    @property
    @abstractmethod
    def recorded(self) -> RecordedAssignment:
        """With numbers of partitions that can be held against it."""

    @property
    def is_readable(self) -> bool:
        """Whether the record shows who has which partitions."""
        return True

    @property
    def balance(self) -> Balance | None:
        """What the assignor balances, if it is known."""
        return None

    @property
    def is_cooperative(self) -> bool:
        return False

    @cached_property
    def unsafe(self) -> Flags:
        """Rows that give a member what another one claims to own."""
        return np.zeros(0, np.bool_)

    @cached_property
    def withheld(self) -> Numbers:
        """Places of partitions without an owner that the next assignment gives away."""
        return NO_PLACES

    @property
    def instances(self) -> Sequence[str | None] | None:
        """Static ids; None: unknown, or there can be none."""
        return None

    def most_owners(self, rules: Sequence[GroupRule]) -> int:
        """How many members may have one partition."""
        return 1

    def racks(self, facts: Facts) -> tuple[Sequence[str | None], Racks] | None:
        """Of members and of replicas; None: unknown."""
        return None


AnyResult = TypeVar("AnyResult", bound=Result)


def audit_row(result: AnyResult, facts: Facts, defect_of: Callable[[AnyResult, bool], str | None]) -> AuditRow:
    """`defect_of`: the known defect that a result shows; it is also given whether the counts show nothing wrong."""
    columns, compared = result.columns, result.compared
    rules = rules_of(columns["group_id"], facts.rules)
    most_owners, recorded = result.most_owners(rules), result.recorded
    num_owned_twice = recorded.num_owned_twice(most_owners)
    is_valid = not (num_owned_twice or recorded.num_nonexistent or recorded.is_unsubscribed.any())
    counted: Sequence[int | None] = (None,) * len(COUNTED)
    if result.is_readable:
        unowned = recorded.num_unowned
        counted = (
            recorded.num_partitions,
            None if unowned is None else unowned - len(result.withheld),
            num_owned_twice,
            recorded.num_nonexistent,
            recorded.num_idle_members,
            recorded.imbalance,
        )
    return AuditRow(
        **columns,
        **dict(zip(COUNTED, counted, strict=True)),
        num_different=None if compared is None else compared.num_different,
        differences=None if compared is None else compared.differences,
        evidence_last_offset=columns["assignment_offset"],
        stale_topics=tuple(sorted(result.confirmation.confirmed)) if result.verdict == Verdict.STALE_INPUT else None,
        verdict=result.verdict,
        reason=result.reason,
        known_defect=defect_of(result, is_valid and not result.unsafe.any()),
        checks=tuple(checks_of(result, facts, rules, None if is_valid else valid(recorded, most_owners))),
    )


def checks_of(result: Result, facts: Facts, rules: Sequence[GroupRule], invalid: Check | None) -> Iterator[Check]:
    """`invalid`: what is wrong with single partitions; None: nothing is."""
    recorded, withheld = result.recorded, result.withheld
    if result.is_readable:
        yield invalid or FINE[CheckName.VALID]
        yield complete(recorded, withheld)
        if len(withheld):
            names = partition_list(recorded.named(withheld))
            line = f"{names}: assigned in the next generation, after their owners give them up"
            yield Check(CheckName.WITHHELD, True, line)
        if result.balance == Balance.EACH_TOPIC:
            uneven = [] if recorded.is_level_by_topic else ["a topic is spread unevenly over its subscribers"]
            yield check(CheckName.BALANCED, uneven)
        elif result.balance == Balance.ALL_PARTITIONS:
            yield balanced(recorded, len(withheld))
        if result.is_cooperative:
            yield cooperative_safe(recorded, result.unsafe)
    if result.instances is not None:
        yield static_once(result.instances)
    if result.faults is not None:
        yield check(CheckName.OWNED_ONCE, result.faults)
    if rules and result.is_readable and (racks := result.racks(facts)) is not None:
        for rule in rules:
            yield from required_checks(rule, recorded, *racks)


def judged(row: AuditRow) -> AuditRow:
    """A difference by all targets that the group's trial has counted so far: they show whose class gave it."""
    trial = row.trial
    if trial is None:
        return row
    changed: dict[str, Any] = {"trial": None}
    if trial.is_kafkas is not False:
        confidence = less(row.confidence) if trial.is_any_listed else row.confidence
        changed["confidence"] = less(confidence) if trial.is_kafkas is None else confidence
    else:
        # Without what was compared: the other class has rules of its own.
        changed |= {"verdict": Verdict.NOT_RECOMPUTABLE, "reason": AuditReason.CUSTOM_ASSIGNOR.value}
        changed |= dict.fromkeys(("num_different", "differences", "variant"))
        if row.assignor_source == AssignorSource.INFERRED or trial.is_listed:
            changed |= dict.fromkeys(("assignor", "assignor_source"))
    return AuditRow(**{**vars(row), **changed})


def less(confidence: Confidence) -> Confidence:
    """By one grade."""
    return Confidence.LIKELY if confidence == Confidence.CERTAIN else Confidence.POSSIBLE
