"""Finds segment files on disks of this machine, and what is there and cannot be read.

    found = local_segments("/var/kafka-logs", 120)
    found.files, found.unreadable

Only folders `__consumer_offsets-N` are looked into, and the folder that was named: what else cannot be read, such as
`lost+found`, is no part of the log.
"""

import glob
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jobs.output.failure import Failure, os_error_reason
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
from jobs.storage.calls.answers import NoAnswer, Server
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode

# Folders that hold no offsets partition, whatever is in them: of topics, and what the repair of a disk found.
OF_NO_CONCERN = re.compile(r".+-\d+(\..+)?|lost\+found")


@dataclass
class LocalFile:
    """`identity`: distinguishes it from another file with its name."""

    path: LocalPlace
    size: int
    modified_ms: int
    identity: int


@dataclass
class Found:
    """`passed_over`: folders, each with the reason, in which there may be folders of offsets partitions."""

    files: list[LocalFile] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def local_segments(pattern: str, answer_seconds: float) -> Found:
    """Segments of a folder, of the partition folders in it, or of all folders that the pattern matches."""
    walk = Walk(pattern)
    try:
        # Nothing can interrupt a question to a disk that does not answer, such as one of a server that is down.
        Server(answer_seconds).pieces(walk.steps)
    except NoAnswer as error:
        line = f"{walk.asked}: {error}: check the disk, and the server that it is of"
        more = "a disk that is only slow: raise [storage] answer_seconds"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{line}, then run it again ({more})") from None
    found = Found(walk.files, list(walk.unreadable.values()), walk.passed_over)
    if not found.files and not found.unreadable:
        remedy = f"{walk.packed[0]} {IS_PACKED}: {UNPACK}" if walk.packed else EXPECTED
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{pattern}: no segment files (….log) in it; {remedy}")
    return found


def has_magic(pattern: str) -> bool:
    # A folder may have such a name too.
    return glob.has_magic(pattern) and not os.path.lexists(pattern)


@dataclass
class Walk:
    """Its steps, and those of its parts, are what the disk is asked for."""

    pattern: str
    asked: str = ""
    paths: set[Path] = field(default_factory=set)
    files: list[LocalFile] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)
    # Packed files of any name.
    packed: list[Path] = field(default_factory=list)

    def steps(self) -> Iterator[Path]:
        for path in self.whole():
            self.asked = str(path)
            yield path

    def whole(self) -> Iterator[Path]:
        yield Path(self.pattern)
        is_pattern = has_magic(self.pattern)
        roots = [Path(match) for match in sorted(glob.glob(self.pattern))] if is_pattern else [Path(self.pattern)]
        if not roots:
            line = f"segments:{self.pattern}: nothing matches; give folders of segments"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        for root in roots:
            yield from self.take(root)
        for path in sorted(self.paths):
            yield path
            try:
                self.files.append(local_file(LocalPlace(path)))
            except OSError as error:
                self.cannot(path, os_error_reason(error), "give a readable segment file")

    def take(self, root: Path) -> Iterator[Path]:
        """Segment files of a folder, of the folders of offsets partitions in it; or a single file."""
        yield root
        try:
            is_folder = stat.S_ISDIR(os.stat(root).st_mode)
            if not is_folder and is_packed(root.name):
                raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{root}: {IS_PACKED}; {UNPACK}")
            if not is_folder:
                self.paths.add(root.absolute())
            elif FOLDER.fullmatch(root.name):
                self.take_folder(root)
            else:
                self.take_loose_files(root)
                yield from self.take_folders_below(root)
        except OSError as error:
            raise named_in_vain(root, error) from None

    def take_folder(self, folder: Path) -> None:
        """Of an offsets partition."""
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            self.cannot(folder, os_error_reason(error), "make it readable")
        else:
            # A folder instead of a segment is reported when it is opened: its records would be missing.
            self.take_files(folder, names)

    def take_loose_files(self, root: Path) -> None:
        names = sorted(os.listdir(root))
        self.packed += [root / name for name in names if is_packed(name)]
        self.take_files(root, [name for name in names if not (name.endswith(SUFFIX) and (root / name).is_dir())])

    def take_files(self, folder: Path, names: list[str]) -> None:
        there = set(names)
        for name in names:
            if name.endswith(SUFFIX) or is_whole_swap(name, there):
                self.paths.add(folder.absolute() / name)
            elif is_packed_segment(folder.name, name, there):
                self.cannot(folder / name, IS_PACKED, UNPACK)

    def take_folders_below(self, root: Path) -> Iterator[Path]:
        """Also links to folders, unless they lead to one that is found anyway: two paths to one folder are one copy.
        What is no folder, such as a link that leads nowhere, is reported when it is listed."""
        own: list[Path] = []
        links: list[Path] = []
        left = [root]
        while left:
            above = left.pop()
            yield above
            entries = self.entries_of(above)
            there = {entry.name for entry in entries}
            for entry in entries:
                if FOLDER.fullmatch(entry.name):
                    (links if entry.is_symlink() else own).append(Path(entry.path))
                elif entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))
                elif is_packed_folder(entry.name, there):
                    self.cannot(Path(entry.path), IS_PACKED, UNPACK)
        folders: dict[str, Path] = {}
        for folder in [*sorted(links), *own]:
            yield folder
            # Unlike Path.resolve, this takes links in a circle as they are.
            folders[os.path.realpath(folder)] = folder
        for folder in sorted(folders.values()):
            yield folder
            self.take_folder(folder)

    def entries_of(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except OSError as error:
            if OF_NO_CONCERN.fullmatch(folder.name) is None:
                self.passed_over.append(f"{folder}: {os_error_reason(error)}")
            return []

    def cannot(self, path: Path, reason: str, remedy: str) -> None:
        place = str(path.absolute())
        self.unreadable[place] = Unreadable(place, partition_in(unpacked_name(place)), reason, remedy)


def local_file(path: LocalPlace) -> LocalFile:
    file, identity = path.open_identified()
    with file:
        stat = os.fstat(file.fileno())
    return LocalFile(path, stat.st_size, stat.st_mtime_ns // 1_000_000, identity)


def named_in_vain(root: Path, error: OSError) -> Failure:
    if isinstance(error, FileNotFoundError):
        line = f"segments:{root}: no such folder; give a folder with segment files"
    else:
        line = f"segments:{root}: {os_error_reason(error)}; make it readable, or give another folder"
    return Failure(ExitCode.UNREADABLE_INPUT, line)
