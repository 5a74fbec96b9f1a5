"""Files of a table that another program has rewritten since our last run, as Delta's OPTIMIZE does.

A run replaces files that it knows. If another program has moved their rows to a file of its own, these would stay there
and be in the table twice. Such files also lack the column `is_provisional`, which a reader of files alone then takes
for NULL. So the table is set back to what our last run left, if only rows have moved since.
"""

from collections.abc import Iterable

from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.storage.places.place import Place
from jobs.storage.refusals import is_refusal
from jobs.warehouses.delta_tables import (
    APPLICATION,
    UNREADABLE,
    Change,
    files_of,
    one_line,
    open_table,
    partitioning,
    version_file,
)
from jobs.warehouses.files.delta_log_files import actions_of
from schemas.tables import Table
from schemas.words.exit_codes import ExitCode


def set_back_if_rewritten(path: Place, table: Table, change: Change, delta: DeltaTable) -> None:
    """`delta`: the table at its newest version; it is at a newer one then, if it was set back."""
    version = left_by_our_runs(path, delta.version())
    known = None if version in (None, delta.version()) else open_table(path, version)
    if known is None:
        return
    gone = names_of(known) - names_of(delta)
    is_hit = not gone.isdisjoint(file.name for file in change.removed)
    if not gone or not (is_hit or partitioning(table)):
        return
    if not have_only_moved(path, range(known.version() + 1, delta.version() + 1)):
        if is_hit:
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, refusal(path, known, "has changed rows of"))
        return
    try:
        path.by_delta(lambda *_: delta.restore(known.version()))
    except UNREADABLE as error:
        if is_refusal(error):
            raise
        line = f"{refusal(path, known, 'has merged and deleted')} ({one_line(error)})"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None
    path.by_delta(lambda *_: delta.update_incremental())


def refusal(path: Place, known: DeltaTable, what: str) -> str:
    back = f"set the table back to version {known.version()} (RESTORE TABLE), or restore a copy of the warehouse"
    return f"{path}: another program {what} files that this run replaces; {back}, and run again"


def left_by_our_runs(path: Place, newest: int) -> int | None:
    """The newest version that a run of ours has made; None: the log does not say it any more."""
    for version in range(newest, -1, -1):
        try:
            actions = actions_of(version_file(path, version))
        except FileNotFoundError:
            return None
        if any(action.get("txn", {}).get("appId") == APPLICATION for action in actions):
            return version
    return None


def have_only_moved(path: Place, versions: Iterable[int]) -> bool:
    """Whether these versions have the rows of the version before them, in other files."""
    changed = (
        action.get(kind, {}).get("dataChange", False)
        for version in versions
        for action in actions_of(version_file(path, version))
        for kind in ("add", "remove")
    )
    return not any(changed)


def names_of(delta: DeltaTable) -> set[str]:
    return set(files_of(delta).column("path").to_pylist())
