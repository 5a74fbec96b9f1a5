"""Steps of the loop that links commits: commits of transactions, which wait for their marker."""

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Numbers
from udfs.commits.effects.fields import G, K, M, N, O, R, T
from udfs.commits.effects.kernels import is_complete, is_within, note_alive, take_effect

step = compiled(allocates=False)


@step
def wait(
    records: Numbers, at: int, pending: Numbers, last_pending: Numbers, keys: Numbers, groups: Numbers,
    counts: Numbers,
) -> None:  # fmt: skip
    """Until the producer's marker."""
    number, key = counts[N.pending], records[R.key, at]
    for field in range(records.shape[0]):
        pending[field, number] = records[field, at]
    chain(number, pending, last_pending)
    counts[N.pending] = number + 1
    keys[key, K.num_pending] += 1
    groups[keys[key, K.group], G.num_held] += 1


@step
def chain(number: int, pending: Numbers, last_pending: Numbers) -> None:
    """Joins a pending commit to those before it of the same producer."""
    producer = pending[R.producer, number]
    pending[R.next, number] = last_pending[producer]
    last_pending[producer] = number


@step
def end_transaction(
    markers: Numbers, marker: int, gaps: Numbers, last_commits: Numbers, pending: Numbers, last_pending: Numbers,
    keys: Numbers, groups: Numbers, pairs: Numbers, ended: Numbers, alive: Numbers, overruled: Numbers,
    transactions: Numbers, members: Numbers, counts: Numbers,
) -> None:  # fmt: skip
    """Newest commit first: those before it of the same key were replaced by it."""
    offset, time, producer = markers[M.offset, marker], markers[M.time, marker], markers[M.producer, marker]
    newest = last_pending[producer]
    if newest < 0:
        return
    last_pending[producer] = -1
    keeps_last = is_within(last_commits, offset)
    row = counts[N.transactions]
    transactions[row, T.end_offset], transactions[row, T.end_time], transactions[row, T.is_commit] = (
        offset,
        time,
        markers[M.is_commit, marker],
    )
    transactions[row, T.num_commits] = transactions[row, T.num_superseded] = 0
    number = newest
    while number >= 0:
        transactions[row, T.num_commits] += 1
        transactions[row, T.num_superseded] += end_pending(
            number, markers, marker, gaps, keeps_last, pending, keys, groups, pairs, ended, overruled, counts
        )
        transactions[row, T.producer_id], transactions[row, T.producer_epoch] = (
            pending[R.producer_id, number], pending[R.producer_epoch, number],
        )  # fmt: skip
        transactions[row, T.first_offset], transactions[row, T.first_time] = (
            pending[R.offset, number],
            pending[R.time, number],
        )
        number = pending[R.next, number]
    number = newest
    while number >= 0:
        group = keys[pending[R.key, number], K.group]
        note_alive(group, offset, time, groups, alive, counts)
        member = counts[N.members]
        members[member, 0], members[member, 1] = row, group
        counts[N.members] = member + 1
        pending[R.key, number] = -1
        number = pending[R.next, number]
    counts[N.transactions] = row + 1


@step
def end_pending(
    number: int, markers: Numbers, marker: int, gaps: Numbers, keeps_last: bool, pending: Numbers, keys: Numbers,
    groups: Numbers, pairs: Numbers, ended: Numbers, overruled: Numbers, counts: Numbers,
) -> bool:  # fmt: skip
    """Whether the commit has no effect, even if the transaction is committed. `keeps_last`: what its COMMIT finds in
    effect does not matter."""
    offset, key, own_offset = markers[M.offset, marker], pending[R.key, number], pending[R.offset, number]
    if not pending[R.is_lost, number] and own_offset > keys[key, K.deleted_offset]:
        keys[key, K.num_pending] -= 1
        groups[keys[key, K.group], G.num_held] -= 1
    is_replaced = keys[key, K.marker_offset] == offset
    keys[key, K.marker_offset] = offset
    is_older = pending[R.is_lost, number] != 0 or keys[key, K.record_offset] > own_offset
    is_lost = is_replaced or (is_older and not keeps_last)
    if markers[M.is_commit, marker] and not is_lost:
        is_exact = pending[R.is_exact, number] and is_complete(gaps, own_offset, offset)
        take_effect(pending, number, offset, markers[M.time, marker], is_exact, keys, groups, pairs, ended, counts)
    elif markers[M.is_commit, marker] and not is_replaced:
        note_overruled(number, markers, marker, pending, keys, overruled, counts)
    return bool(is_lost)


@step
def note_overruled(
    number: int, markers: Numbers, marker: int, pending: Numbers, keys: Numbers, overruled: Numbers, counts: Numbers,
) -> None:  # fmt: skip
    """Older coordinators restore a pending commit whose offset was deleted. The one of 3.7 also restores one that is
    older than the value in effect; it cannot load commits with a topic id."""
    key, row = pending[R.key, number], counts[N.overruled]
    is_deleted = not keys[key, K.is_live] and keys[key, K.record_offset] > pending[R.offset, number]
    differs = (
        keys[key, K.committed] != pending[R.committed, number]
        or keys[key, K.leader_epoch] != pending[R.leader_epoch, number]
        or keys[key, K.text] != pending[R.text, number]
    )
    is_older = keys[key, K.is_live] and differs and keys[key, K.topic_id] < 0 and pending[R.topic_id, number] < 0
    if is_deleted or is_older:
        overruled[row, O.key], overruled[row, O.offset] = key, pending[R.offset, number]
        overruled[row, O.committed], overruled[row, O.is_deleted] = pending[R.committed, number], is_deleted
        overruled[row, O.marker_offset], overruled[row, O.marker_time] = (
            markers[M.offset, marker],
            markers[M.time, marker],
        )
        overruled[row, O.newer_offset], overruled[row, O.newer_committed] = (
            keys[key, K.last_offset],
            keys[key, K.committed],
        )
        counts[N.overruled] = row + 1
