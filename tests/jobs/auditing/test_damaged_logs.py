"""Audits of logs with damage and of snapshots that are too few or too old: what is reported, with which exit code."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs import cli
from jobs.ingestion.summary import closing_line
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.batches import batch_of, record
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3
from tests.oracles.pages.documents import document_at, said
from tests.runs.ingested import ROOT, rows

SAMPLE = ROOT / "data" / "sample"


def flip_a_byte(log: Path) -> None:
    """In the middle of one batch."""
    file = sorted((log / "__consumer_offsets-6").glob("*.log"))[0]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def overwrite_a_third(log: Path) -> None:
    file = sorted((log / "__consumer_offsets-6").glob("*.log"))[0]
    content = bytearray(file.read_bytes())
    third = len(content) // 3
    content[third : 2 * third] = bytes(third)
    file.write_bytes(content)


def cut_the_end(log: Path) -> None:
    """As while it is copied: the last batch is torn."""
    file = sorted((log / "__consumer_offsets-3").glob("*.log"))[-1]
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 7])


CASES: list[tuple[Callable[[Path], None], ExitCode, str, bool]] = [
    (flip_a_byte, ExitCode.FINDINGS, "bad_crc", True),
    (overwrite_a_third, ExitCode.REJECTED_SHARE, "Damaged      1 range of ", True),
    (cut_the_end, ExitCode.FINDINGS, "", False),
]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(("damage", "code", "message", "is_found"), CASES)
def test_damage_is_reported_with_its_place(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    code: ExitCode,
    message: str,
    is_found: bool,
) -> None:
    for folder in SAMPLE.glob("__consumer_offsets-*"):
        shutil.copytree(folder, tmp_path / "log" / folder.name)
    damage(tmp_path / "log")
    words = ["--source", f"segments:{tmp_path / 'log'}", "--snapshots", str(SAMPLE / "snapshots.jsonl")]
    words += ["--warehouse", str(tmp_path / "w"), "--config", str(ROOT / "conf" / "sample.toml")]
    assert cli.main(["audit", *words]) == code
    page, said = capfd.readouterr()
    assert "Traceback" not in page + said and message in page
    kinds = {row["kind"] for row in rows(tmp_path / "w", "findings")}
    # What the log still proves stays found.
    assert {"partition_stopped", "hanging_transaction"} <= kinds
    assert ("damaged_records" in kinds, "critical  damaged records: " in page) == (is_found, is_found)
    file = rows(tmp_path / "w", "rejected_records")
    assert all(row["source_file"].startswith(str(tmp_path / "log")) for row in file if is_found)


def test_damage_is_counted_once_wherever_it_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One batch of three records. Beside it, a record of an unknown type is rejected."""
    places = [
        batch_of(*(record(delta, COMMIT_KEY, COMMIT_V3) for delta in range(3)), base_offset=first)
        for first in (0, 3, 6, 9)
    ]
    damaged = bytearray(places[1])
    damaged[80] ^= 1
    unknown = batch_of(record(0, b"\x03\xe7\x00\x01a", b"v"), base_offset=12)
    folder = tmp_path / "log" / "__consumer_offsets-0"
    folder.mkdir(parents=True)
    (folder / "00000000000000000000.log").write_bytes(b"".join([places[0], damaged, *places[2:], unknown]))
    words = ["--source", f"segments:{tmp_path / 'log'}", "--warehouse", str(tmp_path / "w")]
    result = tmp_path / "RUN.json"
    report = ["--report", str(tmp_path / "report")]
    assert cli.main(["audit", *words, *report, "--result-file", str(result)]) == ExitCode.REJECTED_SHARE
    page = capfd.readouterr().out.splitlines()
    text = f"of {len(damaged)} bytes, 3 records"
    place = page.index(f"Damaged      1 range {text}")
    assert page[place - 2 : place] == [
        "Records      10 read: 9 decoded, 1 rejected, 0 already known",
        "             1 rejected: unknown_record_type",
    ]
    assert page[place + 1] == f"             {folder}/00000000000000000000.log, byte {len(places[0])}: bad_crc"
    run = json.loads(result.read_text())
    assert (run["read"], run["rejected"], run["reject_reasons"]) == (11, 2, {"bad_crc": 1, "unknown_record_type": 1})
    names = ("num_damaged_ranges", "damaged_bytes", "damaged_records", "damage_reasons")
    assert [run[name] for name in names] == [1, len(damaged), 3, {"bad_crc": 1}]
    tiles = document_at(tmp_path / "report" / "index.html")["tiles"]
    (coverage,) = [tile for tile in tiles if tile["name"] == "coverage"]
    assert f"; 1 record rejected; 1 damaged range {text}" in said(coverage["note"])
    assert cli.main(["status", "--warehouse", str(tmp_path / "w")]) == ExitCode.CLEAN
    assert f"; 1 record rejected; 1 damaged range {text}\n" in capfd.readouterr().out
    counts = "10 records read: 9 decoded, 1 rejected (most: unknown_record_type, 1), 0 already known"
    assert f"; {counts}; 1 damaged range {text}; " in closing_line(run)


def test_snapshots_that_stopped_say_nothing_of_now(tmp_path: Path) -> None:
    """A day before the log, where it began: nobody has caught up by them, and nobody is accused."""
    first = json.loads((SAMPLE / "snapshots.jsonl").read_text().splitlines()[0])
    (tmp_path / "old.jsonl").write_text(json.dumps({**first, "captured_at": first["captured_at"] - 86_400_000}) + "\n")
    words = ["--source", f"segments:{SAMPLE}", "--snapshots", str(tmp_path / "old.jsonl")]
    cli.main(["audit", *words, "--warehouse", str(tmp_path / "w"), "--config", str(ROOT / "conf" / "sample.toml")])
    result = [row for row in rows(tmp_path / "w", "group_verdicts") if row["partition"] is not None]
    by_rule = {row["rule"] for row in result}
    assert "no_end_offsets" in by_rule and "caught_up" not in by_rule
    assert not {row["own_verdict"] for row in result} & {"STOP", "STALL", "WARN"}
