"""The lines that an ingest prints while it runs and when it is done."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.command_line.values import EPOCH
from jobs.ingestion.driver.changes import Outcome
from jobs.ingestion.driver.state import LIVE
from jobs.ingestion.task.plan import Reading
from jobs.runs.result import iso
from jobs.sources.segment_files import BASE_NAME, SWAP
from jobs.sources.segment_source import Marks, SegmentFile, in_order
from schemas.words.exit_codes import ExitCode
from schemas.words.records import UNKNOWN_REASONS
from udfs.sentences.counts import counted, damage_text

MOST_NAMED_RANGES = 3
# The clocks of two machines may differ by so much.
CLOCKS_APART = timedelta(minutes=5)
VERDICTS = {ExitCode.CLEAN: "clean", ExitCode.REJECTED_SHARE: "too_many_rejected"}


def rejected_share(outcome: Outcome) -> tuple[int, int]:
    """Number of records that could not be read, and of all records. A damaged range counts as the records that it
    contained, not as one more. Types and versions of newer releases do not count as damage."""
    unknown = sum(outcome.reasons[reason] for reason in UNKNOWN_REASONS)
    num_ranges, damaged = len(outcome.damage), outcome.total("damaged")
    rejected = outcome.total("rejected") - unknown - num_ranges + damaged
    return rejected, outcome.total("read") - num_ranges + damaged


def exit_code_of(outcome: Outcome, max_rejected_share: float) -> ExitCode:
    rejected, records = rejected_share(outcome)
    return ExitCode.REJECTED_SHARE if rejected > max_rejected_share * records else ExitCode.CLEAN


def facts(outcome: Outcome, about: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The part of the result that only an ingest has."""
    counts = {name: outcome.total(name) for name in ("read", "decoded", "rejected", "already_known")}
    return {
        **about,
        **counts,
        "records_per_second": round(counts["read"] / seconds) if seconds else None,
        "reject_reasons": dict(outcome.reasons.most_common()),
        **damage_of(outcome),
        "num_other_topics": outcome.num_other_topics,
        "num_epoch_conflicts": len(outcome.conflicts),
        "rows_added": dict(sorted(outcome.num_rows.items())),
    }


def damage_of(outcome: Outcome) -> dict[str, Any]:
    """The number of records in damaged ranges of bytes, and where the first ranges are."""
    first = outcome.damage[:MOST_NAMED_RANGES]
    return {
        "damaged_records": outcome.total("damaged"),
        "num_damaged_ranges": len(outcome.damage),
        "damaged_bytes": sum(each.rejected.size_bytes for each in outcome.damage),
        "damage_reasons": dict(Counter(str(each.rejected.reason) for each in outcome.damage).most_common()),
        "is_damage_estimated": any(each.is_num_records_estimated for each in outcome.damage),
        "first_damaged_ranges": [
            {
                "source_file": each.source_file,
                "byte_position": each.rejected.byte_position,
                "size_bytes": each.rejected.size_bytes,
                "reason": str(each.rejected.reason),
                "num_records": each.num_records,
            }
            for each in first
        ],
    }


def without_damage(result: Mapping[str, Any]) -> dict[str, Any]:
    """Counts and reasons of records alone. Those of the result have each damaged range as one rejected record, which
    people would take for another count of the damage."""
    num_ranges, of_ranges = result["num_damaged_ranges"], result["damage_reasons"]
    reasons = {reason: number - of_ranges.get(reason, 0) for reason, number in result["reject_reasons"].items()}
    return {
        "read": result["read"] - num_ranges,
        "rejected": result["rejected"] - num_ranges,
        "reject_reasons": {reason: number for reason, number in reasons.items() if number},
    }


def damage_words(result: Mapping[str, Any], thing: str = "damaged range") -> str:
    counts = (result[name] for name in ("num_damaged_ranges", "damaged_bytes", "damaged_records"))
    return damage_text(thing, *counts, is_estimated=result["is_damage_estimated"])


def closing_line(result: Mapping[str, Any]) -> str:
    of_records = without_damage(result)
    rejected = f"{of_records['rejected']:,} rejected"
    if of_records["reject_reasons"]:
        reason, number = max(of_records["reject_reasons"].items(), key=lambda each: each[1])
        rejected += f" (most: {reason}, {number:,})"
    known = f"{result['already_known']:,} already known"
    counts = f"{counted(of_records['read'], 'record')} read: {result['decoded']:,} decoded, {rejected}, {known}"
    damage = f"; {damage_words(result)}" if result["num_damaged_ranges"] else ""
    speed = f"{result['seconds']:.1f} s, {result['records_per_second'] or 0:,} records/s"
    return f"run {result['run_id']}: {things_read(result)}; {counts}{damage}; {speed}"


