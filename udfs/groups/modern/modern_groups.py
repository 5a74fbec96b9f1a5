"""Replays consumer, share and streams groups: applies the effects of an operation once all its records are read."""

from collections.abc import Mapping, Sequence

from schemas.words.history import (
    AnomalyKind,
    Confidence,
    GroupState,
    LeaveKind,
    OwnershipEnd,
    RebalanceOutcome,
    Severity,
    StateEnd,
)
from schemas.words.records import GroupType
from udfs.groups.history.intervals import StateStretch
from udfs.groups.history.rows import RowsByTable
from udfs.groups.modern.members import replaced_members, settle_departed, settle_present
from udfs.groups.modern.notes import forget_seen
from udfs.groups.modern.owners import settle_owners
from udfs.groups.modern.rebalances import begin_target, close, close_if_reached, note_causes, open_rebalance
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.group import Group
from udfs.groups.states.modern import GROUP_KEY, Modern, Operation, Start
from udfs.sentences.counts import counted


def settle(group: Group, before: Modern | None, operation: Sequence[Record], at: Moment) -> None:
    """Applies an operation to a group that was not of another type before."""
    is_exact = seen_whole(group, operation)
    if before is not None and before is not group.now:
        delete(group, before, is_exact, at)
    if isinstance(group.now, Modern):
        advance(group, group.now, operation, is_exact, at)


def seen_whole(group: Group, operation: Sequence[Record]) -> bool:
    """Whether no record of the group can be missing before or inside the operation."""
    return group.is_exact(GROUP_KEY, operation[-1])


def advance(group: Group, now: Modern, operation: Sequence[Record], is_exact: bool, at: Moment) -> None:
    replaced = replaced_members(group, now)
    start = Start(at.time, operation[0].offset, is_exact)
    if note_causes(group, now, replaced, start, at) and now.start is None:
        now.start = start
    inherited = settle_departed(group, now, replaced, at)
    for old, new in replaced.items():
        if old in now.base:
            now.base[new] = now.base.pop(old)._replace(is_restarted=now.operation.bump is not None)
    settle_present(group, now, at)
    begin_target(group, now, at)
    settle_owners(group, now, touched_members(now), inherited, at)
    close_if_reached(group, now, at)
    doubt_empty(group, now, operation)
    enter_state(group, now, is_exact, at)
    report_incomplete(group, now, replaced, operation, is_exact)
    now.operation = Operation()


def touched_members(now: Modern) -> list[tuple[str, bool]]:
    """Members whose ownership may have changed, and whether the change cannot have been earlier. A new topology changes
    the meaning of all tasks."""
    operation = now.operation
    members = dict.fromkeys(now.members, True) if operation.is_topology_changed else {}
    members.update((each, known) for each, known in operation.touched.items() if each in now.members)
    return [(member_id, is_known or member_id in operation.joining) for member_id, is_known in members.items()]


def doubt_empty(group: Group, now: Modern, operation: Sequence[Record]) -> None:
    """Members join in a new epoch, unless they replace a static member. If the cleaner removed the records of that one,
    the group only seemed to be Empty until here."""
    known = group.ledger.state
    is_replacement = bool(now.members) and now.operation.bump is None
    if known is None or known.state != GroupState.EMPTY or not is_replacement:
        return
    if not group.context.gaps.is_complete(-1, operation[-1].offset):
        known.state, known.num_members, known.confidence = None, None, Confidence.POSSIBLE


def enter_state(group: Group, now: Modern, is_exact: bool, at: Moment) -> None:
    state, confidence = group_state(now)
    is_known = not now.is_partial and state is not None
    group.ledger.enter(
        at,
        StateStretch(
            from_time=at.time,
            from_record_offset=at.offset,
            is_from_exact=is_exact,
            last_offset=at.offset,
            group_type=now.group_type,
            state=state,
            generation_or_epoch=now.epoch,
            protocol_type=None,
            assignor=assignor(now),
            num_members=len(now.members) if is_known else None,
            confidence=confidence,
        ),
    )


