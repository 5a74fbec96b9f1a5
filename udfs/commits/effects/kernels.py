"""Steps of the loop that links commits: what takes effect and when, and when groups have offsets."""

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Numbers
from udfs.commits.effects.fields import DELETED, NONE, NUM_VALUE_FIELDS, RECREATED, REPLACED, A, E, G, K, N, P, R, S
from udfs.groups.states.group import CLOCK_STEP_US

step = compiled(allocates=False)


@step
def take_effect(
    records: Numbers, at: int, offset: int, time: int, is_exact: int, keys: Numbers, groups: Numbers, pairs: Numbers,
    ended: Numbers, counts: Numbers,
) -> None:  # fmt: skip
    """From `offset` on the commit is in effect. If it is the same as the one before it, its row continues."""
    key = records[R.key, at]
    time = max(time, keys[key, K.history_time])
    if keys[key, K.is_live] and is_same(records, at, key, keys):
        keys[key, K.num_commits] += 1
        keys[key, K.is_certain] &= records[R.is_certain, at]
    else:
        has_previous = False
        if keys[key, K.is_live]:
            has_previous = not is_other_topic(keys[key, K.topic_id], records[R.topic_id, at])
            end(key, offset, time, is_exact, REPLACED if has_previous else RECREATED, keys, ended, counts)
        else:
            change_live(key, 1, keys, groups, pairs, counts)
        keys[key, K.previous_offset], keys[key, K.has_previous] = keys[key, K.committed], has_previous
        begin(records, at, offset, time, is_exact, key, keys)
    keys[key, K.is_live], keys[key, K.history_time], keys[key, K.last_offset] = 1, time, offset
    keys[key, K.record_offset], keys[key, K.record_time] = records[R.offset, at], records[R.time, at]
    keys[key, K.commit_time], keys[key, K.expire_time] = records[R.commit_time, at], records[R.expire_time, at]
    keys[key, K.producer_epoch] = records[R.producer_epoch, at]


@step
def is_same(records: Numbers, at: int, key: int, keys: Numbers) -> bool:
    """Whether the commit repeats the one in effect."""
    return bool(
        keys[key, K.committed] == records[R.committed, at]
        and keys[key, K.leader_epoch] == records[R.leader_epoch, at]
        and keys[key, K.topic_id] == records[R.topic_id, at]
        and keys[key, K.text] == records[R.text, at]
        and keys[key, K.producer_id] == records[R.producer_id, at]
    )


@step
def is_other_topic(before: int, after: int) -> bool:
    """Whether both have a topic id, and the ids differ."""
    return before != after and before >= 0 and after >= 0


@step
def begin(records: Numbers, at: int, offset: int, time: int, is_exact: int, key: int, keys: Numbers) -> None:
    """A row of offset_history begins."""
    keys[key, K.committed], keys[key, K.leader_epoch] = records[R.committed, at], records[R.leader_epoch, at]
    keys[key, K.topic_id], keys[key, K.text] = records[R.topic_id, at], records[R.text, at]
    keys[key, K.producer_id], keys[key, K.is_certain] = records[R.producer_id, at], records[R.is_certain, at]
    keys[key, K.from_record_offset], keys[key, K.from_time], keys[key, K.is_from_exact] = offset, time, is_exact
    keys[key, K.first_record_offset], keys[key, K.first_commit_time] = records[R.offset, at], records[R.commit_time, at]
    keys[key, K.num_commits] = 1


@step
def end(
    key: int, offset: int, time: int, is_exact: int, how: int, keys: Numbers, ended: Numbers, counts: Numbers,
) -> None:  # fmt: skip
    """A row of offset_history ends."""
    number = counts[N.ended]
    for field in range(NUM_VALUE_FIELDS):
        ended[field, number] = keys[key, field]
    ended[E.key, number], ended[E.how, number] = key, how
    ended[E.to_record_offset, number], ended[E.to_time, number], ended[E.is_to_exact, number] = offset, time, is_exact
    counts[N.ended] = number + 1


