"""Steps back of committed offsets within a window that nobody is known to have asked for."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.lag.texts import codes_of, encoded
from udfs.replay.nullable import Numbers
from udfs.rules.own_verdict import Rewind

if TYPE_CHECKING:
    from udfs.rules.own_facts import OwnFacts


def rewinds(facts: "OwnFacts") -> dict[int, Rewind]:
    """By key, whether made up for or not. A reset is no rewind: it needs a group without members, so a step back
    counts only while the group had some."""
    offsets, values = facts.keys.offsets, facts.values
    delta = pc.fill_null(offsets.column("delta"), 0).to_numpy()[values.rows]
    is_recent = values.to_time > facts.since
    steps = np.flatnonzero((delta < 0) & (values.from_time >= facts.since))
    from_offset = offsets.column("from_offset").to_numpy()[values.rows]
    goes_on = offsets.column("previous_offset").is_valid().to_numpy()[values.rows]
    topic_ids = codes_of(encoded(offsets.column("topic_id")))[values.rows]
    found: dict[int, Rewind] = {}
    for key in np.unique(facts.keys.of_offsets[values.rows[steps]]).tolist():
        if facts.live[key] < 0:
            continue
        of_key = slice(values.bounds[key], values.bounds[key + 1])
        rows = np.flatnonzero(is_recent[of_key]) + values.bounds[key]
        begins = ~goes_on[rows] | changes(topic_ids[rows])
        group = int(facts.group[key])
        for place in np.flatnonzero(delta[rows] < 0).tolist():
            begins[place] |= facts.groups.members_at(group, int(from_offset[rows[place]])) <= 0
        begins[0] = True
        chain = rows[np.flatnonzero(begins)[-1] :]
        if (back := of_chain(values.committed[chain], values.from_time[chain])) is not None:
            found[key] = back
    return found


def of_chain(committed: Numbers, times: Numbers) -> Rewind | None:
    """Of the values that followed one another, the last of which holds."""
    peak = int(committed.max())
    since_peak = len(committed) - int(np.argmax(committed[::-1]))
    steps = since_peak + np.flatnonzero(np.diff(committed[since_peak - 1 :]) < 0)
    return Rewind(peak, int(times[steps[-1]]), len(steps)) if len(steps) else None


def changes(topic_ids: Numbers) -> NDArray[np.bool_]:
    """Where a row is of another topic of the same name than the row before; an id that is not known, below 0, is no
    other."""
    found = np.zeros(len(topic_ids), np.bool_)
    found[1:] = (topic_ids[1:] != topic_ids[:-1]) & (topic_ids[1:] >= 0) & (topic_ids[:-1] >= 0)
    return found
