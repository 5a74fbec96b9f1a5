"""Steps of assignors that change members' maps, as loops: what they do to sets is kept in turn, and what they do to the
map itself as events."""

from typing import Any, Final

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import COMPUTE, REMOVE, TOUCH, table_capacity
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.server.maps.sets.kernels import (
    ADD,
    SET_ENTRIES,
    SET_OPEN,
    SET_TAKES,
    TAKE,
    enter,
    holds,
    open_set,
    size_of,
)

# What a step does to a member's map: it adds a partition (ADD), or takes one away, the topic with its last one (TAKE).
# For share groups: it takes a partition and leaves the set, even an empty one; drops a topic; adds what is there
# already; or does nothing, but the map is a copy then.
LEAVE_SET, DROP, ADD_AGAIN, COPY = range(2, 6)
CLOSED: Final = -1
# The rows of the events of a map: what is done to it, and the set for whose topic it is done.
EVENT, EVENT_SET = 0, 1


@compiled(allocates=False, inlines=False)
def note(steps: Longs, step: int, kind: int, topic: int, partition: int) -> None:
    """Writes one step that is done to a member's map, see `walked_maps`."""
    steps[0, step], steps[1, step], steps[2, step] = kind, topic, partition


@compiled(allocates=False)
def do_steps(
    board: Longs,
    steps: Longs,
    own_steps: range,
    entries: int,
    sets: int,
    open_sets: Longs,
    made_for: Longs,
    may_repeat: bool,
    events: Longs,
) -> Any:
    """Does a member's steps to its sets, and writes what they do to its map. An ADD is computeIfAbsent(topic).add
    (addPartitionToTargetAssignment); a TAKE is get(topic).remove, and remove(topic) with its last partition
    (removePartitionFromTargetAssignment). Returns how many things were done to sets, how many sets there are then, and
    how many events."""
    num_events = 0
    for step in own_steps:
        kind, topic, event = steps[0, step], steps[1, step], NOTHING
        number = open_sets[topic]
        if kind > TAKE:
            entries, event = do_share_step(board, kind, steps[2, step], entries, number, num_events, events)
            if event == REMOVE:
                open_sets[topic] = CLOSED
        elif kind == ADD and number == CLOSED:
            number = open_sets[topic] = sets
            open_set(board, sets, topic, table_capacity(made_for[topic]))
            sets += 1
            event = COMPUTE
        elif kind == ADD and num_events and events[EVENT, num_events - 1] == COMPUTE:
            # Another call makes room for what came before.
            event = TOUCH
        if kind == TAKE or (kind == ADD and not (may_repeat and holds(board, entries, number, steps[2, step]))):
            enter(board, entries, number, steps[2, step], kind)
            entries += 1
            board[SET_ENTRIES, number] += 1
            board[SET_TAKES, number] += kind == TAKE
        if kind == TAKE and not size_of(board, number):
            board[SET_OPEN, number] = 0
            open_sets[topic] = CLOSED
            event = REMOVE
        if event != NOTHING:
            events[EVENT, num_events], events[EVENT_SET, num_events] = event, number
            num_events += 1
    return entries, sets, num_events


@compiled(allocates=False, inlines=False)
def do_share_step(
    board: Longs, kind: int, partition: int, entries: int, number: int, num_events: int, events: Longs
) -> Any:
    """Does a step as the assignor of share groups does it to a set: get(topic).remove; remove(topic); or
    computeIfAbsent(topic).add of what is there. Returns how many things were done to sets, and the event."""
    if kind == LEAVE_SET:
        enter(board, entries, number, partition, TAKE)
        board[SET_ENTRIES, number] += 1
        board[SET_TAKES, number] += 1
        return entries + 1, NOTHING
    if kind == DROP:
        board[SET_OPEN, number] = 0
        return entries, REMOVE
    if kind == ADD_AGAIN and num_events and events[EVENT, num_events - 1] == COMPUTE:
        return entries, TOUCH
    return entries, NOTHING
