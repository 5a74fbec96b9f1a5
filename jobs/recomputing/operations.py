"""Windows of the log as recomputation takes them: they never split an operation of a group, and it is known which
topics they name.

The records of an operation are in one batch and have one time. An operation that may continue waits for the next
window.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import codes_and_values, offsets_of, times_of
from jobs.replaying.log.row_groups import LEAST

Window = dict[str, pa.Table]
Paths = Mapping[str, tuple[tuple[str, ...], ...]]

# Where decoded tables name topics, by name or by id: paths within their columns.
NAMES: Paths = {
    "classic_group_metadata": (
        ("members", "subscription", "topics"),
        ("members", "subscription", "owned_partitions", "topic"),
        ("members", "assignment", "partitions", "topic"),
    ),
    "group_member_metadata": (("subscribed_topic_names",),),
    "group_partition_metadata": (("topics", "topic_name"),),
    "group_regular_expressions": (("topics",),),
    "streams_group_topologies": (
        ("subtopologies", "source_topics"),
        ("subtopologies", "repartition_source_topics", "name"),
    ),
}
IDS: Paths = {
    "target_assignment_members": (("topic_partitions", "topic_id"),),
    "current_member_assignments": (
        ("assigned_partitions", "topic_id"),
        ("partitions_pending_revocation", "topic_id"),
    ),
    "group_partition_metadata": (("topics", "topic_id"),),
}


def whole_operations(windows: Iterable[Window]) -> Iterator[Window]:
    """`windows` follow each other in the log; the rows of each table are in log order."""
    held: Window = {}
    for tables in windows:
        joined = {}
        for name in dict.fromkeys((*held, *tables)):
            parts = [window[name] for window in (held, tables) if name in window and window[name].num_rows]
            if parts:
                joined[name] = pa.concat_tables(parts)
        if not joined:
            continue
        ready: Window = {}
        held = {}
        for (name, rows), mask in zip(joined.items(), may_go_on(list(joined.values())), strict=True):
            for into, chosen in ((ready, ~mask), (held, mask)):
                if chosen.any():
                    into[name] = chosen_rows(rows, chosen)
        if ready:
            yield ready
    if held:
        yield held


def chosen_rows(rows: pa.Table, is_chosen: np.ndarray) -> pa.Table:
    """Nearly always they follow each other, so nothing is copied: one record may have 64 MB."""
    places = np.flatnonzero(is_chosen)
    if places[-1] - places[0] + 1 == len(places):
        return rows.slice(places[0], len(places))
    return rows.filter(pa.array(is_chosen))


def may_go_on(tables: list[pa.Table]) -> list[np.ndarray]:
    """By table, the records whose operation may continue: those of the newest batch. An archive has no batches: there
    any group's newest operation may continue, even if records of other groups follow."""
    of_tables = [np.asarray(pc.fill_null(rows.column("batch_first_offset"), LEAST).to_numpy()) for rows in tables]
    offsets = [offsets_of(rows) for rows in tables]
    _, newest = max((int(of_rows[-1]), int(batches[-1])) for of_rows, batches in zip(offsets, of_tables, strict=True))
    if newest != LEAST and not any((batches == LEAST).any() for batches in of_tables):
        return [batches == newest for batches in of_tables]
    ids = pa.chunked_array([chunk for rows in tables for chunk in rows.column("group_id").cast(pa.string()).chunks])
    groups, _ = codes_and_values(ids)
    order = np.lexsort((np.concatenate(offsets), groups))
    times = np.concatenate([times_of(rows) for rows in tables])
    sides = [column[order] for column in (groups, np.concatenate(of_tables), times)]
    is_new = np.append(True, np.logical_or.reduce([side[1:] != side[:-1] for side in sides]))
    operation = np.cumsum(is_new)
    is_last_of_group = np.append(sides[0][1:] != sides[0][:-1], True)
    is_newest = np.zeros(len(order), np.bool_)
    is_newest[order] = np.isin(operation, operation[is_last_of_group])
    return np.split(is_newest, np.cumsum([rows.num_rows for rows in tables])[:-1])


def values(tables: Mapping[str, pa.Table], paths: Paths) -> set[str]:
    found: set[str] = set()
    for name, rows in tables.items():
        for first, *rest in paths.get(name, ()):
            for chunk in rows.column(first).chunks:
                found.update(leaves(chunk, rest).unique().drop_null().to_pylist())
    return found


def leaves(values: pa.Array, path: list[str]) -> pa.Array:
    """The values at the end of the path, through nested lists and structs."""
    while pa.types.is_list(values.type):
        values = values.flatten()
    if not path:
        return values
    # Not `field`, which also returns values inside structs that are NULL.
    return leaves(values.flatten()[values.type.get_field_index(path[0])], path[1:])
