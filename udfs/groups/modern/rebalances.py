"""Target assignments of consumer, share and streams groups: what triggered each, and when all members had reached
it."""

from collections.abc import Mapping

from schemas.words.history import RebalanceOutcome, RebalanceTrigger
from udfs.groups.history.change_details import PLAIN, Change, other_assignor
from udfs.groups.history.rows import RowsByTable
from udfs.groups.modern.causes import causes_after, causes_until, trigger
from udfs.groups.modern.details import target_changes
from udfs.groups.modern.moves import COUNTED_ROLES, claim_stops, report_open_stops, report_stops
from udfs.groups.modern.owners import expand_roles
from udfs.groups.modern.rebalance_rows import member_rows, rebalance_row
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import NOTHING, Base, Modern, Rebalance, Start
from udfs.topics.partition_codes import TopicCodes


def begin_target(group: Group, now: Modern, at: Moment) -> None:
    """Begins a rebalance: a target assignment of a new epoch is complete, or the group has lost its last member, which
    needs no target."""
    operation = now.operation
    is_emptied = not now.members and operation.bump is not None and bool(now.base or operation.departed)
    completion = operation.completion
    if completion is not None and now.target_epoch == now.reported_target:
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
    for cause in causes_until(now, epoch):
        changes += cause.changes
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
    group.context.rows.add(rebalance_row(group, now, now.rebalance, outcome, end, is_open=False))
    now.rebalance = None


def close_if_reached(group: Group, now: Modern, at: Moment) -> None:
    """Closes the rebalance if all present members have reached the target. Static members that are away cannot reach
    it."""
    if now.rebalance is not None and len(now.unsettled) == len(now.away):
        close(group, now, RebalanceOutcome.COMPLETED, at)


def open_rebalance(group: Group, now: Modern, rows: RowsByTable) -> None:
    if now.rebalance is not None:
        standing = report_open_stops(group, now, now.rebalance, rows)
        at = Moment(now.rebalance.assignment_offset, None)
        rows.add(rebalance_row(group, now, now.rebalance, RebalanceOutcome.OPEN, at, is_open=True, more=standing))
