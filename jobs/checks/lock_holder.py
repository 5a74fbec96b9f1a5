"""Finds out which run holds the lock of a warehouse, without making any run wait."""

import fcntl
from collections.abc import Callable
from pathlib import Path

from jobs.storage.storage_lock import StorageLock
from jobs.storage.stored_path import Place
from jobs.warehouses.lock import LOCK_FILE, holder_of


def lock_holder(root: Place, notify: Callable[[str], None]) -> str | None:
    """None: no run holds it, or one that has ended."""
    if isinstance(root, Path):
        return local_holder(root)
    return StorageLock(root.storage, "doctor").live_holder(notify)


def local_holder(root: Path) -> str | None:
    """Uses a shared lock, which several processes may hold."""
    try:
        with (root / LOCK_FILE).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return holder_of(file.fileno())
    except OSError:
        return None
    return None
