"""Open intervals of a group: a state, a stay of a member, ownership of partitions. And the rows that they become."""

from dataclasses import dataclass
from typing import Any

from schemas.tables.history import GROUP_STATE_INTERVALS, MEMBERSHIP_INTERVALS, OWNERSHIP_INTERVALS
from schemas.words.history import Confidence, LeaveKind, OwnershipEnd, StateEnd
from udfs.groups.history.rows import Row, row_fields

CERTAIN = Confidence.CERTAIN


@dataclass(slots=True)
class OpenInterval:
    """An open interval; `last_offset` is the last record that confirms it."""

    from_time: int | None
    from_offset: int
    is_from_exact: bool
    last_offset: int


@dataclass(slots=True)
class StateStretch(OpenInterval):
    group_type: str
    state: str | None
    generation_or_epoch: int | None
    protocol_type: str | None
    assignor: str | None
    num_members: int | None
    confidence: str = Confidence.CERTAIN


@dataclass(slots=True)
class MemberStretch(OpenInterval):
    group_type: str
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    rack_id: str | None
    joined_generation: int | None
    away_since_time: int | None = None


@dataclass(slots=True)
class OwnerStretch(OpenInterval):
    """Of partitions that the member got together. They mostly change owners together."""

    group_type: str
    tp: frozenset[int]
    member_id: str
    generation_or_epoch: int | None
    phase: str
    role: str | None = None
    subtopology_id: str | None = None


# The fields of an interval, and their values.
INTERVAL = (
    "from_time", "to_time", "from_offset", "to_offset", "is_open", "is_from_exact", "is_to_exact",
    "ended_by",
)  # fmt: skip


def interval(
    of: OpenInterval, to_time: int | None, to_offset: int | None, is_to_exact: bool, why: str | None
) -> tuple[Any, ...]:
    return (
        of.from_time, to_time, of.from_offset, to_offset, why is None, of.is_from_exact, is_to_exact,
        why,
    )  # fmt: skip


STATE = row_fields(
    GROUP_STATE_INTERVALS,
    "group_id", "group_type", *INTERVAL, "state", "generation_or_epoch",
    "protocol_type", "assignor", "num_members", "evidence_first_offset",
    "evidence_last_offset", "confidence",
)  # fmt: skip


def state_row(
    group_id: str, of: StateStretch, to_time: int | None, to_offset: int | None, is_exact: bool, why: StateEnd | None
) -> Row:
    return (
        STATE,
        group_id, of.group_type, *interval(of, to_time, to_offset, is_exact, why), of.state, of.generation_or_epoch,
        of.protocol_type, of.assignor, of.num_members, of.from_offset,
        of.last_offset if to_offset is None else to_offset, of.confidence,
    )  # fmt: skip


MEMBER = row_fields(
    MEMBERSHIP_INTERVALS,
    "group_id", "group_type", "member_id", *INTERVAL,
    "group_instance_id", "client_id", "client_host", "rack_id", "joined_generation", "left_generation",
    "away_since_time", "leave_kind", "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def member_row(
    group_id: str, of: MemberStretch, to_time: int | None, to_offset: int | None, is_exact: bool,
    kind: LeaveKind | None, generation: int | None, confidence: Confidence,
) -> Row:  # fmt: skip
    return (
        MEMBER,
        group_id, of.group_type, of.member_id, *interval(of, to_time, to_offset, is_exact, kind),
        of.group_instance_id, of.client_id, of.client_host, of.rack_id, of.joined_generation, generation,
        of.away_since_time, kind, of.from_offset, of.last_offset if to_offset is None else to_offset, confidence,
    )  # fmt: skip


# Of the member that owns the partition; its record may be missing.
CLIENT = ("group_instance_id", "client_id", "client_host")
NO_CLIENT = (None, None, None)
OWNER = row_fields(
    OWNERSHIP_INTERVALS,
    "group_id", "group_type", "tp", "from_time", "to_time", "from_offset", "to_offset", "is_open",
    "is_from_exact", "is_to_exact", "ended_by", "member_id", *CLIENT, "generation_or_epoch", "phase", "role",
    "subtopology_id", "start_offset", "end_offset", "evidence_first_offset", "evidence_last_offset",
    "confidence",
)  # fmt: skip


def owner_row(
    group_id: str, of: OwnerStretch, member: MemberStretch | None, to_time: int | None, to_offset: int | None,
    is_exact: bool, why: OwnershipEnd | None,
) -> Row:  # fmt: skip
    client = NO_CLIENT if member is None else (member.group_instance_id, member.client_id, member.client_host)
    from_offset = of.from_offset
    # Commits at both ends are added when commits are linked. Written out without `interval`: there are more of these
    # rows than of all others together.
    return (
        OWNER,
        group_id, of.group_type, of.tp, of.from_time, to_time, from_offset, to_offset, why is None,
        of.is_from_exact, is_exact, why, of.member_id, *client, of.generation_or_epoch, of.phase, of.role,
        of.subtopology_id, None, None, from_offset, of.last_offset if to_offset is None else to_offset,
        CERTAIN,
    )  # fmt: skip
