"""Copies of a log, whatever they hold and in whatever order they come, make one same history."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import (
    Written,
    WrittenBatch,
    commit,
    compacted,
    keys_of,
    random_log,
    write_copy,
)
from tests.runs.ingested import history, ingest, keys, rows, run_ingest

PARTITIONS = (3, 11, 12)


@pytest.fixture
def logs(rng: np.random.Generator) -> dict[int, list[WrittenBatch]]:
    return {partition: random_log(rng, 40) for partition in PARTITIONS}


def expected(logs: dict[int, list[WrittenBatch]]) -> list[tuple[int, int, int]]:
    return sorted((partition, *key) for partition, log in logs.items() for key in keys_of(log))


def write(folder: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator) -> Path:
    for partition, log in logs.items():
        write_copy(folder, partition, log, rng)
    return folder


def test_every_record_is_in_one_table_once(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    run = ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', logs, rng)}")
    assert keys(tmp_path / "w") == expected(logs)
    rejected = rows(tmp_path / "w", "rejected_records")
    assert run["read"] == len(expected(logs)) == run["decoded"] + len(rejected)
    assert {row["reason"] for row in rejected} <= {"unknown_record_type"}


def test_the_same_input_twice_is_not_read_again(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    source = f"segments:{write(tmp_path / 'a', logs, rng)}"
    first = ingest(tmp_path / "w", "--source", source)
    before = history(tmp_path / "w")
    again = ingest(tmp_path / "w", "--source", source)
    assert again["num_files_unchanged"] == first["num_files_read"] > 0
    assert again["read"] == again["num_files_read"] == 0
    assert history(tmp_path / "w") == before


def test_files_that_were_copied_anew_add_nothing(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    ingest(tmp_path / "w", "--source", f"segments:{write(tmp_path / 'a', logs, rng)}")
    before = history(tmp_path / "w")
    (tmp_path / "b").mkdir()
    for partition in PARTITIONS:
        name = f"__consumer_offsets-{partition}"
        shutil.copytree(tmp_path / "a" / name, tmp_path / "b" / name, copy_function=shutil.copyfile)
    again = ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'b'}")
    assert again["already_known"] == again["read"] == len(expected(logs))
    assert history(tmp_path / "w") == before


@pytest.mark.drawn(2)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.95])
def test_copies_in_any_order_and_number_of_runs_make_one_history(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, share: float
) -> None:
    copies = [{partition: compacted(log, rng, share) for partition, log in logs.items()} for _ in range(3)]
    folders = [write(tmp_path / "copies" / str(number), copy, rng) for number, copy in enumerate(copies)]
    whole = {partition: [batch for copy in copies for batch in copy[partition]] for partition in PARTITIONS}

    ingest(tmp_path / "at_once", "--source", f"segments:{tmp_path / 'copies'}")
    assert keys(tmp_path / "at_once") == expected(whole)
    for order in ([0, 1, 2], [2, 0, 1]):
        warehouse = tmp_path / f"one_by_one_{order[0]}"
        for number in order:
            run = ingest(warehouse, "--source", f"segments:{folders[number]}")
            assert run["read"] == run["decoded"] + run["rejected"] + run["already_known"]
        assert history(warehouse) == history(tmp_path / "at_once")


def test_a_history_may_come_in_parts_whose_order_is_wrong(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    ingest(tmp_path / "whole", "--source", f"segments:{write(tmp_path / 'a', logs, rng)}")
    cuts = [0, *sorted(rng.integers(0, 41, 4).tolist()), 40]
    parts = [
        write(tmp_path / f"part-{start}-{number}", {p: log[start:stop] for p, log in logs.items()}, rng)
        for number, (start, stop) in enumerate(pairwise(cuts))
        if start < stop
    ]
    for number in rng.permutation(len(parts)):
        ingest(tmp_path / "parts", "--source", f"segments:{parts[number]}")
    assert history(tmp_path / "parts") == history(tmp_path / "whole")


def test_a_file_that_has_grown_is_read_on(tmp_path: Path, rng: np.random.Generator) -> None:
    log = random_log(rng, 12)
    path = tmp_path / "a" / "__consumer_offsets-3" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    torn = log[5].bytes[:-3]
    path.write_bytes(b"".join(batch.bytes for batch in log[:5]) + torn)
    source = f"segments:{tmp_path / 'a'}"
    assert ingest(tmp_path / "w", "--source", source)["rejected"] == rejects(log[:5])
    (file,) = rows(tmp_path / "w", "source_files")
    assert file["torn_tail_bytes"] == len(torn)

    path.write_bytes(b"".join(batch.bytes for batch in log))
    run = ingest(tmp_path / "w", "--source", source)
    assert (run["read"], run["already_known"]) == (len(keys_of(log[5:])), 0)
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(log))
    assert ingest(tmp_path / "w", "--source", source)["num_files_unchanged"] == 1


def rejects(log: list[WrittenBatch]) -> int:
    return sum(1 for batch in log for each in batch.records if each.key and each.key[:2] == b"\x00\x63")


def test_a_file_compacted_in_place_keeps_what_the_cleaner_took(tmp_path: Path, rng: np.random.Generator) -> None:
    log = random_log(rng, 30)
    write_copy(tmp_path / "a", 3, log, rng)
    source = f"segments:{tmp_path / 'a'}"
    ingest(tmp_path / "w", "--source", source)
    before = history(tmp_path / "w")
    shutil.rmtree(tmp_path / "a")
    left = compacted(log, rng, 0.5)
    write_copy(tmp_path / "a", 3, left, rng)
    run = ingest(tmp_path / "w", "--source", source)
    assert run["decoded"] == run["rejected"] == 0
    assert history(tmp_path / "w") == before


@pytest.mark.parametrize("is_at_once", [True, False])
def test_records_of_two_leader_epochs_are_both_kept_and_reported(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str], is_at_once: bool
) -> None:
    log = random_log(rng, 10)
    lost = [WrittenBatch(each.base_offset, each.leader_epoch, each.records, each.last_delta) for each in log]
    took_over: list[WrittenBatch] = []
    # Both logs leave offsets out, so two short ones may have none in common.
    while not (both := offsets_of(lost) & offsets_of(took_over)):
        took_over = [
            WrittenBatch(each.base_offset, 9, each.records, each.last_delta)
            for each in random_log(rng, 10)
            if each.base_offset >= 20
        ]
    first = write_copy(tmp_path / "copies" / "1", 3, lost, rng)
    second = write_copy(tmp_path / "copies" / "2", 3, took_over, rng)
    sources = [tmp_path / "copies"] if is_at_once else [first, second]
    for source in sources:
        run = ingest(tmp_path / "w", "--source", f"segments:{source}")
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(lost) | keys_of(took_over))
    assert run["num_epoch_conflicts"] == len(both)
    assert f"records of two leader epochs at {len(both)} offset" in capsys.readouterr().err


def offsets_of(batches: Sequence[WrittenBatch]) -> set[int]:
    return {offset for offset, _ in keys_of(batches)}


@pytest.mark.drawn(3)
@pytest.mark.parametrize("is_at_once", [True, False])
@pytest.mark.parametrize("other", ["value", "key", "kind"])
def test_another_log_under_the_same_name_is_reported_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_at_once: bool, other: str, rng: np.random.Generator
) -> None:
    log = random_log(rng, 5)
    batch = log[2]
    key, value = commit("group-0", "topic-0", 0, 5)
    different = {
        "value": (key, commit("group-0", "topic-0", 0, 4711)[1]),
        "key": (commit("group-9", "topic-0", 0, 5)[0], value),
        "kind": (b"\x00\x02\x00\x07group-0", None),
    }[other]
    firsts = (Written(0, key, value), Written(0, *different))
    mine, theirs = ([*log[:2], replace(batch, records=(first, *batch.records[1:])), *log[3:]] for first in firsts)
    copies = [write_copy(tmp_path / "copies" / str(number), 3, log, rng) for number, log in enumerate((mine, theirs))]
    if is_at_once:
        assert run_ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'copies'}") == ExitCode.UNREADABLE_INPUT
        assert not (tmp_path / "w" / "runs").exists()
    else:
        ingest(tmp_path / "w", "--source", f"segments:{copies[0]}")
        before = history(tmp_path / "w")
        capsys.readouterr()
        assert run_ingest(tmp_path / "w", "--source", f"segments:{copies[1]}") == ExitCode.UNREADABLE_INPUT
        assert history(tmp_path / "w") == before
    (line,) = capsys.readouterr().err.splitlines()
    assert f"offset {batch.base_offset} of leader epoch {batch.leader_epoch}" in line
    assert line.endswith("give this Kafka cluster another name: --cluster NAME")
    run = ingest(tmp_path / "w", "--source", f"segments:{copies[1]}", "--cluster", "other")
    assert run["cluster"] == "other"
    assert run["read"] == len(keys_of(theirs))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("is_alone", [False, True])
@pytest.mark.parametrize("order", ["bad_first", "good_first", "at_once"])
def test_a_batch_that_one_copy_damaged_comes_from_another(
    tmp_path: Path, rng: np.random.Generator, order: str, is_alone: bool
) -> None:
    """`is_alone`: in a segment without another batch, where only names show which offsets it may hold."""
    log = random_log(rng, 12)
    good = write_copy(tmp_path / "copies" / "good", 3, log, rng)
    bad = tmp_path / "copies" / "bad" / "__consumer_offsets-3"
    bad.mkdir(parents=True)
    raw = [bytearray(batch.bytes) for batch in log]
    raw[6][-1] ^= 0xFF
    for start, stop in pairwise([0, 6, 7, 12] if is_alone else [0, 12]):
        (bad / f"{log[start].base_offset:020}.log").write_bytes(b"".join(raw[start:stop]))
    sources = {"bad_first": [bad, good], "good_first": [good, bad], "at_once": [tmp_path / "copies"]}[order]
    if order == "bad_first":
        run = ingest(tmp_path / "w", "--source", f"segments:{sources.pop(0)}")
        assert run["reject_reasons"]["bad_crc"] == 1
        assert run["exit_code"] == ExitCode.REJECTED_SHARE
    for source in sources:
        ingest(tmp_path / "w", "--source", f"segments:{source}")
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(log))
    assert {row["reason"] for row in rows(tmp_path / "w", "rejected_records")} <= {"unknown_record_type"}


def test_several_segments_of_another_copy_make_a_damaged_batch_good_together(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """The cleaner took the batch before it, so that it may have held offsets on both sides of a segment's border."""
    log = random_log(rng, 6)
    raw = [bytearray(batch.bytes) for batch in (log[0], *log[2:])]
    bad, good = (tmp_path / name / "__consumer_offsets-3" for name in ("bad", "good"))
    for home in (bad, good):
        home.mkdir(parents=True)
    (good / f"{0:020}.log").write_bytes(raw[0])
    (good / f"{log[2].base_offset:020}.log").write_bytes(b"".join(raw[1:]))
    raw[1][-1] ^= 0xFF
    (bad / f"{0:020}.log").write_bytes(b"".join(raw))
    assert ingest(tmp_path / "w", "--source", f"segments:{bad}")["reject_reasons"]["bad_crc"] == 1
    ingest(tmp_path / "w", "--source", f"segments:{good}")
    assert "batch" not in {row["part"] for row in rows(tmp_path / "w", "rejected_records")}


def test_a_damaged_file_that_is_replaced_loses_its_rejected_rows(tmp_path: Path, rng: np.random.Generator) -> None:
    log = random_log(rng, 6)
    path = tmp_path / "a" / "__consumer_offsets-3" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    raw = [bytearray(batch.bytes) for batch in log]
    raw[5][-1] ^= 0xFF
    path.write_bytes(b"".join(raw))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'a'}")
    assert "bad_crc" in {row["reason"] for row in rows(tmp_path / "w", "rejected_records")}
    again = ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'a'}")
    assert again["num_files_unchanged"] == 1
    path.write_bytes(b"".join(batch.bytes for batch in log))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'a'}")
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(log))
    assert {row["reason"] for row in rows(tmp_path / "w", "rejected_records")} <= {"unknown_record_type"}
