"""What the framing says, in the words of the slow one."""

from tests.oracles.log.slow_records import SlowBatch, SlowLog, SlowRecord, SlowRejected
from udfs.arrays.slices import padded
from udfs.framing.frame import Batches, Framed, Records, frame


def framed(raw: bytes) -> Framed:
    return frame(padded(raw), len(raw))


def records_of(records: Records) -> list[SlowRecord]:
    columns = [
        records.offset, records.timestamp_ms, records.batch_first_offset, records.batch_bytes, records.record_bytes,
        records.partition_leader_epoch, records.producer_id, records.producer_epoch, records.is_transactional,
        records.is_control,
    ]  # fmt: skip
    lists = [column.tolist() for column in columns]
    slices = [[part.bytes_at(row) for row in range(len(records))] for part in (records.keys, records.values)]
    return [SlowRecord(*row) for row in zip(*lists, *slices, strict=True)]


def batches_of(batches: Batches) -> list[SlowBatch]:
    columns = [
        batches.position, batches.size_bytes, batches.base_offset, batches.last_offset, batches.magic, batches.codec,
        batches.partition_leader_epoch, batches.producer_id, batches.producer_epoch, batches.num_records,
        batches.is_transactional, batches.is_control, batches.has_delete_horizon,
    ]  # fmt: skip
    return [SlowBatch(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def log_of(raw: bytes) -> SlowLog:
    return log_of_framed(framed(raw))


def log_of_framed(result: Framed) -> SlowLog:
    rejected = [SlowRejected(r.byte_position, r.size_bytes, str(r.reason), r.field) for r in result.rejected]
    return SlowLog(
        records_of(result.records), batches_of(result.batches), rejected, result.zero_tail_bytes, result.torn_tail_bytes
    )


def log_by_pieces(raw: bytes, piece: int) -> SlowLog:
    """The same log read as a caller with little memory reads it: a piece more whenever nothing could be consumed."""
    whole = SlowLog()
    start, end = 0, min(piece, len(raw))
    while start < len(raw):
        is_last = end == len(raw)
        result = frame(padded(raw[start:end]), end - start, base_position=start, is_last=is_last)
        part = log_of_framed(result)
        whole.records += part.records
        whole.batches += part.batches
        whole.rejected += part.rejected
        whole.zero_tail += part.zero_tail
        whole.torn_tail += part.torn_tail
        assert result.consumed or not is_last
        start += result.consumed
        end = min(max(end, start) + piece, len(raw))
    return whole
