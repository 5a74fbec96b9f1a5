"""`groupscope dump` as its users call it: segment files in, lines and an exit code out. Files are written by
kafka-python's record builder."""

import csv
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.logs.batches import batch_of, record
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from tests.runs.typed_here import typed_here


def dump(*arguments: object) -> subprocess.CompletedProcess[str]:
    return typed_here(["dump", *map(str, arguments)], Path.cwd())


def dump_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.cli", "dump", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    records = [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3), (COMMIT_KEY, None)]
    return segment(tmp_path, batch(10, records) + batch(20, [(COMMIT_KEY.replace(b"g", b"h", 1), COMMIT_V3)]))


def test_a_line_has_the_fields_of_the_contract_in_their_order(mixed: Path) -> None:
    done = dump_process(mixed)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == (
        '{"offsets_partition":7,"offset":10,"timestamp_ms":1700000000010,"partition_leader_epoch":0,"producer_id":null,'
        '"producer_epoch":null,"is_transactional":false,"is_control":false,"record_type":1,"type":"OffsetCommit",'
        '"key":{"group":"g","topic":"t","partition":3},'
        '"value":{"offset":5,"leader_epoch":7,"metadata":"m","commit_timestamp":1000},"value_version":3}'
    )


def test_records_of_all_types_stand_in_log_order_with_tombstones_as_null(mixed: Path) -> None:
    rows = [
        (line["offset"], line["record_type"], line["value"] is None, line["value_version"])
        for line in lines(dump(mixed))
    ]
    assert rows == [(10, 1, False, 3), (11, 2, False, 3), (12, 1, True, None), (20, 1, False, 3)]


def test_a_type_is_chosen_by_number_or_name(mixed: Path) -> None:
    for wanted in ("2", "GroupMetadata", "groupmetadata"):
        assert [line["offset"] for line in lines(dump(mixed, "--type", wanted))] == [11]
    assert [line["offset"] for line in lines(dump(mixed, "--type", "2", "--type", "OffsetCommit"))] == [10, 11, 12, 20]


def test_a_group_is_chosen_by_a_pattern(mixed: Path) -> None:
    assert [line["offset"] for line in lines(dump(mixed, "--group", "^h$"))] == [20]


def test_offsets_before_the_first_wanted_one_are_left_out(mixed: Path) -> None:
    assert [line["offset"] for line in lines(dump(mixed, "--from-offset", "12"))] == [12, 20]


def test_csv_holds_the_same_values(mixed: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(dump(mixed, "--format", "csv").stdout)))
    for row, line in zip(rows, lines(dump(mixed)), strict=True):
        assert int(row["offset"]) == line["offset"]
        assert row["type"] == line["type"]
        assert json.loads(row["key"]) == line["key"]
        assert (json.loads(row["value"]) if row["value"] else None) == line["value"]


def test_a_table_has_the_same_records_and_says_why_one_is_rejected(tmp_path: Path) -> None:
    records = [(COMMIT_KEY, COMMIT_V3), (COMMIT_KEY, None), (COMMIT_KEY, COMMIT_V3[:-1])]
    log = segment(tmp_path, batch(10, records) + batch(20, [(COMMIT_KEY, COMMIT_V3)])[:-5])
    done = dump(log, "--format", "table")
    heading, ruler, *shown = done.stdout.splitlines()
    ends = [match.span() for match in re.finditer("-+", ruler)]
    cells = [[line[start:end].strip() for start, end in ends[:-1]] + [line[ends[-1][0] :]] for line in shown]
    assert heading.split() == ["offsets_partition", "offset", "time", "type", "key", "value"]
    *decoded, rejected, torn = lines(dump(log))
    key = json.dumps(decoded[0]["key"], separators=(",", ":"))
    value = json.dumps(decoded[0]["value"], separators=(",", ":"))
    # By `date -u -d @1700000000.010`.
    assert cells[:2] == [
        ["7", "10", "2023-11-14T22:13:20.010Z", "OffsetCommit", key, value],
        ["7", "11", "2023-11-14T22:13:20.011Z", "OffsetCommit", key, "null"],
    ]
    detail = rejected["rejected"]["detail"]  # type: ignore[index]
    message = f"rejected: underrun in its value, field commit_timestamp: {detail}"
    assert cells[2] == ["7", "12", "2023-11-14T22:13:20.012Z", "OffsetCommit", "", message]
    assert cells[3][:5] == ["7", "", "", "", ""]
    assert cells[3][5].startswith("rejected: torn_batch in its batch")
    assert cells[3][5].endswith(f"{torn['size_bytes']} bytes from byte {torn['byte_position']} of {log}")
    assert done.returncode == 22


