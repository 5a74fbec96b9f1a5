"""The result of a run for programs: `_runs/RUN.json` in the warehouse, and a copy in --result-file."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.output.failure import Failure, check_file, code_and_line, say, unwritable
from jobs.output.rows import json_visible
from jobs.storage.places.local_place import LocalPlace
from schemas.tables import CONTRACT_VERSION
from schemas.words.exit_codes import ExitCode

RESULT_FILE = "--result-file"


def run_row(
    about: Mapping[str, Any],
    started_ms: int,
    finished_ms: int,
    config_hash: str | None,
    counts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A row of `runs` without the versions of tables. `about` has run_id, job, cluster, verdict and exit code; `counts`
    has columns that only an ingest fills."""
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
    """Run ids sort in the order of the runs, even if the clock was set back."""
    return f"{sequence:08}-{datetime.fromtimestamp(started_ms / 1000, UTC):%Y%m%dT%H%M%SZ}"


def iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ms_of(text: str) -> int:
    """Epoch milliseconds of a time that `iso` wrote."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def result_text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def with_failures(
    result: Mapping[str, Any], failures: Sequence[str], code: ExitCode = ExitCode.FINDINGS
) -> dict[str, Any]:
    """The result of a run whose tables are written, with what else could not be: a line each. `code`: of that alone."""
    verdict = "findings" if result["verdict"] == "clean" else result["verdict"]
    worst = max(int(result["exit_code"]), int(code))
    return {**result, "verdict": verdict, "exit_code": worst, "report_failed": list(failures)}


@contextmanager
def recorded_failure(result_file: Path | None, job: str) -> Iterator[None]:
    """Writes a failure to the place of the result, so that programs never read the result of an earlier run."""
    if result_file is not None:
        check_file(RESULT_FILE, result_file)
        remove_earlier(result_file)
    try:
        yield
    except Exception as error:
        code, message = code_and_line(error)
        result = {"job": job, "verdict": "failed", "exit_code": int(code), "message": message}
        # The first failure is the one to report.
        with suppress(Failure):
            write_result_file(result_file, result_text(result))
        raise


def remove_earlier(result_file: Path) -> None:
    try:
        if result_file.is_file():
            result_file.unlink()
    except OSError as error:
        raise unwritable(RESULT_FILE, result_file, error, ExitCode.USAGE) from None


def with_result_file(result_file: Path | None, result: dict[str, Any]) -> dict[str, Any]:
    """Writes it; the result as it is then, with the failure if that could not be done."""
    try:
        write_result_file(result_file, result_text(result))
    except Failure as failure:
        say(str(failure))
        return with_failures(result, [*result.get("report_failed", ()), str(failure)])
    return result


def write_result_file(result_file: Path | None, text: str) -> None:
    if result_file is None:
        return
    try:
        if result_file.exists() and not result_file.is_file():
            # A device such as /dev/stdout: no file can take its place.
            with result_file.open("w", encoding="utf-8", errors="backslashreplace") as device:
                device.write(json_visible(text) if device.isatty() else text)
        else:
            LocalPlace(result_file).write_whole(text)
    except OSError as error:
        raise unwritable(RESULT_FILE, result_file, error) from None
