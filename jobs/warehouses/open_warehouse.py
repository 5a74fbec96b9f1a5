"""Opens a warehouse: for a run, which holds its lock, or for reading; and says why a folder is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from jobs.output.failure import Failure, os_error_line
from jobs.storage.closes import wait_for_closes
from jobs.storage.kept_files import KEPT
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.places.place import Lock, Place
from jobs.storage.places.together import wait_for_work
from jobs.warehouses.leftovers import has_commits, remove_tables
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
    may_still_write: Callable[[], bool] = bool,
) -> Iterator[Warehouse]:
    """Opens the warehouse for writing and holds its lock. Creates it if it does not exist and that is allowed, and
    completes the work of a killed run. Of a warehouse that it created nothing is left if nothing is committed.
    `may_still_write`: whether tasks may still write files when the run has failed."""
    KEPT.forget()
    with unusable_when_full(root):
        root.restore()
        opened = Opened(root, root.lock(job), may_be_new=may_be_new)
        try:
            with opened.lock.hold(lock_wait, notify, opened.prepare):
                try:
                    opened.mark()
                    warehouse = Warehouse(root, opened.lock, [])
                    for path in unfinished_manifests(root):
                        manifest = read_manifest(path)
                        notify(
                            f"{root}: completing the writes of run {manifest.run_id}, which was killed while it wrote"
                        )
                        # One of an earlier contract version is completed together with the way to this one.
                        if not manifest.is_of_version_before:
                            warehouse.finish(manifest)
                    yield warehouse
                finally:
                    opened.remove_if_empty(may_still_write)
            # The lock's files too.
            wait_for_closes()
        finally:
            opened.remove_folders()


@dataclass
class Opened:
    """A warehouse that a run opens, and what the run has made of it itself."""

    root: Place
    lock: Lock
    may_be_new: bool
    # Folders that were not there, the outermost first.
    folders: list[Place] = field(default_factory=list)
    is_marked: bool = False
    is_kept: bool = False

    def prepare(self) -> None:
        """Before each attempt to take the lock. Another first run may have failed since the one before, and have
        removed what it made."""
        if not self.may_be_new:
            check_made(self.root, may_be_before=True)
        else:
            if self.root.is_no_folder():
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{self.root}: is a file; give a folder")
            self.folders += self.root.make_folder()
            was_new = is_new(self.root)
            # Without a marker it may be one that a first run has removed since, or has begun.
            if marker_of(self.root) is not None or not (was_new or is_new(self.root)):
                check_ours(self.root, NEW_OR_MADE, may_be_before=True)
        check_writable(self.root)

    def mark(self) -> None:
        """Under the lock, so that no other run removes what this one has found."""
        text = marker_of(self.root)
        if self.may_be_new and text is None:
            self.is_marked = True
            (self.root / MARKER).write_whole(marker_text())
        else:
            check_marker(text, str(self.root), MADE, may_be_before=True)

    def remove_if_empty(self, may_still_write: Callable[[], bool]) -> None:
        """Under the lock. What cannot be removed stays: how the run has failed is what to report."""
        self.is_kept = True
        if not self.is_marked:
            return
        with suppress(Exception):
            # Local tasks that outlive the run make no folder again, see `begin_parquet`.
            if has_commits(self.root) or (self.root.is_remote and may_still_write()):
                return
            wait_for_work()
            with suppress(OSError):
                wait_for_closes()
            remove_tables(self.root)
            if not is_new(self.root):
                return
            (self.root / MARKER).delete()
            if not is_new(self.root):
                # A mark may have been written in between.
                (self.root / MARKER).write_whole(marker_text())
                return
            self.lock.remove_at_end()
            self.is_kept = False

    def remove_folders(self) -> None:
        """When the lock is free, which is in them. Another run may have begun to use them: then they are not empty."""
        if self.is_kept:
            return
        with suppress(Exception):
            (self.root / LOCK_FILE).delete_empty_folder()
            for folder in reversed(self.folders):
                folder.delete_empty_folder()


def is_new(root: Place) -> bool:
    """A folder with only these files is ours too: a run that was killed while it wrote the marker left them, or another
    run is writing it now."""
    return all(name == LOCK_FILE or name.startswith(MARKER) for name in root.names_in())


def check_writable(root: Place) -> None:
    """Remote storage reports a refusal at the first write, which is the lock."""
    if is_redacted(root):
        line = f"{root}: is a redacted copy, which nothing may change; give the warehouse that it was copied from"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    if not root.is_writable():
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: is read-only; give a folder to write to")


def is_redacted(root: Place) -> bool:
    return has_redacted_mark(marker_of(root))


def reading(root: Place, *, may_be_before: bool = False) -> Warehouse:
    """Opens a warehouse for reading only. Runs in progress do not matter. `may_be_before`: for who needs tables only
    that both contract versions have alike."""
    KEPT.forget()
    with unusable_when_full(root):
        check_made(root, may_be_before=may_be_before)
    return Warehouse(root, seen=[])


def check_made(root: Place, *, may_be_before: bool = False) -> None:
    if not root.is_folder():
        what = "is a file" if root.is_no_folder() else "no such folder"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {what}; {MADE}")
    check_ours(root, MADE, may_be_before=may_be_before)


def check_ours(root: Place, advice: str, *, may_be_before: bool = False) -> None:
    check_marker(marker_of(root), str(root), advice, may_be_before=may_be_before)


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
