"""What an ingest knows of earlier runs, in columns, against the same read row by row."""

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.ingestion.driver.covered_ranges import COLUMNS, copy_of, read_ranges
from jobs.ingestion.driver.intact_ranges import intact_ranges
from jobs.ingestion.driver.state import FILE_COLUMNS, State, marks_of, note_files, telling_rows
from jobs.ingestion.task.damaged_bytes import without_damaged
from jobs.ingestion.task.messages import KnownRange
from schemas.tables import TABLES
from tests.oracles.ingestion.read_ranges import ranges_of
from udfs.arrays.arrow_schema import table_schema
from udfs.log.offset_ranges import Range, join_by_group, join_ranges

Row = dict[str, Any]
SCHEMA = pa.schema([table_schema(TABLES["source_files"]).field(name) for name in {*FILE_COLUMNS, *COLUMNS}])
FOLDERS = ("a/__consumer_offsets-0", "b/__consumer_offsets-0")
ROUNDS = 60


def random_rows(rng: np.random.Generator) -> list[Row]:
    """Of some runs, in their order: segments that grow, that are new and that are cut, archives, a live log, and files
    that could not be read."""
    rows = []
    for run in range(int(rng.integers(1, 12))):
        for _ in range(int(rng.integers(0, 5))):
            kind = str(rng.choice(["segments", "segments", "segments", "records", "kafka"]))
            row = {**empty(run, kind), **file_of(rng, kind)}
            rows.append(skipped(row) if kind != "kafka" and rng.random() < 0.1 else row)
    return rows


def skipped(row: Row) -> Row:
    """It was there, and could not be read."""
    kept = {name: row[name] for name in ("cluster", "run_id", "kind", "source_file")}
    partition = row["offsets_partition"] if row["kind"] == "segments" else None
    return dict.fromkeys(SCHEMA.names) | kept | {"offsets_partition": partition, "skipped_reason": "Permission denied"}


def empty(run: int, kind: str) -> Row:
    return dict.fromkeys(SCHEMA.names) | {"cluster": "c", "run_id": f"{run:08}", "kind": kind}


def file_of(rng: np.random.Generator, kind: str) -> Row:
    first = int(rng.integers(0, 60))
    last = first + int(rng.integers(0, 20))
    bounds = {"first_offset": first, "last_offset": last} if rng.random() < 0.8 else {}
    about = {
        "offsets_partition": None if rng.random() < 0.05 else int(rng.integers(0, 2)),
        "size_bytes": int(rng.integers(0, 9)),
        "modified_time": int(rng.integers(0, 9)),
        "read_from_position": int(rng.choice([0, 0, 5])),
        "read_to_position": int(rng.integers(5, 9)),
        "first_batch_crc": int(rng.integers(0, 99)),
        "last_batch_crc": int(rng.integers(0, 99)),
        "last_batch_position": None if rng.random() < 0.4 else int(rng.integers(0, 99)),
    }
    if kind == "kafka":
        log = {"offsets_partition": int(rng.integers(0, 2)), "file_id": f"log {rng.integers(0, 3)}"}
        return {
            **about,
            **bounds,
            **log,
            "source_file": "kafka:9092",
            "read_from_position": first,
            "read_to_position": last,
        }
    if kind == "records":
        day = "" if rng.random() < 0.5 else "day=1/"
        return {**about, **bounds, "source_file": f"archive/{day}{rng.integers(0, 3)}.parquet"}
    # Names of segments, and others.
    base = int(rng.integers(0, 4)) * 15
    name = f"{base:020}.log" if rng.random() < 0.8 else f"other-{base}"
    return {**about, **bounds, "source_file": f"{rng.choice(FOLDERS)}/{name}"}


def by_partition(rows: list[Row]) -> dict[int, list[Row]]:
    """With files of archives that were skipped and never read since, which may be of any of them."""
    result: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row["offsets_partition"] is not None:
            result[row["offsets_partition"]].append(row)
    newest = {row["source_file"]: row["run_id"] for row in rows if row["skipped_reason"] is None}
    of_archives = [
        row
        for row in rows
        if row["skipped_reason"] is not None
        and row["kind"] == "records"
        and newest.get(row["source_file"], "") <= row["run_id"]
    ]
    return {partition: [*some, *of_archives] for partition, some in result.items()}


def joined(ranges: dict[int, list[Range]]) -> dict[int, list[Range]]:
    return {partition: found for partition, some in ranges.items() if (found := join_ranges(some))}


def test_ranges_are_those_that_row_by_row_reading_gives(rng: np.random.Generator) -> None:
    for _ in range(ROUNDS):
        rows = random_rows(rng)
        read = read_ranges(pa.Table.from_pylist(rows, SCHEMA))
        expected = joined({partition: ranges_of(some) for partition, some in by_partition(rows).items()})
        assert join_by_group(read.partitions, read.firsts, read.lasts) == expected, rows


