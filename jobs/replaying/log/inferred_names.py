"""Infers topic names that no record and no snapshot contains, from what groups were assigned (see
udfs.audit.modern.topic_names).

The proof of a name may be in any offsets partition. So if an id has no name, all partitions are read, including records
of earlier runs.
"""

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import GROUP_TABLES, PartitionLog
from udfs.audit.modern.topic_names import ReadCommitted, TargetNames, names_by_id
from udfs.audit.modern_audit import TargetEvidence
from udfs.topics.names import Sighting

TARGETS, TOPIC_IDS = "target_assignment_members", ("topic_partitions", "topic_id")
# Records of consumer and share groups, and of classic groups that became such groups.
WINDOW_ROWS = 1 << 14


def topic_ids(rows: pa.Table) -> set[str]:
    """Topic ids in targets."""
    ids: set[str] = set()
    for chunk in rows.column(TOPIC_IDS[0]).chunks:
        structs = chunk.flatten()
        ids.update(structs.field(TOPIC_IDS[1]).unique().to_pylist() if len(structs) else ())
    return ids - {None}


def groups_with(rows: pa.Table, ids: set[str]) -> set[str]:
    """Groups whose targets contain one of the ids."""
    lists = rows.select(["group_id", TOPIC_IDS[0]]).combine_chunks()
    flat = lists.column(TOPIC_IDS[0]).combine_chunks()
    parents = pc.list_parent_indices(flat)
    is_wanted = pc.is_in(flat.flatten().field(TOPIC_IDS[1]), value_set=pa.array(sorted(ids), pa.string()))
    chosen = parents.filter(is_wanted)
    return set(lists.column("group_id").take(chosen).cast(pa.string()).to_pylist())


def computed_in(log: PartitionLog, unnamed: set[str], known: Mapping[str, str]) -> list[TargetNames]:
    """For groups of one offsets partition that were assigned topics without a name."""
    groups: set[str] = set()
    for rows in log.parts(TARGETS, ["group_id", TOPIC_IDS[0]]):
        groups |= groups_with(rows, unnamed)
    if not groups:
        return []
    log.begin_epochs()
    return evidence_of((tables for _, tables in log.windows(GROUP_TABLES, [], WINDOW_ROWS)), groups, known)


def evidence_of(
    windows: Iterable[Mapping[str, pa.Table]], groups: set[str], known: Mapping[str, str]
) -> list[TargetNames]:
    """For one offsets partition; reads only records of these groups."""
    fold = TargetEvidence(known)
    wanted = pa.array(sorted(groups), pa.string())
    for tables in windows:
        fold.take({name: of_groups(rows, wanted) for name, rows in tables.items()})
    return fold.target_names


def of_groups(rows: pa.Table, wanted: pa.Array) -> pa.Table:
    return rows.filter(pc.is_in(rows.column("group_id").cast(pa.string()), value_set=wanted))


def infer_names(computed: list[TargetNames], known: Mapping[str, str], read: ReadCommitted) -> list[Sighting]:
    sightings: list[Sighting] = []
    for topic_id, each in sorted(names_by_id(computed, known, read).items()):
        times = [of.time for of in computed if of.time is not None and topic_id in of.counts]
        first, last = (min(times), max(times)) if times else (None, None)
        sightings.append(
            Sighting(
                topic=each.name,
                topic_id=topic_id,
                source=each.source,
                from_time=first,
                to_time=last,
                num_partitions=each.num_partitions,
                confidence=each.confidence,
            )
        )
    return sightings
