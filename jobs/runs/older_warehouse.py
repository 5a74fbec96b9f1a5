"""A job on tables of an older release: what goes wrong there gets a name."""

from collections.abc import Iterator
from contextlib import contextmanager

from jobs.output.failure import Failure
from jobs.warehouses.delta_tables import UNREADABLE
from jobs.warehouses.older_tables import MADE_ONCE, lacking, older
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import TABLES
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
        if name in MADE_ONCE:
            # The run that writes them adds the columns.
            continue
        try:
            delta = warehouse.open_at(name, version)
        except UNREADABLE:
            continue
        if delta is not None and (names := lacking(delta, TABLES[name])):
            return older(warehouse.path(name), names)
    return None
