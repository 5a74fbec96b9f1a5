"""Offsets that were removed, or that ended because their topic was recreated, each with the record that ended it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import OffsetEnd
from schemas.words.lag import ResetActor, ResetKind, SettingsSource
from udfs.arrays.nullable import NONE, Flags, Numbers, every, first_of, numbers, times
from udfs.arrays.texts import as_texts, is_value, of_texts
from udfs.lag.as_of import NOWHERE, key_codes
from udfs.lag.confidence import LIKELY, POSSIBLE, are_possible, doubts, named
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.group_states import StatesAt
from udfs.rules.offset_resets.offset_moves import KEY, batches_of
from udfs.rules.offset_resets.reset_rows import SCHEMA

DONE_BY: dict[str, tuple[ResetKind, ResetActor]] = {
    OffsetEnd.EXPIRED: (ResetKind.EXPIRED, ResetActor.COORDINATOR),
    OffsetEnd.DELETED: (ResetKind.DELETED, ResetActor.ADMIN_LIKELY),
    OffsetEnd.TOPIC_DELETED: (ResetKind.DELETED, ResetActor.COORDINATOR),
    OffsetEnd.TOMBSTONE_UNKNOWN: (ResetKind.DELETED, ResetActor.UNKNOWN),
}
# What one write ends, and what of it is of one topic.
WRITE = ("group_id", "ended_by", "batch")
OPERATION = (*WRITE, "topic", "topic_id")
CAUSE_COLUMNS = ("ended_by", "via_after", "num_members", "is_empty", "may_have_expired", "is_topic_left")
# The smallest retention that a broker takes is one minute: a younger offset did not expire.
LEAST_RETENTION = 60_000_000
UNSEEN = "no snapshot shows by its id whether the topic was still there"
NOT_KNOWN = "no snapshot has offsets.retention.minutes (7 days is only Kafka's default)"


def removed_offsets(history: PartitionHistory, since: int | None) -> pa.Table:
    """Rows of offset_history, with what is known of what ended them."""
    table = history.table("offset_history")
    time = numbers(table.column("to_time"))
    ends = pa.array([*DONE_BY, OffsetEnd.TOPIC_RECREATED], pa.string())
    is_ended = of_texts(table.column("ended_by"), lambda texts: pc.is_in(texts, value_set=ends), False)
    is_due = (time <= history.as_of_time) & (time >= (NONE if since is None else since))
    return with_facts(history, table, np.flatnonzero(is_ended & is_due))


def removal_rows(removed: Sequence[pa.Table], offsets_partition: int) -> pa.Table:
    """Rows as `reset_rows.SCHEMA` has them, a column at a time: expiry removes very many."""
    rows = with_known_ids(pa.concat_tables(removed))
    if not rows.num_rows:
        return SCHEMA.empty_table()
    (operation,) = key_codes(OPERATION, rows)
    order = np.lexsort((numbers(rows.column("partition")), operation))
    starts = np.flatnonzero(first_of(operation[order]))
    return of_operations(rows.take(pa.array(order)), starts, offsets_partition)


def with_known_ids(rows: pa.Table) -> pa.Table:
    """What one write removes of a topic has one id, though not every commit told it: before 4.4 those in transactions
    do not."""
    ids = rows.column("topic_id")
    if ids.null_count in (0, len(ids)):
        return rows
    (topic,), (code,) = key_codes((*WRITE, "topic"), rows), key_codes(("topic_id",), rows)
    known = np.flatnonzero(ids.is_valid().to_numpy())
    place, lowest, highest = (np.full(int(topic.max()) + 1, start) for start in (NOWHERE, len(ids), NOWHERE))
    place[topic[known]] = known
    np.minimum.at(lowest, topic[known], code[known])
    np.maximum.at(highest, topic[known], code[known])
    place[lowest != highest] = NOWHERE
    found = place[topic]
    found[known] = known
    column = rows.schema.get_field_index("topic_id")
    return rows.set_column(column, "topic_id", ids.take(pa.array(found, mask=found == NOWHERE)))


def of_operations(rows: pa.Table, starts: Numbers, offsets_partition: int) -> pa.Table:
    """Rows of an operation follow each other by partition, from each start on."""
    firsts = rows.take(pa.array(starts))
    bounds = pa.array(np.append(starts, rows.num_rows).astype(np.int32))
    after = rows.column("after").combine_chunks()
    num_after = np.append(0, np.cumsum(after.is_valid().to_numpy(zero_copy_only=False)))
    offset = numbers(rows.column("to_record_offset"))
    lists = (firsts.column(name).to_pylist() for name in CAUSE_COLUMNS)
    kinds, actors, reasons = zip(*map(what_happened, *lists), strict=True)
    partitions, committed = (rows.column(name).combine_chunks() for name in ("partition", "committed_offset"))
    columns = {name: firsts.column(name) for name in ("group_id", "group_type", "topic", "topic_id", "num_members")}
    columns |= {
        "at_time": begins(rows).take(pa.array(starts)),
        "kind": pa.array(kinds, pa.string()),
        "actor": pa.array(actors, pa.string()),
        "actor_reason": pa.array(reasons, pa.string()),
        "confidence": named(np.maximum.reduceat(numbers(rows.column("doubt")), starts)),
        "num_partitions": pa.array(np.diff(np.append(starts, rows.num_rows))),
        "partitions": pa.ListArray.from_arrays(bounds, partitions),
        "from_offsets": pa.ListArray.from_arrays(bounds, committed),
        "to_offsets": pa.ListArray.from_arrays(
            pa.array(num_after[bounds.to_numpy()].astype(np.int32)), after.drop_null()
        ),
        "evidence_partition": every(offsets_partition, pa.int32(), len(starts)),
        "evidence_first_offset": pa.array(np.minimum.reduceat(offset, starts)),
        "evidence_last_offset": pa.array(np.maximum.reduceat(offset, starts)),
    }
    # Neither offsets that are gone nor those of two topics can be compared.
    nothing = {name: pa.nulls(len(starts)) for name in ("messages_reread", "messages_skipped", "signature_score")}
    made = columns | nothing
    return pa.table([made[field.name].cast(field.type) for field in SCHEMA], schema=SCHEMA)


def begins(rows: pa.Table) -> pa.Array:
    """When the write began that ended each row: one time for all its topics."""
    (write,) = key_codes(WRITE, rows)
    time = numbers(rows.column("to_time"))
    earliest = np.full(int(write.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, write, time)
    return times(earliest[write])


def with_facts(history: PartitionHistory, table: pa.Table, place: Numbers) -> pa.Table:
    """The ended rows, each with its batch, the group's state just before, and the commit that follows
    in its place."""
    names = [*KEY, "topic_id", "to_time", "to_record_offset", "ended_by", "committed_offset", "last_commit_time",
             "last_expire_time", "via", "confidence"]  # fmt: skip
    ended = as_texts(table.select(names).take(pa.array(place)))
    offset = numbers(ended.column("to_record_offset"))
    states = StatesAt.of(history, ended.column("group_id"), np.maximum(offset - 1, 0))
    group_types = history.table("group_state_intervals").column("group_type").take(
        pa.array(states.row, mask=states.row == NOWHERE)
    )  # fmt: skip
    following = rows_after(table, place)
    expirable = may_have_expired(ended, history.broker.retention_source)
    left = are_topics_left(ended, history.watermarks)
    after = as_texts(table.select(["committed_offset", "via"]).take(pa.array(following, mask=following == NOWHERE)))
    facts = {
        "batch": pa.array(batches_of(history.commits, offset)),
        "group_type": group_types,
        "num_members": pa.array(states.num_members, mask=states.num_members == NONE),
        "after": after.column("committed_offset"),
        "is_empty": pa.array(states.is_empty),
        "via_after": after.column("via"),
        "may_have_expired": pa.array(expirable),
        "is_topic_left": pa.array(left),
        "doubt": pa.array(
            np.where(np.append(are_possible(table), False)[following], POSSIBLE, doubts_of(ended, expirable, left))
        ),
    }
    for name, column in facts.items():
        ended = ended.append_column(name, column)
    return ended


def may_have_expired(ended: pa.Table, retention_source: str) -> Flags:
    """Whether it may have been age that removed an offset. The replay knows it where a snapshot has the retention, or
    the commit its own expiry time."""
    age = numbers(ended.column("to_time")) - numbers(ended.column("last_commit_time"))
    is_timed = ended.column("last_commit_time").is_valid().to_numpy() & ended.column("to_time").is_valid().to_numpy()
    is_young = is_timed & (age < LEAST_RETENTION)
    is_decided = is_timed if retention_source == SettingsSource.SNAPSHOT else np.zeros(len(age), np.bool_)
    return np.asarray(~(is_young | is_decided | ended.column("last_expire_time").is_valid().to_numpy()), np.bool_)


def are_topics_left(ended: pa.Table, watermarks: Watermarks) -> Flags:
    """Whether the first snapshot after the removal still has the topic, by its id: so it was not deleted."""
    places, time = watermarks.first_places(ended), numbers(ended.column("to_time"))
    before, after = watermarks.at(places, time), watermarks.after(places, time)
    ids = watermarks.rows.column("topic_id")
    then, later = (
        as_texts(pa.table({"id": ids.take(pa.array(rows, mask=rows == NOWHERE))})) for rows in (before, after)
    )
    known = pc.coalesce(ended.column("topic_id"), then.column("id"))
    return np.asarray(pc.fill_null(pc.equal(known, later.column("id")), False).to_numpy(), np.bool_)


def doubts_of(ended: pa.Table, may_have_expired: Flags, is_topic_left: Flags) -> Numbers:
    """As the rows, of which an inferred end is likely. Where two causes are left, it may be either."""
    is_unknown = is_value(ended.column("ended_by"), OffsetEnd.TOMBSTONE_UNKNOWN)
    is_deletion = is_value(ended.column("ended_by"), OffsetEnd.DELETED)
    is_deletion |= is_value(ended.column("ended_by"), OffsetEnd.TOPIC_DELETED)
    is_either = np.where(is_unknown, may_have_expired | ~is_topic_left, may_have_expired & is_deletion)
    return np.where(
        is_either, POSSIBLE, np.maximum(doubts(ended.column("confidence")), np.where(is_unknown, LIKELY, 0))
    )


def rows_after(table: pa.Table, place: Numbers) -> Numbers:
    """Of each row the one of the same key that began with what ended it; NOWHERE: none."""
    later = np.minimum(place + 1, table.num_rows - 1)
    here, there = (as_texts(table.select([*KEY]).take(pa.array(rows))) for rows in (place, later))
    is_after = numbers(table.column("from_record_offset"))[later] == numbers(table.column("to_record_offset"))[place]
    for name in KEY:
        is_after &= np.asarray(pc.equal(here.column(name), there.column(name)).to_numpy(), np.bool_)
    return np.where(is_after, later, NOWHERE)


# Expiry removes very many alike.
@lru_cache
def what_happened(
    ended_by: str,
    via_after: str | None,
    num_members: int | None,
    is_empty: bool,
    may_have_expired: bool,
    is_topic_left: bool,
) -> tuple[ResetKind, ResetActor, str | None]:
    """By `CAUSE_COLUMNS` of the operation's first partition."""
    if ended_by == OffsetEnd.TOPIC_RECREATED:
        # The group went on with another topic of the same name.
        return ResetKind.TRUNCATION, who_went_on(via_after, num_members, is_empty), None
    kind, actor = DONE_BY[ended_by]
    if ended_by == OffsetEnd.DELETED and may_have_expired:
        # The sweep that removes a group's last offsets for their age removes the group with them.
        return (
            kind,
            ResetActor.UNKNOWN,
            f"the offsets expired, or an admin tool deleted them with the group: {NOT_KNOWN}",
        )
    if ended_by == OffsetEnd.TOPIC_DELETED and may_have_expired:
        # Either way the coordinator did it, in one operation on several groups.
        return kind, actor, f"the topic was deleted, or the offsets expired: {NOT_KNOWN}"
    if ended_by != OffsetEnd.TOMBSTONE_UNKNOWN:
        return kind, actor, None
    if not may_have_expired and is_topic_left:
        why = "no consumer can delete offsets; these had not expired, and a snapshot still has their topic"
        return kind, ResetActor.ADMIN_LIKELY, why
    either = (
        "an admin tool deleted the offsets" if is_topic_left else "an admin tool deleted the offsets or their topic"
    )
    return kind, actor, f"{either}, or they expired: {NOT_KNOWN}" if may_have_expired else f"{either}: {UNSEEN}"


def who_went_on(via_after: str | None, num_members: int | None, is_empty: bool) -> ResetActor:
    if via_after == "transaction":
        return ResetActor.TRANSACTION
    # Without members it may have been an admin tool, or a program that commits for itself.
    return ResetActor.UNKNOWN if num_members is None or is_empty else ResetActor.MEMBER
