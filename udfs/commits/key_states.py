"""What is known of every key at one offset of the log: arrays for loops; between runs the table replayed_offsets."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import Flags, Numbers, every, flags, integers, known_integers, numbers
from udfs.arrays.texts import same
from udfs.codes.kernels import as_columns
from udfs.codes.names import Codes, Names
from udfs.commits.effects import fields
from udfs.commits.effects.fields import NONE, G, K, P, R

SCHEMA = table_schema(TABLES["replayed_offsets"])
GONE, LIVE, PENDING = KINDS = ("gone", "live", "pending")
NEW_KEY = np.zeros(len(K), np.int64)
for _field in (K.record_offset, K.seen_offset, K.deleted_offset, K.marker_offset, K.question):
    NEW_KEY[_field] = -1
for _field in (K.history_time, K.written_time, K.hole_offset):
    NEW_KEY[_field] = NONE
NEW_GROUP = np.array([0, NONE, NONE, NONE, NONE])
NEW_PAIR = np.array([0, 0, -1])
# Columns of the state by where they are kept: of every key, of a value in effect, of a value or a pending commit.
OF_KEY = {"seen_offset": K.seen_offset, "history_time": K.history_time, "written_time": K.written_time,
          "hole_offset": K.hole_offset}  # fmt: skip
OF_VALUE = {"from_record_offset": K.from_record_offset, "from_time": K.from_time,
"first_record_offset": K.first_record_offset,
            "first_commit_time": K.first_commit_time, "last_offset": K.last_offset}  # fmt: skip
OF_COMMIT = {"record_time": (K.record_time, R.time), "leader_epoch": (K.leader_epoch, R.leader_epoch),
             "commit_time": (K.commit_time, R.commit_time), "expire_time": (K.expire_time, R.expire_time),
             "producer_id": (K.producer_id, R.producer_id),
             "producer_epoch": (K.producer_epoch, R.producer_epoch)}  # fmt: skip
OF_GROUP = {"alive_from_offset": G.alive_from_offset, "alive_from_time": G.alive_from_time,
            "group_seen_offset": G.seen_offset, "group_seen_time": G.seen_time}  # fmt: skip


class KeyStates:
    """Groups, topics, topic ids and texts as codes; keys, and pairs of a group and a topic, as codes of them."""

    def __init__(self, cluster: str, partition: int, state: pa.Table) -> None:
        self.cluster, self.partition = cluster, partition
        self.group_names, self.topic_names, self.topic_ids, self.texts = Names(), Names(), Names(), Names()
        self.key_codes, self.pair_codes = Codes(), Codes()
        self.keys = np.empty((0, len(K)), np.int64)
        self.groups = np.empty((0, len(G)), np.int64)
        self.pairs = np.empty((0, len(P)), np.int64)
        self.pending = np.empty((len(R), 0), np.int64)
        self.known_order = np.empty(0, np.int64)
        # The rule of 3.7: what waits for its COMMIT takes effect, whatever took effect before.
        self.keeps_last_commit = False
        if state.num_rows:
            self.load(state)

    def codes(self, rows: pa.Table) -> Numbers:
        """The key of each row, new or known."""
        group, topic = self.group_names.codes(rows["group_id"]), self.topic_names.codes(rows["topic"])
        codes = self.key_codes.of(group, topic, numbers(rows["partition"]))
        self.add_keys()
        return codes

    def add_keys(self) -> None:
        first, count = len(self.keys), self.key_codes.count
        if first == count:
            return
        self.keys = extended(self.keys, NEW_KEY, count)
        group, topic, _ = self.key_codes.known[:, first:count]
        self.keys[first:, K.group] = group
        self.keys[first:, K.pair] = self.pair_codes.of(group, topic, np.zeros(count - first, np.int64))
        self.groups = extended(self.groups, NEW_GROUP, len(self.group_names))
        self.pairs = extended(self.pairs, NEW_PAIR, self.pair_codes.count)

    def order(self) -> Numbers:
        """Keys in the order of their names. It stays the same until there are more keys."""
        if len(self.known_order) != self.key_codes.count:
            self.known_order = self.order_of_names()
        return self.known_order

    def order_of_names(self) -> Numbers:
        group, topic, partition = self.key_codes.known[:, : self.key_codes.count]
        pair = self.group_names.ranks()[group] * max(len(self.topic_names), 1) + self.topic_names.ranks()[topic]
        if pair.max(initial=0) < 2**31:
            return np.argsort(pair << 32 | partition + 2**31)
        return np.lexsort((partition, pair))

    def ranks(self) -> Numbers:
        """Places of keys in that order."""
        places = np.empty(len(self.keys), np.int64)
        places[self.order()] = np.arange(len(places))
        return places

    def load(self, state: pa.Table) -> None:
        key = self.codes(state)
        kind = pc.index_in(state["kind"].cast(pa.string()), value_set=pa.array(KINDS)).to_numpy()
        topic_id, text = self.topic_ids.codes(state["topic_id"]), self.texts.codes(state["metadata"])
        group = self.keys[key, K.group]
        for name, place in OF_GROUP.items():
            self.groups[group, place] = numbers(state[name])
        is_key = kind != KINDS.index(PENDING)
        of = key[is_key]
        keys, rows = self.keys, state.filter(pa.array(is_key))
        for name, place in (OF_KEY | OF_VALUE | {name: places[0] for name, places in OF_COMMIT.items()}).items():
            keys[of, place] = numbers(rows[name])
        keys[of, K.is_live] = kind[is_key] == KINDS.index(LIVE)
        for name, place in {"record_offset": K.record_offset, "committed_offset": K.committed,
                            "previous_offset": K.previous_offset, "num_commits": K.num_commits}.items():  # fmt: skip
            keys[of, place] = numbers(rows[name])
        keys[of, K.has_previous] = rows["previous_offset"].is_valid().to_numpy()
        keys[of, K.is_certain], keys[of, K.is_from_exact] = flags(rows["is_certain"]), flags(rows["is_from_exact"])
        keys[of, K.topic_id], keys[of, K.text] = topic_id[is_key], text[is_key]
        gone = of[keys[of, K.is_live] == 0]
        keys[gone, K.last_offset] = keys[gone, K.record_offset]
        live = of[keys[of, K.is_live] == 1]
        np.add.at(self.pairs[:, P.num_live], keys[live, K.pair], 1)
        np.add.at(self.groups[:, G.num_held], keys[live, K.group], 1)
        if not is_key.all():
            rows = np.flatnonzero(~is_key)
            rows = rows[np.argsort(numbers(state["record_offset"])[rows])]
            self.load_pending(state.take(pa.array(rows)), key[rows], topic_id[rows], text[rows])

    def load_pending(self, rows: pa.Table, key: Numbers, topic_id: Numbers, text: Numbers) -> None:
        pending = self.pending = np.zeros((len(R), rows.num_rows), np.int64)
        for name, (_, place) in OF_COMMIT.items():
            pending[place] = numbers(rows[name])
        pending[R.offset], pending[R.committed] = numbers(rows["record_offset"]), numbers(rows["committed_offset"])
        pending[R.key], pending[R.topic_id], pending[R.text] = key, topic_id, text
        pending[R.kind], pending[R.is_certain] = fields.PENDING, flags(rows["is_certain"])
        pending[R.is_exact], pending[R.is_lost] = flags(rows["is_from_exact"]), flags(rows["is_lost"])
        # A commit that was overruled in an earlier run keeps no group alive.
        held = key[pending[R.is_lost] == 0]
        np.add.at(self.keys[:, K.num_pending], held, 1)
        np.add.at(self.groups[:, G.num_held], self.keys[held, K.group], 1)

    def forget_texts(self) -> None:
        """Texts may differ in every commit."""
        if len(self.texts) > 2 * (len(self.keys) + self.pending.shape[1]) + (1 << 16):
            self.texts.keep(self.keys[:, K.text], self.pending[R.text])

    def seen_keys(self) -> tuple[Numbers, Flags]:
        """In the order of their names, and which of them have a value. Questions may be about keys without records,
        which are left out."""
        key = self.order()
        key = key[self.keys[key, K.seen_offset] >= 0]
        return key, self.keys[key, K.is_live] == 1

    def table(self, key: Numbers) -> pa.Table:
        """For each of these keys its value in effect, or that it has none; then all pending commits of a key, in log
        order."""
        num_keys = len(key)
        if not self.pending.shape[1]:
            return state_rows(self, key, num_keys)
        key = np.append(key, self.pending[R.key])
        # Those that wait are in log order.
        return state_rows(self, key, num_keys).take(pa.array(np.argsort(self.ranks()[key], kind="stable")))


def extended(rows: Numbers, new: Numbers, count: int) -> Numbers:
    whole = np.empty((count, len(new)), np.int64)
    whole[: len(rows)], whole[len(rows) :] = rows, new
    return whole


def state_rows(states: KeyStates, key: Numbers, num_keys: int) -> pa.Table:
    """`key`: of keys, then of the pending commits."""
    size, pending = len(key), states.pending
    of_key = as_columns(states.keys, key)
    of_group = as_columns(states.groups, of_key[K.group])
    is_live = of_key[K.is_live] == 1
    is_live[num_keys:] = False
    is_gone = ~is_live
    is_gone[num_keys:] = False

    def of_commit(place: int, pending_place: int, missing: int = int(NONE)) -> Numbers:
        column: Numbers = of_key[place]
        column[num_keys:] = pending[pending_place]
        column[is_gone] = missing
        return column

    def of_value(place: int, missing: int = int(NONE)) -> Numbers:
        column: Numbers = of_key[place]
        column[~is_live] = missing
        return column

    has_previous = is_live & (of_key[K.has_previous] == 1)
    kind = np.where(is_live, KINDS.index(LIVE), np.where(is_gone, KINDS.index(GONE), KINDS.index(PENDING)))
    is_lost = np.zeros(size, np.bool_)
    is_lost[num_keys:] = are_lost(states)
    record_offset = np.append(of_key[K.record_offset, :num_keys], pending[R.offset])
    is_exact = of_commit(K.is_from_exact, R.is_exact, 1) == 1
    group, topic, partition = as_columns(np.ascontiguousarray(states.key_codes.known.T), key)
    columns: dict[str, Any] = {
        "cluster": same(states.cluster, size),
        "offsets_partition": every(states.partition, pa.int32(), size),
        "group_id": states.group_names.column(group),
        "topic": states.topic_names.column(topic),
        "partition": pa.array(partition.astype(np.int32)),
        "kind": pa.DictionaryArray.from_arrays(pa.array(kind.astype(np.int32)), pa.array(KINDS)),
        "record_offset": pa.array(record_offset),
        "committed_offset": known_integers(of_commit(K.committed, R.committed), ~is_gone),
        "topic_id": states.topic_ids.column(of_commit(K.topic_id, R.topic_id, -1)),
        "is_certain": pa.array(of_commit(K.is_certain, R.is_certain, 1) == 1),
        "is_lost": pa.array(is_lost),
        "is_from_exact": pa.array(is_exact),
        "previous_offset": known_integers(of_value(K.previous_offset), has_previous),
        "num_commits": pa.array(of_value(K.num_commits, 0)),
        "metadata": states.texts.column(of_commit(K.text, R.text, -1)),
    }
    named = {name: of_key[place] for name, place in OF_KEY.items()}
    named |= {name: of_group[place] for name, place in OF_GROUP.items()}
    named |= {name: of_value(place) for name, place in OF_VALUE.items()}
    named |= {name: of_commit(*places) for name, places in OF_COMMIT.items()}
    for name, values in named.items():
        columns[name] = integers(values, SCHEMA.field(name).type)
    schema = pa.schema([field.with_type(columns[field.name].type) for field in SCHEMA])
    return pa.table([columns[name] for name in SCHEMA.names], schema)


def are_lost(states: KeyStates) -> Flags:
    """Pending commits that have no effect with any marker: a later record of the key took effect, or its own
    transaction commits the key again."""
    pending = states.pending
    later: set[tuple[int, int]] = set()
    is_replaced = np.zeros(pending.shape[1], np.bool_)
    of_transaction = zip(pending[R.key].tolist(), pending[R.producer_id].tolist(), strict=True)
    for number, each in reversed(list(enumerate(of_transaction))):
        is_replaced[number] = each in later
        later.add(each)
    if states.keeps_last_commit:
        return is_replaced
    overruled = states.keys[pending[R.key], K.record_offset] > pending[R.offset]
    return np.asarray(is_replaced | overruled | (pending[R.is_lost] == 1), np.bool_)


def unseen_after(state: pa.Table, last_offset: int) -> pa.Table:
    """The state after missing records: every key stays known, but none has a value."""
    kept = state.filter(pc.not_equal(state["kind"].cast(pa.string()), PENDING))
    size = kept.num_rows
    same = ("cluster", "offsets_partition", "group_id", "topic", "partition", "seen_offset", "history_time",
            "written_time", "group_seen_offset", "group_seen_time")  # fmt: skip
    columns: dict[str, pa.Array] = {name: kept[name].cast(SCHEMA.field(name).type) for name in same}
    columns |= {name: every(last_offset, pa.int64(), size) for name in ("record_offset", "hole_offset")}
    columns |= {
        "kind": every(GONE, pa.string(), size),
        "is_certain": every(True, pa.bool_(), size),
        "is_lost": every(False, pa.bool_(), size),
        "is_from_exact": every(True, pa.bool_(), size),
        "num_commits": every(0, pa.int64(), size),
    }
    return pa.table([columns.get(f.name, pa.nulls(size, f.type)) for f in SCHEMA], SCHEMA)
