"""Opens a warehouse on any storage: local disks, object stores or HDFS."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.output.failure import Failure, misuse
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import is_remote, local_path, place_at
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.place import Place
from jobs.warehouses import open_warehouse
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from udfs.sentences.suggestions import unknown

# Delta's library takes a path for a part of a URI: it would open another folder, or none.
MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\x00-\x1f\x7f]")


@contextmanager
def writing(
    place: str,
    job: str,
    lock_wait: float,
    notify: Callable[[str], None],
    options: StorageOptions,
    *,
    may_be_new: bool = True,
    may_still_write: Callable[[], bool] = bool,
) -> Iterator[Warehouse]:
    """See `open_warehouse.writing`."""
    check_path(place)
    root = place_at(place, options)
    with open_warehouse.writing(
        root, job, lock_wait, notify, may_be_new=may_be_new, may_still_write=may_still_write
    ) as warehouse:
        yield warehouse


def reading(place: str, options: StorageOptions | None = None, *, may_be_before: bool = False) -> Warehouse:
    """See `open_warehouse.reading`."""
    check_path(place)
    root = place_of(place) if options is None else place_at(place, options)
    return open_warehouse.reading(root, may_be_before=may_be_before)


def check_path(place: str) -> None:
    path = "" if is_remote(place) else str(local_path(place).absolute())
    if misread := MISREAD.search(path):
        why = f"tables cannot be in a folder with {misread[0]!r} in its path; choose another one"
        raise Failure(ExitCode.USAGE, f"{path!r}: {why}")


def place_of(place: str) -> Place:
    """The place of a warehouse, for commands without `--config`. It reads settings only if they say how to reach the
    place."""
    if not is_remote(place):
        return LocalPlace(local_path(place))
    # Imported here, since most commands need no settings.
    from jobs.configuration.settings import load_settings, options_of

    return place_at(place, options_of(load_settings()))


def options_of_file(settings: str | None) -> StorageOptions | None:
    """How to reach storages, by the settings file of `--config`; None: no file is named."""
    if settings is None:
        return None
    # Imported here, since most calls need no settings, and whoever asks is in a hurry.
    from jobs.configuration.settings import load_settings, options_of

    return options_of(load_settings(Path(settings)))


def check_has_runs(warehouse: Warehouse) -> None:
    """For commands that show what runs have found: the first run may still work, or was killed."""
    if not warehouse.clusters():
        line = f"{warehouse.address}: no run has finished in it yet; run `groupscope audit`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)


def one_cluster(warehouse: Warehouse, wanted: str | None) -> str:
    """The cluster of a command without `--cluster`: the only one there is."""
    known = warehouse.clusters()
    if wanted is not None:
        return wanted
    if len(known) > 1:
        names = ", ".join(known)
        raise Failure(ExitCode.USAGE, f"the warehouse holds several clusters; add --cluster with one of {names}")
    return known[0] if known else "default"


def known_cluster(warehouse: Warehouse, wanted: str | None) -> str:
    """The same for commands that read: one that some run was about. Before the first run has ended there is none."""
    cluster, known = one_cluster(warehouse, wanted), warehouse.clusters()
    if known and cluster not in known:
        raise misuse(unknown("cluster", cluster, known))
    return cluster