@step
def delete(
    key: int, offset: int, time: int, is_exact: int, leaves_pending: bool, keys: Numbers, groups: Numbers,
    pairs: Numbers, ended: Numbers, counts: Numbers,
) -> None:  # fmt: skip
    """The key has no value from here on, and nothing of it waits for a marker any more, unless it `leaves_pending`."""
    keys[key, K.history_time] = max(time, keys[key, K.history_time])
    if not leaves_pending:
        groups[keys[key, K.group], G.num_held] -= keys[key, K.num_pending]
        keys[key, K.num_pending], keys[key, K.deleted_offset] = 0, offset
    if keys[key, K.is_live]:
        ended[E.deletion_time, counts[N.ended]] = time
        end(key, offset, keys[key, K.history_time], is_exact, DELETED, keys, ended, counts)
        change_live(key, -1, keys, groups, pairs, counts)
    keys[key, K.is_live], keys[key, K.record_offset], keys[key, K.last_offset] = 0, offset, offset
    counts[N.deletions] += 1


@step
def change_live(key: int, by: int, keys: Numbers, groups: Numbers, pairs: Numbers, counts: Numbers) -> None:
    """One key more or less of the group and the topic has a value. Keeps how many had one after the last deletion."""
    number = keys[key, K.pair]
    if pairs[number, P.deletion] != counts[N.deletions]:
        pairs[number, P.num_live_then], pairs[number, P.deletion] = pairs[number, P.num_live], counts[N.deletions]
    pairs[number, P.num_live] += by
    groups[keys[key, K.group], G.num_held] += by


@step
def explain(keys: Numbers, pairs: Numbers, ended: Numbers, counts: Numbers) -> None:
    """At the end of a write that deleted offsets: whether its group still had others of the topic after the last
    deletion."""
    deletions = counts[N.deletions]
    for number in range(counts[N.explained], counts[N.ended]):
        if ended[E.how, number] == DELETED:
            pair = keys[ended[E.key, number], K.pair]
            live = pairs[pair, P.num_live_then] if pairs[pair, P.deletion] == deletions else pairs[pair, P.num_live]
            ended[E.has_others, number] = live > 0
    counts[N.explained] = counts[N.ended]


@step
def note_alive(group: int, offset: int, time: int, groups: Numbers, alive: Numbers, counts: Numbers) -> None:
    """After each record: whether the group has begun to have offsets or pending commits, or has none any more."""
    if (groups[group, G.num_held] > 0) == (groups[group, G.alive_from_offset] != NONE):
        return
    if groups[group, G.num_held] > 0:
        groups[group, G.alive_from_offset], groups[group, G.alive_from_time] = offset, time
        return
    row = counts[N.alive]
    alive[row, A.group], alive[row, A.from_record_offset] = group, groups[group, G.alive_from_offset]
    alive[row, A.from_time] = groups[group, G.alive_from_time]
    alive[row, A.to_record_offset], alive[row, A.to_time] = offset, max(time, groups[group, G.alive_from_time])
    counts[N.alive] = row + 1
    groups[group, G.alive_from_offset], groups[group, G.alive_from_time] = NONE, NONE


@step
def note_step(group: int, offset: int, time: int, groups: Numbers, steps: Numbers, counts: Numbers) -> None:
    """A record that is older than the one of its group before it."""
    before = groups[group, G.seen_time]
    is_known = time != NONE and before != NONE  # noqa: PLR1714
    if is_known and before - time > CLOCK_STEP_US:
        row = counts[N.steps]
        steps[row, S.group], steps[row, S.offset] = group, offset
        steps[row, S.time], steps[row, S.time_before] = time, before
        counts[N.steps] = row + 1


@step
def is_within(ranges: Numbers, offset: int) -> bool:
    """Whether one of these ranges has the offset: hardly ever there are any."""
    for number in range(ranges.shape[1]):  # noqa: SIM110
        if ranges[0, number] <= offset < ranges[1, number]:
            return True
    return False


@step
def is_complete(gaps: Numbers, after: int, upto: int) -> bool:
    """Whether every offset after `after` and before `upto` is known (see `Gaps`)."""
    if not gaps.shape[1]:
        return True
    place, end = 0, gaps.shape[1]
    while place < end:
        middle = (place + end) // 2
        if gaps[1, middle] <= after:
            place = middle + 1
        else:
            end = middle
    return bool(place == gaps.shape[1] or gaps[0, place] >= upto)
