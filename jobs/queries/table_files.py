"""Which files hold a table at one version, by Delta's log: other files of its folder are of other versions."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from jobs.failure import Failure
from jobs.warehouses.delta_tables import IS_OPEN, UNREADABLE, file_path, files_of, one_line, open_table
from jobs.warehouses.warehouse import Warehouse
from schemas.exit_codes import ExitCode


class Files(NamedTuple):
    """`is_open` is that of all their rows, in a table that is partitioned by it: other writers than ours leave the
    column out of the files."""

    uris: tuple[str, ...]
    is_open: bool | None = None


def files_at(warehouse: Warehouse, name: str, version: int) -> list[Files]:
    path = Path(warehouse.place(name).removeprefix("file:"))
    try:
        delta = open_table(path, version)
        if delta is None:
            raise FileNotFoundError(f"no table at {path}")
        found: dict[bool | None, list[str]] = {}
        for uri, action in zip(delta.file_uris(), files_of(delta).to_pylist(), strict=True):
            found.setdefault(partition_of(action), []).append(str(file_path(uri)))
    except UNREADABLE as error:
        raise unreadable(str(path), version, one_line(error)) from None
    return [Files(tuple(uris), is_open) for is_open, uris in found.items()]


def partition_of(action: Mapping[str, Mapping[str, bool | None] | None]) -> bool | None:
    return (action.get("partition") or {}).get(IS_OPEN)


def unreadable(place: str, version: int, why: str) -> Failure:
    told = f"version {version} cannot be read, `groupscope doctor` tells more: {why}"
    return Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place}: {told}")
