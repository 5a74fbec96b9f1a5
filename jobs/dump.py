"""Prints the decoded records of segment files as JSON lines, CSV or a table.

    groupscope dump /var/lib/kafka/__consumer_offsets-*/*.log --type OffsetCommit --group '^billing'

Prints one line per record, in the order of files and offsets. It decodes with one process per core. A table shows where
a record is, when it was written, its type, key and value.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.command_line.values import EPOCH
from jobs.output.failure import Failure, misuse
from jobs.output.progress import Activity, doing, measure
from jobs.output.rows import Format, print_rows, spelling_of, time_text, write_all, write_lines
from jobs.output.terminal import LIVE, is_terminal
from jobs.processes.freed_memory import keep_memory
from jobs.processes.no_pandas import keep_pandas_out
from jobs.processes.processors import cores
from jobs.processes.turns import SharedCounts, Turn, take_turns
from jobs.sources.segment_files import (
    HEADER_BYTES,
    Span,
    chunks,
    first_offset_of,
    framed_pieces,
    is_like_segment,
    is_torn_end,
    offsets_partition_of,
    open_segment,
    spans_of,
)
from jobs.sources.unreadable import IS_PACKED, UNPACK, is_packed
from jobs.spark.compiled_loops import load_compiled_loops
from jobs.storage.places.local_place import LocalPlace
from schemas.records import REGISTRY
from schemas.words.exit_codes import ExitCode
from schemas.words.records import UNKNOWN_REASONS
from udfs.decoding.decode import decode
from udfs.framing.log_bytes.framed_records import Framed
from udfs.framing.offset_order import with_rising_offsets
from udfs.framing.rejected_ranges import RejectedRanges
from udfs.lines.payload_text import PayloadTexts
from udfs.lines.record_lines import Selection, Writer, csv_header
from udfs.sentences.counts import counted

SPAN_BYTES = 8 << 20
# Each kind of record costs a fixed time a chunk. Larger chunks gain no more, and take memory.
CHUNK_RECORDS = 65_536
CHUNK_BYTES = 16 << 20
READY_BYTES = 24 << 20
MAX_REJECTED_SHARE = 0.001
# Of a table.
COLUMNS = ("offsets_partition", "offset", "time", "type", "key", "value")
TOMBSTONE = "null"


@dataclass(frozen=True)
class Options:
    files: tuple[Path, ...]
    selection: Selection
    from_offset: int | None
    format: Format
    is_wide: bool


@dataclass
class Counts:
    """With the records that damaged ranges of bytes held. A torn tail is not damage."""

    records: int = 0
    rejected: int = 0


def parse_options(arguments: argparse.Namespace) -> Options:
    types = frozenset(map(record_type, arguments.types)) if arguments.types else None
    try:
        group = re.compile(arguments.group) if arguments.group is not None else None
    except re.error as error:
        raise misuse(f"--group {arguments.group!r}: {error}; give a regular expression") from None
    return Options(
        tuple(arguments.files),
        Selection(types, group),
        arguments.from_offset,
        Format(arguments.format),
        arguments.wide,
    )


def record_type(text: str) -> int:
    names = {record.name.lower(): number for number, record in REGISTRY.items()}
    number = int(text) if re.fullmatch("[0-9]{1,5}", text) else names.get(text.lower())
    if number not in REGISTRY:
        from udfs.sentences.suggestions import did_you_mean

        meant = did_you_mean(text, [record.name for record in REGISTRY.values()])
        expected = f"expected a number from 0 to {max(REGISTRY)} or a name such as OffsetCommit"
        raise misuse(f"--type {text!r}: {expected}{meant}")
    return number


def check_file(path: Path) -> None:
    if path.is_dir():
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is a directory; give segment files, such as {path}/*.log")
    if path.exists() and not path.is_file():
        # A pipe has no size, and several processes cannot read it in parallel.
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is a pipe or device; give a regular file")
    if is_packed(path.name):
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {IS_PACKED}; {UNPACK}")
    with open_segment(LocalPlace(path)) as file:
        is_like_one = is_like_segment(file.read(HEADER_BYTES))
    # Its bytes would be printed as damaged ones.
    if not is_like_one and not any(len(framed.batches) for span in whole_spans(path) for framed in framed_pieces(span)):
        line = f"is no segment: no batch of records is in its {counted(path.stat().st_size, 'byte')}"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {line}; give .log files of a folder __consumer_offsets-N")


def whole_spans(path: Path) -> Iterator[Span]:
    return spans_of(LocalPlace(path), SPAN_BYTES)


def run(arguments: argparse.Namespace) -> int:
    keep_pandas_out()
    options = parse_options(arguments)
    for path in options.files:
        check_file(path)
    counts = dump_as_table(options) if options.format == Format.TABLE else dump_in_turns(options, arguments.debug)
    if counts.rejected > MAX_REJECTED_SHARE * counts.records:
        share = f"{counts.rejected:,} of {counted(counts.records, 'record')} rejected or damaged"
        raise Failure(ExitCode.REJECTED_SHARE, f"{share}; more than {MAX_REJECTED_SHARE:.1%} is an error")
    return ExitCode.CLEAN


def dump_as_table(options: Options) -> Counts:
    """By one process: the first rows decide how wide the table is, and they may be of any span."""
    counts, payload_texts = Counts(), PayloadTexts()
    spans = spans_to_read(options)
    with reading(spans) as activity:

        def texts() -> Iterator[pa.Buffer]:
            for span in spans:
                yield from span_texts(span, options, counts, payload_texts)
                activity.done += size_of(span)

        print_rows(COLUMNS, record_rows(texts()), options.format, is_wide=options.is_wide)
    return counts


def dump_in_turns(options: Options, is_debug: bool) -> Counts:
    if options.format == Format.CSV:
        write_text(csv_header(), options.format)
    # Cut before the processes start: if a file changed in between, each process would cut different spans.
    spans = spans_to_read(options)
    workers = max(1, min(cores(), len(spans)))
    # Arrow's own threads would only compete for the same cores, and do not survive a fork.
    pa.set_cpu_count(1)
    keep_memory()
    load_compiled_loops()
    LIVE.share_with_forks()
    done = SharedCounts(workers)

    def share(worker: int, turn: Turn) -> tuple[int, int]:
        return dump_share(options, spans[worker::workers], turn, lambda span: done.add(worker, size_of(span)))

    @contextmanager
    def waiting() -> Iterator[None]:
        with reading(spans):
            measure(done.count)
            yield

    return Counts(*take_turns(workers, share, is_debug, waiting))


@contextmanager
def reading(spans: Sequence[Span]) -> Iterator[Activity]:
    with doing("dump") as activity:
        activity.total, activity.unit = sum(map(size_of, spans)), "bytes"
        yield activity


def size_of(span: Span) -> int:
    return span.end - span.start


def spans_to_read(options: Options) -> list[Span]:
    following = following_offsets(options.files)
    return [
        span
        if span.next_offset is not None or span.end < (span.file_size or 0)
        else replace(span, next_offset=following[path])
        for path in options.files
        for span in whole_spans(path)
    ]


def following_offsets(files: Sequence[Path]) -> dict[Path, int | None]:
    """For each file, the first offset of the next segment in its folder; None: it is the newest, or has another
    name."""
    following: dict[Path, int | None] = dict.fromkeys(files)
    named = sorted(
        (path.absolute().parent, first, path)
        for path in files
        if (first := first_offset_of(LocalPlace(path))) is not None
    )
    for (folder, _, path), (other, first, _) in pairwise(named):
        if folder == other:
            following[path] = first
    return following


def dump_share(options: Options, spans: list[Span], turn: Turn, done: Callable[[Span], None]) -> tuple[int, int]:
    counts, payload_texts = Counts(), PayloadTexts()
    for span in spans:
        texts = span_texts(span, options, counts, payload_texts)
        try:
            ready = prepare_texts(texts)
        except Exception:
            turn.wait()  # prints it after everything before it, and not at all if another process failed there
            raise
        turn.wait()
        while ready:  # removed as they are written, so that nothing finished stays in memory
            write_text(ready.pop(0), options.format)
        for text in texts:
            write_text(text, options.format)
        turn.hand_on()
        done(span)
    return counts.records, counts.rejected


def write_text(text: pa.Buffer | bytes, format: Format) -> None:
    """As it is, in one piece; on a terminal line by line, since it holds names of groups."""
    if is_terminal():
        lines = bytes(text).decode(errors="backslashreplace").removesuffix("\n").split("\n")
        write_lines(lines, spelling_of(format))
    else:
        write_all(text)


def prepare_texts(texts: Iterator[pa.Buffer]) -> list[pa.Buffer]:
    """Prepared before the process's turn, since this takes most of the time: a whole span, unless it grows too
    large."""
    ready: list[pa.Buffer] = []
    while sum(text.size for text in ready) < READY_BYTES and (text := next(texts, None)) is not None:
        ready.append(text)
    return ready


def span_texts(span: Span, options: Options, counts: Counts, payload_texts: PayloadTexts) -> Iterator[pa.Buffer]:
    partition = offsets_partition_of(span.path)
    is_csv = options.format == Format.CSV
    writer = Writer(partition, str(span.path), is_csv, options.selection, payload_texts)
    ranges = RejectedRanges()
    if span.start == 0 and (first := first_offset_of(span.path)) is not None:
        ranges.begin(first)
    for piece in framed_pieces(span, SPAN_BYTES):
        framed = with_rising_offsets(piece, -1 if ranges.before is None else ranges.before, last_offset_of(span))
        # A torn end is one only in the newest segment: brokers write to no other.
        damaged = [each for each in framed.rejected if span.next_offset is not None or not is_torn_end(each, span)]
        ranges.take(framed.batches, damaged, str(span.path))
        yield from piece_texts(framed, writer, options.from_offset, counts)
    ranges.close(last_offset_of(span))
    lost = sum(each.num_records for each in ranges.closed)
    counts.records += lost
    counts.rejected += lost


def last_offset_of(span: Span) -> int | None:
    return None if span.next_offset is None else span.next_offset - 1


def piece_texts(framed: Framed, writer: Writer, from_offset: int | None, counts: Counts) -> Iterator[pa.Buffer]:
    records = framed.records
    counts.records += len(records)
    if from_offset is not None:
        records = records.take(np.flatnonzero(records.offset >= from_offset))
    for chunk in chunks(records, CHUNK_RECORDS, CHUNK_BYTES):
        decoded = decode(chunk.keys, chunk.values, chunk.is_control)
        counts.rejected += sum(reject.reason not in UNKNOWN_REASONS for reject in decoded.rejects)
        yield from writer.lines(chunk, decoded)
    yield from map(writer.range_line, framed.rejected)


def record_rows(texts: Iterable[pa.Buffer]) -> Iterator[list[Any]]:
    """`texts`: lines of JSON, as `dump` prints them."""
    for line in (json.loads(each) for text in texts for each in text.to_pybytes().splitlines()):
        where = [line["offsets_partition"], line.get("offset"), moment(line.get("timestamp_ms"))]
        if "rejected" in line:
            yield [*where, line.get("type"), None, rejected_text(line)]
        else:
            yield [*where, line["type"], line["key"], TOMBSTONE if line["value"] is None else line["value"]]


def moment(time_ms: int | None) -> str | None:
    """Whatever the log has: clocks of clients may be of any year."""
    if time_ms is None:
        return None
    try:
        return time_text(EPOCH + timedelta(milliseconds=time_ms))
    except OverflowError:
        return f"{time_ms} ms"


def rejected_text(line: Mapping[str, Any]) -> str:
    """Why there is no value, and where the bytes are when they are not those of a record."""
    rejected = line["rejected"]
    field = f", field {rejected['field']}" if rejected["field"] else ""
    detail = f": {rejected['detail']}" if rejected["detail"] else ""
    place = ""
    if "byte_position" in line:
        place = f"; {line['size_bytes']:,} bytes from byte {line['byte_position']:,} of {line['source_file']}"
    return f"rejected: {rejected['reason']} in its {rejected['part']}{field}{detail}{place}"
