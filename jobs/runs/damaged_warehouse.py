"""A job on a warehouse with a damaged file: what goes wrong there gets the file's name."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import file_path, files_of
from jobs.warehouses.files.damaged_tables import first_damaged
from jobs.warehouses.warehouse import Warehouse


@contextmanager
def naming_damage(warehouse: Warehouse) -> Iterator[None]:
    """Files are looked at only when something could not be read, and on local disks: to read all takes a while."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        if not warehouse.root.is_remote and is_of_content(error):
            found = first_damaged(data_files(warehouse))
            if found is not None:
                raise found from error
        raise


def is_of_content(error: Exception) -> bool:
    """What a disk refuses has a number; that a file is not there may be all that is wrong."""
    return not isinstance(error, OSError) or isinstance(error, FileNotFoundError) or error.errno is None


def data_files(warehouse: Warehouse) -> Iterator[Place]:
    for name, version in warehouse.versions().items():
        delta = warehouse.open_at(name, version)
        for file in [] if delta is None else files_of(delta).to_pylist():
            yield warehouse.path(name) / file_path(file["path"])
