"""Rows of intervals that end, or that are open at the end of the log."""

from schemas.words.history import Confidence, LeaveKind, OwnershipEnd, StateEnd
from udfs.groups.history.intervals import MemberStretch, OpenInterval, OwnerStretch, StateStretch
from udfs.groups.history.row_makers import GROUP_STATE_INTERVAL, MEMBERSHIP_INTERVAL, OWNERSHIP_INTERVAL
from udfs.groups.history.rows import Row


def state_row(
    group_id: str, of: StateStretch, to_time: int | None, to_offset: int | None, is_exact: bool, why: StateEnd | None
) -> Row:
    return GROUP_STATE_INTERVAL(
        of, group_id=group_id, to_time=to_time, to_offset=to_offset, is_open=why is None, is_to_exact=is_exact,
        ended_by=why, evidence_first_offset=of.from_offset, evidence_last_offset=last_offset(of, to_offset),
    )  # fmt: skip


def member_row(
    group_id: str, of: MemberStretch, to_time: int | None, to_offset: int | None, is_exact: bool,
    kind: LeaveKind | None, generation: int | None, confidence: Confidence,
) -> Row:  # fmt: skip
    return MEMBERSHIP_INTERVAL(
        of, group_id=group_id, to_time=to_time, to_offset=to_offset, is_open=kind is None, is_to_exact=is_exact,
        ended_by=kind, left_generation=generation, leave_kind=kind, evidence_first_offset=of.from_offset,
        evidence_last_offset=last_offset(of, to_offset), confidence=confidence,
    )  # fmt: skip


def owner_row(
    group_id: str, of: OwnerStretch, member: MemberStretch | None, to_time: int | None, to_offset: int | None,
    is_exact: bool, why: OwnershipEnd | None,
) -> Row:  # fmt: skip
    """`member`: None: its record is missing."""
    instance, client_id, client_host = (
        (None, None, None) if member is None else (member.group_instance_id, member.client_id, member.client_host)
    )
    return OWNERSHIP_INTERVAL(
        of, group_id=group_id, to_time=to_time, to_offset=to_offset, is_open=why is None, is_to_exact=is_exact,
        ended_by=why, group_instance_id=instance, client_id=client_id, client_host=client_host,
        evidence_first_offset=of.from_offset, evidence_last_offset=last_offset(of, to_offset),
    )  # fmt: skip


def last_offset(of: OpenInterval, to_offset: int | None) -> int:
    return of.last_offset if to_offset is None else to_offset
