"""Follows groups that convert from the classic protocol to the consumer protocol (KIP-848), or back.

Online, the coordinator rewrites the group in one operation, and members change one by one: their records show which
members still use the classic protocol. Offline, the group is empty in between, so all members change at once.
"""

from collections.abc import Sequence
from itertools import starmap

from udfs.audit.upgrades.cooperative_migrations import BACK_WITHIN, note_progress, take_value
from udfs.audit.upgrades.member_records import EPOCH_TYPE, MEMBER_TYPE, ConsumerMember, identity_of
from udfs.audit.upgrades.progress_state import State, Way
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.records import Record

# Epochs of a group's first records: 2 since 4.3.
FIRST_EPOCHS = (1, 2)


def take_operation(state: State, operation: Sequence[Record]) -> None:
    was_classic, was_consumer = state.classic is not None, state.members is not None
    left = set(state.classic_members)
    for record in operation:
        take_record(state, record)
    first, last = operation[0], operation[-1]
    if was_classic and state.members is not None:
        state.to_consumer, state.to_classic, state.to_cooperative = Way(first.offset, last.time, last.time), None, None
        state.protocol = None
    elif was_consumer and state.members is None and state.classic is not None:
        turn_back(state, first, last)
    if state.members is not None:
        follow_members(state, left, operation)
    state.last_time, state.last_offset = last.time, last.offset


def take_record(state: State, record: Record) -> None:
    if record.type == CLASSIC_TYPE:
        if record.value is None:
            state.classic = state.left_time = None
        else:
            take_value(state, record.value, record.offset, record.time)
    elif record.value is not None:
        members = state.members if state.members is not None else {}
        state.members = members
        if record.type == MEMBER_TYPE:
            take_member(state, members, str(record.member), record.value)
    elif record.type == EPOCH_TYPE:
        state.members = None
        state.classic_members.clear()
    elif state.members is not None:
        state.members.pop(str(record.member), None)
        state.classic_members.discard(str(record.member))


def take_member(state: State, members: dict[str, ConsumerMember], member_id: str, member: ConsumerMember) -> None:
    members[member_id] = member
    if member.versions is None:
        state.classic_members.discard(member_id)
    else:
        state.classic_members.add(member_id)


def is_first_epoch(record: Record) -> bool:
    return record.type == EPOCH_TYPE and record.value is not None and record.value.epoch in FIRST_EPOCHS


def turn_back(state: State, first: Record, last: Record) -> None:
    """The group is classic again: with members if the last member of the consumer protocol left, else it started
    again."""
    if state.to_consumer is not None:
        state.to_consumer.turned_back = last.offset
    way = state.to_classic or Way(first.offset, last.time, last.time)
    way.progress_time, way.finished_time, way.is_finished = last.time, last.time, True
    state.to_classic = way


def follow_members(state: State, left: set[str], operation: Sequence[Record]) -> None:
    """`left`: classic members before the operation."""
    still = state.classic_members
    first, last = operation[0], operation[-1]
    is_next = any(record.type == EPOCH_TYPE and record.value is not None for record in operation)
    if not still and any(map(is_first_epoch, operation)):
        state.is_native = True
    if state.to_consumer is None and still and not state.is_native:
        state.to_consumer = Way(first.offset, last.time, last.time, is_begin_seen=False)
    way = state.to_consumer
    if way is not None and not way.is_finished:
        is_progress = way.first_offset == first.offset or bool(left - still)
        note_progress(way, is_progress, is_next, not still, last.time)
        note_changed(way, state, last.time)
        return
    if way is not None and not still and state.to_classic is None:
        note_changed(way, state, last.time)
    # A classic member in a group with the consumer protocol.
    if still and state.to_classic is None:
        state.to_classic = Way(first.offset, last.time, last.time)
    elif not still:
        state.to_classic = None
    elif state.to_classic is not None:
        note_progress(state.to_classic, bool(still - left), is_next, False, last.time)


def note_changed(way: Way, state: State, time: int | None) -> None:
    """After the end, for as long as whoever left to change may still come back."""
    end, members = way.finished_time, state.members or {}
    is_soon = end is not None and time is not None and time - end <= BACK_WITHIN
    if way.is_finished and len(members) > len(way.finished_by) and (is_soon or not way.finished_by):
        way.finished_by = list(starmap(identity_of, members.items()))
