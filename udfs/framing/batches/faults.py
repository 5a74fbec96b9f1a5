"""Says what is wrong with a batch whose records do not fit. The few that the loop over all batches finds are read here
again, field by field, to name the first error."""

from schemas.words.records import RejectReason
from udfs.framing.batches.headers import BatchHeaders
from udfs.framing.batches.kernels import BROKEN_CHAIN, LONGEST_INT32, LONGEST_INT64, MOST_HEADERS, SMALLEST_RECORD
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Fault, Wrong


class ScalarCursor:
    def __init__(self, data: Bytes, position: int, end: int) -> None:
        self.data = data.data
        self.position = position
        self.end = end

    @property
    def left(self) -> int:
        return self.end - self.position

    def move(self, size: int, field: str) -> None:
        if size > self.left:
            raise Wrong(RejectReason.UNDERRUN, field, f"{size} bytes wanted, {self.left} left")
        self.position += size

    def number(self, longest: int, field: str) -> int:
        raw = 0
        for place in range(longest):
            self.move(1, field)
            byte = self.data[self.position - 1]
            raw |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                raw &= 0xFFFFFFFF if longest == LONGEST_INT32 else 0xFFFFFFFFFFFFFFFF
                return raw >> 1 ^ -(raw & 1)
        raise Wrong(RejectReason.BAD_LENGTH, field, f"number of more than {longest} bytes")

    def slice(self, field: str, lowest: int = -1) -> None:
        length = self.number(LONGEST_INT32, field)
        if length < lowest:
            raise Wrong(RejectReason.BAD_LENGTH, field, f"length {length}")
        self.move(max(length, 0), field)


def fault_of_batch(data: Bytes, headers: BatchHeaders, batch: int, first_bad: int) -> Fault:
    """`first_bad`: as `read_records` gives it."""
    cursor = ScalarCursor(data, int(headers.records_start[batch]), int(headers.records_end[batch]))
    if first_bad == BROKEN_CHAIN:
        return fault_of_chain(cursor, int(headers.num_records[batch]))
    for _ in range(first_bad):
        cursor.slice("record")
    return fault_of_record(cursor, first_bad)


def fault_of_chain(cursor: ScalarCursor, count: int) -> Fault:
    """Why the batch does not consist of exactly `count` records."""
    try:
        for index in range(count):
            length = cursor.number(LONGEST_INT32, "length")
            if length < SMALLEST_RECORD - 1:
                raise Wrong(RejectReason.BAD_LENGTH, "length", f"record {index} of {count} has length {length}")
            cursor.move(length, "length")
    except Wrong as wrong:
        return wrong.fault
    return Fault(RejectReason.TRAILING_BYTES, "records", f"{cursor.left} bytes after {count} records")


def fault_of_record(cursor: ScalarCursor, index: int) -> Fault:
    """Why a record of the right length cannot be read."""
    length = cursor.number(LONGEST_INT32, "length")
    cursor.end = cursor.position + length
    try:
        cursor.move(1, "attributes")
        cursor.number(LONGEST_INT64, "timestamp_delta")
        cursor.number(LONGEST_INT32, "offset_delta")
        cursor.slice("key")
        cursor.slice("value")
        read_headers(cursor)
    except Wrong as wrong:
        return Fault(wrong.fault.reason, wrong.fault.field, f"record {index}: {wrong.fault.detail}")
    detail = f"record {index}: {cursor.left} bytes after the headers"
    return Fault(RejectReason.TRAILING_BYTES, "records", detail)


def read_headers(cursor: ScalarCursor) -> None:
    count = cursor.number(LONGEST_INT32, "headers")
    if count < 0:
        raise Wrong(RejectReason.BAD_LENGTH, "headers", f"{count} headers")
    if 2 * count > cursor.left:
        raise Wrong(RejectReason.UNDERRUN, "headers", f"{count} headers do not fit into {cursor.left} bytes")
    if count > MOST_HEADERS:
        raise Wrong(RejectReason.TOO_LARGE, "headers", f"{count} headers, up to {MOST_HEADERS} expected")
    for _ in range(count):
        cursor.slice("header_key", lowest=0)
        cursor.slice("header_value")
