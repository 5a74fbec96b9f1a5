"""Decoded records of segment files as JSON lines or CSV, without Spark.

    groupscope dump /var/lib/kafka/__consumer_offsets-*/*.log --type OffsetCommit --group '^billing'

Reads segment files, writes lines to standard output in the order of files and offsets. The files are cut into spans,
which as many processes as there are cores decode side by side; each writes a span's lines when its turn comes.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from jobs.failure import Failure
from jobs.segment_files import Span, framed_pieces, offsets_partition_of, spans_of
from jobs.turns import Turn, take_turns
from schemas.exit_codes import ExitCode
from schemas.records import REGISTRY
from schemas.vocabulary import RejectReason
from udfs.decoding.decode import Reject, decode
from udfs.framing.framed import Framed, Rejected
from udfs.lines.payload_text import PayloadTexts
from udfs.lines.record_lines import Selection, Writer, csv_header

SPAN_BYTES = 4 << 20
# Everything that a chunk touches stays in the processor's cache.
CHUNK_RECORDS = 32_768
MAX_REJECTED_SHARE = 0.001
# What a newer release will understand is no damage, nor is the end of a segment that is still written to.
HARMLESS = {RejectReason.UNKNOWN_RECORD_TYPE, RejectReason.UNKNOWN_VALUE_VERSION, RejectReason.TORN_BATCH}


@dataclass(frozen=True)
class Options:
    files: tuple[Path, ...]
    selection: Selection
    from_offset: int | None
    is_csv: bool


@dataclass
class Counts:
    records: int = 0
    rejected: int = 0

    def note(self, rejects: Iterable[Reject | Rejected]) -> None:
        self.rejected += sum(reject.reason not in HARMLESS for reject in rejects)


class NoPandas(MetaPathFinder):
    """pyarrow imports pandas with the first array that it makes: half a second and 40 MB, for nothing here."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="segment files (….log) of __consumer_offsets"
    )
    parser.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        dest="types",
        help="only records of this type, by number or name (OffsetCommit); may be given again",
    )
    parser.add_argument("--group", metavar="REGEX", help="only records of groups in which the pattern is found")
    parser.add_argument("--from-offset", type=int, metavar="N", help="only records at this offset or beyond")
    parser.add_argument("--format", choices=("json", "csv"), default="json", help="json lines (the default) or csv")


def parse_options(arguments: argparse.Namespace) -> Options:
    types = frozenset(map(record_type, arguments.types)) if arguments.types else None
    try:
        group = re.compile(arguments.group) if arguments.group is not None else None
    except re.error as error:
        raise Failure(
            ExitCode.USAGE, f"--group {arguments.group!r}: {error}, a regular expression was expected"
        ) from None
    return Options(tuple(arguments.files), Selection(types, group), arguments.from_offset, arguments.format == "csv")


def record_type(text: str) -> int:
    names = {record.name.lower(): number for number, record in REGISTRY.items()}
    number = int(text) if text.isdecimal() else names.get(text.lower())
    if number not in REGISTRY:
        raise Failure(
            ExitCode.USAGE,
            f"--type {text!r}: expected a number from 0 to {max(REGISTRY)} or a name such as OffsetCommit",
        )
    return number


def check_file(path: Path) -> None:
    if path.is_dir():
        raise Failure(
            ExitCode.UNREADABLE_INPUT, f"{path}: is a directory, segment files were expected, such as {path}/*.log"
        )
    if path.exists() and not path.is_file():
        # Its size says nothing, and several processes cannot read it side by side.
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is a pipe or device, a regular file was expected")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise Failure(
            ExitCode.UNREADABLE_INPUT, f"{path}: {error.strerror}, a readable segment file was expected"
        ) from None


def run(arguments: argparse.Namespace) -> int:
    sys.meta_path.insert(0, NoPandas())
    options = parse_options(arguments)
    for path in options.files:
        check_file(path)
    if options.is_csv:
        write_all(csv_header())
    counts = dump_in_turns(options, arguments.debug)
    if counts.rejected > MAX_REJECTED_SHARE * counts.records:
        share = f"{counts.rejected} of {counts.records} records rejected, at most {MAX_REJECTED_SHARE:.1%} expected"
        raise Failure(ExitCode.REJECTED_SHARE, share)
    return ExitCode.CLEAN


def dump_in_turns(options: Options, is_debug: bool) -> Counts:
    sizes = sum(path.stat().st_size for path in options.files)
    workers = max(1, min(len(os.sched_getaffinity(0)), sizes // SPAN_BYTES))
    # Arrow's own threads would only fight over the same cores, and do not survive a fork.
    pa.set_cpu_count(1)
    return Counts(*take_turns(workers, lambda worker, turn: dump_share(options, worker, workers, turn), is_debug))


def dump_share(options: Options, worker: int, workers: int, turn: Turn) -> tuple[int, int]:
    """Every worker cuts the files alike and takes each n-th span, so no work has to be handed out."""
    counts, payload_texts = Counts(), PayloadTexts()
    spans = (span for path in options.files for span in spans_of(path, SPAN_BYTES))
    for span in islice(spans, worker, None, workers):
        texts = span_texts(span, options, counts, payload_texts)
        ready = next(texts, None)  # made before the turn comes, which is where the time goes
        turn.wait()
        while ready is not None:
            while ready:  # taken out as they are written: nothing finished stays in memory beside the next piece
                write_all(ready.pop(0))
            ready = next(texts, None)
        turn.hand_on()
    return counts.records, counts.rejected


def span_texts(span: Span, options: Options, counts: Counts, payload_texts: PayloadTexts) -> Iterator[list[pa.Buffer]]:
    partition = offsets_partition_of(span.path)
    writer = Writer(partition, str(span.path), options.is_csv, options.selection, payload_texts)
    for framed in framed_pieces(span):
        yield list(piece_texts(framed, writer, options.from_offset, counts))


def piece_texts(framed: Framed, writer: Writer, from_offset: int | None, counts: Counts) -> Iterator[pa.Buffer]:
    records = framed.records
    counts.records += len(records) + len(framed.rejected)
    counts.note(framed.rejected)
    if from_offset is not None:
        records = records.take(np.flatnonzero(records.offset >= from_offset))
    for start in range(0, len(records), CHUNK_RECORDS):
        chunk = records.take(np.arange(start, min(start + CHUNK_RECORDS, len(records))))
        decoded = decode(chunk.keys, chunk.values, chunk.is_control)
        counts.note(decoded.rejects)
        yield writer.lines(chunk, decoded)
    yield from map(writer.range_line, framed.rejected)


def write_all(text: pa.Buffer | bytes) -> None:
    view = memoryview(text)
    while view:
        view = view[os.write(sys.stdout.fileno(), view) :]
