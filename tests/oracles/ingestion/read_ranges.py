"""Which offsets were read, by the rows of `source_files`, one row after the other."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from udfs.log.offset_ranges import Range

LIVE = "kafka"
SEGMENT = re.compile(r"(\d{20})\.log$")

Row = Mapping[str, Any]


def ranges_of(rows: Iterable[Row]) -> list[Range]:
    """`rows` of one offsets partition, by run, with those of archives' files that were never read."""
    rows = list(rows)
    skipped = [row for row in rows if row["skipped_reason"] is not None]
    rows = [row for row in rows if row["skipped_reason"] is None]
    ranges: list[Range] = []
    segments: dict[tuple[str, str], list[Row]] = defaultdict(list)
    archives: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == LIVE:
            if row["read_to_position"] > row["read_from_position"]:
                ranges.append((row["read_from_position"], row["read_to_position"] - 1))
        elif row["kind"] == "segments":
            segments[folder_of(row["source_file"]), row["run_id"]].append(row)
        elif row["first_offset"] is not None:
            archives[archive_of(row["source_file"])].append(row)
    # Between the files of one archive nothing is missing, except records that archives leave out, such as markers, and
    # what is in files that were never read.
    torn = {archive_of(row["source_file"]) for row in skipped if row["kind"] != "segments"}
    for name, of_archive in archives.items():
        files = {row["source_file"] for row in of_archive}
        parts = [[row for row in of_archive if row["source_file"] == file] for file in files]
        ranges += [span for part in (parts if name in torn else [of_archive]) if (span := span_of(part)) is not None]
    reached: dict[str, int] = {}
    for place, of_run in segments.items():
        holes = sorted(
            int(match[1])
            for row in skipped
            if (folder_of(row["source_file"]), row["run_id"]) == place and (match := SEGMENT.search(row["source_file"]))
        )
        known = dict(reached)
        for part in cut(of_run, holes):
            ranges += segment_range(part, dict(known))
        segment_range(of_run, reached)
    return ranges


def cut(rows: list[Row], holes: list[int]) -> Iterator[list[Row]]:
    """At the first offset of each segment that could not be read."""
    for number in range(len(holes) + 1):
        yield [row for row in rows if sum(first <= base_of(row["source_file"]) for first in holes) == number]


def base_of(name: str) -> int:
    match = SEGMENT.search(name)
    return -1 if match is None else int(match[1])


def segment_range(rows: list[Row], reached: dict[str, int]) -> list[Range]:
    """Segments of one folder follow each other. A file that was there before was read from the offset it had
    `reached`."""
    firsts, lasts = [], []
    for row in rows:
        name, first, last = row["source_file"], row["first_offset"], row["last_offset"]
        match = SEGMENT.search(name)
        if match is not None:
            # The previous segment ends here, even if this one has no records yet.
            lasts.append(int(match[1]) - 1)
        if row["read_from_position"] and name in reached:
            firsts.append(reached[name] + 1)
        elif match is not None:
            firsts.append(int(match[1]))
        elif first is not None:
            firsts.append(first)
        if last is not None:
            lasts.append(last)
            reached[name] = max(last, reached.get(name, last))
    if not firsts or not lasts or max(lasts) < min(firsts):
        return []
    return [(min(firsts), max(lasts))]


def span_of(rows: list[Row]) -> Range | None:
    return (min(row["first_offset"] for row in rows), max(row["last_offset"] for row in rows)) if rows else None


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def archive_of(path: str) -> str:
    """The archive's folder, without subfolders such as date=2026-11-21."""
    parts = path.split("/")[:-1]
    while parts and "=" in parts[-1]:
        parts.pop()
    return "/".join(parts)
