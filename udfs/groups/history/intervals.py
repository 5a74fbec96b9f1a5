"""Open intervals of a group: a state, a stay of a member, ownership of partitions. And the rows that they become."""

from dataclasses import dataclass

from schemas.words.history import Confidence, LeaveKind, OwnershipEnd, StateEnd
from udfs.groups.history.row_makers import GROUP_STATE_INTERVAL, MEMBERSHIP_INTERVAL, OWNERSHIP_INTERVAL
from udfs.groups.history.rows import Row

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


def state_row(
    group_id: str, of: StateStretch, to_time: int | None, to_offset: int | None, is_exact: bool, why: StateEnd | None
) -> Row:
    return GROUP_STATE_INTERVAL(
        group_id=group_id, group_type=of.group_type, from_time=of.from_time, to_time=to_time,
        from_offset=of.from_offset, to_offset=to_offset, is_open=why is None, is_from_exact=of.is_from_exact,
        is_to_exact=is_exact, ended_by=why, state=of.state, generation_or_epoch=of.generation_or_epoch,
        protocol_type=of.protocol_type, assignor=of.assignor, num_members=of.num_members,
        evidence_first_offset=of.from_offset,
        evidence_last_offset=of.last_offset if to_offset is None else to_offset, confidence=of.confidence,
    )  # fmt: skip


def member_row(
    group_id: str, of: MemberStretch, to_time: int | None, to_offset: int | None, is_exact: bool,
    kind: LeaveKind | None, generation: int | None, confidence: Confidence,
) -> Row:  # fmt: skip
    return MEMBERSHIP_INTERVAL(
        group_id=group_id, group_type=of.group_type, member_id=of.member_id, from_time=of.from_time, to_time=to_time,
        from_offset=of.from_offset, to_offset=to_offset, is_open=kind is None, is_from_exact=of.is_from_exact,
        is_to_exact=is_exact, ended_by=kind, group_instance_id=of.group_instance_id, client_id=of.client_id,
        client_host=of.client_host, rack_id=of.rack_id, joined_generation=of.joined_generation,
        left_generation=generation, away_since_time=of.away_since_time, leave_kind=kind,
        evidence_first_offset=of.from_offset,
        evidence_last_offset=of.last_offset if to_offset is None else to_offset, confidence=confidence,
    )  # fmt: skip


def owner_row(
    group_id: str, of: OwnerStretch, member: MemberStretch | None, to_time: int | None, to_offset: int | None,
    is_exact: bool, why: OwnershipEnd | None,
) -> Row:  # fmt: skip
    # Its record may be missing.
    instance, client_id, client_host = (
        (None, None, None) if member is None else (member.group_instance_id, member.client_id, member.client_host)
    )
    # Commits at both ends are added when commits are linked.
    return OWNERSHIP_INTERVAL(
        group_id=group_id, group_type=of.group_type, tp=of.tp, from_time=of.from_time, to_time=to_time,
        from_offset=of.from_offset, to_offset=to_offset, is_open=why is None, is_from_exact=of.is_from_exact,
        is_to_exact=is_exact, ended_by=why, member_id=of.member_id, group_instance_id=instance, client_id=client_id,
        client_host=client_host, generation_or_epoch=of.generation_or_epoch, phase=of.phase, role=of.role,
        subtopology_id=of.subtopology_id, start_offset=None, end_offset=None, evidence_first_offset=of.from_offset,
        evidence_last_offset=of.last_offset if to_offset is None else to_offset, confidence=CERTAIN,
    )  # fmt: skip
