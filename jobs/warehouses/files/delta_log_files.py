"""The files of a table's Delta log: commits and checkpoints by version, files that versions removed, and checkpoints
that leave out removed files whose data is gone.

delta-rs writes checkpoints too. Those keep every removed file, since runs name old versions and the table's properties
say so; after a year that is most of what opening a table reads.
"""

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.storage.places.place import Place

LOG = "_delta_log"
LAST_CHECKPOINT = "_last_checkpoint"
# Files that Spark writes beside them begin with a dot.
NAME = re.compile(r"\.?(?P<version>\d{20})\.(?P<kind>.+)")
COMMIT, CHECKPOINT = "json", "checkpoint"


@dataclass(frozen=True)
class LogFile:
    version: int
    kind: str
    place: Place

    @property
    def is_checkpoint(self) -> bool:
        return self.kind.startswith(CHECKPOINT) and self.kind.endswith(".parquet")


def log_files(listed: Sequence[Place]) -> list[LogFile]:
    """`listed`: what is in the folder of the log."""
    matches = ((NAME.fullmatch(place.name), place) for place in listed)
    files = [LogFile(int(match["version"]), match["kind"], place) for match, place in matches if match]
    return sorted(files, key=lambda file: (file.version, file.kind))


def checkpoint_before(files: Sequence[LogFile], version: int) -> int | None:
    """Version of the newest checkpoint at or before this version."""
    return max((file.version for file in files if file.is_checkpoint and file.version <= version), default=None)


def since_checkpoint(files: Sequence[LogFile], version: int) -> tuple[list[LogFile], list[LogFile]]:
    """What makes up the version: the files of the newest checkpoint, and the commits after it."""
    start = checkpoint_before(files, version)
    base = [file for file in files if file.is_checkpoint and file.version == start]
    first = -1 if start is None else start
    return base, [file for file in files if file.kind == COMMIT and first < file.version <= version]


def actions_of(commit: Place) -> list[dict[str, Any]]:
    """Names in statistics may have characters at which Python would end a line, and JSON does not."""
    return [json.loads(line) for line in commit.read_text().split("\n") if line]


def removed_files(files: Sequence[LogFile], version: int) -> dict[str, int]:
    """Files that versions up to this one removed, with the time in epoch milliseconds, as far as the log still has
    them."""
    base, commits = since_checkpoint(files, version)
    removed: dict[str, int] = {}
    for checkpoint in base:
        column = pq.read_table(pa.BufferReader(checkpoint.place.read_bytes()), columns=["remove"]).column("remove")
        for action in column.drop_null().to_pylist():
            if action["path"] is not None:
                removed[unquote(action["path"])] = action["deletionTimestamp"] or 0
    for commit in commits:
        for action in actions_of(commit.place):
            if "add" in action:
                removed.pop(unquote(action["add"]["path"]), None)
            if "remove" in action:
                removed[unquote(action["remove"]["path"])] = action["remove"].get("deletionTimestamp") or 0
    return removed


def write_checkpoint(folder: Place, files: Sequence[LogFile], version: int, is_gone: Callable[[str], bool]) -> None:
    """`is_gone`: whether a removed file's data is deleted, so that no reader has to know of it. delta-rs makes the
    checkpoint of a copy of the log, so that readers never see another one than the finished one."""
    base, commits = since_checkpoint(files, version)
    with tempfile.TemporaryDirectory() as copy:
        log = Path(copy, LOG)
        log.mkdir()
        for file in (*base, *commits):
            (log / file.place.name).write_bytes(file.place.read_bytes())
        DeltaTable(copy, version=version).create_checkpoint()
        name = f"{version:020}.checkpoint.parquet"
        rows = without_removed(pq.read_table(log / name), is_gone)
        pq.write_table(rows, log / name, store_schema=False)
        data = (log / name).read_bytes()
    (folder / LOG / name).write_whole_bytes(data)
    about: Mapping[str, int] = {"version": version, "size": rows.num_rows, "sizeInBytes": len(data)}
    (folder / LOG / LAST_CHECKPOINT).write_whole(json.dumps(about))


def without_removed(rows: pa.Table, is_gone: Callable[[str], bool]) -> pa.Table:
    paths = pc.struct_field(rows.column("remove").combine_chunks(), "path").to_pylist()
    return rows.filter(pa.array([path is None or not is_gone(unquote(path)) for path in paths]))