def ranges_with(
    kind: str, names: list[tuple[str, int, int | None]], run: int = 0, more: list[Row] | None = None
) -> Any:
    """`names`: files with their first and last offset; without a last one they were skipped."""
    found = [
        {
            **empty(run, kind),
            "source_file": name,
            "offsets_partition": 0,
            "read_from_position": 0,
            "read_to_position": 9,
        }
        | {"first_offset": first, "last_offset": last}
        for name, first, last in names
    ]
    made = [row if row["last_offset"] is not None else skipped(row) for row in found]
    read = read_ranges(pa.Table.from_pylist([*made, *(more or [])], SCHEMA))
    return join_by_group(read.partitions, read.firsts, read.lasts).get(0)


def test_nothing_is_claimed_of_a_segment_that_was_skipped() -> None:
    first, second, third = (f"a/__consumer_offsets-0/{base:020}.log" for base in (0, 10, 30))
    whole = [(first, 0, 4), (second, 10, 12), (third, 30, 44)]
    assert ranges_with("segments", whole) == [(0, 44)]
    assert ranges_with("segments", [whole[0], (second, 10, None), whole[2]]) == [(0, 4), (30, 44)]
    assert ranges_with("segments", [*whole[:2], (third, 30, None)]) == [(0, 12)]
    # Of another folder, which has them all, it says nothing.
    others = [(name.replace("a/", "b/"), low, high) for name, low, high in whole]
    assert ranges_with("segments", [whole[0], (second, 10, None), whole[2], *others]) == [(0, 44)]


def test_nothing_is_claimed_of_an_archives_file_that_was_skipped_until_it_is_read() -> None:
    names = [("a/0.parquet", 0, 9), ("a/day=1/1.parquet", 10, None), ("a/2.parquet", 20, 29)]
    assert ranges_with("records", [names[0], names[2]]) == [(0, 29)]
    assert ranges_with("records", names) == [(0, 9), (20, 29)]
    later = {**empty(1, "records"), "source_file": "a/day=1/1.parquet", "offsets_partition": 0}
    assert ranges_with("records", names, more=[later | {"first_offset": 10, "last_offset": 15}]) == [(0, 29)]
    # What was skipped after it was read has changed.
    assert ranges_with("records", names, run=2, more=[later | {"first_offset": 10, "last_offset": 15}]) == [
        (0, 15),
        (20, 29),
    ]


def test_what_is_intact_is_what_each_copy_has_without_its_damage(rng: np.random.Generator) -> None:
    for _ in range(ROUNDS):
        rows = random_rows(rng)
        rejected: dict[int, list[KnownRange]] = defaultdict(list)
        for row in rows:
            if rng.random() < 0.2 and row["offsets_partition"] is not None:
                bounds = [None if rng.random() < 0.2 else number for number in sorted(rng.integers(0, 80, 2).tolist())]
                rejected[row["offsets_partition"]].append(KnownRange(row["source_file"], 0, 1, *bounds))
        expected: dict[int, list[Range]] = defaultdict(list)
        for partition, of_partition in by_partition(rows).items():
            copies: dict[str, list[Row]] = defaultdict(list)
            for row in of_partition:
                copies[copy_of(row["kind"], row["source_file"])].append(row)
            for some in copies.values():
                names = {row["source_file"] for row in some}
                damaged = [each for each in rejected[partition] if each.source_file in names]
                expected[partition] += without_damaged(join_ranges(ranges_of(some)), damaged)
        assert joined(intact_ranges(pa.Table.from_pylist(rows, SCHEMA), rejected)) == joined(expected), rows


def test_few_rows_say_what_all_say_of_a_file(rng: np.random.Generator) -> None:
    for _ in range(ROUNDS):
        rows = pa.Table.from_pylist(random_rows(rng), SCHEMA)
        state, expected = State(), State()
        note_files(state, rows)
        for row in rows.to_pylist():
            name, partition = row["source_file"], row["offsets_partition"]
            if row["skipped_reason"] is not None:
                continue
            if row["kind"] == "segments":
                expected.marks[name] = marks_of(row, expected.marks.get(name))
            elif row["kind"] == "kafka":
                expected.log_ids[partition] = row["file_id"]
                expected.requested.setdefault(partition, []).append(
                    (row["read_from_position"], row["read_to_position"] - 1)
                )
            else:
                expected.archives[name] = (row["size_bytes"], state.archives[name][1])
            if partition is not None and row["first_offset"] is not None:
                for ranges in (expected.ranges, *([expected.of_files] if row["kind"] != "kafka" else [])):
                    ranges.setdefault(partition, []).append((row["first_offset"], row["last_offset"]))
        for name in ("ranges", "of_files", "requested"):
            assert getattr(state, name) == joined(getattr(expected, name)), name
        assert (state.marks, state.log_ids) == (expected.marks, expected.log_ids)
        assert {name: size for name, (size, _) in state.archives.items()} == {
            name: size for name, (size, _) in expected.archives.items()
        }


def test_of_a_file_that_grew_for_a_year_three_rows_are_looked_at() -> None:
    about = {"source_file": "a/00000000000000000000.log", "offsets_partition": 0, "read_to_position": 9}
    rows = [{**empty(run, "segments"), **about, "read_from_position": run} for run in range(1_000)]
    rows[500]["last_batch_position"] = 3
    assert telling_rows(pa.Table.from_pylist(rows, SCHEMA)).tolist() == [0, 500, 999]
