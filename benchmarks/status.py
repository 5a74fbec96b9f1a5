"""How soon `status` answers: on the sample, and in a warehouse of 1,000 groups, 10,000 partitions and 1,000 runs."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.audit import SAMPLE, audit_command
from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.run import Run
from benchmarks.start import median_seconds
from jobs.warehouses.delta_tables import Change, partitioning
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import CONTRACT_VERSION, TABLES
from tests.builders.tables.history import at, coverage, evidence, interval, rebalance
from tests.make.tables import NOW_MS, filled, make

GROUPS, PARTITIONS, RUNS = 1_000, 10, 1_000
# `maintain` merges the files of a day. Runs are an hour apart.
A_DAY, HOUR = 24, 3_600
# Of the newest run: the others had as many.
NUM_UNWELL, NUM_SUITES = 50, 40
SMALL, LARGE = Bound(1.0), Bound(2.0)

Row = dict[str, Any]


def measure(run: Run) -> list[Duration]:
    sample = new_warehouse(run.folder)
    seconds_of(audit_command(SAMPLE, sample))
    large = run.folder / "large"
    write_large(large)
    bare = median_seconds(run, [sys.executable, "-c", "pass"])
    rival = "rival: Python that does nothing"
    size = f"{GROUPS:,} groups, {GROUPS * PARTITIONS:,} partitions and {RUNS:,} runs"
    return [
        Duration(f"groupscope status {where}; {rival}", median_seconds(run, command), bound, bare)
        for where, warehouse, bound in (("on the sample", sample, SMALL), (f"with {size}", large, LARGE))
        for command in [groupscope("status", "--warehouse", warehouse)]
    ]


def write_large(root: Path) -> None:
    """What a run made is written once; what each run adds has rows of all runs."""
    end = RUNS * HOUR
    groups = [f"group-{number:04}" for number in range(GROUPS)]
    warehouse = make(root, {
        "group_state_intervals": [row for group in groups for row in stays({"group_id": group, "state": "Stable",
                                                                            "num_members": 3}, 20)],
        "membership_intervals": [row for group in groups for member in range(3)
                                 for row in stays({"group_id": group, **client(group, member)}, 4)],
        "ownership_intervals": [row for group in groups for partition in range(PARTITIONS)
                                for row in stays({"group_id": group, "topic": "t", "partition": partition,
                                                  "phase": "assigned", **client(group, partition % 3)}, 5)],
        "rebalances": [rebalance(group, each, each * HOUR, each * HOUR + 1) for group in groups for each in range(20)],
        "offset_resets": [{"group_id": group, "topic": "t", "at_time": at(end - place * HOUR), "kind": "shift",
                           "actor": "admin_likely", "messages_reread": place} for place, group in enumerate(groups)],
        "history_coverage": [{**coverage(0, 10**6, 0, end), "offsets_partition": each} for each in range(50)],
        "topic_snapshots": [{"captured_time": at(end), "topic": "t", "partition": each, "log_end_offset": 9}
                            for each in range(PARTITIONS)],
    }, run_id="00000000-{}")  # fmt: skip
    add_runs(warehouse, groups)


def stays(row: Row, number: int) -> Iterator[Row]:
    """One after the other; the last one lasts."""
    for place in range(number):
        begin = place * HOUR
        yield {**interval(begin, None if place == number - 1 else begin + HOUR, place), **row}


def client(group: str, number: int) -> Row:
    return {"member_id": f"{group}-{number}", "client_id": f"{group}-{number}", "client_host": f"/10.0.0.{number}"}


def add_runs(warehouse: Warehouse, groups: list[str]) -> None:
    """All with one commit: a log of Delta has a checkpoint before its last few."""
    of_each = {name: filled(TABLES[name], rows) for name, rows in rows_of_a_run(groups).items()}
    written: dict[str, list[Any]] = {name: [] for name in of_each}
    for first in range(0, RUNS, A_DAY):
        for runs in ([each] for each in range(first, RUNS)) if first + A_DAY >= RUNS else [range(first, first + A_DAY)]:
            for name, rows in of_each.items():
                file = TableFile(warehouse.path(name), TABLES[name], run_id(runs[-1]))
                for number in runs:
                    file.write(of_run(rows, number))
                done = file.close()
                assert done is not None
                written[name].append(replace(done, is_provisional=False) if partitioning(TABLES[name]) else done)
    jobs = tuple(row_of_run(number, job) for number in range(RUNS) for job in ("ingest", "replay", "lag", "gate"))
    changes = {name: Change(tuple(files)) for name, files in written.items()}
    warehouse.write(Manifest(run_id(RUNS), warehouse.next_sequence(), NOW_MS, changes, jobs))


def rows_of_a_run(groups: list[str]) -> Mapping[str, list[Row]]:
    def verdict(place: int, group: str, partition: int | None) -> Row:
        own = {"own_verdict": "STOP", "rule": "silent"} if place < NUM_UNWELL else {"own_verdict": "OK"}
        about = {"group_id": group, "topic": None if partition is None else "t", "partition": partition}
        return {**about, **own, **evidence(1, 9), "lag": place, "last_commit_time": at(0), "since_time": at(0)}

    parts = [None, *range(PARTITIONS)]
    return {
        "group_verdicts": [verdict(place, group, each) for place, group in enumerate(groups) for each in parts],
        "findings": [{"rank": place + 1, "kind": "partition_stopped", "severity": "critical", "group_id": group}
                     for place, group in enumerate(groups[:NUM_UNWELL])],
        "gate_runs": [{"suite": f"suite-{each}", "verdict": "passed"} for each in range(NUM_SUITES)],
        "consumption_rates": [{"group_id": group, "topic": "t", "bucket_ms": 300_000, "eta_high_ms": 60_000}
                              for group in groups],
    }  # fmt: skip


def of_run(rows: pa.Table, number: int) -> pa.Table:
    values: dict[str, str | datetime] = {"run_id": run_id(number)}
    values |= dict.fromkeys(("as_of_time", "bucket_time"), at(number * HOUR) + timedelta(milliseconds=1))
    for name in values.keys() & {*rows.column_names}:
        place = rows.schema.get_field_index(name)
        field = rows.schema.field(place)
        rows = rows.set_column(place, field, pa.array([values[name]] * rows.num_rows, field.type))
    return rows


def run_id(number: int) -> str:
    return f"{number:08}-run"


def row_of_run(number: int, job: str) -> Row:
    time = NOW_MS + number * HOUR * 1_000
    about = {"cluster": "a", "run_id": run_id(number), "job": job, "started_time": time, "finished_time": time}
    ended = {"as_of_time": time + 1, "verdict": "clean", "exit_code": 0, "contract_version": CONTRACT_VERSION}
    counts = {"config_hash": "0", "num_offsets_partitions": 50, "num_files_unchanged": 0, "ingest_counts": []}
    return {**about, **ended, **counts}
