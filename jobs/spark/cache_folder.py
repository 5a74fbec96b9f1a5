"""The cache folder: files that are fetched or built once and then used by every checkout on the machine."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path


def cache_folder() -> Path:
    chosen = os.environ.get("GROUPSCOPE_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".cache" / "groupscope"


def build_once(folder: Path, build: Callable[[Path], None], is_complete: Callable[[Path], bool] = Path.is_dir) -> Path:
    """Returns `folder`, complete; `build` fills an empty folder beside it, which then takes its name in one step.

    Whoever dies in between leaves nothing that looks complete, and of two processes the second waits for the first.
    """
    if is_complete(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel frees it on kill -9 too, which a lock file would not survive
        if is_complete(folder):
            return folder
        partial = folder.parent / f".{folder.name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        build(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    return folder
