"""Makes the rows of one rebalance of a classic group: the rebalance, its members, and the partitions that changed
owners."""

from schemas.tables.history import GENERATION_MEMBERS, REBALANCES
from schemas.words.history import Confidence, MemberChange, RebalanceOutcome
from udfs.groups.classic import causes
from udfs.groups.classic.handover import Handover
from udfs.groups.classic.rounds import Round, milliseconds
from udfs.groups.history.rows import row_fields
from udfs.groups.readers.classic_records import NOTHING, ClassicMember
from udfs.groups.states.classic import GROUP_TYPE
from udfs.groups.states.kip429_sets import GroupSets, MemberSets, member_sets

NO_SETS = MemberSets(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
# These are unknown if an assignment cannot be read.
COUNTS = (
    "num_partitions", "num_moved", "num_returned", "num_withheld", "num_maybe_revoking",
    "num_ready_to_migrate", "num_unknown_owned", "num_unowned",
)  # fmt: skip
REBALANCE = row_fields(
    REBALANCES,
    "group_id", "group_type", "assignment_offset", "from_generation",
    "to_generation", "start_time", "is_start_exact", "end_time", "is_open", "duration_ms", "outcome",
    "trigger", "mode", "members_joined", "members_departed",
    "num_members_before", "num_members_after",
    "leader_before", "leader_after", *COUNTS,
    "is_follow_up", "unpersisted_rounds", "sync_ms", "stopped_partition_ms",
    "assignor_before", "assignor_after", "trigger_detail",
    "unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms",
    "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def write_rebalance(
    round_: Round, done: Handover, cause: causes.Cause, joined: list[str], left: list[str], sets: GroupSets,
    detail: str | None,
) -> None:  # fmt: skip
    before = None if round_.before is None else round_.before.value
    now, at = round_.now.value, round_.at
    trigger, confidence = cause
    is_read = None not in [member.assigned for member in now.members]
    outcome = RebalanceOutcome.COMPLETED if now.members else RebalanceOutcome.EMPTIED
    duration_ms = milliseconds(round_.stop, at.time)
    sync_ms = duration_ms if round_.has_stop and now.members else None
    # In the order of COUNTS.
    counts = (
        len(sets.assigned), done.num_moved, done.num_returned, len(sets.withheld), sets.num_maybe_revoking,
        sets.num_ready_to_migrate, len(sets.unknown_owned), len(round_.had - sets.assigned),
    )  # fmt: skip
    round_.group.context.rows.add(
        (
            REBALANCE,
            round_.group.group_id, GROUP_TYPE, at.offset, None if before is None else before.generation,
            now.generation, round_.stop, False, at.time, False, duration_ms, outcome,
            trigger, causes.mode(round_, sets), joined, left,
            len(round_.members_before), len(now.members),
            None if before is None else before.leader, now.leader, *(counts if is_read else (None,) * len(counts)),
            done.num_handed_out > 0, num_unpersisted(round_), sync_ms, done.stopped_ms if is_read else None,
            None if before is None else before.protocol, now.protocol, detail,
            None, None, None,
            round_.first_offset, at.offset, confidence,
        ),
    )  # fmt: skip
    round_.group.context.rows.of["partition_moves"] += done.moves
    round_.group.context.rows.of["reading_ends"] += done.ends


def num_unpersisted(round_: Round) -> int | None:
    """Rebalances since the previous value that left no value: every join phase adds one to the generation. None: not
    known, or generations are not numbers that a coordinator writes."""
    if not round_.is_exact:
        return None
    last = 0 if round_.before is None else round_.before.value.generation
    now = round_.now.value.generation
    if last < 0:
        return None
    return None if now <= last else now - last - 1 - sum(1 for passed in round_.passed if last < passed < now)


MEMBER = row_fields(
    GENERATION_MEMBERS,
    "group_id", "group_type", "assignment_offset", "member_id", "generation_or_epoch", "is_open", "group_instance_id",
    "change", "is_leader", "subscribed_topics",
    "previous_assigned", "claimed_owned", "assigned",
    *MemberSets._fields, "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def write_members(round_: Round, replaced_by: dict[str, str], left: list[str]) -> None:
    value = round_.now.value
    rows = round_.group.context.rows.of["generation_members"]
    group_id, offset, first_offset = round_.group.group_id, round_.at.offset, round_.first_offset
    is_known = round_.before is not None or round_.is_exact
    for member in value.members:
        member_id = member.member_id
        previous = round_.previous(replaced_by.get(member_id, member_id))
        rows.append(
            (
                MEMBER,
                group_id, GROUP_TYPE, offset, member_id, value.generation, False, member.group_instance_id,
                change_of(round_, member, replaced_by), member_id == value.leader, member.topics,
                previous if is_known else None, member.claimed, member.assigned,
                *member_sets(previous or NOTHING, member), first_offset, offset, Confidence.CERTAIN,
            )
        )  # fmt: skip
    for member_id in left:
        member = round_.members_before[member_id]
        rows.append(
            (
                MEMBER,
                group_id, GROUP_TYPE, offset, member_id, value.generation, False, member.group_instance_id,
                MemberChange.LEFT, False, None,
                member.assigned, None, NOTHING,
                *NO_SETS, first_offset, offset, Confidence.CERTAIN,
            )
        )  # fmt: skip


def change_of(round_: Round, member: ClassicMember, replaced_by: dict[str, str]) -> MemberChange:
    if member.member_id in round_.members_before:
        return MemberChange.KEPT
    return MemberChange.RESTARTED if member.member_id in replaced_by else MemberChange.JOINED
