"""What the independent framing gives: records, batches, and what was rejected."""

from dataclasses import dataclass, field
from typing import NamedTuple


class SlowRecord(NamedTuple):
    offset: int
    timestamp: int
    batch_first_offset: int
    batch_bytes: int
    record_bytes: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    is_control: bool
    key: bytes | None
    value: bytes | None


class SlowBatch(NamedTuple):
    position: int
    size: int
    base_offset: int
    last_offset: int
    magic: int
    codec: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    num_records: int
    is_transactional: bool
    is_control: bool
    has_delete_horizon: bool


class SlowRejected(NamedTuple):
    position: int
    size: int
    reason: str
    field: str


@dataclass
class SlowLog:
    records: list[SlowRecord] = field(default_factory=list)
    batches: list[SlowBatch] = field(default_factory=list)
    rejected: list[SlowRejected] = field(default_factory=list)
    zero_tail: int = 0
    torn_tail: int = 0
