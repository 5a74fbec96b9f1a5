"""The output of recomputing: a row of `assignment_audit`, and a group's latest assignment for what-ifs."""

from dataclasses import dataclass, field

from schemas.words.assignments import Algorithm, AssignorSource, CheckName, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.questions import Member, Topic
from udfs.audit.checks.trials import Trial

MOST_DIFFERENCES = 1_000


@dataclass(frozen=True)
class Difference:
    topic: str
    partition: int
    recorded_member_id: str | None
    expected_member_id: str | None


@dataclass(frozen=True)
class Check:
    name: CheckName
    is_ok: bool | None
    detail: str | None = None


@dataclass(frozen=True)
class AuditRow:
    """Fields are the columns of `assignment_audit`; times are microseconds."""

    group_id: str
    group_type: GroupType
    assignment_offset: int
    generation_or_epoch: int
    record_time: int | None
    assignor: str | None
    assignor_source: AssignorSource | None
    algorithm: Algorithm | None
    verdict: Verdict
    reason: str | None
    num_partitions: int | None
    num_different: int | None
    differences: tuple[Difference, ...] | None
    num_unowned: int | None
    num_owned_twice: int | None
    num_nonexistent: int | None
    num_idle_members: int | None
    imbalance: int | None
    moves_made: int | None
    moves_needed: int | None
    partition_counts_source: PartitionCountsSource | None
    variant: str | None
    known_defect: str | None
    checks: tuple[Check, ...]
    evidence_first_offset: int
    evidence_last_offset: int
    confidence: Confidence
    stale_topics: tuple[str, ...] | None = None
    # Later snapshots may change the result. Not a column.
    is_unconfirmed: bool = False
    # Of a difference that other targets of the group may explain (see `judgement`). Not a column.
    trial: Trial | None = field(default=None, compare=False)


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
