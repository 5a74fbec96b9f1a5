"""Finds steps back of committed offsets within a window that no known reset explains."""

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.arrays.nullable import Flags, Numbers, first_of
from udfs.arrays.texts import codes_of, encoded
from udfs.rules.verdicts.own_facts import OwnFacts
from udfs.rules.verdicts.own_verdict import Rewind


def rewinds(facts: OwnFacts) -> dict[int, Rewind]:
    """By key, whether made up for or not. A reset is no rewind: it needs a group without members, so a step back
    counts only while the group had some."""
    values = facts.values
    key = facts.keys.of_offsets[values.rows]
    delta = pc.fill_null(facts.keys.offsets.column("delta"), 0).to_numpy()[values.rows]
    has_step = np.zeros(facts.keys.size, np.bool_)
    has_step[key[(delta < 0) & (values.from_time >= facts.since)]] = True
    chosen = np.flatnonzero((has_step & (facts.live >= 0))[key] & (values.to_time > facts.since))
    if not len(chosen):
        return {}
    key = key[chosen]
    # Of each key the values that followed one another, the last of which holds.
    is_of_chain = since_last(are_begun(facts, values.rows[chosen], key, delta[chosen]), key)
    chosen, key = chosen[is_of_chain], key[is_of_chain]
    return of_chains(key, values.committed[chosen], values.from_time[chosen])


def are_begun(facts: OwnFacts, rows: Numbers, key: Numbers, delta: Numbers) -> Flags:
    """Whether a value is the first of its key, does not follow the one before, or was set while nobody was there."""
    offsets = facts.keys.offsets
    goes_on = offsets.column("previous_offset").is_valid().to_numpy()[rows]
    begins = first_of(key) | ~goes_on | changes(codes_of(encoded(offsets.column("topic_id")))[rows])
    back = np.flatnonzero(delta < 0)
    from_record_offset = offsets.column("from_record_offset").to_numpy()[rows[back]]
    begins[back] |= facts.groups.members_before(facts.group[key[back]], from_record_offset) <= 0
    return np.asarray(begins, np.bool_)


def since_last(begins: Flags, key: Numbers) -> Flags:
    """Whether a row is the last one of its key that begins something, or comes after it."""
    is_first = first_of(key)
    last = np.maximum.reduceat(np.where(begins, np.arange(len(key)), -1), np.flatnonzero(is_first))
    return np.asarray(np.arange(len(key)) >= last[np.cumsum(is_first) - 1], np.bool_)


def of_chains(key: Numbers, committed: Numbers, times: Numbers) -> dict[int, Rewind]:
    """Steps back after the largest value, the last of several."""
    is_first = first_of(key)
    starts, chain, place = np.flatnonzero(is_first), np.cumsum(is_first) - 1, np.arange(len(key))
    peak = np.maximum.reduceat(committed, starts)
    at_peak = np.maximum.reduceat(np.where(committed == peak[chain], place, -1), starts)
    is_lower = np.append(False, committed[1:] < committed[:-1])
    is_step = (place > at_peak[chain]) & is_lower
    num_steps = np.add.reduceat(is_step.astype(np.int64), starts)
    last_step = np.maximum.reduceat(np.where(is_step, place, -1), starts)
    return {
        int(key[starts[each]]): Rewind(int(peak[each]), int(times[last_step[each]]), int(num_steps[each]))
        for each in np.flatnonzero(num_steps)
    }


def changes(topic_ids: Numbers) -> NDArray[np.bool_]:
    """Where a row is of another topic of the same name than the row before; an id that is not known, below 0, is no
    other."""
    is_change = np.zeros(len(topic_ids), np.bool_)
    is_change[1:] = (topic_ids[1:] != topic_ids[:-1]) & (topic_ids[1:] >= 0) & (topic_ids[:-1] >= 0)
    return is_change
