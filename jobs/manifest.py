"""What makes a run atomic over many tables: everything it changes is written down before the first table is touched.

A run that was killed in between leaves its manifest; the next run carries it out without reading any input again.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jobs.delta_tables import Change, DataFile, Removed
from jobs.failure import Failure
from schemas.exit_codes import ExitCode

RUNS_FOLDER = "_runs"
SUFFIX = ".manifest.json"


@dataclass(frozen=True)
class Manifest:
    run_id: str
    # Rises from run to run of a warehouse; Delta's logs keep it, so that no change is made twice.
    sequence: int
    time_ms: int
    changes: dict[str, Change]
    # The rows of `runs`, but for the versions of tables, which are known when these are committed.
    runs: tuple[dict[str, Any], ...]


def manifest_path(warehouse: Path, run_id: str) -> Path:
    return warehouse / RUNS_FOLDER / f"{run_id}{SUFFIX}"


def write_manifest(warehouse: Path, manifest: Manifest) -> None:
    write_whole(manifest_path(warehouse, manifest.run_id), json.dumps(asdict(manifest)))


def unfinished(warehouse: Path) -> list[Path]:
    return sorted((warehouse / RUNS_FOLDER).glob(f"*{SUFFIX}"))


def read_manifest(path: Path) -> Manifest:
    try:
        found = json.loads(path.read_text())
        changes = {
            name: Change(
                tuple(DataFile(**file) for file in change["added"]),
                tuple(Removed(**file) for file in change["removed"]),
            )
            for name, change in found["changes"].items()
        }
        return Manifest(found["run_id"], found["sequence"], found["time_ms"], changes, tuple(found["runs"]))
    except (ValueError, KeyError, TypeError) as error:
        told = f"{path}: not a manifest of this release ({error}), the one of an unfinished run was expected"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told) from None


def write_whole(path: Path, text: str) -> None:
    """The file is there with all of the text, also after a power cut, or it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f"{path.name}.{os.getpid()}.begun")
    try:
        with begun.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except OSError:
        begun.unlink(missing_ok=True)
        raise
