"""Links the commits of one offsets partition, key by key, into offsets and the time each was in effect, in one pass
through the log. What is known of each key at the end of a window of the log is where the next window and the next run
begin."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import Numbers, flags, numbers
from udfs.commits.alive_groups import POSSIBLE, alive_rows, ended_rows, possible_ended, possible_held
from udfs.commits.alive_groups import SCHEMA as ALIVE
from udfs.commits.effects.fields import DELETION, K, N, R
from udfs.commits.group_questions import Answers, QuestionQueue, Questions
from udfs.commits.kernels import held_values, link
from udfs.commits.key_states import PENDING, KeyStates, unseen_after
from udfs.commits.offset_endings import OffsetFacts, endings
from udfs.commits.offset_rows import closed_rows, held_rows
from udfs.commits.shown_states import are_shown
from udfs.commits.transactions import transaction_rows, unended_rows
from udfs.commits.unusual_commits import clock_steps, older_rules
from udfs.commits.windows import COMMIT_COLUMNS, MARKER_COLUMNS, Window
from udfs.topics.named_topics import NamedTopics

WRITTEN = {name: TABLES[name] for name in ("offset_history", "transactions", "replay_anomalies")}
NO_ROWS = {name: table_schema(table).empty_table() for name, table in WRITTEN.items()}
STATE = table_schema(TABLES["replayed_offsets"])
END_OF_LOG = 2**63 - 1
EMPTY_COMMITS = table_schema(TABLES["offset_commits"]).empty_table().select(COMMIT_COLUMNS)
EMPTY_MARKERS = table_schema(TABLES["transaction_markers"]).empty_table().select(MARKER_COLUMNS)


@dataclass(frozen=True)
class Finished:
    """`closed`: rows that were held back until it was clear that no more records of their write follow."""

    closed: dict[str, pa.Table]
    open: dict[str, pa.Table]
    # Rows of table replayed_offsets. With the open rows of offset_history they give the state of every key
    # (`shown_states.whole_state`).
    state: pa.Table
    answers: Answers
    # Intervals in which a group has an offset or a pending one; those that ended in this replay, and open ones:
    # group_id, from_record_offset, from_time, to_record_offset, to_time (NULL: still open), is_cut.
    liveness: pa.Table
    # When a group has offsets that are only possible: those that ended in this replay, and those in effect. Columns:
    # group_id, from_record_offset, to_record_offset (NULL: in effect). Rows may overlap.
    possible: pa.Table
    # `NamedTopics.table` of all commits; a topic may have several rows.
    topics: pa.Table


class OffsetReplay:
    """Takes windows in log order, with commits and markers of the same span of the log. Returns closed rows of
    offset_history, transactions and replay_anomalies."""

    def __init__(
        self,
        cluster: str,
        partition: int,
        state: pa.Table | None,
        questions: Questions,
        facts: OffsetFacts,
        last_commits: Sequence[tuple[int, int | None]] = (),
    ) -> None:
        """`last_commits`: ranges of the log in which the last COMMIT counts, as in 3.7: first offsets, and offsets from
        which on it no longer does; None: to the end."""
        self.cluster, self.partition, self.facts = cluster, partition, facts
        self.gaps = np.array([facts.gaps.firsts, facts.gaps.lasts], np.int64).reshape(2, -1)
        ends = [(first, END_OF_LOG if end is None else end) for first, end in last_commits]
        self.last_commits = np.array(ends, np.int64).reshape(-1, 2).T.copy()
        self.states = KeyStates(cluster, partition, STATE.empty_table() if state is None else state)
        self.queue = QuestionQueue(questions, self.states)
        self.ended: list[pa.Table] = []
        self.possible: list[pa.Table] = [POSSIBLE.empty_table()]
        self.topics = NamedTopics()
        self.known_topics: list[pa.Table] = []
        self.held_back: tuple[pa.Table, pa.Table] | None = None

    def take(self, commits: pa.Table, markers: pa.Table) -> dict[str, pa.Table]:
        commits, markers = commits.select(COMMIT_COLUMNS), markers.select(MARKER_COLUMNS)
        if self.held_back is not None:
            commits = pa.concat_tables([self.held_back[0], commits])
            markers = pa.concat_tables([self.held_back[1], markers])
            self.held_back = None
        size = whole_writes(commits)
        if size < commits.num_rows:
            cut = int(numbers(commits["record_offset"])[size])
            is_before = pa.array(numbers(markers["record_offset"]) < cut)
            self.held_back = commits.slice(size), markers.filter(pc.invert(is_before))
            commits, markers = commits.slice(0, size), markers.filter(is_before)
        return self.link(commits, markers, 0)

    def hole(self, last_offset: int, last_time: int | None) -> dict[str, pa.Table]:
        """Records after this offset are missing (time in microseconds)."""
        closed = self.release(last_offset + 1)
        (key, is_live), hole = self.states.seen_keys(), (last_offset, last_time)
        state = self.states.table(key)
        live = key[is_live]
        held = held_values(self.states.keys, live)
        rows = held_rows(self.states, live, held, hole)
        transactions = self.unended(state, last_offset)
        self.ended.append(alive_rows(self.states, hole))
        self.possible.append(possible_held(self.states, live, held, last_offset))
        self.keep_topics()
        self.states = KeyStates(self.cluster, self.partition, unseen_after(state, last_offset))
        self.queue.cut(self.states)
        return together([closed, {"offset_history": rows, "transactions": transactions}])

    def finish(self) -> Finished:
        closed = self.release(END_OF_LOG)
        self.states.keeps_last_commit = bool((self.last_commits[1:] == END_OF_LOG).any())
        key, is_live = self.states.seen_keys()
        live = key[is_live]
        held = held_values(self.states.keys, live)
        is_written = ~is_live
        is_written[is_live] = ~are_shown(held, self.states.key_codes.known[0, live])
        state = self.states.table(key[is_written])
        opened = {
            "offset_history": held_rows(self.states, live, held),
            "transactions": self.unended(state, None),
        }
        liveness = pa.concat_tables([ALIVE.empty_table(), *self.ended, alive_rows(self.states)])
        liveness = liveness.sort_by([("group_id", "ascending"), ("from_record_offset", "ascending")])
        self.keep_topics()
        possible = pa.concat_tables([*self.possible, possible_held(self.states, live, held)])
        topics = pa.concat_tables(self.known_topics).unify_dictionaries()
        return Finished(closed, opened, state, self.queue.answers(), liveness, possible, topics)

    def keep_topics(self) -> None:
        """Before `states` changes, whose codes they have."""
        self.known_topics.append(self.topics.table(self.states.topic_names, self.states.topic_ids))
        self.topics = NamedTopics()

    def release(self, upto: int) -> dict[str, pa.Table]:
        """Releases rows that were held back, and answers all questions before this offset."""
        commits, markers = self.held_back or (EMPTY_COMMITS, EMPTY_MARKERS)
        self.held_back = None
        return self.link(commits, markers, upto)

    def unended(self, state: pa.Table, hole_offset: int | None) -> pa.Table:
        pending = state.filter(pc.equal(state["kind"].cast(pa.string()), PENDING))
        if not pending.num_rows:
            return NO_ROWS["transactions"]
        return unended_rows(pending, self.cluster, self.partition, hole_offset)

    def link(self, commits: pa.Table, markers: pa.Table, upto: int) -> dict[str, pa.Table]:
        states, queue = self.states, self.queue
        window = Window(states, commits, markers, queue.count)
        note_topics(self.topics, states, window.records)
        link(*window.arguments(states, queue.rows, self.gaps, self.last_commits, upto))
        queue.count = int(window.counts[N.asked])
        window.keep_pending(states)
        alive = window.rows(window.made.alive, N.alive)
        transactions = window.rows(window.made.transactions, N.transactions)
        # Tables without rows are not made: in a short log they would take most of the time.
        tables = dict(NO_ROWS)
        if len(alive):
            self.ended.append(ended_rows(states, alive))
        if window.counts[N.ended]:
            ended = window.ended_by_key(states)
            tables["offset_history"] = closed_rows(states, ended, endings(states, ended, self.facts))
            if not ended[K.is_certain].all():
                self.possible.append(possible_ended(states, ended))
        if len(transactions):
            members = window.rows(window.made.members, N.members)
            tables["transactions"] = transaction_rows(states, transactions, members)
        if window.counts[N.steps] or window.counts[N.overruled]:
            tables["replay_anomalies"] = self.anomalies(window)
        states.forget_texts()
        return tables

    def anomalies(self, window: Window) -> pa.Table:
        steps = clock_steps(self.states, window.rows(window.made.steps, N.steps))
        overruled = window.rows(window.made.overruled, N.overruled)
        if not len(overruled):
            return steps
        order = [(column, "ascending") for column in TABLES["replay_anomalies"].order]
        return pa.concat_tables([steps, *older_rules(self.states, overruled)]).sort_by(order)


def note_topics(topics: NamedTopics, states: KeyStates, records: Numbers) -> None:
    """A deletion does not prove that its topic exists."""
    _, topic, partition = states.key_codes.known
    key, is_named = records[R.key], records[R.kind] != DELETION
    topics.add(topic.take(key), records[R.topic_id], partition.take(key), records[R.time], is_named)


def whole_writes(commits: pa.Table) -> int:
    """Rows up to the last write, if that deletes offsets. The reason of a deletion depends on everything the same write
    deletes, and more of it may follow. Records of one write have the same time."""
    size = commits.num_rows
    if not size:
        return 0
    last = commits["record_time"][size - 1]
    is_other = pc.fill_null(pc.not_equal(commits["record_time"], last), True)
    others = np.flatnonzero(is_other.to_numpy())
    begin = int(others[-1]) + 1 if len(others) else 0
    return begin if flags(commits["is_tombstone"].slice(begin)).any() else size


def together(parts: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """The tables of all parts, each in its table's order."""
    tables = {}
    for name, table in WRITTEN.items():
        schema = table_schema(table)
        rows = pa.concat_tables([schema.empty_table(), *(part[name].cast(schema) for part in parts if name in part)])
        tables[name] = rows.sort_by([(column, "ascending") for column in table.order])
    return tables