def group_state(now: Modern) -> tuple[GroupState | None, Confidence]:
    """None: no member is known, but there may be some. So where compaction left other records of the group, but none of
    its epoch: that one is written again whenever a member joins or leaves, unless it replaces a static one
    (`doubt_empty`)."""
    if now.is_partial or (now.epoch is None and not now.members):
        return (state_of(now)[0] if now.members else None), Confidence.POSSIBLE
    return state_of(now)


def state_of(now: Modern) -> tuple[GroupState, Confidence]:
    are_known = None not in (now.epoch, now.target_epoch)
    confidence = Confidence.CERTAIN if are_known else Confidence.LIKELY
    if not now.members:
        return GroupState.EMPTY, Confidence.CERTAIN
    if now.group_type == GroupType.SHARE:
        return GroupState.STABLE, Confidence.CERTAIN
    if now.group_type == GroupType.STREAMS and not is_ready(now):
        return GroupState.NOT_READY, Confidence.LIKELY
    if now.epoch is not None and now.target_epoch is not None and now.epoch > now.target_epoch:
        return GroupState.ASSIGNING, confidence
    return (GroupState.RECONCILING if now.unsettled else GroupState.STABLE), confidence


def is_ready(now: Modern) -> bool:
    """Whether all topics of the topology exist. From 4.2 on the coordinator writes the epoch of the topology that it
    validated. Before 4.2, tasks are assigned only then."""
    if now.topology is None:
        return False
    if now.validated_topology_epoch in (None, -1):
        return bool(now.with_tasks)
    return now.validated_topology_epoch == now.topology.epoch


def assignor(now: Modern) -> str | None:
    """The assignor that most members ask for. Members that name none leave it to the broker's setting."""
    return max(sorted(now.assignors), key=now.assignors.__getitem__, default=None)


def report_incomplete(
    group: Group, now: Modern, replaced: Mapping[str, str], operation: Sequence[Record], is_exact: bool
) -> None:
    """A batch with targets also has the record that completes them, except for the copy when a static member returns.
    This is reported at the group's next records: only then it is certain that none is missing in between. None may be
    missing before either, since tombstones show the return of a static member."""
    if now.incomplete is not None and group.context.gaps.is_complete(now.incomplete, operation[0].offset):
        line = (
            f"target assignments of members from offset {now.incomplete}, but no record of the group's target "
            "epoch after them"
        )
        group.anomaly(operation[0], AnomalyKind.TARGET_WRITE_INCOMPLETE, Severity.WARNING, line, now.incomplete)
    now.incomplete = None
    target, completion = now.operation.last_target, now.operation.completion
    if target is None or not is_exact or target.member in replaced.values():
        return
    if completion is None or completion.offset < target.offset:
        now.incomplete = target.offset


def delete(group: Group, before: Modern, is_exact: bool, at: Moment) -> None:
    deletion = before.operation.deletion
    if before.members and is_exact and deletion is not None:
        line = f"group deleted although it has {counted(len(before.members), 'member')}"
        group.anomaly(deletion, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, line)
    if before.rebalance is not None:
        close(group, before, RebalanceOutcome.SUPERSEDED, at)
    for member_id in before.members:
        forget_seen(group, member_id)
    group.ledger.end_all(
        at, StateEnd.DELETED, LeaveKind.GROUP_DELETED, OwnershipEnd.GROUP_DELETED, is_exact=is_exact,
        generation=before.epoch,
    )  # fmt: skip


def hole(group: Group, at: Moment) -> None:
    """Records after this are missing."""
    now = group.now
    if isinstance(now, Modern) and now.rebalance is not None:
        close(group, now, RebalanceOutcome.OPEN, at)
    group.ledger.end_all(
        at, StateEnd.COVERAGE_HOLE, LeaveKind.COVERAGE_HOLE, OwnershipEnd.COVERAGE_HOLE, is_exact=False
    )
    group.now = None


def open_rows(group: Group, rows: RowsByTable) -> None:
    if isinstance(group.now, Modern):
        open_rebalance(group, group.now, rows)
