"""Tables of many groups over a month, as the jobs would leave them, for what reads tables: made column by column, since
a log of this size is out of reach of one machine.

Each group rebalances twenty times a day: a member leaves, and its partitions move to another one; in every other group
all members give up their partitions for some seconds. Partitions are committed every hour, and measured every five
minutes. Times have milliseconds that do not repeat, and lag is noise with a spike a day, so that neither packs better
than in life.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import Change, partitioning
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import CONTRACT_VERSION, TABLES, Column, Type
from tests.make.tables import without_runs
from udfs.arrays.arrow_schema import table_schema

CLUSTER = "month"
DAYS, REBALANCES_A_DAY, PARTITIONS, MEMBERS = 30, 20, 10, 4
SNAPSHOTS, COMMITS = DAYS * 288, DAYS * 24
# Made at once.
GROUPS_AT_ONCE = 20
SEED = 7
MICROS = 1_000_000
START = 1_795_230_000 * MICROS
MONTH = DAYS * 86_400 * MICROS
PLAIN: dict[Type, Any] = {
    Type.STRING: "", Type.BOOLEAN: False, Type.INT: 0, Type.BIGINT: 0, Type.DOUBLE: 0.0, Type.TIMESTAMP: START,
}  # fmt: skip
# One group in so many has a partition that stopped.
EVERY = 25

Columns = Mapping[str, Any]


def write_month(root: Path, num_groups: int) -> int:
    """By one run a step, as the report expects them. How many rows there are."""
    without_runs(root)
    warehouse, total = Warehouse(LocalPlace(root)), 0
    for number, job in enumerate(("ingest", "replay", "assignments", "lag", "gate"), 1):
        run_id, changes = f"{number:08}-{job}", {}
        for name, make in (MAKERS if job == "gate" else {}).items():
            files = TableFiles(warehouse, name, run_id)
            for first in range(0, num_groups, GROUPS_AT_ONCE if name not in OF_CLUSTER else num_groups):
                end = min(first + GROUPS_AT_ONCE, num_groups) if name not in OF_CLUSTER else num_groups
                total += files.write(make(first, end))
            changes[name] = files.close()
        warehouse.write(Manifest(run_id, number, START // 1000, changes, (run_row(run_id, job),)))
    return total


def run_row(run_id: str, job: str) -> dict[str, Any]:
    code, verdict = (20, "findings") if job == "gate" else (0, "clean")
    now = START // 1000
    return {
        "cluster": CLUSTER, "run_id": run_id, "job": job, "started_time": now, "finished_time": now,
        "as_of_time": (START + MONTH) // 1000, "verdict": verdict, "exit_code": code,
        "contract_version": CONTRACT_VERSION, "config_hash": "0", "num_offsets_partitions": 1, "num_files_unchanged": 0,
        "ingest_counts": [],
    }  # fmt: skip


class TableFiles:
    """Of one table: one for rows that stay, one for those that a later run may still change."""

    def __init__(self, warehouse: Warehouse, name: str, run_id: str) -> None:
        self.name, self.run_id, self.is_parted = name, run_id, bool(partitioning(TABLES[name]))
        folder = warehouse.path(name)
        self.files = {
            each: TableFile(folder, TABLES[name], run_id) for each in ((False, True) if self.is_parted else (False,))
        }

    def write(self, columns: Columns) -> int:
        rows = filled(self.name, {"cluster": CLUSTER, "run_id": self.run_id, **columns})
        for is_provisional, file in self.files.items():
            part = rows.filter(pc.equal(rows.column("is_provisional"), is_provisional)) if self.is_parted else rows
            if part.num_rows:
                file.write(part)
        return int(rows.num_rows)

    def close(self) -> Change:
        closed = ((is_provisional, file.close()) for is_provisional, file in self.files.items())
        done = [(is_provisional, file) for is_provisional, file in closed if file is not None]
        return Change(tuple(replace(file, is_provisional=flag) if self.is_parted else file for flag, file in done))


def filled(name: str, columns: Columns) -> pa.Table:
    """Columns of one value are that value in each row; what is not named is NULL, or a plain value."""
    length = max(map(num_rows, columns.values()))
    schema = table_schema(TABLES[name])
    arrays = [column_of(column, columns, length, schema.field(column.name).type) for column in TABLES[name].columns]
    return pa.table(arrays, schema=schema)


def num_rows(value: Any) -> int:
    return len(value) if isinstance(value, np.ndarray | pa.Array) else 1


def column_of(column: Column, columns: Columns, length: int, kind: pa.DataType) -> pa.Array:
    value = columns.get(column.name)
    if value is None:
        if column.is_nullable:
            return pa.nulls(length, kind)
        value = PLAIN[column.type] if isinstance(column.type, Type) else []
    if isinstance(value, np.ndarray):
        return pa.array(value).cast(kind)
    if isinstance(value, pa.Array):
        return value.cast(kind)
    return pa.array([value] * length, kind)


def named(prefix: str, numbers: np.ndarray) -> pa.Array:
    words = pa.array([f"{prefix}{number}" for number in range(int(numbers.max()) + 1)])
    return pa.DictionaryArray.from_arrays(pa.array(numbers), words).dictionary_decode()


def grid(first: int, end: int, *sizes: int) -> list[np.ndarray]:
    """One array a size, groups first: every combination, the last one changing fastest."""
    group, *others = (each.ravel() for each in np.indices((end - first, *sizes)))
    return [group + first, *others]


def noise(*numbers: np.ndarray | int) -> np.ndarray:
    """Of these numbers, the same each time: less than a million."""
    mixed = np.uint64(SEED)
    for each in numbers:
        mixed = (mixed + np.asarray(each).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed % np.uint64(1_000_000)).astype(np.int64)


ROUNDS = DAYS * REBALANCES_A_DAY
STEP = MONTH // ROUNDS
EVIDENCE = {"evidence_partition": 0, "evidence_first_offset": 0, "evidence_last_offset": 9, "confidence": "certain"}


def times(group: np.ndarray, each: np.ndarray) -> np.ndarray:
    """When rebalances end."""
    return START + each * STEP + STEP // 2 + noise(group, each) * STEP // 2_500_000 // 1000 * 1000


def of_groups(group: np.ndarray) -> dict[str, Any]:
    return {"group_id": named("group-", group), "group_type": "classic"}


def states(first: int, end: int) -> Columns:
    group, each, phase = grid(first, end, ROUNDS, 2)
    until, is_last = times(group, each + phase), (each == ROUNDS - 1) & (phase == 1)
    start = times(group, each) - (1 - phase) * 3 * MICROS
    return {
        **of_groups(group), "from_time": start,
        "to_time": pa.array(np.where(phase == 0, times(group, each), until - 3 * MICROS), mask=is_last),
        "from_record_offset": 2 * each + phase, "to_record_offset": pa.array(2 * each + phase + 1, mask=is_last),
        "is_provisional": is_last, "state": pa.array(np.where(phase == 0, "CompletingRebalance", "Stable")),
        "generation_or_epoch": each, "assignor": "range", "num_members": MEMBERS, **EVIDENCE,
    }  # fmt: skip


def members(first: int, end: int) -> Columns:
    group, each = grid(first, end, ROUNDS)
    return {
        **of_groups(group), "member_id": member_names(each), "client_id": named("client-", each % MEMBERS),
        "client_host": "/10.0.0.7", "client_library": "java", "from_time": times(group, each),
        "to_time": times(group, each + MEMBERS), "from_record_offset": each, "to_record_offset": each + MEMBERS,
        "is_provisional": False, "leave_kind": "session_timeout_likely", **EVIDENCE,
    }  # fmt: skip


def member_names(each: np.ndarray) -> pa.Array:
    words = [f"client-{number % MEMBERS}-{uuid5(NAMESPACE_DNS, str(number))}" for number in range(int(each.max()) + 1)]
    return pa.DictionaryArray.from_arrays(pa.array(each), pa.array(words)).dictionary_decode()


def owner_of(each: np.ndarray, partition: np.ndarray) -> np.ndarray:
    """The newest member takes over from the one before the others."""
    return each - (each - partition) % MEMBERS


def owners(first: int, end: int) -> Columns:
    group, each, partition = grid(first, end, ROUNDS, PARTITIONS)
    is_cut = (group % 2 == 0) | (owner_of(each, partition) == each) | (each == 0)
    group, each, partition = group[is_cut], each[is_cut], partition[is_cut]
    later = np.where(group % 2 == 0, each + 1, owner_of(each, partition) + MEMBERS)
    until = times(group, later) - 3 * MICROS
    return {
        **of_groups(group), "topic": named("topic-", group % 200), "partition": partition,
        "member_id": member_names(owner_of(each, partition).clip(0)),
        "client_id": named("client-", partition % MEMBERS), "from_time": times(group, each), "from_record_offset": each,
        "to_time": until, "to_record_offset": later, "is_provisional": False, "phase": "assigned",
        "ended_by": "revoked", "reader_certain_until_time": until - noise(group, each, partition) // 200 * 1000,
        **EVIDENCE,
    }  # fmt: skip


def rebalances(first: int, end: int) -> Columns:
    group, each = grid(first, end, ROUNDS)
    until = times(group, each)
    high = 8_000 + noise(group, each, 1) // 100
    return {
        **of_groups(group), "assignment_offset": each, "from_generation": each, "to_generation": each + 1,
        "start_time": until - 3 * MICROS, "end_time": until, "is_provisional": False, "duration_ms": 3_000,
        "outcome": "completed", "trigger": "member_left",
        "mode": pa.array(np.where(group % 2 == 0, "eager", "cooperative")),
        "trigger_detail": pc.binary_join_element_wise("member", member_names(each), "(10.0.0.7) timed out", " "),
        "num_partitions": PARTITIONS, "num_members_before": MEMBERS, "num_members_after": MEMBERS, "num_moved": 3,
        "unread_partition_low_ms": 3 * high - 9_000, "unread_partition_high_ms": 3 * high,
        "longest_unread_high_ms": high, **EVIDENCE,
    }  # fmt: skip


def moves(first: int, end: int) -> Columns:
    group, each, partition = grid(first, end, ROUNDS, PARTITIONS)
    is_moved = (owner_of(each, partition) != owner_of(each - 1, partition)) & (each >= MEMBERS)
    group, each, partition = group[is_moved], each[is_moved], partition[is_moved]
    high = 8_000 + noise(group, each, 1) // 100
    return {
        **of_groups(group), "assignment_offset": each, "move_offset": each, "topic": named("topic-", group % 200),
        "partition": partition, "is_provisional": False, "kind": "moved",
        "from_member_id": member_names(owner_of(each - 1, partition)), "move_time": times(group, each),
        "to_member_id": member_names(owner_of(each, partition)), "idle_ms": 3_000, "unread_low_ms": high - 3_000,
        "unread_high_ms": high, "unread_basis": "session timeout 8.0 s from the record", **EVIDENCE,
    }  # fmt: skip


def generations(first: int, end: int) -> Columns:
    group, each, seat = grid(first, end, ROUNDS, MEMBERS)
    number = (each - (each - seat) % MEMBERS).clip(0)
    sizes = np.array([len(range(place, PARTITIONS, MEMBERS)) for place in range(MEMBERS)])[number % MEMBERS]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    partitions = np.repeat(number % MEMBERS, sizes) + within * MEMBERS
    assigned = pa.StructArray.from_arrays(
        [
            named("topic-", group % 200), pa.nulls(len(group), pa.string()),
            pa.ListArray.from_arrays(starts, pa.array(partitions.astype(np.int32))),
        ],
        ["topic", "topic_id", "partitions"],
    )  # fmt: skip
    each_one = pa.ListArray.from_arrays(np.arange(len(group) + 1, dtype=np.int32), assigned)
    return {
        **of_groups(group), "assignment_offset": each, "member_id": member_names(number), "generation_or_epoch": each,
        "is_provisional": False, "change": "kept", "is_leader": seat == 0, "assigned": each_one,
        "previous_assigned": each_one, **EVIDENCE,
    }  # fmt: skip


def lag_of(group: np.ndarray, partition: np.ndarray, snapshot: np.ndarray) -> np.ndarray:
    """A spike at one snapshot a day."""
    spike = np.where(snapshot % 288 == noise(group, partition) % 288, 50_000, 0)
    return noise(group, partition, snapshot) % 1_000 + spike


def ends(group: np.ndarray, partition: np.ndarray, snapshot: np.ndarray) -> np.ndarray:
    return snapshot * 3_000 + noise(group, partition, snapshot) % 3_000


def lag(first: int, end: int) -> Columns:
    group, partition, snapshot = grid(first, end, PARTITIONS, SNAPSHOTS)
    waiting = lag_of(group, partition, snapshot)
    return {
        **of_groups(group), "snapshot_time": START + (snapshot + 1) * (MONTH // SNAPSHOTS),
        "topic": named("topic-", group % 200), "partition": partition, "is_provisional": False, "lag": waiting,
        "time_lag_ms": waiting * 100, "log_end_offset": ends(group, partition, snapshot), **EVIDENCE,
    }  # fmt: skip


def commits(first: int, end: int) -> Columns:
    group, partition, each = grid(first, end, PARTITIONS, COMMITS)
    start, is_last = START + each * 3_600 * MICROS + noise(group, partition, each) * 3_000, each == COMMITS - 1
    offset = ends(group, partition, each * SNAPSHOTS // COMMITS)
    return {
        **of_groups(group), "topic": named("topic-", group % 200), "partition": partition, "from_time": start,
        "to_time": pa.array(start + 3_600 * MICROS, mask=is_last), "from_record_offset": each,
        "to_record_offset": pa.array(each + 1, mask=is_last), "is_provisional": is_last, "committed_offset": offset,
        "delta": 36_000, "num_commits": 700, "via": "plain",
        "last_commit_time": np.minimum(start + 3_500 * MICROS, START + MONTH), **EVIDENCE,
    }  # fmt: skip


def verdicts(first: int, end: int) -> Columns:
    group, partition = grid(first, end, PARTITIONS + 1)
    is_bad = (group % EVERY == 0) & ((partition == 0) | (partition == PARTITIONS))
    words = np.where(is_bad, "STOP", "OK")
    return {
        "as_of_time": START + MONTH, **of_groups(group), "topic": named("topic-", group % 200),
        "partition": pa.array(partition, mask=partition == PARTITIONS), "own_verdict": words, "burrow_verdict": "OK",
        "rule": pa.array(np.where(is_bad, "silent", "keeps_up")), "lag": lag_of(group, partition, SNAPSHOTS - 1),
        "since_time": pa.array(np.full(len(group), START + MONTH - 3_600 * MICROS), mask=~is_bad),
        "reason": "no commit for 2 min 50 s, before that one every 2 s", **EVIDENCE,
    }  # fmt: skip


def findings(first: int, end: int) -> Columns:
    rank = np.arange(first, end, EVERY)
    query = "SELECT group_id, topic, partition, reason, lag FROM group_verdicts WHERE own_verdict = 'STOP'"
    return {
        "run_id": "00000005-gate", "rank": rank // EVERY + 1, "kind": "partition_stopped", "severity": "critical",
        "group_id": named("group-", rank), "message": "topic-7: no commit for 2 min 50 s, before that one every 2 s",
        "since_time": START + MONTH - 3_600 * MICROS, "query": f"{query}\nORDER BY lag DESC", **EVIDENCE,
    }  # fmt: skip


def gate_runs(_first: int, _end: int) -> Columns:
    return {"run_id": np.array(["00000005-gate"])}


def coverage(_first: int, end: int) -> Columns:
    return {"from_time": np.array([START]), "to_time": START + MONTH, "num_records": end * 1_000}


MAKERS: Mapping[str, Callable[[int, int], Columns]] = {
    "group_state_intervals": states,
    "membership_intervals": members,
    "ownership_intervals": owners,
    "rebalances": rebalances,
    "partition_moves": moves,
    "generation_members": generations,
    "lag_points": lag,
    "offset_history": commits,
    "group_verdicts": verdicts,
    "findings": findings,
    "gate_runs": gate_runs,
    "history_coverage": coverage,
}
# Made for all groups in one call.
OF_CLUSTER = ("findings", "gate_runs", "history_coverage")