def test_a_time_beyond_the_calendar_is_a_number_in_a_table(tmp_path: Path) -> None:
    raw = batch_of(record(0, COMMIT_KEY, COMMIT_V3), base_time=1 << 60)
    done = dump(segment(tmp_path, raw), "--format", "table")
    assert f"{1 << 60} ms" in done.stdout
    assert done.returncode == 0


def test_text_that_json_must_escape_comes_back(tmp_path: Path) -> None:
    text = 'a"b\\c\n\t\x01\u007f é 測 😀'
    raw = text.encode()
    key = struct.pack(">hh", 1, len(raw)) + raw + COMMIT_KEY[5:]
    value = COMMIT_V3[:14] + struct.pack(">h", len(raw)) + raw + COMMIT_V3[-8:]
    (line,) = lines(dump(segment(tmp_path, batch(0, [(key, value)]))))
    assert line["key"] == {"group": text, "topic": "t", "partition": 3}
    assert line["value"]["metadata"] == text  # type: ignore[index]


def test_markers_of_both_kinds_have_their_names_in_csv(tmp_path: Path) -> None:
    control, transactional = 0x20, 0x10
    raw = b"".join(
        batch_of(
            record(0, struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 1)),
            base_offset=kind,
            attributes=control | transactional,
        )
        for kind in (0, 1)
    )
    rows = csv.DictReader(io.StringIO(dump(segment(tmp_path, raw), "--format", "csv").stdout))
    assert [row["type"] for row in rows] == ["ABORT", "COMMIT"]


