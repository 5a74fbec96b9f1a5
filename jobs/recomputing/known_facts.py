"""What is known beside the log for recomputing assignments: topics and settings of snapshots, and rules of the
settings file."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.histories.captured import ASSIGNOR_NAMES, ASSIGNORS
from jobs.settings import Settings
from jobs.warehouses.any_warehouse import AnyWarehouse
from udfs.assignors.specs import Topic
from udfs.recomputing.facts import Facts, GroupRule, KnownTopic

MIGRATION = "group.consumer.migration.policy"
# Characters that no rack's name has.
BETWEEN, NO_RACK, EMPTY, NOT_CAPTURED = "\x1f", "\x1e", "\x1d", "\x1c"
COLUMNS = ["cluster", "captured_time", "topic", "topic_id", "partition", "racks"]


def facts_of(warehouse: AnyWarehouse, cluster: str, settings: Settings) -> Facts:
    told = newest_settings(warehouse, cluster)
    first = told.get(ASSIGNORS, settings.broker.default_assignor).split(",")[0].strip()
    policy = told.get(MIGRATION)
    return Facts(
        known_topics(warehouse.rows("topic_snapshots", COLUMNS), cluster),
        ASSIGNOR_NAMES.get(first, first) or None,
        None if policy is None else policy.lower(),
        tuple(
            GroupRule(each.pattern, each.copartitioned, each.redundancy, each.is_rack_local) for each in settings.groups
        ),
    )


def newest_settings(warehouse: AnyWarehouse, cluster: str) -> dict[str, str]:
    """Each as the newest snapshot says that has it."""
    rows = warehouse.rows("cluster_snapshots", ["cluster", "captured_time", "settings"])
    if rows is None:
        return {}
    ours = rows.filter(pc.equal(rows.column("cluster"), cluster)).sort_by("captured_time")
    return {name: value for told in ours.column("settings").to_pylist() for name, value in told or () if value}


def known_topics(rows: pa.Table | None, cluster: str) -> Mapping[str, Sequence[KnownTopic]]:
    """Each different count, id or racks of a topic once, from the first to the last snapshot in a row that has it."""
    found: dict[str, list[KnownTopic]] = {}
    if rows is None:
        return found
    ours = rows.filter(pc.equal(rows.column("cluster"), cluster))
    ours = ours.sort_by([("topic", "ascending"), ("captured_time", "ascending"), ("partition", "ascending")])
    racks, texts = coded_racks(ours.column("racks"))
    before = None
    for name, time, topic_id, partitions, of_partitions in topics_by_snapshot(ours, racks):
        known = found.setdefault(name, [])
        now = (name, topic_id, partitions, of_partitions.tobytes())
        if now != before:
            topic = Topic(name, partitions, topic_id, racks_of(of_partitions, texts))
        if known and known[-1].topic == topic:
            known[-1] = KnownTopic(topic, known[-1].first_time, time)
        else:
            known.append(KnownTopic(topic, time, time))
        before = now
    return found


def topics_by_snapshot(rows: pa.Table, racks: np.ndarray) -> Iterator[tuple[str, int, str | None, int, np.ndarray]]:
    """Name, time, id, number of partitions, and by partition a code of its racks (-1 where it is not listed)."""
    if not rows.num_rows:
        return
    names = rows.column("topic").dictionary_encode().unify_dictionaries().combine_chunks()
    codes = np.asarray(names.indices.to_numpy(zero_copy_only=False))
    times = np.asarray(rows.column("captured_time").cast(pa.int64()).to_numpy())
    partitions = np.asarray(rows.column("partition").to_numpy())
    starts = np.flatnonzero(np.append(True, (np.diff(codes) != 0) | (np.diff(times) != 0)))
    ends = np.append(starts[1:], len(codes))
    ids = rows.column("topic_id").take(pa.array(starts)).to_pylist()
    for start, end, topic_id in zip(starts.tolist(), ends.tolist(), ids, strict=True):
        number = int(partitions[end - 1]) + 1
        of_partitions = np.full(number, -1, np.int32)
        of_partitions[partitions[start:end]] = racks[start:end]
        yield names.dictionary[codes[start]].as_py(), int(times[start]), topic_id, number, of_partitions


def coded_racks(column: pa.ChunkedArray) -> tuple[np.ndarray, list[tuple[str | None, ...] | None]]:
    """Few different lists come again and again, in millions of rows: a code for each, and what it stands for."""
    lists = pa.chunked_array([joined(each) for each in column.chunks], pa.string())
    coded = lists.dictionary_encode().unify_dictionaries().combine_chunks()
    if not len(coded):
        return np.empty(0, np.int32), []
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False)), [
        split(each) for each in coded.dictionary.to_pylist()
    ]


def joined(lists: pa.ListArray) -> pa.StringArray:
    """One text a list."""
    ends = np.cumsum(np.append(0, pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)))
    filled = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pc.fill_null(lists.flatten(), NO_RACK))
    is_empty = pc.equal(pc.list_value_length(lists), 0)
    texts = pc.if_else(is_empty.fill_null(False), EMPTY, pc.binary_join(filled, BETWEEN))
    return pc.if_else(lists.is_valid(), texts, NOT_CAPTURED)


def split(text: str) -> tuple[str | None, ...] | None:
    if text in (NOT_CAPTURED, EMPTY):
        return None if text == NOT_CAPTURED else ()
    return tuple(None if rack == NO_RACK else rack for rack in text.split(BETWEEN))


def racks_of(
    codes: np.ndarray, texts: Sequence[tuple[str | None, ...] | None]
) -> tuple[tuple[str | None, ...], ...] | None:
    """None where no broker is known to stand in a rack."""
    found = tuple((texts[code] or ()) if code >= 0 else () for code in codes.tolist())
    return found if any(rack is not None for racks in found for rack in racks) else None
