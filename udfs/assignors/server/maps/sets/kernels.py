"""Sets of partitions in changed maps, as loops: what is done to them is kept in turn, and walked at the end."""

from typing import Any, Final

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import (
    FULL_CHAIN,
    are_in_order,
    clear,
    grown,
    put,
    remove,
    set_key,
    spread_of,
    walk,
    walk_few,
    walk_puts,
)
from udfs.assignors.java.tree.kernels import CAPACITY, HEADS, NEXT, NODE, NODES, NOTHING, SPREAD, UNRANKED, Longs
from udfs.assignors.server.maps.records.kernels import Codes, copied_capacity

# What is done to a set: a partition is added, or taken away.
ADD, TAKE = range(2)
# Below, a number is its own spread hash code.
EQUAL_SPREAD: Final = 1 << 16
# The rows of the board: what was done to the sets of changed maps, in turn; the sets; the entries set by set.
ENTRY_SET, ENTRY_PARTITION, ENTRY_KIND, SET_TOPIC, SET_CAPACITY, SET_ENTRIES, SET_TAKES, SET_OPEN = range(8)
# Where the entries of a set end by set, and these entries.
SET_END, BY_SET = 8, 9
BOARD_ROWS: Final = 10


@compiled(allocates=False)
def open_set(board: Longs, number: int, topic: int, capacity: int) -> None:
    """A new set of a topic, without partitions, in a table of so many buckets (new HashSet)."""
    board[SET_TOPIC, number] = topic
    board[SET_ENTRIES, number] = board[SET_TAKES, number] = 0
    board[SET_CAPACITY, number] = capacity
    board[SET_OPEN, number] = 1


@compiled(allocates=False)
def enter(board: Longs, entry: int, number: int, partition: int, kind: int) -> None:
    """One more thing that was done to a set (Set.add, Set.remove), which the caller counts."""
    board[ENTRY_SET, entry], board[ENTRY_PARTITION, entry], board[ENTRY_KIND, entry] = number, partition, kind


@compiled(allocates=False)
def size_of(board: Longs, number: int) -> int:
    """How many partitions a set has (Set.size)."""
    return int(board[SET_ENTRIES, number] - 2 * board[SET_TAKES, number])


@compiled(allocates=False)
def copy_sets(board: Longs, topics: Codes, partitions: Codes, rows: int, is_new_copy: bool) -> Any:
    """A copy of a member's map, which its rows are walked from (deepCopyAssignment); returns how many things were done
    to sets then, and how many sets there are."""
    entries = sets = row = 0
    while row < rows:
        first = row
        while row < rows and topics[row] == topics[first]:
            enter(board, entries, sets, partitions[row], ADD)
            entries += partitions[row] != NOTHING
            row += 1
        size = row - first if partitions[first] != NOTHING else 0
        open_set(board, sets, topics[first], copied_capacity(size, is_new_copy))
        board[SET_ENTRIES, sets] = size
        sets += 1
    return entries, sets


@compiled(allocates=False, inlines=False)
def holds(board: Longs, entries: int, number: int, partition: int) -> bool:
    """Whether a partition is in a set, by what was done last (Set.contains)."""
    for entry in range(entries - 1, -1, -1):
        if board[ENTRY_SET, entry] == number and board[ENTRY_PARTITION, entry] == partition:
            return bool(board[ENTRY_KIND, entry] == ADD)
    return False


@compiled(allocates=False)
def group_entries(board: Longs, entries: int, sets: int) -> None:
    """Writes the entries set by set, in their order, and where those of each set end."""
    start = 0
    for number in range(sets):
        board[SET_END, number] = start
        start += board[SET_ENTRIES, number]
    for entry in range(entries):
        number = board[ENTRY_SET, entry]
        board[BY_SET, board[SET_END, number]] = entry
        board[SET_END, number] += 1


@compiled(allocates=False)
def write_sets(
    cells: Longs,
    unranked: Longs,
    numbers: Longs,
    keys: Longs,
    kinds: Longs,
    board: Longs,
    walked: Longs,
    num_walked: int,
    topics: Codes,
    partitions: Codes,
    written: int,
) -> int:
    """Writes the rows of the sets that are walked, each as HashSet walks it; returns where the rows end then."""
    for place in range(num_walked):
        number = walked[place]
        count, capacity = board[SET_ENTRIES, number], board[SET_CAPACITY, number]
        first = board[SET_END, number] - count
        if not size_of(board, number):
            continue
        for at in range(count):
            numbers[at] = board[ENTRY_PARTITION, board[BY_SET, first + at]]
        if board[SET_TAKES, number]:
            for at in range(count):
                kinds[at] = board[ENTRY_KIND, board[BY_SET, first + at]]
            count = walk_changed(cells, capacity, count, count - board[SET_TAKES, number], numbers, kinds, keys)
        elif not walk_rising(numbers, count, capacity, keys):
            walk_puts(cells, numbers, count, unranked, capacity, keys)
        topic = board[SET_TOPIC, number]
        for at in range(count):
            topics[written + at], partitions[written + at] = topic, numbers[keys[at]]
        written += count
    return written


