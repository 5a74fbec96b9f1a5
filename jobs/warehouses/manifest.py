"""Makes a run atomic over many tables: writes down every change before it changes the first table.

If a run is killed after that, its manifest stays. The next run completes it without reading any input again.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from jobs.output.failure import Failure
from jobs.storage.places.place import Place
from jobs.storage.stored_files import nothing
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile
from schemas.tables import CONTRACT_VERSION, TABLES
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema

RUNS = "runs"
RUNS_FOLDER = "_runs"
SUFFIX = ".manifest.json"
# In manifests of earlier contract versions.
FORMER_FIELDS = {"is_open": "is_provisional"}


@dataclass(frozen=True)
class Manifest:
    run_id: str
    # Increases from run to run of a warehouse. Delta logs record it, so that no change is made twice.
    sequence: int
    time_ms: int
    changes: dict[str, Change]
    # The rows of `runs` without the versions of tables, which are known after the commits.
    runs: tuple[dict[str, Any], ...]
    # Tables whose logs cannot be read: they are created again.
    anew: tuple[str, ...] = ()
    # The id of a run: rows of earlier runs name no versions any more, since these may be gone.
    forget_versions_before: str | None = None
    # Tables that an earlier contract version wrote, with their names in it: the commit declares them anew. Where
    # columns have other names, the change has all rows in files that it adds.
    renewed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_of_version_before(self) -> bool:
        return any(row["contract_version"] < CONTRACT_VERSION for row in self.runs)

    @property
    def former(self) -> dict[str, str]:
        """Tables that had another name."""
        return {old: new for new, old in self.renewed.items() if old != new}


def run_rows(manifest: Manifest, versions: Mapping[str, int]) -> pa.Table:
    """The rows of `runs`, with the versions of all tables that belong together."""
    named = sorted((TABLES[name].folder, version) for name, version in versions.items() if name != RUNS)
    rows = [{**row, "table_versions": named} for row in manifest.runs]
    for row in rows:
        for name in ("started_time", "finished_time", "as_of_time"):
            row[name] = None if row[name] is None else datetime.fromtimestamp(row[name] / 1000, UTC)
    return pa.Table.from_pylist(rows, table_schema(TABLES[RUNS]))


def versions_of(run: Mapping[str, Any]) -> dict[str, int]:
    """Versions by table. A row of `runs` names tables by their folders; beyond the term of `maintain` it names none."""
    return {folder.rpartition("/")[2]: version for folder, version in dict(run["table_versions"] or ()).items()}


def manifest_path(warehouse: Place, run_id: str) -> Place:
    return warehouse / RUNS_FOLDER / f"{run_id}{SUFFIX}"


def write_manifest(warehouse: Place, manifest: Manifest, wait_for_files: Callable[[], None] = nothing) -> None:
    """The manifest appears only after the files that it names."""
    manifest_path(warehouse, manifest.run_id).write_whole(manifest_text(manifest), wait_for_files)


def manifest_text(manifest: Manifest) -> str:
    return json.dumps(asdict(manifest))


def unfinished_manifests(warehouse: Place) -> list[Place]:
    return (warehouse / RUNS_FOLDER).files_in(SUFFIX)


def read_manifest(path: Place) -> Manifest:
    return parse_manifest(path.read_text(), str(path))


def parse_manifest(text: str, place: str) -> Manifest:
    try:
        content = json.loads(text)
        changes = {
            name: Change(
                tuple(DataFile(**{FORMER_FIELDS.get(key, key): file[key] for key in file}) for file in change["added"]),
                tuple(RemovedFile(**file) for file in change["removed"]),
            )
            for name, change in content["changes"].items()
        }
        runs, anew = tuple(content["runs"]), tuple(content["anew"])
        return Manifest(
            run_id=content["run_id"],
            sequence=content["sequence"],
            time_ms=content["time_ms"],
            changes=changes,
            runs=runs,
            anew=anew,
            # A manifest of an earlier release has none.
            forget_versions_before=content.get("forget_versions_before"),
            renewed=content.get("renewed", {}),
        )
    except (ValueError, KeyError, TypeError) as error:
        line = (
            f"{place}: lists what an unfinished run wrote, in a form this release cannot read ({error}); finish it by "
            "an ingest with the release that began it"
        )
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None
