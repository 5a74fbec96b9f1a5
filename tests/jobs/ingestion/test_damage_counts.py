"""Damaged segments of logs that were never compacted: what was read and what the damage held are all offsets."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from jobs.ingestion.task.copies import Copy
from jobs.ingestion.task.plan import readings, units
from jobs.pages.run_pages import damage_lines
from jobs.sources.segment_source import segment_files
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.batches import batch_of, record
from tests.builders.logs.damaged import FOLDER, WrittenLog, WrittenSegment, damaged_contents, random_log, write
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3
from tests.runs.ingested import RECORD_TABLES, ROOT, ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, replay, row_texts

PIECE_BYTES = 1 << 20
# Files are read, and cut for several tasks, between batches anywhere. Of batches alone: a compressed message of the
# older formats does not name its first offset, with which the last batch of a piece is compared.
SMALL_PIECE_BYTES = 1_500
MOST_DAMAGED = 0.001


def counted(folder: Path, piece_bytes: int) -> tuple[int, int]:
    """Records that were read, and those in damaged ranges."""
    result, _ = readings(segment_files(str(folder), None), {})
    num_records = num_damaged = 0
    for unit in units(result, {}, piece_bytes):
        for spans in unit.copies:
            copy = Copy(spans, piece_bytes)
            num_records += sum(len(records) for records in copy.records())
            num_damaged += sum(each.num_records for each in copy.ranges)
    return num_records, num_damaged


def check_adds_up(log: WrittenLog, folder: Path, piece_bytes: Sequence[int], about: object) -> None:
    for each in piece_bytes:
        num_records, num_damaged = counted(folder, each)
        assert num_records + num_damaged == log.num_offsets, (about, num_records, num_damaged, log.num_offsets)


@pytest.mark.drawn(4)
@pytest.mark.parametrize("legacy_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("most", [1, 4, 60])
def test_read_and_damaged_records_are_all_offsets(
    tmp_path: Path, rng: np.random.Generator, legacy_share: float, most: int
) -> None:
    for number in range(60):
        log = random_log(rng, legacy_share=legacy_share, most=most)
        folder = write(tmp_path / str(number), log, damaged_contents(rng, log, 0.7))
        check_adds_up(log, folder, (PIECE_BYTES,) if legacy_share else (PIECE_BYTES, SMALL_PIECE_BYTES), number)


def test_a_file_that_is_read_in_pieces_begins_and_ends_where_it_does_as_a_whole() -> None:
    def facts(piece_bytes: int) -> list[tuple[object, ...]]:
        result, _ = readings(segment_files(str(ROOT / "data" / "sample"), None), {})
        copies = [Copy(spans, piece_bytes) for unit in units(result, {}, PIECE_BYTES) for spans in unit.copies]
        num_pieces.append(sum(1 for copy in copies for _ in copy.records()))
        of_files = (each for copy in copies for each in copy.facts)
        return [(each.source_file, each.first_offset, each.last_offset, each.num_records) for each in of_files]

    num_pieces: list[int] = []
    assert facts(SMALL_PIECE_BYTES) == facts(PIECE_BYTES)
    assert num_pieces[0] > 2 * num_pieces[1]


def check_row_counts(warehouse: Path, log: WrittenLog) -> int:
    """Rows against offsets; the damaged records."""
    result = rows(warehouse, "rejected_records")
    ranges = [row for row in result if row["byte_position"] is not None]
    singles = [row for row in result if row["byte_position"] is None]
    decoded = sum(len(rows(warehouse, name)) for name in RECORD_TABLES if name != "rejected_records")
    num_damaged = sum(row["num_records"] for row in ranges)
    assert decoded + len(singles) + num_damaged == log.num_offsets
    assert all(row["num_records"] == 1 and not row["is_num_records_estimated"] for row in singles)
    return num_damaged


def check_coverage(warehouse: Path, log: WrittenLog, num_damaged: int) -> None:
    (stretch,) = rows(warehouse, "history_coverage")
    assert (stretch["first_offset"], stretch["last_offset"]) == (log.first_offset, log.last_offset)
    assert stretch["damaged_records"] == num_damaged
    assert stretch["compacted_records_estimate"] == 0
    assert stretch["num_records"] + num_damaged == log.num_offsets


@pytest.mark.parametrize("number", range(4))
def test_tables_and_run_say_how_many_records_were_damaged(
    tmp_path: Path, rng: np.random.Generator, number: int
) -> None:
    log = random_log(rng, most=30)
    contents = damaged_contents(rng, log, 1.0)
    result = ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', log, contents)}")
    num_damaged = check_row_counts(tmp_path / "w", log)
    (run,) = rows(tmp_path / "w", "runs")
    (counts,) = run["ingest_counts"]
    assert counts["damaged"] == result["damaged_records"] == num_damaged
    assert counts["read"] == counts["decoded"] + counts["rejected"] + counts["already_known"]
    is_above = num_damaged > MOST_DAMAGED * log.num_offsets
    assert result["exit_code"] == (ExitCode.REJECTED_SHARE if is_above else ExitCode.CLEAN)
    replay(tmp_path / "w")
    check_coverage(tmp_path / "w", log, num_damaged)


@pytest.mark.parametrize("good_first", [True, False])
def test_a_good_copy_repairs_what_was_damaged_in_any_order(
    tmp_path: Path, rng: np.random.Generator, good_first: bool
) -> None:
    log = random_log(rng, most=30)
    good = write(tmp_path / "good", log, [segment.content for segment in log.segments])
    bad = write(tmp_path / "bad", log, damaged_contents(rng, log, 1.0))
    for source in (good, bad) if good_first else (bad, good):
        ingest(tmp_path / "w", "--source", f"segments:{source}")
        replay(tmp_path / "w")
    assert check_row_counts(tmp_path / "w", log) == 0
    check_coverage(tmp_path / "w", log, 0)
    ingest(tmp_path / "once", "--source", f"segments:{good}")
    replay(tmp_path / "once")
    assert_same(row_texts(tmp_path / "w", HISTORY), row_texts(tmp_path / "once", HISTORY), "a repaired log")


def test_copies_damaged_in_different_places_leave_what_both_lack(tmp_path: Path) -> None:
    """A damages offsets 4 to 11, B 8 to 15: only 8 to 11 are lost, in one run, in two, in any order."""
    entries = [batch_of(*(commit_record(delta) for delta in range(4)), base_offset=first) for first in range(0, 24, 4)]
    log = WrittenLog((WrittenSegment(0, tuple(entries)),), 23)
    copies = {name: write(tmp_path / name, log, [broken(entries, places)]) for name, places in BROKEN.items()}
    result = []
    for number, order in enumerate((("a", "b"), ("b", "a"), ("*",))):
        warehouse = tmp_path / f"w{number}"
        for name in order:
            ingest(warehouse, "--source", f"segments:{tmp_path}/[ab]" if name == "*" else f"segments:{copies[name]}")
            replay(warehouse)
        (stretch,) = rows(warehouse, "history_coverage")
        assert (stretch["damaged_records"], stretch["compacted_records_estimate"]) == (4, 0)
        result.append(row_texts(warehouse, HISTORY))
    assert_same(result[0], result[1], "the other order")
    assert_same(result[0], result[2], "one run")


BROKEN = {"a": (1, 2), "b": (2, 3)}


def commit_record(delta: int) -> bytes:
    return record(delta, COMMIT_KEY, COMMIT_V3)


def broken(entries: list[bytes], places: tuple[int, ...]) -> bytes:
    """With a byte of these batches' records flipped."""
    whole = [bytearray(entry) for entry in entries]
    for place in places:
        whole[place][80] ^= 1
    return b"".join(whole)


