"""Opens a warehouse: for a run, which holds its lock, or for reading; and says why a folder is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jobs.output.failure import Failure, os_error_line
from jobs.storage.closes import wait_for_closes
from jobs.storage.kept_files import KEPT
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.places.place import Place
from jobs.warehouses.manifest import read_manifest, unfinished_manifests
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
        root.restore()
        if may_be_new:
            prepare(root)
        else:
            check_made(root)
            check_writable(root)
        lock = root.lock(job)
        with lock.hold(lock_wait, notify):
            warehouse = Warehouse(root, lock, [])
            for path in unfinished_manifests(root):
                notify(
                    f"{root}: completing the writes of run {path.name.split('.')[0]}, which was killed while it wrote"
                )
                warehouse.finish(read_manifest(path))
            yield warehouse
        # The lock's files too.
        wait_for_closes()


def prepare(root: Place) -> None:
    if root.is_no_folder():
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: is a file; give a folder")
    root.make_folder()
    # A folder with only these files is ours too: a run that was killed while it wrote the marker left them, or another
    # run is writing it now.
    is_new = all(name == LOCK_FILE or name.startswith(MARKER) for name in root.names_in())
    if is_new and marker_of(root) is None:
        (root / MARKER).write_whole(marker_text())
    check_ours(root, NEW_OR_MADE)
    check_writable(root)


def check_writable(root: Place) -> None:
    """Remote storage reports a refusal at the first write, which is the lock."""
    if is_redacted(root):
        line = f"{root}: is a redacted copy, which nothing may change; give the warehouse that it was copied from"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    if not root.is_writable():
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
    if not root.is_folder():
        what = "is a file" if root.is_no_folder() else "no such folder"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {what}; {MADE}")
    check_ours(root, MADE)


def check_ours(root: Place, advice: str) -> None:
    check_marker(marker_of(root), str(root), advice)


def marker_of(root: Place) -> str | None:
    try:
        return (root / MARKER).read_text()
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
