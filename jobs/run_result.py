"""What a run leaves for programs: `_runs/RUN.json` in the warehouse, and a copy wherever --result-file says."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.failure import Failure
from jobs.manifest import RUNS_FOLDER, write_whole
from schemas.exit_codes import ExitCode


def run_id_of(sequence: int, started_ms: int) -> str:
    """Run ids sort as the runs followed each other, also when the clock was set back."""
    return f"{sequence:08}-{datetime.fromtimestamp(started_ms / 1000, UTC):%Y%m%dT%H%M%SZ}"


def iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def record(root: Path, result_file: Path | None, result: Mapping[str, Any]) -> None:
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    write_whole(root / RUNS_FOLDER / f"{result['run_id']}.json", text)
    write_result_file(result_file, text)


def record_failure(result_file: Path | None, job: str, failure: Failure) -> None:
    result = {"job": job, "verdict": "failed", "exit_code": int(failure.code), "message": str(failure)}
    write_result_file(result_file, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def write_result_file(result_file: Path | None, text: str) -> None:
    if result_file is not None:
        try:
            write_whole(result_file, text)
        except OSError as error:
            told = f"--result-file {result_file}: {error.strerror}, a file that can be written was expected"
            raise Failure(ExitCode.USAGE, told) from None