def test_a_file_whose_name_is_no_text_is_named_by_escapes(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.log")
    path.write_bytes(batch(0, [(COMMIT_KEY, COMMIT_V3)])[:-1] + b"\xff")
    (line,) = lines(dump(path))
    assert line["source_file"] == str(path)


def test_a_record_that_cannot_be_decoded_is_a_line_with_reason_and_bytes(tmp_path: Path) -> None:
    records = [(COMMIT_KEY, COMMIT_V3[:-1]), (COMMIT_KEY, COMMIT_V3)]
    done = dump_process(segment(tmp_path, batch(0, records)))
    rejected, decoded = lines(done)
    assert rejected["rejected"]["part"] == "value"  # type: ignore[index]
    assert rejected["rejected"]["field"] == "commit_timestamp"  # type: ignore[index]
    assert rejected["rejected"]["reason"] == "underrun"  # type: ignore[index]
    assert rejected["key_hex"] == COMMIT_KEY.hex()
    assert rejected["value_hex"] == COMMIT_V3[:-1].hex()
    assert (rejected["offset"], decoded["offset"]) == (0, 1)
    assert done.returncode == 22
    assert done.stderr == "groupscope: 1 of 2 records rejected or damaged; more than 0.1% is an error\n"


def test_types_and_versions_of_newer_releases_do_not_fail_a_dump(tmp_path: Path) -> None:
    done = dump(segment(tmp_path, batch(0, [(b"\x00\x63\x00\x01g", b"\0\0"), (COMMIT_KEY, b"\0\x09")])))
    assert [line["rejected"]["reason"] for line in lines(done)] == ["unknown_record_type", "unknown_value_version"]  # type: ignore[index]
    assert done.returncode == 0


def test_a_torn_last_batch_is_a_line_but_no_error(tmp_path: Path) -> None:
    whole = batch(0, [(COMMIT_KEY, COMMIT_V3)])
    done = dump(segment(tmp_path, whole + batch(1, [(COMMIT_KEY, COMMIT_V3)])[:-5]))
    decoded, torn = lines(done)
    assert decoded["offset"] == 0
    assert torn["rejected"]["reason"] == "torn_batch"  # type: ignore[index]
    assert (torn["byte_position"], torn["size_bytes"]) == (len(whole), len(whole) - 5)
    assert done.returncode == 0


def test_a_length_that_claims_beyond_the_file_is_damage_unless_it_ends_the_file(tmp_path: Path) -> None:
    batches = [batch(offset, [(COMMIT_KEY, COMMIT_V3)]) for offset in range(3)]
    wrong = batches[1][:8] + struct.pack(">i", 1 << 20) + batches[1][12:]
    assert dump(segment(tmp_path, batches[0] + wrong + batches[2])).returncode == 22


def test_long_texts_stay_within_the_memory_of_short_ones(tmp_path: Path) -> None:
    # Control characters take six bytes each in JSON: 60 MB of them would make 360 MB of text in one go.
    value = COMMIT_V3[:14] + struct.pack(">h", 30_000) + b"\x01" * 30_000 + COMMIT_V3[-8:]
    one = batch(0, [(COMMIT_KEY, value)] * 100)
    # The checksum of a batch leaves out where it begins.
    path = segment(tmp_path, b"".join(struct.pack(">q", 100 * n) + one[8:] for n in range(20)))
    program = (
        "import resource, sys; from jobs.cli import main; code = main(['dump', sys.argv[1]]);"
        "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10))"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=240, check=True)
    assert int(done.stderr) < 400


def test_a_closed_output_is_reported_in_one_line(mixed: Path) -> None:
    command = f"{sys.executable} -m jobs.cli dump {mixed} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (1, "groupscope: standard output: Bad file descriptor\n")


def test_a_damaged_batch_between_others_is_a_line_with_its_position(tmp_path: Path) -> None:
    first, second, third = (batch(offset, [(COMMIT_KEY, COMMIT_V3)]) for offset in range(3))
    damaged = second[:-1] + bytes([second[-1] ^ 1])
    result = lines(dump(segment(tmp_path, first + damaged + third)))
    # A range of bytes has no offset: it stands behind the records of the bytes read with it.
    assert [line.get("offset") for line in result] == [0, 2, None]
    assert result[2]["rejected"]["reason"] == "bad_crc"  # type: ignore[index]
    assert (result[2]["byte_position"], result[2]["size_bytes"]) == (len(first), len(second))


@pytest.mark.parametrize(
    ("content", "code", "count"),
    [(b"", 0, 0), (bytes(4096), 0, 0), (b"\0" * 7 + b"\1" + bytes([0, 0, 9]), 0, 1)],
    ids=["empty", "preallocated zeros", "torn amid its first length"],
)
def test_a_file_without_records_ends_with_its_exit_code(tmp_path: Path, content: bytes, code: int, count: int) -> None:
    done = dump(segment(tmp_path, content))
    assert (done.returncode, len(lines(done))) == (code, count)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "count"), [(b"hello\n", "6 bytes"), (b"these are no records, just words\n" * 40, "1,320 bytes")]
)
def test_what_is_no_segment_is_refused_in_one_line(tmp_path: Path, content: bytes, count: str) -> None:
    path = tmp_path / "notasegment.txt"
    path.write_bytes(content)
    done = dump(path)
    why = f"is no segment: no batch of records is in its {count}; give .log files of a folder __consumer_offsets-N"
    assert (done.returncode, done.stdout, done.stderr) == (21, "", f"groupscope: {path}: {why}\n")
    # Behind such bytes, a batch shows that it is one, whose beginning is damaged.
    path.write_bytes(content + batch(5, [(COMMIT_KEY, COMMIT_V3)]))
    done = dump(path)
    assert (done.returncode, [line.get("offset") for line in lines(done)]) == (22, [5, None])


