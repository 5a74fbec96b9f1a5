"""Tables of many groups over a month, as the jobs would leave them, for what reads tables: made column by column.

Each group rebalances twice a day: a member leaves, its partitions move to another one, each unread for some seconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import Change, DataFile, partitioning
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import CONTRACT_VERSION, TABLES, Column, Type
from tests.make.tables import without_runs
from udfs.arrays.arrow_schema import table_schema

CLUSTER = "month"
DAYS, REBALANCES_A_DAY, PARTITIONS, MEMBERS = 30, 2, 8, 4
SNAPSHOTS = DAYS * 24
MICROS = 1_000_000
START = 1_795_230_000 * MICROS
MONTH = DAYS * 86_400 * MICROS
PLAIN: dict[Type, Any] = {
    Type.STRING: "", Type.BOOLEAN: False, Type.INT: 0, Type.BIGINT: 0, Type.DOUBLE: 0.0, Type.TIMESTAMP: START,
}  # fmt: skip
# Every tenth group has a partition that stopped.
EVERY = 10

Columns = Mapping[str, Any]


def write_month(root: Path, num_groups: int) -> int:
    """By one run a step, as the report expects them. How many rows there are."""
    without_runs(root)
    warehouse = Warehouse(LocalPlace(root))
    tables = {name: make(num_groups) for name, make in MAKERS.items()}
    for number, job in enumerate(("ingest", "replay", "assignments", "lag", "gate"), 1):
        run_id = f"{number:08}-{job}"
        made = tables if job == "gate" else {}
        changes = {name: change(warehouse, name, columns, run_id) for name, columns in made.items()}
        warehouse.write(Manifest(run_id, number, START // 1000, changes, (run_row(run_id, job),)))
    return sum(max(map(num_rows, columns.values())) for columns in tables.values())


def run_row(run_id: str, job: str) -> dict[str, Any]:
    code, verdict = (20, "findings") if job == "gate" else (0, "clean")
    now = START // 1000
    return {
        "cluster": CLUSTER, "run_id": run_id, "job": job, "started_time": now, "finished_time": now,
        "as_of_time": (START + MONTH) // 1000, "verdict": verdict, "exit_code": code,
        "contract_version": CONTRACT_VERSION, "config_hash": "0", "num_offsets_partitions": 1, "num_files_unchanged": 0,
        "ingest_counts": [],
    }  # fmt: skip


def change(warehouse: Warehouse, name: str, columns: Columns, run_id: str) -> Change:
    rows = filled(name, {"cluster": CLUSTER, "run_id": run_id, **columns})
    if not partitioning(TABLES[name]):
        return Change((written(warehouse, name, rows, run_id),))
    parts = (
        (is_provisional, rows.filter(pc.equal(rows.column("is_provisional"), is_provisional)))
        for is_provisional in (False, True)
    )
    files = (
        (is_provisional, written(warehouse, name, part, run_id)) for is_provisional, part in parts if part.num_rows
    )
    return Change(tuple(replace(file, is_provisional=is_provisional) for is_provisional, file in files))


def written(warehouse: Warehouse, name: str, rows: pa.Table, run_id: str) -> DataFile:
    file = TableFile(warehouse.path(name), TABLES[name], run_id)
    file.write(rows)
    done = file.close()
    assert done is not None
    return done


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


def grid(*sizes: int) -> list[np.ndarray]:
    """One array a size: every combination, the last one changing fastest."""
    return [each.ravel() for each in np.indices(sizes)]


def rebalance_times(rounds: np.ndarray) -> np.ndarray:
    step = MONTH // (DAYS * REBALANCES_A_DAY)
    return START + rounds * step + step // 2


ROUNDS = DAYS * REBALANCES_A_DAY
EVIDENCE = {"evidence_partition": 0, "evidence_first_offset": 0, "evidence_last_offset": 9, "confidence": "certain"}


def states(groups: int) -> Columns:
    group, each = grid(groups, ROUNDS)
    start, is_last = rebalance_times(each), each == ROUNDS - 1
    return {
        "group_id": named("group-", group), "group_type": "classic", "from_time": start,
        "to_time": pa.array(start + MONTH // ROUNDS, mask=is_last), "from_record_offset": each,
        "to_record_offset": pa.array(each + 1, mask=is_last), "is_provisional": is_last,
        "state": "Stable", "generation_or_epoch": each, "assignor": "range", "num_members": MEMBERS, **EVIDENCE,
    }  # fmt: skip


def members(groups: int) -> Columns:
    group, each = grid(groups, ROUNDS)
    start = rebalance_times(each)
    return {
        "group_id": named("group-", group), "group_type": "classic", "member_id": named("member-of-some-client-", each),
        "client_id": named("client-", each % MEMBERS), "client_host": "/10.0.0.7", "from_time": start,
        "to_time": start + MEMBERS * MONTH // ROUNDS, "from_record_offset": each, "to_record_offset": each + MEMBERS,
        "is_provisional": False, "leave_kind": "session_timeout_likely", **EVIDENCE,
    }  # fmt: skip


def owners(groups: int) -> Columns:
    group, each, partition = grid(groups, ROUNDS, PARTITIONS)
    start, member = rebalance_times(each), each - each % MEMBERS + partition % MEMBERS
    return {
        "group_id": named("group-", group), "group_type": "classic", "topic": named("topic-", group % 200),
        "partition": partition, "member_id": named("member-of-some-client-", member),
        "client_id": named("client-", partition % MEMBERS), "from_time": start, "from_record_offset": each,
        "to_time": start + MONTH // ROUNDS - 4 * MICROS, "to_record_offset": each + 1, "is_provisional": False,
        "phase": "assigned", **EVIDENCE,
    }  # fmt: skip


def rebalances(groups: int) -> Columns:
    group, each = grid(groups, ROUNDS)
    start = rebalance_times(each)
    return {
        "group_id": named("group-", group), "group_type": "classic", "assignment_offset": each, "from_generation": each,
        "to_generation": each + 1, "start_time": start, "end_time": start + 2 * MICROS, "is_provisional": False,
        "duration_ms": 2_000, "outcome": "completed", "trigger": "member_left", "mode": "eager",
        "trigger_detail": "member member-of-some-client-1 (10.0.0.7) timed out", "num_partitions": PARTITIONS,
        "num_moved": 2, "unread_partition_low_ms": 8_000, "unread_partition_high_ms": 12_000 + each,
        "longest_unread_high_ms": 6_000, **EVIDENCE,
    }  # fmt: skip


def moves(groups: int) -> Columns:
    group, each, partition = grid(groups, ROUNDS, 2)
    return {
        "group_id": named("group-", group), "group_type": "classic", "assignment_offset": each, "move_offset": each,
        "topic": named("topic-", group % 200), "partition": partition, "is_provisional": False, "kind": "moved",
        "from_member_id": named("member-of-some-client-", each), "move_time": rebalance_times(each),
        "to_member_id": named("member-of-some-client-", each + 1), "idle_ms": 4_000, "unread_low_ms": 4_000,
        "unread_high_ms": 6_000, "unread_basis": "session timeout 8.0 s from the record", **EVIDENCE,
    }  # fmt: skip


def lag(groups: int) -> Columns:
    snapshot, group, partition = grid(SNAPSHOTS, groups, PARTITIONS)
    return {
        "snapshot_time": START + (snapshot + 1) * (MONTH // SNAPSHOTS), "group_id": named("group-", group),
        "group_type": "classic", "topic": named("topic-", group % 200), "partition": partition, "is_provisional": False,
        "lag": (snapshot * 37 + group) % 997, **EVIDENCE,
    }  # fmt: skip


def rates(groups: int) -> Columns:
    bucket, group = grid(SNAPSHOTS, groups)
    return {
        "bucket_time": START + bucket * (MONTH // SNAPSHOTS), "bucket_ms": MONTH // SNAPSHOTS // 1000,
        "group_id": named("group-", group), "group_type": "classic", "topic": named("topic-", group % 200),
        "is_provisional": False, "messages_consumed": bucket * 7, "messages_consumed_per_s": (bucket % 24) * 1.5,
        **EVIDENCE,
    }  # fmt: skip


def verdicts(groups: int) -> Columns:
    group, partition = grid(groups, PARTITIONS)
    words = np.where((group % EVERY == 0) & (partition == 0), "STOP", "OK")
    return {
        "as_of_time": START + MONTH, "group_id": named("group-", group), "group_type": "classic",
        "topic": named("topic-", group % 200), "partition": partition, "own_verdict": words, "burrow_verdict": "OK",
        **EVIDENCE,
    }  # fmt: skip


def findings(groups: int) -> Columns:
    (rank,) = grid(groups)
    words = np.where(rank < groups // EVERY, "critical", "warning")
    query = "SELECT group_id, topic, partition, reason, lag FROM group_verdicts WHERE own_verdict = 'STOP'"
    return {
        "run_id": "00000005-gate", "rank": rank + 1, "kind": "partition_stopped", "severity": words,
        "group_id": named("group-", rank), "message": "topic-7: no commit for 2 min 50 s, before that one every 2 s",
        "query": f"{query}\nORDER BY lag DESC", **EVIDENCE,
    }  # fmt: skip


def gate_runs(groups: int) -> Columns:
    return {"run_id": np.array(["00000005-gate"])}


def coverage(groups: int) -> Columns:
    return {"from_time": np.array([START]), "to_time": START + MONTH, "num_records": groups * 1_000}


MAKERS: Mapping[str, Callable[[int], Columns]] = {
    "group_state_intervals": states,
    "membership_intervals": members,
    "ownership_intervals": owners,
    "rebalances": rebalances,
    "partition_moves": moves,
    "lag_points": lag,
    "consumption_rates": rates,
    "group_verdicts": verdicts,
    "findings": findings,
    "gate_runs": gate_runs,
    "history_coverage": coverage,
}