def things_read(result: Mapping[str, Any]) -> str:
    if result.get("source") == LIVE:
        return f"{counted(result['num_files_read'], 'range')} of offsets read"
    skipped = f", {result['num_files_skipped']:,} skipped" if result["num_files_skipped"] else ""
    return f"{counted(result['num_files_read'], 'file')} read, {result['num_files_unchanged']:,} unchanged{skipped}"


def warnings(outcome: Outcome, code: ExitCode, max_rejected_share: float) -> list[str]:
    lines = []
    if outcome.conflicts:
        partition, offset = outcome.conflicts[0]
        line = f"records of two leader epochs at {counted(len(outcome.conflicts), 'offset')}"
        lines.append(
            f"{line}, the first is {offset} of partition {partition}: both are stored, and only the higher epoch's "
            "is used"
        )
    unknown = sum(outcome.reasons[reason] for reason in UNKNOWN_REASONS)
    if unknown:
        lines.append(
            f"{counted(unknown, 'record')} of types or versions that this release does not know: kept, not decoded"
        )
    if outcome.unknown_tags:
        types = sorted(outcome.unknown_tags)
        of_types = f"record type{'' if len(types) == 1 else 's'} {', '.join(map(str, types))}"
        number = counted(outcome.unknown_tags.total(), "tagged field")
        lines.append(
            f"{number} that this release does not know, in values of {of_types}: left out, all else is decoded"
        )
    if code is ExitCode.REJECTED_SHARE:
        rejected, records = rejected_share(outcome)
        line = f"{rejected:,} of {counted(records, 'record')} rejected or damaged"
        lines.append(f"{line}; more than {max_rejected_share:.1%} is an error (setting max_rejected_share)")
    return lines


def swaps(changed: Iterable[Reading]) -> list[str]:
    """Segments that are read under the name that the cleaner gave them."""
    copied = "the folder was copied while the cleaner replaced this segment"
    paths = [reading.file.path for reading in changed if reading.file.path.name.endswith(SWAP)]
    return [f"{path}: read in place of {path.name.removesuffix(SWAP)}, which is not there: {copied}" for path in paths]


def ends_apart(
    files: Sequence[SegmentFile], marks: Mapping[str, Marks], rows: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Copies of one offsets partition that end at different offsets, as those of brokers of which one was copied later.
    `rows` of source_files of this run; `marks`: what earlier ones read."""
    lasts = {str(file.path): marks[str(file.path)].last_offset for file in files if str(file.path) in marks}
    lasts |= {row["source_file"]: row["last_offset"] for row in rows if row.get("last_offset") is not None}
    apart: list[tuple[int, str, int, str, int]] = []
    for _, of_partition in groupby(sorted(files, key=in_order), key=lambda file: file.partition):
        ends: dict[str, int] = {}
        for file in of_partition:
            if BASE_NAME.fullmatch(file.path.name) and (last := lasts.get(str(file.path))) is not None:
                ends[str(file.path.parent)] = max(last, ends.get(str(file.path.parent), last))
        if len(set(ends.values())) > 1:
            early, late = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
            apart.append((ends[late] - ends[early], early, ends[early], late, ends[late]))
    if not apart:
        return []
    _, early, early_end, late, late_end = max(apart)
    which = f"{early} ends at offset {early_end:,}, {late} at {late_end:,}"
    others = f" (the farthest apart of {len(apart):,} offsets partitions)" if len(apart) > 1 else ""
    return [f"copies with different ends: {which}{others}: the later end counts"]


def future_snapshots(snapshots: pa.Table, files: Mapping[datetime, str], started_ms: int) -> list[str]:
    """`snapshots`: new rows of cluster_snapshots; `files`: where each is from, by its time. The clock of the machine
    that took them may be wrong, or the one of this machine."""
    latest = pc.max(snapshots["captured_time"]).as_py()
    if latest is None or latest <= EPOCH + timedelta(milliseconds=started_ms) + CLOCKS_APART:
        return []
    when = iso((latest - EPOCH) // timedelta(milliseconds=1))
    line = f"{files[latest]}: a snapshot is of {when}, but this machine's clock says {iso(started_ms)}"
    return [f"{line}: is one of the two wrong? Without --as-of, copies of a log are judged as of the later time"]
