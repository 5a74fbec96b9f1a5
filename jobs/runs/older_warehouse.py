"""A job on tables of an older release: what goes wrong there gets a name."""

from collections.abc import Iterator
from contextlib import contextmanager

from jobs.output.failure import Failure
from jobs.warehouses.delta_tables import UNREADABLE
from jobs.warehouses.older_tables import lacking, may_lack, older
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode


@contextmanager
def naming_older_tables(warehouse: Warehouse) -> Iterator[None]:
    """They are looked for only when something went wrong that nobody could act on: looking takes a while."""
    try:
        yield
    except Exception as error:
        is_clear = isinstance(error, Failure) and error.code != ExitCode.FAILED
        if not is_clear and (failure := first_older(warehouse)) is not None:
            raise failure from error
        raise


def first_older(warehouse: Warehouse) -> Failure | None:
    for name, version in warehouse.versions().items():
        try:
            delta = warehouse.open_at(name, version)
        except UNREADABLE:
            continue
        names = [] if delta is None else lacking(delta, TABLES[name])
        if names and not may_lack(TABLES[name], names):
            return older(warehouse.path(name), names)
    return None
