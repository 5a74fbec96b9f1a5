"""When each committed offset expires if its group stays as it is, by the coordinator's rules."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import TABLES
from schemas.words.history import TransactionOutcome
from schemas.words.lag import ExpiryRule
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers, times
from udfs.arrays.texts import as_texts
from udfs.lag.confidence import CERTAIN, CONFIDENCES, LIKELY, POSSIBLE, doubts, named
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.watermarks import NOWHERE
from udfs.rules.facts.subscribed_topics import oldest_commit
from udfs.rules.measure import Measure
from udfs.rules.sweeps import Sweep, rows_holding_at, sweeps

KEY = ("group_id", "topic", "partition")
RULES = tuple(ExpiryRule)
RETAINED = (ExpiryRule.GROUP_EMPTY, ExpiryRule.GROUP_EMPTY_OLD, ExpiryRule.NOT_SUBSCRIBED, ExpiryRule.SIMPLE)
WRITTEN = pa.schema([field for field in table_schema(TABLES["expiry_forecast"]) if field.name != "cluster"])


class ExpiryForecast(Measure):
    def __init__(self) -> None:
        self.forecast: list[pa.Table] = []

    def take(self, history: PartitionHistory) -> None:
        self.forecast.append(expiry_rows(history))

    def rows(self, history: PartitionHistory) -> pa.Table:
        return pa.concat_tables(self.forecast)


def expiry_rows(history: PartitionHistory) -> pa.Table:
    """One row for each offset that is committed at `as_of_time`."""
    live = as_texts(rows_holding_at(history.table("offset_history"), history.as_of_time)).combine_chunks()
    groups = pc.unique(live["group_id"])
    by_group = list(sweeps(history, groups).values())
    group = pc.index_in(live["group_id"], value_set=groups).to_numpy()
    rule = rules_of(live, by_group, group)
    # Equal commits after the time share the row: such a time is only a bound.
    commit = np.minimum(numbers(live["last_commit_time"]), history.as_of_time)
    is_bound = numbers(live["last_commit_time"]) > history.as_of_time
    base = np.where(is_rule(rule, ExpiryRule.GROUP_EMPTY), spread([each.since for each in by_group], group), commit)
    base[is_rule(rule, ExpiryRule.NEVER, ExpiryRule.UNKNOWN)] = NONE
    is_retained = is_rule(rule, *RETAINED) & (base != NONE)
    expires = np.where(is_retained, base + history.broker.offsets_retention_ms * 1000, NONE)
    expires = np.where(is_rule(rule, ExpiryRule.OWN_TIME), numbers(live["last_expire_time"]), expires)
    is_blocked, is_block_unsure = pending_transactions(history, live)
    doubt = np.maximum.reduce([
        doubts(live["confidence"]),
        np.array([CONFIDENCES.index(each.confidence) for each in by_group], np.int64)[group],
        np.where(is_bound, LIKELY, CERTAIN),
        np.where(is_block_unsure, POSSIBLE, CERTAIN),
    ])  # fmt: skip
    columns = {
        **{name: live[name] for name in (*KEY, "topic_id", "committed_offset")},
        "group_type": words([each.group_type for each in by_group], group),
        "as_of_time": times(np.full(live.num_rows, history.as_of_time)),
        "rule": words([each.value for each in RULES], rule),
        "base_time": times(base),
        "expires_time": times(expires),
        "settings_source": pa.array([history.broker.retention_source], pa.string()).take(
            pa.array(np.zeros(live.num_rows, np.int64), mask=~is_rule(rule, *RETAINED))
        ),
        "messages_at_risk": messages_at_risk(history, live),
        "blocked_by_transaction": pa.array(is_blocked),
        "evidence_partition": pa.array(np.full(live.num_rows, history.offsets_partition, np.int32)),
        "evidence_first_offset": live["from_record_offset"],
        "evidence_last_offset": pa.array(
            np.maximum(numbers(live["evidence_last_offset"]), spread([each.evidence for each in by_group], group))
        ),
        "confidence": named(doubt),
    }
    return pa.table([columns[name] for name in WRITTEN.names], schema=WRITTEN)


def rules_of(live: pa.Table, by_group: list[Sweep], group: Numbers) -> Numbers:
    """As places in RULES. A commit's own time counts only where the sweep looks at the offset at all."""
    rule = np.array([RULES.index(each.rule) for each in by_group], np.int64)[group]
    is_swept = ~is_rule(rule, ExpiryRule.NEVER, ExpiryRule.UNKNOWN)
    topics = pc.unique(live["topic"])
    topic = pc.index_in(live["topic"], value_set=topics).to_numpy()
    place = {name: number for number, name in enumerate(topics.to_pylist())}
    kept = [
        number * len(topics) + place[name] for number, each in enumerate(by_group) for name in each.kept & place.keys()
    ]
    is_kept = np.isin(group.astype(np.int64) * len(topics) + topic, np.array(kept, np.int64))
    rule[is_swept & is_kept] = RULES.index(ExpiryRule.NEVER)
    rule[is_swept & ~is_kept & (numbers(live["last_expire_time"]) != NONE)] = RULES.index(ExpiryRule.OWN_TIME)
    return np.asarray(rule)


