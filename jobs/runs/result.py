"""The result of a run for programs: `_runs/RUN.json` in the warehouse, and a copy in --result-file."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.failure import Failure, described, os_error_line
from jobs.storage.stored_path import write_whole
from schemas.exit_codes import ExitCode
from schemas.tables import CONTRACT_VERSION


def run_row(
    about: Mapping[str, Any],
    started_ms: int,
    finished_ms: int,
    config_hash: str,
    counts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A row of `runs` but for the versions of tables. `about` has run_id, job, cluster, verdict and exit code; `counts`
    are columns that jobs other than an ingest leave empty."""
    return {
        **{name: about[name] for name in ("cluster", "run_id", "job", "verdict", "exit_code")},
        "started_time": started_ms,
        "finished_time": finished_ms,
        "as_of_time": None,
        "contract_version": CONTRACT_VERSION,
        "config_hash": config_hash,
        "num_offsets_partitions": 0,
        "num_files_unchanged": 0,
        "ingest_counts": [],
        **(counts or {}),
    }


def run_id_of(sequence: int, started_ms: int) -> str:
    """Run ids sort as the runs followed each other, also when the clock was set back."""
    return f"{sequence:08}-{datetime.fromtimestamp(started_ms / 1000, UTC):%Y%m%dT%H%M%SZ}"


def iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ms_of(text: str) -> int:
    """Of a time as `iso` writes it."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def result_text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def recorded_failure(result_file: Path | None, job: str) -> Iterator[None]:
    """Programs find a failure where they look for the result, and never the result of an earlier run."""
    with written_where_told(result_file):
        if result_file is not None and result_file.is_file():
            result_file.unlink()
    try:
        yield
    except Exception as error:
        code, message = described(error)
        result = {"job": job, "verdict": "failed", "exit_code": int(code), "message": message}
        # What went wrong first is what counts.
        with suppress(Failure):
            write_result_file(result_file, result_text(result))
        raise


def write_result_file(result_file: Path | None, text: str) -> None:
    if result_file is None:
        return
    with written_where_told(result_file):
        if result_file.exists() and not result_file.is_file():
            # Such as /dev/stdout, in whose place no file may be put.
            result_file.write_text(text)
        else:
            write_whole(result_file, text)


@contextmanager
def written_where_told(result_file: Path | None) -> Iterator[None]:
    try:
        if result_file is not None:
            result_file.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        told = f"--result-file {os_error_line(error, result_file)}, a file that can be written was expected"
        raise Failure(ExitCode.USAGE, told) from None
