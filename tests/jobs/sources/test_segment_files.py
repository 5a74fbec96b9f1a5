"""How files are cut: no record beside a damaged one may be lost, wherever the cuts fall."""

import struct
from pathlib import Path

import pytest

from jobs import dump
from jobs.output.rows import Format
from jobs.sources.segment_files import PIECE_BYTES, framed_pieces, spans_of
from jobs.storage.places.local_place import LocalPlace
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, batch, segment
from udfs.framing.offset_order import with_rising_offsets

BATCHES = 200
SPAN_BYTES = 2_000


def offsets_of(path: Path, span_bytes: int, piece_bytes: int) -> list[int]:
    pieces = (framed for span in spans_of(LocalPlace(path), span_bytes) for framed in framed_pieces(span, piece_bytes))
    return [int(offset) for framed in pieces for offset in framed.records.offset]


def log_with_length(folder: Path, damaged: int, length: int) -> Path:
    """Batches of one record each, of which one claims to be longer than it is."""
    whole = [batch(offset, [(COMMIT_KEY, COMMIT_V3)]) for offset in range(BATCHES)]
    raw = bytearray(b"".join(whole))
    struct.pack_into(">i", raw, len(whole[0]) * damaged + 8, length)
    return segment(folder, bytes(raw))


def test_a_file_is_cut_into_spans_that_follow_each_other(tmp_path: Path) -> None:
    size = len(batch(0, [(COMMIT_KEY, COMMIT_V3)]))
    path = log_with_length(tmp_path, 0, size - 12)
    spans = list(spans_of(LocalPlace(path), SPAN_BYTES))
    assert len(spans) == -(-BATCHES // -(-SPAN_BYTES // size))
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == path.stat().st_size
    assert offsets_of(path, SPAN_BYTES, 500) == list(range(BATCHES))


@pytest.mark.parametrize("length", [200, 2_001, 9_000, 15_000])
@pytest.mark.parametrize("damaged", [0, 13, 14, 100])
def test_a_length_that_leads_beyond_a_cut_costs_one_batch(tmp_path: Path, damaged: int, length: int) -> None:
    path = log_with_length(tmp_path, damaged, length)
    assert offsets_of(path, SPAN_BYTES, 500) == [offset for offset in range(BATCHES) if offset != damaged]


def test_a_length_of_tens_of_megabytes_costs_one_batch(tmp_path: Path) -> None:
    # More than is ever read at once stands behind the batch that claims so much, and must not be cut through.
    one = batch(0, [(COMMIT_KEY, bytes(900_000))])
    raw = bytearray(one * 100)
    for offset in range(100):
        struct.pack_into(">q", raw, len(one) * offset, offset)
    struct.pack_into(">i", raw, 8, 40 << 20)
    path = segment(tmp_path, bytes(raw))
    assert offsets_of(path, SPAN_BYTES, PIECE_BYTES) == list(range(1, 100))
    # Nor may all that was brought for its sake become records at once.
    spans = spans_of(LocalPlace(path), SPAN_BYTES)
    assert max(framed.consumed for span in spans for framed in framed_pieces(span)) <= PIECE_BYTES


def test_a_torn_end_stays_harmless_while_a_broker_goes_on_writing(tmp_path: Path) -> None:
    whole = batch(0, [(COMMIT_KEY, COMMIT_V3)])
    path = segment(tmp_path, whole + whole[:-5])
    (span,) = spans_of(LocalPlace(path), 1 << 20)
    with path.open("ab") as file:
        file.write(whole[-5:] + whole)
    counts = dump.Counts()
    options = dump.Options((path,), dump.Selection(), None, Format.JSON, is_wide=False)
    assert list(dump.span_texts(span, options, counts, dump.PayloadTexts()))
    assert (counts.records, counts.rejected) == (1, 0)


@pytest.mark.parametrize("damaged", [0, 1, 13, 14, 15, 100, 197])
@pytest.mark.parametrize("offset", [0, 5, 150, 2**40])
def test_a_wrong_first_offset_costs_one_batch_wherever_the_file_is_cut(
    tmp_path: Path, damaged: int, offset: int
) -> None:
    """Cuts and pieces end beside the damaged batch, before it and behind it."""
    whole = [batch(number, [(COMMIT_KEY, COMMIT_V3)]) for number in range(BATCHES)]
    raw = bytearray(b"".join(whole))
    struct.pack_into(">q", raw, len(whole[0]) * damaged, offset)
    path = segment(tmp_path, bytes(raw))
    left = [number for number in range(BATCHES) if number != damaged]
    for sizes in ((300, 1 << 20), (500, 500), (SPAN_BYTES, 500), (1 << 20, 300), (1 << 20, 500), (1 << 20, 1 << 20)):
        assert kept_offsets(path, *sizes) == (list(range(BATCHES)) if offset == damaged else left), sizes


def kept_offsets(path: Path, span_bytes: int, piece_bytes: int) -> list[int]:
    """As a task reads the spans, one after the other."""
    result, before = [], -1
    for span in spans_of(LocalPlace(path), span_bytes):
        highest = None if span.next_offset is None else span.next_offset - 1
        for piece in framed_pieces(span, piece_bytes):
            framed = with_rising_offsets(piece, before, highest)
            result += framed.records.offset.tolist()
            before = result[-1] if result else before
    return result
