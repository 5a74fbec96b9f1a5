"""Target assignments of consumer, share and streams groups: the trigger of each, its members, and when all had reached
it."""

from collections.abc import Mapping

from schemas.tables.history import GENERATION_MEMBERS, REBALANCES
from schemas.words.history import Confidence, MemberChange, RebalanceMode, RebalanceOutcome, RebalanceTrigger
from udfs.groups.history.change_details import PLAIN, Change, other_assignor
from udfs.groups.history.rows import Row, Rows, row_fields
from udfs.groups.modern.causes import causes_after, causes_until, confidence, trigger
from udfs.groups.modern.details import target_changes
from udfs.groups.modern.moves import COUNTED_ROLES, claim_stops, milliseconds, open_stops, tell_stops
from udfs.groups.modern.owners import expand_roles
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import NOTHING, Base, Member, Modern, Rebalance, Start
from udfs.topics.partition_codes import TopicCodes


def begin_target(group: Group, now: Modern, at: Moment) -> None:
    """Begins a rebalance: a target assignment of a new epoch is complete, or the group has lost its last member, which
    needs no target."""
    operation = now.operation
    is_emptied = not now.members and operation.bump is not None and bool(now.base or operation.departed)
    completion = operation.completion
    if completion is not None and now.target_epoch == now.told_target:
        completion = None
    if not is_emptied and completion is None:
        return
    if now.rebalance is not None:
        close(group, now, RebalanceOutcome.SUPERSEDED, at)
    record = completion or operation.bump
    epoch = now.epoch if is_emptied else now.target_epoch
    assert record is not None and epoch is not None
    topics = group.context.topics
    given = {
        # Unchanged targets are not written again.
        member_id: Base(member.group_instance_id, assigned_to(topics, now, now.targets.get(member_id, {})))
        for member_id, member in now.members.items()
    }
    why = RebalanceTrigger.GROUP_EMPTIED if is_emptied else trigger(now, causes_until(now, epoch))
    rebalance = new_rebalance(group, now, given, record.offset, epoch, at, why)
    group.context.rows.of["generation_members"] += member_rows(group, now, given, rebalance, at)
    now.rebalance, now.generation, now.assignment_offset, now.base = rebalance, epoch, record.offset, given
    now.told_target = now.target_epoch
    later = causes_after(now, epoch)
    now.causes, now.carried, now.former_type = later, [], None
    now.start, now.assignor = later[0].start if later else None, rebalance.assignor_after
    claim_stops(now, record.offset)
    if is_emptied:
        close(group, now, RebalanceOutcome.EMPTIED, at)


def new_rebalance(
    group: Group, now: Modern, given: Mapping[str, Base], assignment_offset: int, epoch: int, at: Moment, why: str
) -> Rebalance:  # fmt: skip
    assignor = agreed_assignor(now)
    return Rebalance(
        assignment_offset=assignment_offset,
        from_generation=now.generation,
        to_generation=epoch,
        start=now.start or Start(at.time, assignment_offset, False),
        trigger=why,
        members_joined=[member_id for member_id in given if member_id not in now.base],
        members_departed=[member_id for member_id in now.base if member_id not in given],
        num_members_before=len(now.base),
        num_members_after=len(given),
        # Several members of a share group may have the same partition.
        num_partitions=len(NOTHING.union(*(member.assigned for member in given.values()))),
        assignor_before=now.assignor,
        assignor_after=assignor,
        detail=group.detail(assignment_offset, why, all_changes(group, now, given, epoch, why)),
    )  # fmt: skip


def agreed_assignor(now: Modern) -> str | None:
    """The assignor, if all members that ask for one ask for the same. No record names the assignor itself."""
    return next(iter(now.assignors)) if len(now.assignors) == 1 else None


def all_changes(group: Group, now: Modern, given: Mapping[str, Base], epoch: int, why: str) -> list[Change]:
    """Changes since the previous target."""
    changes = other_assignor(now.assignor, agreed_assignor(now))
    if why == RebalanceTrigger.PROTOCOL_MIGRATION:
        changes = [Change(why, PLAIN, f"{now.former_type} → {now.group_type}"), *changes]
    for cause in causes_until(now, epoch):
        changes += cause.changes
    changes += now.carried
    return [*changes, *target_changes(why, changes, now.base, given, group.context.topics)]


def assigned_to(topics: TopicCodes, now: Modern, by_role: ByRole) -> frozenset[int]:
    """For streams groups, the active tasks."""
    if None in by_role:
        return expand_roles(now, by_role, topics)[None]
    main = {role: share for role, share in by_role.items() if role in COUNTED_ROLES}
    return NOTHING.union(*expand_roles(now, main, topics).values())


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


def close(group: Group, now: Modern, outcome: RebalanceOutcome, at: Moment) -> None:
    assert now.rebalance is not None
    tell_stops(group, now, now.rebalance, outcome)
    end = Moment(at.offset, None) if outcome == RebalanceOutcome.OPEN else at
    group.context.rows.add(row(group, now, now.rebalance, outcome, end, is_open=False))
    now.rebalance = None


def close_if_reached(group: Group, now: Modern, at: Moment) -> None:
    """Closes the rebalance if all present members have reached the target. Static members that are away cannot reach
    it."""
    if now.rebalance is not None and len(now.unsettled) == len(now.away):
        close(group, now, RebalanceOutcome.COMPLETED, at)


def open_rebalance(group: Group, now: Modern, rows: Rows) -> None:
    if now.rebalance is not None:
        standing = open_stops(group, now, now.rebalance, rows)
        at = Moment(now.rebalance.assignment_offset, None)
        rows.add(row(group, now, now.rebalance, RebalanceOutcome.OPEN, at, is_open=True, more=standing))


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


def row(
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
