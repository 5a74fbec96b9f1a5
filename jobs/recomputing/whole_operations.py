"""Windows of the log that never split an operation of a group: its records are in one batch and have one time. An
operation that may continue waits for the next window."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import codes_and_values, offsets_of, times_of
from jobs.replaying.log.row_groups import LEAST

Window = dict[str, pa.Table]


def whole_operations(windows: Iterable[Window]) -> Iterator[Window]:
    """`windows` follow each other in the log; the rows of each table are in log order."""
    held: Window = {}
    for tables in windows:
        joined = together(held, tables)
        if not joined:
            continue
        ready, held = split_at_operation(joined)
        if ready:
            yield ready
    if held:
        yield held


def together(first: Window, second: Window) -> Window:
    joined = {}
    for name in dict.fromkeys((*first, *second)):
        parts = [window[name] for window in (first, second) if name in window and window[name].num_rows]
        if parts:
            joined[name] = pa.concat_tables(parts)
    return joined


def split_at_operation(tables: Window) -> tuple[Window, Window]:
    """What is complete, and what may continue."""
    masks = may_go_on(list(tables.values()))
    ready: Window = {}
    held: Window = {}
    for (name, rows), mask in zip(tables.items(), masks, strict=True):
        for into, chosen in ((ready, ~mask), (held, mask)):
            if chosen.any():
                into[name] = chosen_rows(rows, chosen)
    return ready, held


def chosen_rows(rows: pa.Table, is_chosen: np.ndarray) -> pa.Table:
    """Nearly always they follow each other, so nothing is copied: one record may have 64 MB."""
    places = np.flatnonzero(is_chosen)
    if places[-1] - places[0] + 1 == len(places):
        return rows.slice(places[0], len(places))
    return rows.filter(pa.array(is_chosen))


def may_go_on(tables: list[pa.Table]) -> list[np.ndarray]:
    batches = [batches_of(rows) for rows in tables]
    newest = max((int(offsets_of(rows)[-1]), int(of_rows[-1])) for rows, of_rows in zip(tables, batches, strict=True))[
        1
    ]
    if newest != LEAST and not any((of_rows == LEAST).any() for of_rows in batches):
        return [of_rows == newest for of_rows in batches]
    flat = newest_operations(tables, np.concatenate(batches))
    return np.split(flat, np.cumsum([rows.num_rows for rows in tables])[:-1])


def batches_of(rows: pa.Table) -> np.ndarray:
    """The first offset of each row's batch; the lowest number if an archive has no batches."""
    return np.asarray(pc.fill_null(rows.column("batch_first_offset"), LEAST).to_numpy())


def newest_operations(tables: list[pa.Table], batches: np.ndarray) -> np.ndarray:
    """For each group, the records of its newest operation. Without batches any of them may continue, even if records of
    other groups follow."""
    ids = pa.chunked_array([chunk for rows in tables for chunk in rows.column("group_id").cast(pa.string()).chunks])
    groups, _ = codes_and_values(ids)
    offsets = np.concatenate([offsets_of(rows) for rows in tables])
    times = np.concatenate([times_of(rows) for rows in tables])
    order = np.lexsort((offsets, groups))
    sides = [column[order] for column in (groups, batches, times)]
    is_new = np.append(True, np.logical_or.reduce([side[1:] != side[:-1] for side in sides]))
    operation = np.cumsum(is_new)
    is_last_of_group = np.append(sides[0][1:] != sides[0][:-1], True)
    is_newest = np.zeros(len(order), np.bool_)
    is_newest[order] = np.isin(operation, operation[is_last_of_group])
    return is_newest
