"""Lists the files of a table at one version, from the Delta log. Other files in the folder belong to other versions."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.refusals import refusal_of_warehouse
from jobs.warehouses.delta_tables import IS_PROVISIONAL, UNREADABLE, file_path, files_of, one_line
from jobs.warehouses.files.damaged_tables import Damaged, first_damaged
from jobs.warehouses.older_tables import lacking
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode


class Files(NamedTuple):
    """`is_provisional` is that of all their rows, in a table that is partitioned by it: other writers than ours leave
    the column out of the files. `lacking`: columns that an older release did not write."""

    uris: tuple[str, ...]
    is_provisional: bool | None = None
    lacking: tuple[str, ...] = ()


def files_at(warehouse: Warehouse, name: str, version: int) -> list[Files]:
    folder = warehouse.path(name)
    delta = opened_at(warehouse, name, version)
    uris_of: dict[bool | None, list[str]] = {}
    # By the names that people write: delta-rs may have its own for a storage.
    for action in files_of(delta).to_pylist():
        uris_of.setdefault(partition_of(action), []).append((folder / file_path(action["path"])).address)
    columns = tuple(lacking(delta, TABLES[name]))
    return [Files(tuple(uris), is_provisional, columns) for is_provisional, uris in uris_of.items()]


def opened_at(warehouse: Warehouse, name: str, version: int) -> DeltaTable:
    """A run's gate asks for tables that its other steps have opened."""
    folder = warehouse.path(name)
    try:
        delta = warehouse.open_at(name, version)
    except UNREADABLE as error:
        raise unread(str(folder), version, error) from error
    if delta is None:
        raise unreadable(str(folder), version, f"no table at {folder}")
    return delta


def damaged_file(uris: Iterable[str]) -> Damaged | None:
    """The first of these files, which are on local disks, that is lost or damaged."""
    return first_damaged(LocalPlace(Path(uri)) for uri in uris)


def partition_of(action: Mapping[str, Mapping[str, bool | None] | None]) -> bool | None:
    return (action.get("partition") or {}).get(IS_PROVISIONAL)


def unread(place: str, version: int, error: BaseException) -> Failure:
    return refusal_of_warehouse(error, place) or unreadable(place, version, one_line(error))


def unreadable(place: str, version: int, why: str) -> Failure:
    line = f"version {version} cannot be read: {why}; run `groupscope doctor`"
    return Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place}: {line}")
