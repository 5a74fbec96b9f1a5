"""Which offsets were read, by the rows of `source_files`, one row after the other."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from udfs.log.offset_ranges import Range

LIVE = "kafka"
SEGMENT = re.compile(r"(\d{20})\.log$")

Row = Mapping[str, Any]


def ranges_of(rows: Iterable[Row]) -> list[Range]:
    """`rows` of one offsets partition, by run."""
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
    # Between the files of one archive nothing is missing, except records that archives leave out, such as markers.
    ranges += [span for of_archive in archives.values() if (span := span_of(of_archive)) is not None]
    reached: dict[str, int] = {}
    for of_run in segments.values():
        ranges += segment_range(of_run, reached)
    return ranges


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
