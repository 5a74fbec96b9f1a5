"""What names a log: the id of its Kafka cluster, and that of its topic __consumer_offsets. A broker keeps both beside
its segments, in `meta.properties` of the log dir and in `partition.metadata` of each partition's folder.

    ids = segment_ids(files)
    ids.by_folder, ids.named    # what each folder says; the same as a list, with the file that says it
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from jobs.output.failure import Failure, os_error_line
from jobs.sources.segment_source import SegmentFile
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.sources.snapshot_fields import CLUSTER_ID, TOPIC_ID

# Columns of `source_files` and `cluster_snapshots`, and what they are called in messages.
CLUSTER, TOPIC = "cluster_id", "offsets_topic_id"
WORDS = {CLUSTER: "the cluster id", TOPIC: f"the id of topic {OFFSETS_TOPIC}"}
META, PARTITION = "meta.properties", "partition.metadata"
# Java's properties put a backslash before some characters.
META_LINE = re.compile(r"\s*cluster\.id\s*[=:]\s*(.*?)\s*")
PARTITION_LINE = re.compile(r"\s*topic_id\s*:\s*(.*?)\s*")
LIVE = "kafka"
SEPARATOR = ":"


class NamedId(NamedTuple):
    """`kind`: one of `WORDS`. `place`: where it was read, as a message names it."""

    kind: str
    id: str
    place: str


@dataclass(frozen=True)
class LogIds:
    """None: unknown."""

    cluster_id: str | None = None
    offsets_topic_id: str | None = None

    def columns(self) -> dict[str, Any]:
        return {CLUSTER: self.cluster_id, TOPIC: self.offsets_topic_id}

    def named(self, place: str) -> list[NamedId]:
        return [NamedId(kind, each, place) for kind, each in self.columns().items() if each is not None]


@dataclass(frozen=True)
class SegmentIds:
    """`by_folder`: by the folders of segments, as texts."""

    by_folder: dict[str, LogIds]
    named: list[NamedId]


def segment_ids(files: Iterable[SegmentFile]) -> SegmentIds:
    """The log dir is the folder above that of a partition; of copies it may be the one above that. On remote storage
    each file costs a request: there one folder of each log dir is enough."""
    folders = {str(each): each for each in (file.path.parent for file in files)}
    first_of = {str(each.parent): name for name, each in sorted(folders.items(), reverse=True)}
    asked = {name: each for name, each in folders.items() if not each.is_remote or first_of[str(each.parent)] == name}
    dirs = {str(each): each for folder in folders.values() for each in (folder.parent, folder.parent.parent)}
    of_dirs = values_in(dirs, META, META_LINE, CLUSTER_ID)
    of_folders = values_in(asked, PARTITION, PARTITION_LINE, TOPIC_ID)
    by_folder, named = dict[str, LogIds](), list[NamedId]()
    for name, folder in sorted(folders.items()):
        own = name if name in asked else first_of[str(folder.parent)]
        above = [each for each in (folder.parent, folder.parent.parent) if of_dirs[str(each)] is not None]
        ids = LogIds(of_dirs[str(above[0])] if above else None, of_folders[own])
        by_folder[name] = ids
        places = {CLUSTER: above[0] / META if above else None, TOPIC: folders[own] / PARTITION}
        named += [NamedId(kind, each, str(places[kind])) for kind, each in ids.columns().items() if each is not None]
    return SegmentIds(by_folder, list(dict.fromkeys(named)))


def values_in(
    folders: Mapping[str, Place], file: str, line: re.Pattern[str], expected: re.Pattern[str]
) -> dict[str, str | None]:
    """By folder, what its file has on this line."""
    if not folders:
        return {}
    places = [folder / file for folder in folders.values()]
    values = done_together(places[0], lambda place: value_in(place, line, expected), places)
    return dict(zip(folders, values, strict=True))


def value_in(place: Place, line: re.Pattern[str], expected: re.Pattern[str]) -> str | None:
    """None also if the file is not there or may not be read: copies often lack it, and without ids nothing is
    claimed."""
    try:
        # A pipe would wait for a writer.
        if not (place.is_remote or place.is_file()):
            return None
        text = place.read_bytes().decode("ascii", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
        return None
    except OSError as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, os_error_line(error, place)) from None
    values = (re.sub(r"\\(.)", r"\1", match[1]) for each in text.splitlines() if (match := line.fullmatch(each)))
    return next((each for each in values if expected.fullmatch(each)), None)


def stored_log_ids(warehouse: Warehouse, cluster: str) -> list[NamedId]:
    """Of the logs that earlier runs read."""
    rows = warehouse.rows("source_files", ["kind", "file_id", CLUSTER, TOPIC], cluster)
    if rows is None:
        return []
    # Of each distinct row one.
    distinct = rows.group_by(rows.column_names, use_threads=False).aggregate([]).to_pylist()
    place = f"the log in the warehouse, cluster {cluster},"
    ids = {each for row in distinct for each in ids_in(row)}
    return [NamedId(kind, each, place) for kind, each in sorted(ids)]


def ids_in(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A release without these columns has the topic's id of live logs in `file_id`."""
    of_live = (row["file_id"] or "").rpartition(SEPARATOR)[0] if row["kind"] == LIVE else ""
    for kind, each in ((CLUSTER, row[CLUSTER]), (TOPIC, row[TOPIC] or of_live)):
        if each:
            yield kind, each