@compiled(allocates=False)
def walk_rising(numbers: Longs, count: int, capacity: int, keys: Longs) -> bool:
    """How HashSet walks numbers that were added in rising order and have a bucket each, the table never having had nine
    in one: as they are, but for where the buckets begin anew. False for any other numbers."""
    last = grown(capacity, count) - 1
    lowest, highest = numbers[0], numbers[count - 1]
    if highest >= EQUAL_SPREAD or highest - lowest >= min(last + 1, FULL_CHAIN * capacity):
        return False
    turn = 0
    for at in range(1, count):
        if numbers[at] <= numbers[at - 1]:
            return False
        if not turn and numbers[at] & ~last != lowest & ~last:
            turn = at
    for at in range(count):
        place = turn + at
        keys[at] = place if place < count else place - count
    return True


@compiled(allocates=False, inlines=False)
def walk_changed(cells: Longs, capacity: int, count: int, added: int, numbers: Longs, kinds: Longs, keys: Longs) -> int:
    """How HashSet walks a set to which so many numbers were added, and some removed; returns how many are left."""
    if is_copy_thinned(numbers, kinds, added, capacity):
        return int(thin_copy(numbers, added, count, capacity, keys))
    return int(walk_thinned(cells, capacity, count, numbers, kinds, keys))


@compiled(allocates=False, inlines=False)
def is_copy_thinned(numbers: Longs, kinds: Longs, added: int, capacity: int) -> bool:
    """Whether all numbers were added before any was removed, and are walked as they were added."""
    for at in range(added):
        if kinds[at] != ADD:
            return False
    return bool(are_in_order(numbers, added, capacity))


@compiled(allocates=False, inlines=False)
def thin_copy(numbers: Longs, added: int, count: int, capacity: int, keys: Longs) -> int:
    """Removes numbers of such a set, in which no bucket is crowded: the others keep their order. Returns how many are
    left."""
    for at in range(added):
        keys[at] = ADD
    for gone in range(added, count):
        bucket, low, high = spread_of(numbers[gone]) & (capacity - 1), 0, added
        while low < high:
            middle = (low + high) // 2
            if spread_of(numbers[middle]) & (capacity - 1) < bucket:
                low = middle + 1
            else:
                high = middle
        while numbers[low] != numbers[gone]:
            low += 1
        keys[low] = TAKE
    left = 0
    for at in range(added):
        if keys[at] == ADD:
            keys[left] = at
            left += 1
    return left


@compiled(allocates=False, inlines=False)
def walk_thinned(cells: Longs, capacity: int, count: int, numbers: Longs, kinds: Longs, keys: Longs) -> int:
    """How HashSet walks a set that lost some of its numbers (HashSet.remove); returns how many are left."""
    if count > FULL_CHAIN:
        clear(cells, capacity)
        waiting = 0
        for at in range(count):
            if kinds[at] == ADD:
                set_key(cells, at, numbers[at], UNRANKED)
            else:
                put(cells, cells[NODES] + waiting * NODE, cells[NODES] + at * NODE)
                remove(cells, find(cells, numbers[at]))
                waiting = at + 1
        put(cells, cells[NODES] + waiting * NODE, cells[NODES] + count * NODE)
        return int(walk(cells, keys))
    # So few that no bucket can be crowded; the table may have doubled for those that are gone.
    left = 0
    for at in range(count):
        if kinds[at] == ADD:
            numbers[left] = numbers[at]
            left += 1
            capacity = grown(capacity, left)
        else:
            gone, place = numbers[at], 0
            while numbers[place] != gone:
                place += 1
            left -= 1
            for later in range(place, left):
                numbers[later] = numbers[later + 1]
    walk_few(numbers, left, capacity, keys)
    return left


@compiled(allocates=False, inlines=False)
def find(cells: Longs, number: int) -> int:
    """The node of a number that is there: no two numbers are spread alike."""
    spread = spread_of(number)
    node = cells[HEADS + (spread & (cells[CAPACITY] - 1))]
    while cells[node + SPREAD] != spread:
        node = cells[node + NEXT]
    return int(node)