def test_a_compacted_log_s_damaged_batch_counts_what_its_header_says(tmp_path: Path) -> None:
    """Two of ten offsets are left in it, and none of those around it."""
    left = batch_of(commit_record(3), commit_record(7), base_offset=100, last_delta=9)
    entries = [batch_of(commit_record(0), base_offset=50), left, batch_of(commit_record(0), base_offset=200)]
    log = WrittenLog((WrittenSegment(0, tuple(entries)),), 200)
    ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', log, [broken(entries, (1,))])}")
    (row,) = rows(tmp_path / "w", "rejected_records")
    assert (row["num_records"], row["is_num_records_estimated"]) == (2, False)
    assert (row["from_record_offset"], row["to_record_offset"]) == (51, 199)
    replay(tmp_path / "w")
    (stretch,) = rows(tmp_path / "w", "history_coverage")
    assert (stretch["damaged_records"], stretch["compacted_records_estimate"]) == (2, 201 - 2 - 2)


def test_a_torn_tail_is_no_damage_and_a_cut_segment_is(tmp_path: Path) -> None:
    entries = [batch_of(*(commit_record(delta) for delta in range(4)), base_offset=first) for first in range(0, 16, 4)]
    log = WrittenLog((WrittenSegment(0, tuple(entries[:2])), WrittenSegment(8, tuple(entries[2:]))), 15)
    contents = [log.segments[0].content[:-5], log.segments[1].content[:-5]]
    result = ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', log, contents)}")
    assert (result["damaged_records"], result["num_damaged_ranges"], result["decoded"]) == (4, 1, 8)
    assert result["exit_code"] == ExitCode.REJECTED_SHARE
    (named,) = result["first_damaged_ranges"]
    assert named["source_file"].endswith("00000000000000000000.log")
    assert (named["byte_position"], named["num_records"]) == (len(entries[0]), 4)


