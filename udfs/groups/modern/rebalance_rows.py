"""Makes the rows of one rebalance of a consumer, share or streams group: the rebalance and its members. Rows of the
partitions that changed owners are made in `moves`."""

from collections.abc import Mapping

from schemas.words.history import MemberChange, RebalanceMode, RebalanceOutcome
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.row_makers import GENERATION_MEMBER, REBALANCE
from udfs.groups.history.rows import Row
from udfs.groups.modern.causes import confidence
from udfs.groups.modern.moves import COUNTED_ROLES, milliseconds
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import NOTHING, Base, Member, Modern, Rebalance

UNKNOWN_SETS = MemberSets()


def rebalance_row(
    group: Group, now: Modern, of: Rebalance, outcome: RebalanceOutcome, end: Moment, *, is_open: bool, more: int = 0
) -> Row:
    duration = milliseconds(of.start.time, end.time)
    return REBALANCE(
        group_id=group.group_id, group_type=now.group_type, assignment_offset=of.assignment_offset,
        from_generation=of.from_generation, to_generation=of.to_generation, start_time=of.start.time,
        is_start_exact=of.start.is_exact, end_time=end.time, is_open=is_open, duration_ms=duration, outcome=outcome,
        trigger=of.trigger, mode=RebalanceMode.INCREMENTAL, members_joined=of.members_joined,
        members_departed=of.members_departed, num_members_before=of.num_members_before,
        num_members_after=of.num_members_after, leader_before=None, leader_after=None,
        num_partitions=of.num_partitions, num_moved=of.num_moved, num_returned=of.num_returned,
        num_withheld=None, num_maybe_revoking=None, num_ready_to_migrate=None, num_unknown_owned=None,
        num_unowned=of.num_unowned + more, is_follow_up=False, unpersisted_rounds=None, sync_ms=None,
        stopped_partition_ms=of.stopped_ms, assignor_before=of.assignor_before, assignor_after=of.assignor_after,
        trigger_detail=of.detail, unread_partition_low_ms=of.unread_low_ms,
        unread_partition_high_ms=of.unread_high_ms, longest_unread_high_ms=of.longest_unread_ms,
        evidence_first_offset=of.start.offset, evidence_last_offset=max(end.offset, of.assignment_offset),
        confidence=confidence(of),
    )  # fmt: skip


def member_rows(group: Group, now: Modern, target: Mapping[str, Base], of: Rebalance, at: Moment) -> list[Row]:
    """Members of this assignment, then members of the previous one."""
    rows: list[Row] = []
    for member_id, member in now.members.items():
        before = now.base.get(member_id)
        change = MemberChange.JOINED if before is None else MemberChange.KEPT
        if before is not None and before.is_restarted:
            change = MemberChange.RESTARTED
        owned, assigned = owned_by(member), target[member_id].assigned
        topics = None if member.about is None or member.about.topics is None else subscribed_topics(now, member_id)
        rows.append(GENERATION_MEMBER(
            MemberSets(added=assigned - owned, revoked=owned - assigned, kept=owned & assigned),
            group_id=group.group_id, group_type=now.group_type, assignment_offset=of.assignment_offset,
            member_id=member_id, generation_or_epoch=of.to_generation,
            group_instance_id=member.group_instance_id, change=change, is_leader=None, subscribed_topics=topics,
            previous_assigned=before.assigned if before else NOTHING, claimed_owned=owned, assigned=assigned,
            evidence_first_offset=of.start.offset, evidence_last_offset=at.offset,
        ))  # fmt: skip
    for member_id, base in now.base.items():
        if member_id not in now.members:
            rows.append(GENERATION_MEMBER(
                UNKNOWN_SETS,
                group_id=group.group_id, group_type=now.group_type, assignment_offset=of.assignment_offset,
                member_id=member_id, generation_or_epoch=of.to_generation,
                group_instance_id=base.group_instance_id, change=MemberChange.LEFT, is_leader=None,
                subscribed_topics=None, previous_assigned=base.assigned, claimed_owned=None, assigned=None,
                evidence_first_offset=of.start.offset, evidence_last_offset=at.offset,
            ))  # fmt: skip
    return rows


def owned_by(member: Member) -> frozenset[int]:
    shares = [tps for (_, role), tps in member.shown.items() if role in COUNTED_ROLES]
    return shares[0] if len(shares) == 1 else NOTHING.union(*shares)


def subscribed_topics(now: Modern, member_id: str) -> list[str]:
    """Subscribed by name and, if resolved, by pattern."""
    about = now.members[member_id].about
    assert about is not None
    matched = () if about.regex is None else now.patterns.get(about.regex, ())
    return sorted({*(about.topics or ()), *matched})
