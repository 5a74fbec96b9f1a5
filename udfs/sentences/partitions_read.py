"""Which offsets partitions were read and which end early, in sentences, from rows of offsets_partitions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from schemas.words.gate import FindingKind
from schemas.words.records import EarlyEnd, NumPartitionsSource, PartitionReading
from udfs.sentences.counts import counted
from udfs.sentences.durations import in_words
from udfs.sentences.name_lists import list_names

Row = Mapping[str, Any]
MOST_NAMED: Final = 10
# Of partitions that end early.
MOST_ENDS: Final = 3
KNOWN: Final = (PartitionReading.READ, PartitionReading.EMPTY)
LEAST_SHOWN_MS: Final = 1_000


def never_read(rows: Sequence[Row]) -> list[int]:
    return [row["offsets_partition"] for row in rows if row["reading"] == PartitionReading.NEVER_READ]


def partitions_text(rows: Sequence[Row], number: int | None, source: str | None) -> str:
    """Such as `42 of 50 offsets partitions; never read: 3, 7, 12`."""
    read = sum(row["reading"] in KNOWN for row in rows)
    if number is None:
        return f"{counted(read, 'offsets partition')}; how many there are is unknown"
    text = f"{read:,} of {counted(number, 'offsets partition')}"
    if source == NumPartitionsSource.ASSUMED:
        text += f" ({number} is assumed: Kafka's default)"
    missing, unknown = never_read(rows), sum(row["reading"] == PartitionReading.UNKNOWN for row in rows)
    if missing:
        text += f"; never read: {list_names([str(each) for each in missing], MOST_NAMED)}"
    if unknown:
        text += f"; {unknown:,} may be empty or missing"
    return text


def early_texts(rows: Sequence[Row], findings: Iterable[Row]) -> Iterator[str]:
    """Of those that have groups, the one with most first. That a partition merely ends before others is said if it is a
    finding."""
    is_found = any(row["kind"] == FindingKind.LOG_ENDS_EARLY for row in findings)
    shown = (row for row in rows if is_found or row["early_end"] != EarlyEnd.BEFORE_OTHERS)
    early = [row for row in shown if row["early_end"] is not None and row["num_groups"]]
    for row in sorted(early, key=lambda row: (-row["num_groups"], row["offsets_partition"])):
        yield early_text(row)


def early_text(row: Row) -> str:
    before = row["ends_before_others_ms"] or 0
    words = [f"partition {row['offsets_partition']} ends"]
    if before >= LEAST_SHOWN_MS or row["early_end"] == EarlyEnd.BEFORE_OTHERS:
        words.append(f"{in_words(before * 1000)} before others")
    if row["early_end"] == EarlyEnd.TORN_TAIL:
        words[-1] += ", in the middle of a batch"
    text = " ".join(words)
    if row["early_end"] == EarlyEnd.KNOWN_END:
        text += f", and a snapshot shows {counted(beyond(row), 'offset')} more"
    groups = row["num_groups"]
    return f"{text}: {counted(groups, 'group')} {'lives' if groups == 1 else 'live'} there"


def beyond(row: Row) -> int:
    return int(row["known_end_offset"] - 1 - row["last_offset"])
