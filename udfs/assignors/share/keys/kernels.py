"""The map of sharers (finalAssignmentByPartition), as loops.

A key is a partition of a topic: keys are numbered as they first come into the map. A note says that a member had a key;
notes are in the order of members, those of one member as its map is walked.
"""

from typing import Final

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import compute, make_room, set_key
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.server.maps.records.kernels import Codes

# The rows of what is kept of keys and of notes.
KEY_TOPIC, KEY_PARTITION, KEY_HASH, NUM_SHARERS, NOTES_END, KEY_ROWS = range(6)
NOTE_MEMBER, NOTE_KEY, IS_GONE, BY_KEY, NOTE_ROWS = range(5)
# Any odd number: keys that follow each other go to slots that do not.
SCATTER: Final = 0x9E3779B1
# Kafka compares no two keys of one hash code: any tree of theirs is shaped by chance, in Java too.
SAME_RANK: Final = 0


@compiled(allocates=False)
def sharers_key(
    table: Longs, keys: Longs, num_keys: int, slots: Longs, last_slot: int, topic: int, partition: int, topic_hash: int
) -> int:
    """Asks the map of sharers for a key (computeIfAbsent), and returns its number: the next one for a new key. The hash
    code is that of TopicIdPartition for a topic's hash code, and the partition itself without one."""
    slot = ((topic * SCATTER + partition) * SCATTER >> 15) & last_slot
    make_room(table)
    while slots[slot] != NOTHING:
        number = slots[slot]
        if keys[KEY_PARTITION, number] == partition and keys[KEY_TOPIC, number] == topic:
            return int(number)
        slot = (slot + 1) & last_slot
    slots[slot] = num_keys
    keys[KEY_TOPIC, num_keys], keys[KEY_PARTITION, num_keys] = topic, partition
    keys[KEY_HASH, num_keys] = (31 * topic_hash + partition) & 0xFFFFFFFF
    keys[NUM_SHARERS, num_keys] = 0
    compute(table, set_key(table, num_keys, keys[KEY_HASH, num_keys], SAME_RANK))
    return num_keys


@compiled(inlines=False)
def note_all(
    table: Longs, slots: Longs, last_slot: int, noted: Codes, first_note: int, num_notes: int, hashes: Longs,
    notes: Longs, keys: Longs,
) -> int:  # fmt: skip
    """Notes who has what in the map of sharers (revokeUnassignablePartitions); returns how many keys there are."""
    num_keys = 0
    for note in range(num_notes):
        at = first_note + note
        topic, partition = int(noted[1, at]), int(noted[2, at])
        key = sharers_key(table, keys, num_keys, slots, last_slot, topic, partition, hashes[topic])
        num_keys = max(num_keys, key + 1)
        notes[NOTE_MEMBER, note], notes[NOTE_KEY, note], notes[IS_GONE, note] = noted[0, at], key, 0
        keys[NUM_SHARERS, key] += 1
    return num_keys


@compiled(inlines=False)
def add_wanted(
    table: Longs, slots: Longs, last_slot: int, wanted: Codes, first_wanted: int, num_wanted: int, hashes: Longs,
    num_notes: int, keys: Longs, num_keys: int,
) -> int:  # fmt: skip
    """Adds what nobody has to the map of sharers (build), after all notes; returns how many keys there are then."""
    for at in range(first_wanted, first_wanted + num_wanted):
        topic, partition = int(wanted[0, at]), int(wanted[1, at])
        key = sharers_key(table, keys, num_keys, slots, last_slot, topic, partition, hashes[topic])
        if key == num_keys:
            keys[NOTES_END, key] = num_notes
            num_keys += 1
    return num_keys


@compiled(allocates=False, inlines=False)
def group_notes(notes: Longs, num_notes: int, keys: Longs, num_keys: int) -> None:
    """Writes the notes key by key, in their order, and where those of each key end: there those of the next one
    start."""
    for key in range(num_keys):
        keys[NOTES_END, key] = 0
    for note in range(num_notes):
        keys[NOTES_END, notes[NOTE_KEY, note]] += 1
    start = 0
    for key in range(num_keys):
        start, keys[NOTES_END, key] = start + keys[NOTES_END, key], start
    for note in range(num_notes):
        key = notes[NOTE_KEY, note]
        notes[BY_KEY, keys[NOTES_END, key]] = note
        keys[NOTES_END, key] += 1