def test_an_absent_file_is_refused_before_anything_is_written(mixed: Path, tmp_path: Path) -> None:
    done = dump(mixed, tmp_path / "absent.log")
    assert (done.returncode, done.stdout) == (21, "")
    assert done.stderr.count("\n") == 1
    assert "absent.log: No such file or directory" in done.stderr


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files that several processes share: 13 MB each, 8,000 batches of 10 records."""
    one = batch(0, [(COMMIT_KEY, COMMIT_V3[:14] + b"\0\x40" + b"m" * 64 + COMMIT_V3[-8:])] * 10)
    paths = []
    for partition in range(3):
        raw = bytearray(one * 8_000)
        for number in range(8_000):
            struct.pack_into(">q", raw, number * len(one), number * 10)
        paths.append(segment(tmp_path_factory.mktemp("large"), bytes(raw), partition))
    return paths


def test_several_processes_write_every_record_once_in_order(large: list[Path]) -> None:
    done = dump_process(*large)
    rows = [(line["offsets_partition"], line["offset"]) for line in lines(done)]
    assert done.returncode == 0
    assert rows == [(partition, offset) for partition in range(3) for offset in range(80_000)]


def test_a_reader_that_leaves_ends_the_dump_quietly(large: list[Path]) -> None:
    command = f"{sys.executable} -m jobs.cli dump {' '.join(map(str, large))} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240, check=True)
    line, code = done.stdout.splitlines()
    assert json.loads(line)["offset"] == 0
    assert (code, done.stderr) == ("0", "")


def test_a_full_disk_is_reported_in_one_line(mixed: Path) -> None:
    command = f"{sys.executable} -m jobs.cli dump {mixed} > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert done.stderr == "groupscope: standard output: No space left on device\n"


def test_a_killed_process_is_reported_and_leaves_none_behind(large: list[Path]) -> None:
    # The reader does not read, so every process waits to write.
    command = [sys.executable, "-m", "jobs.cli", "dump", *map(str, large)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        workers = wait_for_children(running.pid)
        os.kill(workers[0], signal.SIGKILL)
        _, errors = running.communicate(timeout=240)
    assert running.returncode == 1
    assert errors == "groupscope: a process was ended by signal 9, the output is incomplete\n"
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


@pytest.mark.parametrize("change", ["cut", "replaced"])
def test_a_file_that_changes_under_the_dump_is_reported_once(large: list[Path], tmp_path: Path, change: str) -> None:
    path = segment(tmp_path, large[0].read_bytes() * 2)
    command = [sys.executable, "-m", "jobs.cli", "dump", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()  # nobody reads on, so most of the file is still to come
        if change == "cut":
            os.truncate(path, 5000)
        else:
            (path.parent / "other").write_bytes(large[1].read_bytes())
            (path.parent / "other").rename(path)
        _, errors = running.communicate(timeout=240)
    assert running.returncode == 21
    assert errors.count(b"\n") == 1
    assert str(path).encode() in errors


def test_a_closed_standard_error_does_not_change_the_exit_code(tmp_path: Path) -> None:
    command = f"{sys.executable} -m jobs.cli dump {tmp_path} 2>&-"
    assert subprocess.run(["bash", "-c", command], timeout=240, check=False).returncode == 21


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_dump_that_is_ended_leaves_no_process_behind(large: list[Path], sent: signal.Signals) -> None:
    command = [sys.executable, "-m", "jobs.cli", "dump", *map(str, large)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as running:
        workers = wait_for_children(running.pid)
        assert running.stdout is not None
        running.stdout.readline()
        # As a terminal does it, the interrupt goes to all of them.
        os.killpg(running.pid, sent) if sent is signal.SIGINT else running.send_signal(sent)
        _, errors = running.communicate(timeout=240)
    expected = (130, b"groupscope: interrupted\n") if sent is signal.SIGINT else (-sent, b"")
    assert (running.returncode, errors) == expected
    assert wait_until(lambda: not any(map(is_alive, workers)))


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(is_so: Callable[[], bool]) -> bool:
    # Long enough on a machine whose cores are all busy with other work.
    for _ in range(2_400):
        if is_so():
            return True
        time.sleep(0.05)
    return False


def wait_for_children(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children")
    assert wait_until(lambda: len(children.read_text().split()) > 1)
    return [int(child) for child in children.read_text().split()]
