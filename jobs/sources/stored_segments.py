"""The source `segments:URI`: segment files on remote storage, found by one listing."""

import re
from collections.abc import Container
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from jobs.output.failure import Failure, os_error_line
from jobs.sources.segment_files import EXPECTED, FOLDER, SUFFIX, is_whole_swap, partition_in
from jobs.sources.unreadable import (
    IS_PACKED,
    UNPACK,
    Unreadable,
    is_packed,
    is_packed_folder,
    is_packed_segment,
    unpacked_name,
)
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import remote_storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import RemoteStorage, StoredFile
from schemas.words.exit_codes import ExitCode

MAGIC = re.compile(r"[*?[]")


@dataclass
class StoredSegments:
    files: list[tuple[RemotePlace, StoredFile]] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    # Files that were packed, of any name.
    packed: list[str] = field(default_factory=list)


def stored_segments(place: str, options: StorageOptions) -> StoredSegments:
    """The place may be a folder, a file, or a pattern for these."""
    above, pattern = split_at_pattern(place.rstrip("/"))
    # A file belongs to the folder that it is in.
    if not pattern and (above.endswith(SUFFIX) or is_packed(above)):
        above, _, name = above.rpartition("/")
        pattern = [name]
    storage = remote_storage_at(above, options)
    try:
        found = segments_of(storage, pattern)
    except OSError as error:
        line = f"segments:{place}: {os_error_line(error, place)}"
        raise Failure(ExitCode.UNREADABLE_INPUT, line.replace(f"{place}: {place}: ", f"{place}: ")) from None
    if not found.files and not found.unreadable:
        remedy = f"{found.packed[0]} {IS_PACKED}: {UNPACK}" if found.packed else EXPECTED
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{place}: no segment files (….log) there; {remedy}")
    return found


def split_at_pattern(place: str) -> tuple[str, list[str]]:
    """The place before the first part that is a pattern, and the parts from there on."""
    root, _, path = place.partition("://")
    names = path.split("/")
    first = next((number for number, name in enumerate(names) if number and MAGIC.search(name)), len(names))
    return f"{root}://{'/'.join(names[:first])}", names[first:]


def segments_of(storage: RemoteStorage, pattern: list[str]) -> StoredSegments:
    found, listed = StoredSegments(), list(storage.list())
    there = {file.name for file in listed}
    for file in listed:
        path = RemotePlace(storage, file.name)
        names = file.name.split("/")
        depth = len(pattern)
        matches = len(names) >= depth and all(map(fnmatchcase, names, pattern))
        if not matches:
            continue
        # The pattern matches a file, or a folder with its own files and partition folders.
        is_near = len(names) - depth <= 1 or FOLDER.fullmatch(path.parent.name) is not None
        beside = Beside(file.name.removesuffix(path.name), there)
        if is_near and (path.name.endswith(SUFFIX) or is_whole_swap(path.name, beside)):
            found.files.append((path, file))
        elif is_packed(path.name):
            found.packed.append(str(path))
            if (is_near and is_packed_segment(path.parent.name, path.name, beside)) or is_packed_folder(
                path.name, beside
            ):
                partition = partition_in(unpacked_name(str(path)))
                found.unreadable.append(Unreadable(str(path), partition, IS_PACKED, UNPACK))
    return found


@dataclass(frozen=True)
class Beside:
    """What is in the folder of a listed file, by name."""

    folder: str
    listed: Container[str]

    def __contains__(self, name: object) -> bool:
        return f"{self.folder}{name}" in self.listed
