"""Target assignments of consumer, share and streams groups: what triggered each, when all members had reached it, and
the rows of this rebalance and its members."""

from collections.abc import Mapping

from schemas.words.history import (
    Confidence,
    LeaveKind,
    MemberChange,
    RebalanceMode,
    RebalanceOutcome,
    RebalanceTrigger,
)
from schemas.words.records import GroupType
from udfs.groups.history.change_details import (
    PLAIN,
    Change,
    GoneMember,
    departure_change,
    join_change,
    other_assignor,
    restart_change,
)
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.row_makers import GENERATION_MEMBER, REBALANCE
from udfs.groups.history.rows import Row, RowsByTable
from udfs.groups.modern.details import name_of, target_changes
from udfs.groups.modern.members import leave_kind
from udfs.groups.modern.owners import COUNTED_ROLES, add_revoked, claim_stops, milliseconds, report_stops, unreported
from udfs.groups.modern.streams_tasks import expand_roles
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import NOTHING, Base, Cause, Member, Modern, Rebalance, Start
from udfs.topics.partition_codes import TopicCodes

WANTED = (RebalanceTrigger.MEMBER_JOINED, RebalanceTrigger.SUBSCRIPTION_CHANGED)
UNKNOWN_SETS = MemberSets()

# -- causes of group epochs


def note_causes(group: Group, now: Modern, replaced: Mapping[str, str], start: Start, at: Moment) -> bool:
    """Finds the cause of each group epoch: changes in its own operation, else changes in earlier operations that had no
    epoch. Returns whether the operation leads to a target: by an epoch, or because the current epoch still waits for
    one. `start`: the first record of the operation."""
    changes = evidence(group, now, replaced, at)
    if now.operation.bump is not None:
        why = cause(now, changes, start.is_exact)
        if why == RebalanceTrigger.METADATA_CHANGED:
            changes += now.operation.set_up
        now.causes.append(Cause(now.epoch, why, start, [*now.carried, *changes]))
        now.carried = []
        return True
    # A static member that came back without a new epoch does not cause a later rebalance.
    changes = [each for each in changes if each.trigger != RebalanceTrigger.STATIC_RESTART]
    now.carried += changes
    waits = now.epoch is not None and now.target_epoch is not None and now.epoch > now.target_epoch
    return bool(changes) and waits


def evidence(group: Group, now: Modern, replaced: Mapping[str, str], at: Moment) -> list[Change]:
    """Changes in log order: first of members, then of the whole group."""
    changes: list[Change] = []
    operation, old_ids = now.operation, {new_id: old_id for old_id, new_id in replaced.items()}
    for member_id, is_known in operation.touched.items():
        member = now.members.get(member_id)
        if member is None:
            if member_id in group.ledger.members and member_id not in replaced:
                gone = operation.departed.get(member_id, Member())
                kind = leave_kind(gone, is_known, at)
                key = GoneMember(member_id, at.offset) if kind == LeaveKind.LEFT_OR_TIMED_OUT else None
                changes.append(departure_change(name_of(member_id, gone), kind, key))
        elif member_id in old_ids:
            changes.append(restart_change(member.group_instance_id, old_ids[member_id], member_id))
            changes += operation.changes.get(member_id, [])
        elif member_id not in group.ledger.members and (is_known or member_id in operation.joining):
            changes.append(join_change(name_of(member_id, member)))
        else:
            changes += operation.changes.get(member_id, [])
    return changes + operation.evidence


def cause(now: Modern, changes: list[Change], is_exact: bool) -> str:
    if changes:
        # If members subscribe only by pattern, the epoch changes later, when the pattern is resolved.
        wanted = [each.trigger for each in now.carried if each.trigger in WANTED]
        first = changes[0].trigger
        if is_other_assignor(now, changes):
            return RebalanceTrigger.ASSIGNOR_CHANGED
        return wanted[0] if first == RebalanceTrigger.REGEX_RESOLVED and wanted else first
    # An epoch without records of members: topics were created or deleted, or got more partitions or other racks.
    is_metadata = is_exact and now.operation.is_hash_changed
    if now.carried and not (is_metadata and is_assignor_alone(now)):
        return now.carried[0].trigger
    return RebalanceTrigger.METADATA_CHANGED if is_metadata else RebalanceTrigger.UNKNOWN


