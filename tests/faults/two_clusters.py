"""A warehouse of two clusters, whose rows may also be in the same files."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs import cli
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_commits import commit
from jobs.warehouses.delta_tables import Change, RemovedFile, sequence_of
from schemas.tables import TABLES
from tests.runs.ingested import ROOT, ingest, rows
from udfs.arrays.arrow_schema import table_schema

CLUSTERS = ("one", "two")
SEGMENTS = "__consumer_offsets-[05]"
DERIVED = {job: [table.name for table in TABLES.values() if table.job == job] for job in ("replay", "assignments")}


def two_clusters(root):
    """Of the same log, which is two partitions of the sample's, in `root/log`."""
    for folder in sorted((ROOT / "data" / "sample").glob(SEGMENTS)):
        shutil.copytree(folder, root / "log" / folder.name)
    for cluster in CLUSTERS:
        ingest(root / "w", "--source", f"segments:{root / 'log'}", "--cluster", cluster)
        for job in DERIVED:
            assert cli.main([job, "--warehouse", str(root / "w"), "--cluster", cluster]) == 0
    return root / "w"


def mix_files(warehouse, name):
    """Rows of both clusters in one file, as Spark leaves them, at the version that the newest run names."""
    table = TABLES[name]
    folder = warehouse / table.folder
    delta = DeltaTable(folder)
    if not delta.file_uris():
        return
    held = pa.concat_tables([pq.read_table(path).cast(table_schema(table)) for path in delta.file_uris()])
    removed = tuple(RemovedFile(Path(path).name, is_data_change=False) for path in delta.file_uris())
    files = HistoryFiles(LocalPlace(warehouse), max(row["run_id"] for row in rows(warehouse, "runs")))
    files.write(name, held, 0)
    written, wait = files.closing()
    wait()
    change = Change(tuple(done for _, done in written), removed)
    place = LocalPlace(folder)
    commit(place, table, change, sequence_of(place, delta) + 1, 0, delta)
    *_, named, last = sorted((folder / "_delta_log").glob("*.json"))
    kept = [each for each in actions(named) if "add" not in each]
    more = [each for each in actions(last) if "add" in each or "remove" in each]
    named.write_text("".join(f"{json.dumps(each)}\n" for each in (*kept, *more)))
    last.unlink()


def actions(commit):
    return [json.loads(line) for line in commit.read_text().splitlines()]
