"""Commits where some coordinators followed the rules of 3.7: the last COMMIT counts, and a deletion leaves pending
commits.

Beside it, the same records are replayed by today's rules. What differs is an anomaly of the kind `older_rule` or
`pending_outlived_deletion`, and it is what a coordinator of another release has in effect once it takes over and loads
the log.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.codes.names import Names
from udfs.commits.alive_groups import ended_rows, possible_held
from udfs.commits.effects.fields import NUM_VALUE_FIELDS, A, G, K, P, R
from udfs.commits.group_questions import Questions
from udfs.commits.kernels import held_values
from udfs.commits.key_states import KeyStates
from udfs.commits.link_commits import Finished, OffsetReplay, together
from udfs.commits.offset_endings import OffsetFacts
from udfs.commits.offset_rows import reloaded_rows

# What makes two commits the same; texts and topics have codes of their own.
VALUE = (K.committed, K.leader_epoch, K.topic_id, K.text, K.producer_id)
# Of the commit or the deletion that decides, and of what waits: as the coordinator that loads has them.
LOADED = (K.is_live, K.record_offset, K.record_time, K.producer_epoch, K.num_pending, K.deleted_offset, K.marker_offset,
          K.commit_time, K.expire_time)  # fmt: skip
Tables = dict[str, pa.Table]


class EarlyOffsetReplay(OffsetReplay):
    """Always from the beginning of the log. `ranges`: first offsets, and those of the coordinators that took over;
    None: none did."""

    def __init__(
        self,
        cluster: str,
        partition: int,
        questions: Questions,
        facts: OffsetFacts,
        ranges: Sequence[tuple[int, int | None]],
    ) -> None:
        super().__init__(cluster, partition, None, questions, facts, ranges)
        self.today = OffsetReplay(cluster, partition, None, Questions.none(), facts)
        self.ends = {end for _, end in ranges if end is not None}

    def take(self, commits: pa.Table, markers: pa.Table) -> Tables:
        return with_anomalies(super().take(commits, markers), self.today.take(commits, markers))

    def hole(self, last_offset: int, last_time: int | None) -> Tables:
        return with_anomalies(super().hole(last_offset, last_time), self.today.hole(last_offset, last_time))

    def finish(self) -> Finished:
        finished = super().finish()
        return replace(finished, closed=with_anomalies(finished.closed, self.today.finish().closed))

    def take_over(self, offset: int, time: int | None) -> Tables:
        """By a coordinator with today's rules, whose first record this is."""
        closed = with_anomalies(self.release(offset), self.today.release(offset))
        states, today = self.states, self.today.states
        theirs = today.keys[today.seen_keys()[0]]
        key = states.codes(names_of(today))
        keys = states.keys
        was_live, is_live = keys[key, K.is_live] == 1, theirs[:, K.is_live] == 1
        for field, names, into in (
            (K.topic_id, today.topic_ids, states.topic_ids),
            (K.text, today.texts, states.texts),
        ):
            theirs[is_live, field] = recoded(theirs[is_live, field], names, into)
        is_same = was_live & is_live & (keys[key][:, VALUE] == theirs[:, VALUE]).all(axis=1)
        gone, begins = key[was_live & ~is_same], is_live & ~is_same
        held = held_values(keys, gone)
        rows = reloaded_rows(states, gone, held, (offset, time))
        self.possible.append(possible_held(states, gone, held, offset))
        keys[gone, K.last_offset] = offset
        begin_again(keys, key[begins], theirs[begins], offset, time)
        for field in LOADED:
            keys[key, field] = theirs[:, field]
        states.pending = pending_of(states, today)
        count_live(states, key, was_live, is_live)
        self.ended.append(ended_groups(states, offset, time))
        return together([closed, {"offset_history": rows}])


def with_anomalies(tables: Tables, today: Tables) -> Tables:
    return {**tables, "replay_anomalies": today["replay_anomalies"]}


def names_of(states: KeyStates) -> pa.Table:
    group, topic, partition = states.key_codes.known[:, states.seen_keys()[0]]
    return pa.table(
        {
            "group_id": states.group_names.known.take(pa.array(group)),
            "topic": states.topic_names.known.take(pa.array(topic)),
            "partition": pa.array(partition.astype(np.int32)),
        }
    )


def recoded(codes: Numbers, names: Names, into: Names) -> Numbers:
    return into.codes(pa.chunked_array([names.column(codes)]))


def begin_again(keys: Numbers, key: Numbers, theirs: Numbers, offset: int, time: int | None) -> None:
    """Rows of offset_history begin. They follow no other value: nobody moved the offset from that to this one."""
    at = np.maximum(keys[key, K.history_time], NONE if time is None else time)
    keys[key, :NUM_VALUE_FIELDS] = theirs[:, :NUM_VALUE_FIELDS]
    keys[key, K.from_record_offset], keys[key, K.from_time], keys[key, K.is_from_exact] = offset, at, 0
    keys[key, K.first_record_offset] = theirs[:, K.record_offset]
    keys[key, K.first_commit_time] = theirs[:, K.commit_time]
    keys[key, K.previous_offset] = keys[key, K.has_previous] = 0
    keys[key, K.num_commits], keys[key, K.history_time], keys[key, K.last_offset] = 1, at, offset


def pending_of(states: KeyStates, today: KeyStates) -> Numbers:
    pending = today.pending.copy()
    places = np.full(len(today.keys), -1)
    places[today.seen_keys()[0]] = states.codes(names_of(today))
    pending[R.key] = places[pending[R.key]]
    pending[R.topic_id] = recoded(pending[R.topic_id], today.topic_ids, states.topic_ids)
    pending[R.text] = recoded(pending[R.text], today.texts, states.texts)
    return pending


def count_live(states: KeyStates, key: Numbers, was_live: Flags, is_live: Flags) -> None:
    np.add.at(states.pairs[:, P.num_live], states.keys[key, K.pair], is_live.astype(np.int64) - was_live)
    held = states.keys[:, K.is_live] + states.keys[:, K.num_pending]
    states.groups[:, G.num_held] = np.bincount(states.keys[:, K.group], held, len(states.groups)).astype(np.int64)


def ended_groups(states: KeyStates, offset: int, time: int | None) -> pa.Table:
    is_held, was_alive = states.groups[:, G.num_held] > 0, states.groups[:, G.alive_from_offset] != NONE
    gone = np.flatnonzero(was_alive & ~is_held)
    alive = np.empty((len(gone), len(A)), np.int64)
    alive[:, A.group], alive[:, A.to_record_offset] = gone, offset
    alive[:, A.from_record_offset], alive[:, A.from_time] = states.groups[gone][
        :, [G.alive_from_offset, G.alive_from_time]
    ].T
    alive[:, A.to_time] = np.maximum(alive[:, A.from_time], NONE if time is None else time)
    states.groups[gone, G.alive_from_offset] = states.groups[gone, G.alive_from_time] = NONE
    begun = np.flatnonzero(~was_alive & is_held)
    states.groups[begun, G.alive_from_offset] = offset
    states.groups[begun, G.alive_from_time] = NONE if time is None else time
    return ended_rows(states, alive)
