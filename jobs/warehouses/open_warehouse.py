"""Opens a warehouse: for a run, which holds its lock, or for reading; and says why a folder is none."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.output.failure import Failure, os_error_line
from jobs.storage.closes import wait_for_closes
from jobs.storage.kept_files import KEPT
from jobs.storage.storage_lock import StorageLock
from jobs.storage.stored_path import Place, StoredPath, names_in, text_of, write_whole
from jobs.warehouses.lock import LOCK_FILE, hold_lock
from jobs.warehouses.manifest import (
    read_manifest,
    unfinished_manifests,
)
from jobs.warehouses.warehouse import Warehouse
from jobs.warehouses.warehouse_marker import MADE, MARKER, NEW_OR_MADE, check_marker, has_redacted_mark, marker_text
from schemas.words.exit_codes import ExitCode


@contextmanager
def writing(
    root: Place,
    job: str,
    lock_wait: float,
    notify: Callable[[str], None],
    *,
    may_be_new: bool = True,
) -> Iterator[Warehouse]:
    """Opens the warehouse for writing and holds its lock. Creates it if it does not exist and that is allowed, and
    completes the work of a killed run."""
    KEPT.forget()
    with unusable_when_full(root):
        if isinstance(root, StoredPath):
            root.storage.restore(root.file)
        if may_be_new:
            prepare(root)
        else:
            check_made(root)
            check_writable(root)
        with locked_here(root, lock_wait, job, notify) as lock:
            warehouse = Warehouse(root, lock, [])
            for path in unfinished_manifests(root):
                notify(
                    f"{root}: completing the writes of run {path.name.split('.')[0]}, which was killed while it wrote"
                )
                warehouse.finish(read_manifest(path))
            yield warehouse
        # The lock's files too.
        wait_for_closes()


@contextmanager
def locked_here(root: Place, wait: float, job: str, notify: Callable[[str], None]) -> Iterator[StorageLock | None]:
    """Uses the kernel's lock if one kernel sees all writers."""
    if isinstance(root, Path):
        with hold_lock(root, wait, job, notify):
            yield None
    else:
        with StorageLock(root.storage, job).hold(wait, notify) as lock:
            yield lock


def prepare(root: Place) -> None:
    if isinstance(root, Path):
        if root.exists() and not root.is_dir():
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: is a file; give a folder")
        root.mkdir(parents=True, exist_ok=True)
    # A folder with only these files is ours too: a run that was killed while it wrote the marker left them, or another
    # run is writing it now.
    is_new = all(name == LOCK_FILE or name.startswith(MARKER) for name in names_in(root))
    if is_new and marker_of(root) is None:
        write_whole(root / MARKER, marker_text())
    check_ours(root, NEW_OR_MADE)
    check_writable(root)


def check_writable(root: Place) -> None:
    """Remote storage reports a refusal at the first write, which is the lock."""
    if is_redacted(root):
        line = f"{root}: is a redacted copy, which nothing may change; give the warehouse that it was copied from"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    if isinstance(root, Path) and not os.access(root, os.W_OK):
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: is read-only; give a folder to write to")


def is_redacted(root: Place) -> bool:
    return has_redacted_mark(marker_of(root))


def reading(root: Place) -> Warehouse:
    """Opens a warehouse for reading only. Runs in progress do not matter."""
    KEPT.forget()
    with unusable_when_full(root):
        check_made(root)
    return Warehouse(root, seen=[])


def check_made(root: Place) -> None:
    if isinstance(root, Path) and not root.is_dir():
        what = "is a file" if root.exists() else "no such folder"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {what}; {MADE}")
    check_ours(root, MADE)


def check_ours(root: Place, advice: str) -> None:
    check_marker(marker_of(root), str(root), advice)


def marker_of(root: Place) -> str | None:
    try:
        return text_of(root / MARKER)
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def unusable_when_full(root: Place) -> Iterator[None]:
    """Reports every disk error as a problem of the warehouse, since code that reads input handles its own errors."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, root)) from error
