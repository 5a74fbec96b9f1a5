"""Makes the rows of one rebalance of a consumer, share or streams group: the rebalance and its members. Rows of the
partitions that changed owners are made in `moves`."""

from collections.abc import Mapping

from schemas.tables.history import GENERATION_MEMBERS, REBALANCES
from schemas.words.history import Confidence, MemberChange, RebalanceMode, RebalanceOutcome
from udfs.groups.history.rows import Row, row_fields
from udfs.groups.modern.causes import confidence
from udfs.groups.modern.moves import COUNTED_ROLES, milliseconds
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import NOTHING, Base, Member, Modern, Rebalance

REBALANCE = row_fields(
    REBALANCES,
    "group_id", "group_type", "assignment_offset", "from_generation", "to_generation", "start_time",
    "is_start_exact", "end_time", "is_open", "duration_ms", "outcome", "trigger", "mode",
    "members_joined", "members_departed", "num_members_before", "num_members_after", "leader_before", "leader_after",
    "num_partitions", "num_moved", "num_returned",
    "num_withheld", "num_maybe_revoking", "num_ready_to_migrate", "num_unknown_owned",
    "num_unowned", "is_follow_up", "unpersisted_rounds", "sync_ms",
    "stopped_partition_ms", "assignor_before", "assignor_after", "trigger_detail",
    "unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms",
    "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def rebalance_row(
    group: Group, now: Modern, of: Rebalance, outcome: RebalanceOutcome, end: Moment, *, is_open: bool, more: int = 0
) -> Row:
    duration = milliseconds(of.start.time, end.time)
    return (
        REBALANCE,
        group.group_id, now.group_type, of.assignment_offset, of.from_generation, of.to_generation, of.start.time,
        of.start.is_exact, end.time, is_open, duration, outcome, of.trigger, RebalanceMode.INCREMENTAL,
        of.members_joined, of.members_departed, of.num_members_before, of.num_members_after, None, None,
        of.num_partitions, of.num_moved, of.num_returned,
        None, None, None, None,
        of.num_unowned + more, False, None, None,
        of.stopped_ms, of.assignor_before, of.assignor_after, of.detail,
        of.unread_low_ms, of.unread_high_ms, of.longest_unread_ms,
        of.start.offset, max(end.offset, of.assignment_offset), confidence(of),
    )  # fmt: skip


MEMBER = row_fields(
    GENERATION_MEMBERS,
    "group_id", "group_type", "assignment_offset", "member_id", "generation_or_epoch", "is_open",
    "group_instance_id", "change", "is_leader", "subscribed_topics", "previous_assigned", "claimed_owned", "assigned",
    "added", "revoked", "kept", "lost", "dropped_before_join", "evidence_first_offset", "evidence_last_offset",
    "confidence",
)  # fmt: skip


def member_rows(group: Group, now: Modern, given: Mapping[str, Base], of: Rebalance, at: Moment) -> list[Row]:
    """Members of this assignment, then members of the previous one."""
    rows: list[Row] = []
    for member_id, member in now.members.items():
        before = now.base.get(member_id)
        change = MemberChange.JOINED if before is None else MemberChange.KEPT
        if before is not None and before.is_restarted:
            change = MemberChange.RESTARTED
        owned, assigned = owned_by(member), given[member_id].assigned
        topics = None if member.about is None or member.about.topics is None else subscribed_topics(now, member_id)
        rows.append((
            MEMBER,
            group.group_id, now.group_type, of.assignment_offset, member_id, of.to_generation, False,
            member.group_instance_id, change, None, topics, before.assigned if before else NOTHING, owned, assigned,
            assigned - owned, owned - assigned, owned & assigned, None, None, of.start.offset, at.offset,
            Confidence.CERTAIN,
        ))  # fmt: skip
    for member_id, base in now.base.items():
        if member_id not in now.members:
            rows.append((
                MEMBER,
                group.group_id, now.group_type, of.assignment_offset, member_id, of.to_generation, False,
                base.group_instance_id, MemberChange.LEFT, None, None, base.assigned, None, None,
                None, None, None, None, None, of.start.offset, at.offset,
                Confidence.CERTAIN,
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
