"""Audits of logs with damage and of snapshots that are too few or too old: what is reported, with which exit code."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
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
    (overwrite_a_third, ExitCode.REJECTED_SHARE, "byte range", True),
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
