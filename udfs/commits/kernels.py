"""Commits of an offsets partition in one pass, in log order: what took effect and when, which transactions ended, when
groups were alive, and the answers to questions about an offset.

The rules are those of Kafka's OffsetMetadataManager (4.3.1). A plain commit or a deletion takes effect at once. A
commit of a transaction waits for its producer's next marker, whose epoch may differ. A COMMIT lets it take effect,
unless a later record of the key took effect before. A deletion also removes what waits for a marker.

In the ranges `last_commits` of the log, the rules are those of 3.7 (see `udfs.log.release_lines`): a COMMIT always lets
it take effect, and a deletion leaves what waits.
"""

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Numbers
from udfs.commits.effects.fields import (
    DELETION,
    NONE,
    NUM_HELD_FIELDS,
    NUM_VALUE_FIELDS,
    PENDING,
    G,
    H,
    K,
    M,
    N,
    Q,
    R,
)
from udfs.commits.effects.kernels import delete, explain, is_complete, is_within, note_alive, note_step, take_effect
from udfs.commits.pending.kernels import chain, end_transaction, wait

TABLES = ", ".join(["i8[:, ::1]"] * 15)
step = compiled(allocates=False)


@compiled(f"void({TABLES}, i8[::1], i8[::1], i8)", allocates=False)
def link(
    records: Numbers, markers: Numbers, pending: Numbers, keys: Numbers, groups: Numbers, pairs: Numbers,
    questions: Numbers, gaps: Numbers, last_commits: Numbers, ended: Numbers, alive: Numbers, steps: Numbers,
    overruled: Numbers, transactions: Numbers, members: Numbers, last_pending: Numbers, counts: Numbers, upto: int,
) -> None:  # fmt: skip
    """Records and markers of one window. `gaps`: first and last offsets of missing ranges. `last_commits`: first
    offsets of ranges, and offsets after their ends. `last_pending`: for each producer its newest commit that waits for
    a marker; -1: none. `upto`: at the end, questions before this offset are answered."""
    for number in range(counts[N.pending]):
        chain(number, pending, last_pending)
    at, marker, write_time = 0, 0, NONE
    num_records, num_markers = records.shape[1], markers.shape[1]
    while at < num_records or marker < num_markers:
        is_marker = marker < num_markers and (at == num_records or markers[M.offset, marker] < records[R.offset, at])
        if is_marker:
            answer(markers[M.offset, marker], keys, questions, counts)
            end_transaction(
                markers,
                marker,
                gaps,
                last_commits,
                pending,
                last_pending,
                keys,
                groups,
                pairs,
                ended,
                alive,
                overruled,
                transactions,
                members,
                counts,
            )
            marker += 1
            continue
        time = records[R.time, at]
        answer(records[R.offset, at], keys, questions, counts)
        # Records of one write have the same time.
        if time == NONE or time != write_time:
            explain(keys, pairs, ended, counts)
            write_time = time
        take_record(
            records, at, gaps, last_commits, pending, last_pending, keys, groups, pairs, questions, ended, alive, steps,
            counts,
        )  # fmt: skip
        at += 1
    explain(keys, pairs, ended, counts)
    answer(upto, keys, questions, counts)


@step
def take_record(
    records: Numbers, at: int, gaps: Numbers, last_commits: Numbers, pending: Numbers, last_pending: Numbers,
    keys: Numbers, groups: Numbers, pairs: Numbers, questions: Numbers, ended: Numbers, alive: Numbers, steps: Numbers,
    counts: Numbers,
) -> None:  # fmt: skip
    """A commit or a deletion, and what follows from it at once."""
    key, offset, time = records[R.key, at], records[R.offset, at], records[R.time, at]
    group = keys[key, K.group]
    note_step(group, offset, time, groups, steps, counts)
    groups[group, G.seen_offset], groups[group, G.seen_time] = offset, time
    records[R.is_exact, at] = is_complete(gaps, keys[key, K.seen_offset], offset)
    keys[key, K.seen_offset] = offset
    if records[R.kind, at] == DELETION:
        leaves_pending = is_within(last_commits, offset)
        delete(key, offset, time, records[R.is_exact, at], leaves_pending, keys, groups, pairs, ended, counts)
    else:
        commit_time = records[R.commit_time, at]
        written_time = time if commit_time == NONE else commit_time
        keys[key, K.written_time] = written_time
        answer_waiting(key, written_time, keys, questions)
        if records[R.kind, at] == PENDING:
            wait(records, at, pending, last_pending, keys, groups, counts)
        else:
            take_effect(records, at, offset, time, records[R.is_exact, at], keys, groups, pairs, ended, counts)
    note_alive(group, offset, time, groups, alive, counts)


