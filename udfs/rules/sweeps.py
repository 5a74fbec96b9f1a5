"""What the coordinator may delete for each group in its state at a given time. A loop over groups, not over offsets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import Confidence, GroupState
from schemas.words.lag import ExpiryRule
from schemas.words.records import GroupType
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.subscribed_topics import newest_offset, of_groups, subscribed_topics

CONSUMER_PROTOCOL = "consumer"
NO_TOPICS: frozenset[str] = frozenset()
CONFIDENCE_OF = {each.value: each for each in Confidence}


@dataclass(frozen=True)
class Sweep:
    """`rule` is for offsets of topics that are not `kept`. `since`: microseconds from which the retention counts; None:
    from the commit. `evidence`: the newest record that it rests on."""

    group_type: str | None
    rule: ExpiryRule
    kept: frozenset[str] = NO_TOPICS
    since: int | None = None
    confidence: Confidence = Confidence.CERTAIN
    evidence: int | None = None


UNKNOWN = Sweep(None, ExpiryRule.UNKNOWN, confidence=Confidence.POSSIBLE)


def sweeps(history: PartitionHistory, groups: pa.Array) -> dict[str, Sweep]:
    """For each of the groups, as of `as_of_time`."""
    states = newest(
        rows_holding_at(history.table("group_state_intervals"), history.as_of_time), groups, "from_record_offset"
    )
    topics = subscribed_topics(history, groups)
    sources = source_topics(history, groups)
    emptied = emptied_times(history)
    of_states = {
        group: sweep_of(state, topics.get(group), sources.get(group), emptied) for group, state in states.items()
    }
    return {group: of_states.get(group, UNKNOWN) for group in groups.to_pylist()}


def sweep_of(
    state: Mapping[str, Any],
    topics: frozenset[str] | None,
    sources: frozenset[str] | None,
    emptied: Mapping[int, int | None],
) -> Sweep:
    """`topics` are those subscribed, `sources` those that a streams group reads; None: not known."""
    group_type, offset = state["group_type"], state["from_record_offset"]
    about: dict[str, Any] = {"evidence": offset, "confidence": CONFIDENCE_OF[state["confidence"]]}
    if group_type is None or state["state"] is None:
        return UNKNOWN
    if group_type == GroupType.SHARE:
        return Sweep(group_type, ExpiryRule.NEVER, **about)
    if group_type == GroupType.CLASSIC:
        return classic_sweep(state, topics, emptied, about)
    is_empty = state["state"] == GroupState.EMPTY
    if group_type == GroupType.STREAMS:
        # Topics count from when the coordinator has made the topology ready. Of an empty group it knows one only until
        # it loads the log again.
        if is_empty:
            about["confidence"] = Confidence.POSSIBLE
        topics = NO_TOPICS if is_empty or state["state"] == GroupState.NOT_READY else sources
    elif is_empty:
        topics = NO_TOPICS
    return unsubscribed_sweep(group_type, topics, about)


def classic_sweep(
    state: Mapping[str, Any], topics: frozenset[str] | None, emptied: Mapping[int, int | None], about: dict[str, Any]
) -> Sweep:
    if not state["protocol_type"]:
        return Sweep(GroupType.CLASSIC, ExpiryRule.SIMPLE, **about)
    if state["state"] == GroupState.EMPTY:
        since = emptied.get(state["from_record_offset"], micros(state["from_time"]))
        rule = ExpiryRule.GROUP_EMPTY_OLD if since is None else ExpiryRule.GROUP_EMPTY
        return Sweep(GroupType.CLASSIC, rule, since=since, **about)
    if state["state"] == GroupState.STABLE and state["protocol_type"] == CONSUMER_PROTOCOL:
        return unsubscribed_sweep(GroupType.CLASSIC, topics, about)
    return Sweep(GroupType.CLASSIC, ExpiryRule.NEVER, **about)


def unsubscribed_sweep(group_type: str, topics: frozenset[str] | None, about: dict[str, Any]) -> Sweep:
    if topics is None:
        return Sweep(group_type, ExpiryRule.UNKNOWN, **about)
    return Sweep(group_type, ExpiryRule.NOT_SUBSCRIBED, kept=topics, **about)


def source_topics(history: PartitionHistory, groups: pa.Array) -> dict[str, frozenset[str] | None]:
    """Topics that each streams group's topology reads; None: it reads by a pattern. Only the newest topology is at
    hand: one that came later says nothing of the time."""
    by_group = {}
    topologies = history.table("streams_group_topologies")
    topologies = topologies.filter(pc.less_equal(topologies["record_offset"], newest_offset(history)))
    for group, row in newest(topologies, groups, "record_offset").items():
        parts = row["subtopologies"] or ()
        has_pattern = any(part["source_topic_regex"] for part in parts)
        by_group[group] = None if has_pattern else frozenset(topic for part in parts for topic in topics_read(part))
    return by_group


def topics_read(part: Mapping[str, Any]) -> Iterable[str]:
    yield from part["source_topics"] or ()
    yield from (topic["name"] for topic in part["repartition_source_topics"] or ())


def emptied_times(history: PartitionHistory) -> dict[int, int | None]:
    """When the group became empty as each record says, by record; None: the record is too old to say."""
    rows = history.table("classic_group_metadata")
    return dict(
        zip(rows["record_offset"].to_pylist(), rows["current_state_time"].cast(pa.int64()).to_pylist(), strict=True)
    )


def rows_holding_at(rows: pa.Table, time: int) -> pa.Table:
    """Intervals that hold at the time, in microseconds. One without a time is taken to have begun before it."""
    begins, ends = rows["from_time"].cast(pa.int64()), rows["to_time"].cast(pa.int64())
    has_begun = pc.fill_null(pc.less_equal(begins, time), True)
    has_ended = pc.if_else(rows["to_record_offset"].is_null(), False, pc.fill_null(pc.less_equal(ends, time), True))
    return rows.filter(pc.and_(has_begun, pc.invert(has_ended)))


def newest(rows: pa.Table, groups: pa.Array, by: str) -> dict[str, dict[str, Any]]:
    """For each group its row with the largest value of the column."""
    mine = of_groups(rows, groups)
    places = np.arange(mine.num_rows)
    order = np.lexsort((places, mine[by].to_numpy()))
    last = dict(zip(mine["group_id"].take(order).to_pylist(), order.tolist(), strict=True))
    chosen = mine.take(pa.array(last.values(), pa.int64()))
    return dict(zip(last, chosen.to_pylist(), strict=True))


def micros(time: Any) -> int | None:
    return None if time is None else pa.scalar(time, pa.timestamp("us", "UTC")).cast(pa.int64()).as_py()
