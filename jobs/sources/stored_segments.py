"""The source `segments:URI`: segment files on remote storage, found by one listing."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from jobs.output.failure import Failure, os_error_line
from jobs.sources.segment_files import FOLDER
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import remote_storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import RemoteStorage, StoredFile
from schemas.words.exit_codes import ExitCode

SUFFIX = ".log"
MAGIC = re.compile(r"[*?[]")
EXPECTED = "give a log dir, a folder with several of them, or __consumer_offsets-N"


def stored_segments(place: str, options: StorageOptions) -> list[tuple[RemotePlace, StoredFile]]:
    """The place may be a folder, a file, or a pattern for these."""
    above, pattern = split_at_pattern(place.rstrip("/"))
    # A file belongs to the folder that it is in.
    if not pattern and above.endswith(SUFFIX):
        above, _, name = above.rpartition("/")
        pattern = [name]
    storage = remote_storage_at(above, options)
    try:
        segments = list(segments_of(storage, pattern))
    except OSError as error:
        line = f"segments:{place}: {os_error_line(error, place)}"
        raise Failure(ExitCode.UNREADABLE_INPUT, line.replace(f"{place}: {place}: ", f"{place}: ")) from None
    if not segments:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{place}: no segment files (….log) there; {EXPECTED}")
    return segments


def split_at_pattern(place: str) -> tuple[str, list[str]]:
    """The place before the first part that is a pattern, and the parts from there on."""
    root, _, path = place.partition("://")
    names = path.split("/")
    first = next((number for number, name in enumerate(names) if number and MAGIC.search(name)), len(names))
    return f"{root}://{'/'.join(names[:first])}", names[first:]


def segments_of(storage: RemoteStorage, pattern: list[str]) -> Iterator[tuple[RemotePlace, StoredFile]]:
    for file in storage.list():
        path = RemotePlace(storage, file.name)
        names = file.name.split("/")
        depth = len(pattern)
        matches = len(names) >= depth and all(map(fnmatchcase, names, pattern))
        # The pattern matches a file, or a folder with its own files and partition folders.
        is_near = len(names) - depth <= 1 or FOLDER.fullmatch(path.parent.name) is not None
        if matches and is_near and path.name.endswith(SUFFIX):
            yield path, file
