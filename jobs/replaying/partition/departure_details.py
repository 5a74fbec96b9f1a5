"""Adds to `rebalances.trigger_detail` what commits show about members that left or timed out."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.row_keys import with_column

# By group and the record that completes the assignment.
Details = Mapping[tuple[str, int], str | None]


def with_details(rebalances: pa.Table, details: Details) -> pa.Table:
    if not details:
        return rebalances
    offsets = pa.array(sorted({offset for _, offset in details}), pa.int64())
    places = np.flatnonzero(pc.is_in(rebalances.column("assignment_offset"), offsets).to_numpy())
    texts = rebalances.column("trigger_detail").to_pylist()
    named = rebalances.select(["group_id", "assignment_offset"]).take(pa.array(places))
    keys = zip(*(column.to_pylist() for column in named.columns), strict=True)
    for place, key in zip(places.tolist(), keys, strict=True):
        texts[place] = details.get(key, texts[place])
    return with_column(rebalances, "trigger_detail", pa.array(texts, pa.string()))
