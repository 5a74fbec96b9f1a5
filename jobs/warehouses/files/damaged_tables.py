"""What is wrong with a table that cannot be read: which of its files is lost or damaged, and what it is.

delta-rs names no file, and repeats the calls inside itself. To it an empty commit is one that changes nothing.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from jobs.output.failure import Failure, without_frames
from jobs.storage.places.place import Place
from jobs.storage.refusals import is_refusal
from jobs.warehouses.files.delta_log_files import COMMIT, LOG, LogFile, log_files, since_checkpoint
from schemas.words.exit_codes import ExitCode

GONE, EMPTY = "is not there", "is empty"
NEWEST = 2**63 - 1


class Damaged(Failure, DeltaError):
    """A file of a table, and what is wrong with it. Who knows how to make the table anew says that instead."""

    def __init__(self, line: str, what: str = "") -> None:
        super().__init__(ExitCode.UNUSABLE_WAREHOUSE, line)
        self.what = what or line


def damaged(table: Place, file: Place, what: str) -> Damaged:
    advice = "run `groupscope doctor`, which says how to repair it"
    name = "/".join(Path(str(file)).parts[len(Path(str(table)).parts) :])
    return Damaged(f"{file}: {what}; {advice}", f"{name} {what}" if name else what)


def check_commits(table: Place, version: int | None) -> None:
    """On other storages it would be requests, and a commit appears there whole."""
    if table.is_remote:
        return
    for file in commits(table, version):
        if not file.place.size():
            raise damaged(table, file.place, EMPTY)


def commits(table: Place, version: int | None) -> list[LogFile]:
    """What delta-rs reads of them for this version; None: for the newest."""
    _, result = since_checkpoint(log_files((table / LOG).files_in()), NEWEST if version is None else version)
    return result


def damage_of_log(table: Place, version: int | None, error: DeltaError) -> Damaged:
    """`error`: what delta-rs says of it."""
    for file, what in damages(table, version):
        return damaged(table, file, what)
    return damaged(table, table, f"cannot be opened: {first_line(error)}")


def damages(table: Place, version: int | None) -> Iterator[tuple[Place, str]]:
    files = log_files((table / LOG).files_in())
    base, after = since_checkpoint(files, NEWEST if version is None else version)
    for file in base:
        try:
            pq.read_metadata(file.place.parquet_source())
        except (OSError, pa.ArrowException) as error:
            if is_refusal(error):
                raise
            yield file.place, "is damaged: no Parquet file"
    for file in after:
        what = commit_damage(file.place)
        if what is not None:
            yield file.place, what
    known = [file.version for file in (*base[:1], *after)]
    last = max(known, default=0) if version is None else version
    for number in range(min(known, default=0), last + 1):
        if number not in known:
            yield table / LOG / f"{number:020}.{COMMIT}", GONE


def commit_damage(file: Place) -> str | None:
    text = file.read_bytes()
    if not text:
        return EMPTY
    for number, line in enumerate(text.splitlines(), 1):
        try:
            json.loads(line)
        except ValueError:
            return f"is damaged: line {number} is no JSON"
    return None


def damage_of_file(table: Place, file: Place, error: Exception) -> Exception:
    """Of data. What a storage refuses has lost nothing, and stays as it is."""
    if is_refusal(error):
        return error
    if isinstance(error, FileNotFoundError) or not file.is_file():
        return damaged(table, file, GONE)
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return damaged(table, file, f"is damaged: {first_line(error)}")


def first_damaged(files: Iterable[Place]) -> Damaged | None:
    """Of files on local disks, which are read to their ends: who asks has met damage in one of them, and does not know
    in which."""
    for file in files:
        try:
            with pq.ParquetFile(file.parquet_source(), pre_buffer=False) as opened:
                for group in range(opened.num_row_groups):
                    opened.read_row_group(group, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            failure = damage_of_file(file.parent, file, error)
            if isinstance(failure, Damaged):
                return failure
    return None


def first_line(error: BaseException) -> str:
    """Its first sentence."""
    text = without_frames(str(error))
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return first.partition(". ")[0].rstrip(".")