def messages_at_risk(history: PartitionHistory, live: pa.Table) -> pa.Array:
    """Of what the log holds: a committed offset outside of it counts as the nearer end."""
    marks = history.watermarks
    row = marks.at(live, np.full(live.num_rows, history.as_of_time))
    snapshots = marks.rows.take(pa.array(row, mask=row == NOWHERE))
    start, end = snapshots["log_start_offset"], snapshots["log_end_offset"]
    is_other = pa.array(marks.are_of_other_topic(row, live["topic_id"], numbers(live["from_time"])))
    committed = pc.min_element_wise(
        pc.max_element_wise(live["committed_offset"], start, skip_nulls=False), end, skip_nulls=False
    )
    larger = pc.max_element_wise(pc.subtract(end, committed), pc.subtract(committed, start), skip_nulls=False)
    return pc.if_else(is_other, pa.scalar(None, pa.int64()), larger)


def pending_transactions(history: PartitionHistory, live: pa.Table) -> tuple[Flags, Flags]:
    """Whether an open transaction waits to commit the same key, and whether its commit is older than those at hand:
    then each offset of its groups may be meant."""
    transactions = open_transactions(history)
    none = np.zeros(live.num_rows, np.bool_)
    if not transactions.num_rows or not live.num_rows:
        return none, none
    pending = pending_keys(history, transactions)
    oldest = oldest_commit(history)
    is_old = [oldest is None or each < oldest for each in transactions["first_offset"].to_pylist()]
    unseen = pc.unique(pc.list_flatten(transactions.filter(pa.array(is_old))["groups"]))
    is_unsure = pc.is_in(live["group_id"], value_set=unseen).to_numpy()
    rows = np.flatnonzero(pc.is_in(live["group_id"], value_set=groups_of(transactions)).to_numpy())
    is_pending = none.copy()
    keys = zip(*(live[name].take(pa.array(rows)).to_pylist() for name in KEY), strict=True)
    is_pending[rows] = [key in pending for key in keys]
    return is_pending | is_unsure, is_unsure & ~is_pending


def pending_keys(history: PartitionHistory, transactions: pa.Table) -> set[tuple[object, ...]]:
    """A later tombstone of the key takes it from every open transaction."""
    commits = history.commits
    first = dict(zip(*(transactions[name].to_pylist() for name in ("producer_id", "first_offset")), strict=True))
    is_mine = pc.is_in(commits["producer_id"], value_set=pa.array(list(first), pa.int64()))
    has_happened = pc.fill_null(pc.less_equal(commits["record_time"].cast(pa.int64()), history.as_of_time), True)
    is_later = pc.and_(has_happened, pc.greater_equal(commits["record_offset"], min(first.values())))
    is_of_groups = pc.is_in(commits["group_id"], value_set=groups_of(transactions))
    counts = pc.and_(pc.or_(is_mine, commits["is_tombstone"]), pc.and_(is_later, is_of_groups))
    pending: set[tuple[object, ...]] = set()
    for row in commits.select([*KEY, "record_offset", "is_tombstone", "producer_id"]).filter(counts).to_pylist():
        key = tuple(row[name] for name in KEY)
        if row["is_tombstone"]:
            pending.discard(key)
        elif row["record_offset"] >= first[row["producer_id"]]:
            pending.add(key)
    return pending


def groups_of(transactions: pa.Table) -> pa.Array:
    return pc.unique(pc.list_flatten(transactions["groups"]))


def open_transactions(history: PartitionHistory) -> pa.Table:
    rows = history.table("transactions")
    first, end = rows["first_time"].cast(pa.int64()), rows["end_time"].cast(pa.int64())
    has_begun = pc.fill_null(pc.less_equal(first, history.as_of_time), True)
    is_open = pc.or_(
        pc.equal(rows["outcome"], TransactionOutcome.OPEN.value),
        pc.fill_null(pc.greater(end, history.as_of_time), False),
    )
    return rows.filter(pc.and_(has_begun, is_open))


def is_rule(rule: Numbers, *rules: ExpiryRule) -> Flags:
    return np.isin(rule, [RULES.index(each) for each in rules])


def spread(values: list[int | None], group: Numbers) -> Numbers:
    """A value of each group, for each row."""
    return np.asarray(np.array([NONE if value is None else value for value in values], np.int64)[group])


def words(values: list[str | None], place: Numbers) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(place))
