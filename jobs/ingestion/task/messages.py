"""The input and results of ingest tasks: plain data, since tasks run in other processes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from jobs.ingestion.task.stored_rows import KnownFile
from jobs.sources.log_span import SpanFacts
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile
from udfs.framing.rejected_ranges import RejectedRange
from udfs.log.offset_ranges import Range

# For lines that do not name their partition.
NO_PARTITION = -1


@dataclass(frozen=True)
class KnownRange:
    """A range of bytes that an earlier run rejected."""

    source_file: str
    byte_position: int
    size_bytes: int
    from_record_offset: int | None
    to_record_offset: int | None


@dataclass(frozen=True)
class IngestInput:
    """The input of all tasks of a run."""

    root: Place
    cluster: str
    run_id: str
    known_files: dict[str, list[KnownFile]]
    known_ranges: Mapping[int, Sequence[KnownRange]]
    # Offsets that some copy in the warehouse has undamaged.
    intact: Mapping[int, Sequence[Range]] = field(default_factory=dict)


@dataclass
class Counts:
    """Counts of one unit. `gaps`: missing ranges between `first_offset` and `last_offset`. `damaged`: records in
    rejected byte ranges; each range also counts as one of `read` and of `rejected`."""

    partition: int
    read: int = 0
    decoded: int = 0
    rejected: int = 0
    known: int = 0
    damaged: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    gaps: int = 0


@dataclass
class IngestResult:
    # By table.
    files: list[tuple[str, DataFile]] = field(default_factory=list)
    num_rows: dict[str, int] = field(default_factory=dict)
    facts: list[SpanFacts] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    # By record type: tagged fields of a newer release, which are left out.
    unknown_tags: Counter[int] = field(default_factory=Counter)
    # Rows of rejected_records to remove: by partition, offset and leader epoch, and by file and position.
    retracted_records: list[tuple[int, int, int | None]] = field(default_factory=list)
    retracted_ranges: list[tuple[str, int]] = field(default_factory=list)
    # By partition, first and last offset: ranges in which all decoded rows without a leader epoch go, since rows with
    # one take their place.
    replaced: list[tuple[int, int, int]] = field(default_factory=list)
    # Partition and offset where two leader epochs wrote different records.
    conflicts: list[tuple[int, int]] = field(default_factory=list)
    # Rejected ranges that are reported for the first time.
    damage: list[RejectedRange] = field(default_factory=list)
    # By offsets partition in which rejected ranges were checked: offsets that are decoded or are in an undamaged copy.
    seen: dict[int, list[Range]] = field(default_factory=dict)
    # By folder of segments, the first groups of which it has records.
    groups: dict[str, list[str]] = field(default_factory=dict)
    failure: tuple[int, str] | None = None


def merged_facts(parts: list[SpanFacts]) -> SpanFacts:
    """Facts of a whole file, from those of its parts in order."""
    whole = replace(parts[0])
    for part in parts[1:]:
        for name in ("num_records", "num_batches", "num_tombstones", "num_delete_horizon_batches", "torn_tail_bytes"):
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.read_to = part.read_to
        whole.first_offset = part.first_offset if whole.first_offset is None else whole.first_offset
        for name in ("last_offset", "last_batch_position", "last_batch_crc"):
            value = getattr(part, name)
            setattr(whole, name, getattr(whole, name) if value is None else value)
    return whole
