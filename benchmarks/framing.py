"""Framing with checksums, one thread, against the least that any reader does: reading the file and CRC-32C of each
batch, whose bounds are known."""

import time
from pathlib import Path

import google_crc32c
import numpy as np

from benchmarks.batches import UNCHECKED
from benchmarks.decoding import expect
from benchmarks.rounds import Goal, Measured, take_turns
from benchmarks.run import Run
from jobs.sources.segment_files import Span, framed_pieces
from jobs.storage.places.local_place import LocalPlace


def measure(run: Run) -> Measured:
    segment = run.million.segment
    size = segment.stat().st_size
    pieces = list(framed_pieces(Span(LocalPlace(segment), 0, size)))
    bounds = [np.stack([p.batches.position, p.batches.position + p.batches.size_bytes]).T.tolist() for p in pieces]
    records = sum(len(piece.records) for piece in pieces)
    del pieces

    def ours() -> float:
        start = time.perf_counter()
        framed = sum(len(piece.records) for piece in framed_pieces(Span(LocalPlace(segment), 0, size)))
        seconds = time.perf_counter() - start
        expect(framed, records)
        return seconds

    ours_seconds, theirs_seconds = take_turns(ours, lambda: checksums_alone(segment, bounds), run.rounds)
    return Measured(
        "framing and CRC of uncompressed segments, one thread",
        "reading and CRC-32C alone",
        "MB/s",
        size / ours_seconds / 1e6,
        size / theirs_seconds / 1e6,
        Goal(at_least=0.6, aim=0.8),
        run.rounds,
    )


def checksums_alone(segment: Path, bounds: list[list[list[int]]]) -> float:
    """`bounds` has the batches of each piece of the file, so that both read it in the same pieces."""
    start = time.perf_counter()
    with segment.open("rb") as file:
        for batches in bounds:
            first, last = batches[0][0], batches[-1][1]
            raw = file.read(last - first)
            for begin, end in batches:
                google_crc32c.value(raw[begin - first + UNCHECKED : end - first])
    return time.perf_counter() - start
