"""Files of HDFS whose last block the name node does not count.

A file has its name half a second before it is closed (`closes.py`). If the name node ends in that time and the writer
cannot close the file any more, the name node starts again without the length of the last block: readers find a small
file empty. The data nodes still have the bytes. When the lease of the file is recovered, the name node asks them. By
itself it does so after 20 minutes.
"""

import time
from collections.abc import Iterator
from contextlib import suppress

from hdfs_native import Client

from jobs.storage.hdfs_client import HdfsClient

# What a warehouse is made of. Of other files we do not know who writes them.
ENDINGS = (".json", ".parquet")
# A writer that is alive closes its file in this time.
LET_BE_SECONDS = 2.0
PAUSE_SECONDS = 0.2
# Recovery begins when the data node calls next, which it does every three seconds.
PATIENCE_SECONDS = 60.0


def restore(client: Client | HdfsClient, folder: str) -> list[str]:
    """Returns when the folder and those below it have no such files, or the ones that remain when it gives up. All are
    paths as HDFS names them."""
    begun = time.monotonic()
    waiting = list(cut_files(client, folder))
    while waiting:
        time.sleep(PAUSE_SECONDS)
        seconds = time.monotonic() - begun
        if seconds >= PATIENCE_SECONDS:
            break
        if seconds < LET_BE_SECONDS:
            waiting = list(cut_files(client, folder))
        else:
            waiting = [path for path in waiting if not is_closed(client, path)]
    return waiting


def cut_files(client: Client | HdfsClient, folder: str) -> Iterator[str]:
    """Only whole blocks of them are counted."""
    with suppress(FileNotFoundError):
        for status in client.list_status(folder, True):
            is_ours = not status.isdir and status.path.endswith(ENDINGS)
            if is_ours and (not status.length or (status.blocksize and not status.length % status.blocksize)):
                yield status.path


def is_closed(client: Client | HdfsClient, path: str) -> bool:
    try:
        return client.recover_lease(path)
    except FileNotFoundError:
        return True