def test_damage_at_the_end_is_counted_again_when_the_log_goes_on(tmp_path: Path) -> None:
    """Nothing of the batch can be read: how many records it held is known when the next batch is there."""
    entries = [batch_of(*(commit_record(delta) for delta in range(4)), base_offset=first) for first in (0, 4, 8)]
    log = WrittenLog((WrittenSegment(0, tuple(entries)),), 11)
    damage = bytes([255] * len(entries[1]))
    for content in (entries[0] + damage, entries[0] + damage + entries[2]):
        ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', log, [content])}")
        replay(tmp_path / "w")
    ingest(tmp_path / "once", "--source", f"segments:{tmp_path / 'a'}")
    replay(tmp_path / "once")
    assert check_row_counts(tmp_path / "w", log) == 4
    check_coverage(tmp_path / "w", log, 4)
    assert_same(row_texts(tmp_path / "w", HISTORY), row_texts(tmp_path / "once", HISTORY), "a log that went on")


def test_dump_counts_them_too(tmp_path: Path) -> None:
    """40 of 40,000 records are within the share of 0.1 %, 60 are not, though they are three batches."""
    entries = [
        batch_of(*(commit_record(delta) for delta in range(20)), base_offset=first) for first in range(0, 40_000, 20)
    ]
    log = WrittenLog((WrittenSegment(0, tuple(entries)),), 39_999)
    folder = write(tmp_path, log, [broken(entries, (1_000, 1_001))])
    command = [sys.executable, "-m", "jobs.cli", "dump", str(folder / FOLDER / log.segments[0].name)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == ExitCode.CLEAN
    write(tmp_path, log, [broken(entries, (1_000, 1_001, 1_003))])
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == ExitCode.REJECTED_SHARE
    assert "60 of 40,000 records rejected or damaged" in done.stderr


def test_the_run_page_names_the_first_damaged_places() -> None:
    place = {"source_file": "/a.log", "byte_position": 1845, "size_bytes": 9, "reason": "bad_crc", "num_records": 14}
    result = {
        "num_damaged_ranges": 5, "damaged_bytes": 12_345, "damaged_records": 1_028, "is_damage_estimated": True,
        "first_damaged_ranges": [place],
    }  # fmt: skip
    lines = list(damage_lines(result, is_verbose=True))
    assert lines[0] == "Damaged      5 ranges of 12,345 bytes, about 1,028 records"
    assert lines[1].strip() == "/a.log, byte 1,845: bad_crc, 14 records"
    assert lines[2].strip() == "and 4 more"
    assert "FROM rejected_records" in lines[3]
    assert not list(damage_lines({"num_damaged_ranges": 0}, is_verbose=True))