def is_assignor_alone(now: Modern) -> bool:
    """Before 4.4 another assignor waits for the next epoch, which something else causes."""
    hashed = now.metadata_hash is not None
    return hashed and all(each.trigger == RebalanceTrigger.ASSIGNOR_CHANGED for each in now.carried)


def is_other_assignor(now: Modern, changes: list[Change]) -> bool:
    """A static member of a consumer group came back and asks for another assignor: its return alone has no epoch, the
    group's new assignor has (from 4.4 on)."""
    if now.group_type != GroupType.CONSUMER or now.operation.is_hash_changed:
        return False
    triggers = {each.trigger for each in changes}
    return triggers == {RebalanceTrigger.STATIC_RESTART, RebalanceTrigger.ASSIGNOR_CHANGED}


def causes_until(now: Modern, epoch: int) -> list[Cause]:
    """Causes of the group epochs that a target of this epoch covers. There may be newer ones already."""
    return [each for each in now.causes if each.epoch is None or each.epoch <= epoch]


def causes_after(now: Modern, epoch: int) -> list[Cause]:
    return [each for each in now.causes if each.epoch is not None and each.epoch > epoch]


def trigger(now: Modern, causes: list[Cause]) -> str:
    """The trigger of a target that covers the group epochs since the previous target."""
    if now.former_type is not None:
        return RebalanceTrigger.PROTOCOL_MIGRATION
    if now.generation is None:
        return RebalanceTrigger.GROUP_CREATED if now.is_created else RebalanceTrigger.UNKNOWN
    triggers = (*(each.trigger for each in causes), *(each.trigger for each in now.carried))
    return next((each for each in triggers if each != RebalanceTrigger.UNKNOWN), RebalanceTrigger.UNKNOWN)


def confidence(of: Rebalance) -> Confidence:
    if of.trigger == RebalanceTrigger.UNKNOWN:
        return Confidence.POSSIBLE
    return Confidence.CERTAIN if of.start.is_exact else Confidence.LIKELY


# -- targets


def begin_target(group: Group, now: Modern, at: Moment) -> None:
    """Begins a rebalance: a target assignment is complete, or the group has lost its last member, which needs no
    target. A target that repeats the epoch of the one before is a target too (`notes.report_repeated`)."""
    operation = now.operation
    is_emptied = not now.members and operation.bump is not None and bool(now.base or operation.departed)
    completion = operation.completion
    if completion is not None and completion.offset == now.assignment_offset:
        # Copied from the classic group that this group was: no rebalance.
        completion = None
    if not is_emptied and completion is None:
        return
    if now.rebalance is not None:
        close(group, now, RebalanceOutcome.SUPERSEDED, at)
    record = completion or operation.bump
    epoch = now.epoch if is_emptied else now.target_epoch
    assert record is not None and epoch is not None
    topics = group.context.topics
    target = {
        # Unchanged targets are not written again.
        member_id: Base(member.group_instance_id, assigned_to(topics, now, now.targets.get(member_id, {})))
        for member_id, member in now.members.items()
    }
    why = RebalanceTrigger.GROUP_EMPTIED if is_emptied else trigger(now, causes_until(now, epoch))
    rebalance = new_rebalance(group, now, target, record.offset, epoch, at, why)
    group.context.rows.of["generation_members"] += member_rows(group, now, target, rebalance, at)
    now.rebalance, now.generation, now.assignment_offset, now.base = rebalance, epoch, record.offset, target
    now.reported_target = now.target_epoch
    later = causes_after(now, epoch)
    now.causes, now.carried, now.former_type = later, [], None
    now.start, now.assignor = later[0].start if later else None, rebalance.assignor_after
    claim_stops(now, record.offset)
    if is_emptied:
        close(group, now, RebalanceOutcome.EMPTIED, at)


def new_rebalance(
    group: Group, now: Modern, target: Mapping[str, Base], assignment_offset: int, epoch: int, at: Moment, why: str
) -> Rebalance:  # fmt: skip
    assignor = agreed_assignor(now)
    return Rebalance(
        assignment_offset=assignment_offset,
        from_generation=now.generation,
        to_generation=epoch,
        start=now.start or Start(at.time, assignment_offset, False),
        trigger=why,
        members_joined=[member_id for member_id in target if member_id not in now.base],
        members_departed=[member_id for member_id in now.base if member_id not in target],
        num_members_before=len(now.base),
        num_members_after=len(target),
        # Several members of a share group may have the same partition.
        num_partitions=len(NOTHING.union(*(member.assigned for member in target.values()))),
        assignor_before=now.assignor,
        assignor_after=assignor,
        detail=group.detail(assignment_offset, why, all_changes(group, now, target, epoch, why)),
    )  # fmt: skip