@step
def answer(before: int, keys: Numbers, questions: Numbers, counts: Numbers) -> None:
    """Questions about offsets before this one: all records up to them have been taken."""
    while counts[N.asked] < questions.shape[0] and questions[counts[N.asked], Q.offset] < before:
        number = counts[N.asked]
        key, offset = questions[number, Q.key], questions[number, Q.offset]
        questions[number, Q.is_answered] = 1
        if questions[number, Q.is_about_values]:
            # A state of an earlier run may be newer than the question.
            if (keys[key, K.from_record_offset] if keys[key, K.is_live] else keys[key, K.record_offset]) > offset:
                questions[number, Q.is_answered] = 0
            elif keys[key, K.is_live]:
                questions[number, Q.committed] = keys[key, K.committed]
        if questions[number, Q.is_about_times]:
            if 0 <= keys[key, K.seen_offset] <= offset:
                questions[number, Q.last_commit_time], questions[number, Q.newest_offset] = (
                    keys[key, K.written_time],
                    keys[key, K.seen_offset],
                )
            # Where records are missing, the next commit is unknown.
            if keys[key, K.hole_offset] >= offset:
                questions[number, Q.is_settled] = 1
            else:
                questions[number, Q.next], keys[key, K.question] = keys[key, K.question], number
        counts[N.asked] = number + 1


@step
def answer_waiting(key: int, time: int, keys: Numbers, questions: Numbers) -> None:
    """The commit is the next one for all questions that wait for one."""
    number = keys[key, K.question]
    while number >= 0:
        questions[number, Q.next_commit_time], questions[number, Q.is_settled] = time, 1
        number = questions[number, Q.next]
    keys[key, K.question] = -1


@compiled("i8[:, ::1](i8[:, ::1], i8[::1])")
def held_values(keys: Numbers, order: Numbers) -> Numbers:
    """The values of these keys, as columns of `fields.H`. One column at a time is read from the keys as they follow
    each other in memory, and then in the other order, from the cache."""
    column = np.empty(keys.shape[0], np.int64)
    held = np.empty((NUM_HELD_FIELDS, order.size), np.int64)
    for field in range(NUM_HELD_FIELDS):
        for key in range(column.size):
            if field < NUM_VALUE_FIELDS:
                column[key] = keys[key, field]
            elif field == H.last_offset:
                column[key] = keys[key, K.last_offset]
            else:
                column[key] = is_shown(key, keys)
        for number in range(order.size):
            held[field, number] = column[order[number]]
    return held


@step
def is_shown(key: int, keys: Numbers) -> bool:
    """Whether the columns that `shown_states.SHOWN_BY` does not name can be derived from the open row of the key."""
    last, time, commit_time = keys[key, K.last_offset], keys[key, K.from_time], keys[key, K.commit_time]
    return bool(
        keys[key, K.record_offset] == last
        and keys[key, K.seen_offset] == last
        and keys[key, K.record_time] == time
        and keys[key, K.history_time] == time
        and keys[key, K.written_time] == (time if commit_time == NONE else commit_time)
        and keys[key, K.hole_offset] == NONE
        and keys[key, K.producer_id] == NONE
        and keys[key, K.producer_epoch] == NONE
    )