def agreed_assignor(now: Modern) -> str | None:
    """The assignor, if all members that ask for one ask for the same. No record names the assignor itself."""
    return next(iter(now.assignors)) if len(now.assignors) == 1 else None


def all_changes(group: Group, now: Modern, target: Mapping[str, Base], epoch: int, why: str) -> list[Change]:
    """Changes since the previous target."""
    changes = other_assignor(now.assignor, agreed_assignor(now))
    if why == RebalanceTrigger.PROTOCOL_MIGRATION:
        changes = [Change(why, PLAIN, f"{now.former_type} → {now.group_type}"), *changes]
    for each in causes_until(now, epoch):
        changes += each.changes
    changes += now.carried
    return [*changes, *target_changes(why, changes, now.base, target, group.context.topics)]


def assigned_to(topics: TopicCodes, now: Modern, by_role: ByRole) -> frozenset[int]:
    """For streams groups, the active tasks."""
    if None in by_role:
        return expand_roles(now, by_role, topics)[None]
    main = {role: share for role, share in by_role.items() if role in COUNTED_ROLES}
    return NOTHING.union(*expand_roles(now, main, topics).values())


def close(group: Group, now: Modern, outcome: RebalanceOutcome, at: Moment) -> None:
    assert now.rebalance is not None
    report_stops(group, now, now.rebalance, outcome)
    end = Moment(at.offset, None) if outcome == RebalanceOutcome.OPEN else at
    group.context.rows.add(rebalance_row(group, now, now.rebalance, outcome, end, is_provisional=False))
    now.rebalance = None


def close_if_reached(group: Group, now: Modern, at: Moment) -> None:
    """Closes the rebalance if all present members have reached the target. Static members that are away cannot reach
    it."""
    if now.rebalance is not None and len(now.unsettled) == len(now.away):
        close(group, now, RebalanceOutcome.COMPLETED, at)


def open_rebalance(group: Group, now: Modern, rows: RowsByTable) -> None:
    if now.rebalance is not None:
        standing = add_revoked(group, now, now.rebalance, unreported(now, now.rebalance), rows, is_provisional=True)
        at = Moment(now.rebalance.assignment_offset, None)
        rows.add(
            rebalance_row(group, now, now.rebalance, RebalanceOutcome.OPEN, at, is_provisional=True, more=standing)
        )


# -- rows


def rebalance_row(
    group: Group,
    now: Modern,
    of: Rebalance,
    outcome: RebalanceOutcome,
    end: Moment,
    *,
    is_provisional: bool,
    more: int = 0,
) -> Row:
    duration = milliseconds(of.start.time, end.time)
    return REBALANCE(
        group_id=group.group_id, group_type=now.group_type, assignment_offset=of.assignment_offset,
        from_generation=of.from_generation, to_generation=of.to_generation, start_time=of.start.time,
        is_start_exact=of.start.is_exact, end_time=end.time, is_provisional=is_provisional, duration_ms=duration,
        outcome=outcome, trigger=of.trigger, mode=RebalanceMode.INCREMENTAL, members_joined=of.members_joined,
        members_departed=of.members_departed, num_members_before=of.num_members_before,
        num_members_after=of.num_members_after, leader_before=None, leader_after=None,
        num_partitions=of.num_partitions, num_moved=of.num_moved, num_returned=of.num_returned,
        num_withheld=None, num_maybe_revoking=None, num_ready_to_migrate=None, num_unknown_owned=None,
        num_unowned=of.num_unowned + more, is_follow_up=False, unpersisted_rounds=None, sync_ms=None,
        stopped_partition_ms=of.stopped_ms, assignor_before=of.assignor_before, assignor_after=of.assignor_after,
        trigger_detail=of.detail, unread_partition_low_ms=None, unread_partition_high_ms=None,
        longest_unread_high_ms=None,
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
